"""What a chat model replies to one question of the workflow's tests, and what its answer must hold."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from sextant.domain.answers import Answer, Cited, Event, Reset, Token
from sextant.graph.streaming import stream_answer
from sextant.testing.openai_server import ApiRequest, Script
from sextant.testing.replies import Reply, as_json, failing
from tests.integration.graph.conftest import Running

QUESTION = "糖尿病患者的主要症状是什么？"
ANSWER = "主要症状是多饮、多尿、多食和体重下降[{n}]。"
TOO_LONG = failing(400, "The context is too long.", code="context_length_exceeded")


def number_of(request: ApiRequest) -> str:
    """Return the number under which the passage with the symptoms is shown."""
    behind = request.prompt.partition("多饮、多尿")[0].rpartition('<passage number="')[2]
    return (re.match(r"\d+", behind) or ["1"])[0]


def judged(request: ApiRequest) -> Reply:
    """Return a reply in every structure that a node asks for; it mends nothing."""
    return as_json({"question": QUESTION, "relevant": [1], "sufficient": True,
                    "sentences": [], "points": [], "keywords": ["多饮"]})  # fmt: skip


def writing(answer: Callable[[ApiRequest], Reply | str]) -> Script:
    """Judge as it should, and answers so."""
    return lambda request: judged(request) if request.wants_json else answer(request)


def good(request: ApiRequest) -> str:
    return ANSWER.format(n=number_of(request))


async def told(running: Running, mode: str, seconds: float = 60) -> list[Event]:
    """Return the events of the answer, which come within so many seconds."""
    async with asyncio.timeout(seconds):
        asked = running.asking(QUESTION, mode=mode)
        return [event async for event in stream_answer(running.workflow, asked)]


def assert_it_holds(answer: Answer, events: list[Event]) -> None:
    """Check that what was streamed is the answer, every marker has a source, every quote stands in it."""
    resets = [place for place, event in enumerate(events) if isinstance(event, Reset)]
    told = events[resets[-1] if resets else 0 :]
    assert answer.answer == "".join(e.text for e in told if isinstance(e, Token)) != ""
    assert answer.citations == tuple(e.citation for e in told if isinstance(e, Cited))
    markers = {int(marker) for marker in re.findall(r"\[(\d+)\]", answer.answer)}
    assert markers == {source.marker for source in answer.sources}
    texts = {source.marker: source.text for source in answer.sources}
    assert all(citation.quote in texts[citation.marker] for citation in answer.citations)
    assert answer.citations or not answer.grounded
