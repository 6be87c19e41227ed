"""Events as data, and how a run's end is told; cancellation is tested over real connections."""

import asyncio
import json
from typing import Any

import pytest

from sextant.domain.answers import (
    Answer,
    Citation,
    Cited,
    Done,
    Event,
    Failed,
    Reset,
    Retrieved,
    Source,
    Sources,
    Status,
    Token,
    Trust,
    Usage,
    as_values,
)
from sextant.domain.retrieval import Retrieval
from sextant.domain.scope import Scope
from sextant.graph import create_query_workflow, workflow
from sextant.graph.streaming import parse_event, stream_answer
from tests.unit.nodes.conftest import Build, ScriptedRetriever

CITATION = Citation(1, "一句[1]。", "a.md", "一句。", 3, 6, 1.0)
SOURCE = Source(1, "d", "a.md", "c", "t", ("一", "二"), 2, "一句。", 0.9, {"vector": {"rank": 1}})
EVENTS: list[Event] = [
    Status("analyze", attempt=2),
    Retrieved("naive", 3, {"total": 1.5}, ("慢",)),
    Token("一"),
    Cited(CITATION),
    Reset("换了说法"),
    Sources((SOURCE,)),
    Done(
        Answer(
            "一句[1]。",
            "naive",
            (CITATION,),
            (SOURCE,),
            usage=Usage(1, 2, 3),
            trust=Trust.SUPPORTED,
        )
    ),
    Failed("timed_out", "Too long.", retryable=True, detail={"next_step": "Ask again."}),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.type)
def test_an_event_survives_the_way_over_json(event: Event) -> None:
    assert parse_event(json.loads(json.dumps(as_values(event)))) == event


async def test_a_step_that_hangs_is_given_up_with_a_typed_error(
    bench: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging(ScriptedRetriever):
        async def search(self, scope: Scope, query: str, **options: Any) -> Retrieval:
            await asyncio.Event().wait()
            raise AssertionError

    monkeypatch.setattr(workflow, "_GRACE", -58)
    hanging = create_query_workflow(dependencies=bench(retriever=Hanging([])).deps)
    events = [event async for event in stream_answer(hanging, {"query": "Why?"})]
    failed = events[-1]
    assert isinstance(failed, Failed)
    assert (failed.code, failed.retryable) == ("timed_out", True)
    assert "retrieve" in failed.message


async def test_events_that_a_retry_may_mend_are_not_told_as_errors(bench: Build) -> None:
    from sextant.domain.errors import DatabaseUnavailable

    down = ScriptedRetriever([], error=DatabaseUnavailable("Gone.", next_step="Start it."))
    events = [
        event
        async for event in stream_answer(
            create_query_workflow(dependencies=bench(retriever=down).deps), {"query": "Why?"}
        )
    ]
    assert [event.node for event in events if isinstance(event, Status)].count("retrieve") == 2
    assert events[-1] == Failed(
        "database_unavailable",
        "Gone.",
        retryable=True,
        detail={"next_step": "Start it.", "field": None},
    )
    assert sum(isinstance(event, Failed) for event in events) == 1
