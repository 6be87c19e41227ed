"""Several queries of one round: branches that streams and tracers show, merged in the queries' order."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from sextant.domain.retrieval import Mode, Retrieval, RetrievalError
from sextant.graph import create_query_workflow
from sextant.graph.workflow import Workflow
from sextant.models.offline.extractive import ExtractiveAnswerer
from tests.unit.nodes.conftest import Build, item

QUESTION = {"query": "What is a heron?", "graph_id": "birds"}
RUN: RunnableConfig = {"configurable": {"thread_id": "1"}}


@dataclass
class LastFirst:
    """Finds for each query a passage of its name, for the last query first; `failing` fails."""

    queries: list[str]
    failing: str = ""
    lanes: tuple[str, ...] = ("vector", "keyword")
    _done: dict[str, asyncio.Event] = field(default_factory=dict[str, asyncio.Event])

    async def search(self, _scope: object, query: str, **_: object) -> Retrieval:
        for later in self.queries[self.queries.index(query) + 1 :]:
            await self._event(later).wait()
        self._event(query).set()
        if query == self.failing:
            raise RetrievalError.of({"vector": OSError("gone")})
        timings = {"vector": 2.0, "total": 3.0}
        return Retrieval((item(query, f"{query}.md"),), Mode.MIX, timings=timings)

    def _event(self, query: str) -> asyncio.Event:
        return self._done.setdefault(query, asyncio.Event())

    async def known_names(self, _scope: object, _text: str) -> list[str]:
        return []


class Tracer(AsyncCallbackHandler):
    """Keeps the name, the parent and the input of every run."""

    def __init__(self) -> None:
        self.runs: dict[UUID, tuple[str, UUID | None, Any]] = {}

    async def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: dict[str, Any],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **given: Any,
    ) -> None:
        self.runs[run_id] = (given["name"], parent_run_id, inputs)

    def above(self, run_id: UUID) -> list[str]:
        """Return the names of the runs that a run is part of, the nearest first."""
        names, parent = list[str](), self.runs[run_id][1]
        while parent is not None:
            name, parent, _ = self.runs[parent]
            names.append(name)
        return names


async def about_to_search(bench: Build, retriever: LastFirst) -> Workflow:
    """Return a workflow whose next step searches for all queries of the retriever."""
    deps = bench(retriever=retriever, answerer=ExtractiveAnswerer()).deps
    workflow = create_query_workflow(dependencies=deps, checkpointer=InMemorySaver())
    await workflow.ainvoke(QUESTION, RUN, interrupt_before=["retrieve"])
    first, *others = retriever.queries
    due = {"search": first, "extra_queries": others, "cross_lingual_queries": []}
    await workflow.aupdate_state(RUN, due, as_node="route")
    return workflow


async def test_each_query_is_a_branch_of_the_stream_and_of_the_trace(bench: Build) -> None:
    retriever, tracer = LastFirst(["herons", "egrets", "storks"]), Tracer()
    workflow = await about_to_search(bench, retriever)
    config: RunnableConfig = {**RUN, "callbacks": [tracer]}
    parts: Any = workflow.astream(None, config, stream_mode="updates", subgraphs=True)
    streamed = [
        (namespace, update["search"]["outcomes"][0][1])
        async for namespace, update in parts
        if "search" in update
    ]
    assert [outcome.query for _, outcome in streamed] == ["storks", "egrets", "herons"]
    assert all(namespace[0].startswith("retrieve:") for namespace, _ in streamed)
    assert streamed[0][1].found.timings == {"vector": 2.0, "total": 3.0}

    branches = {id_: run for id_, run in tracer.runs.items() if run[0] == "search"}
    asked = {task["query"] for _, _, task in branches.values()}
    assert asked == {"herons", "egrets", "storks"}
    assert all("retrieve" in tracer.above(id_) for id_ in branches)


async def test_what_branches_find_is_merged_in_the_order_of_their_queries(bench: Build) -> None:
    workflow = await about_to_search(bench, LastFirst(["herons", "egrets", "storks"]))
    await workflow.ainvoke(None, RUN, interrupt_before=["grade"])
    state = (await workflow.aget_state(RUN)).values
    assert [one.text for one in state["items"]] == ["herons", "egrets", "storks"]
    assert [
        (one["query"], one["kind"], one["round"], one["count"], one["timings"]["vector"])
        for one in state["searches"]
    ] == [
        ("herons", "query", 0, 1, 2.0),
        ("egrets", "query", 0, 1, 2.0),
        ("storks", "query", 0, 1, 2.0),
    ]


async def test_a_branch_that_fails_is_told_and_costs_no_other_its_passages(bench: Build) -> None:
    workflow = await about_to_search(bench, LastFirst(["herons", "egrets"], failing="herons"))
    events = [
        event
        async for event in workflow.astream(
            None, RUN, stream_mode="custom", interrupt_before=["grade"]
        )
    ]
    [ended] = [event for event in events if event["type"] == "retrieval"]
    failed, found = ended["searches"]
    assert (failed["query"], failed["count"], found["count"]) == ("herons", 0, 1)
    assert failed["error"] in ended["warnings"]
    state = (await workflow.aget_state(RUN)).values
    assert [one.text for one in state["items"]] == ["egrets"]


async def test_branches_write_no_checkpoints_of_their_own(bench: Build) -> None:
    workflow = await about_to_search(bench, LastFirst(["herons", "egrets"]))
    await workflow.ainvoke(None, RUN)
    saver = workflow.checkpointer
    assert isinstance(saver, InMemorySaver)
    assert list(saver.storage["1"]) == [""]
