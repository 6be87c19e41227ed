"""The traces that docs/answers.md shows are those of the sample documents, in every mode."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
import pytest_asyncio

from sextant import Sextant
from sextant.domain.answers import Answer, Citation, Done, Event, Retrieved, Source, Status
from sextant.domain.settings import Settings

ROOT = Path(__file__).parents[3]
SHOWN = re.findall(
    r"^```text\n((\w+) · ([^\n]*)\n.*?)^```$",
    (ROOT / "docs/answers.md").read_text(),
    re.MULTILINE | re.DOTALL,
)

# Which documents `bypass` names depends on which were done first.
_SOME_DOCUMENTS = re.compile(r"(?<=这里有：).*|(?<=可以这样问：).*")


def trace_of(question: str, events: Sequence[Event]) -> str:
    """Return the nodes in order, the mode of each retrieval, the answer, and its sources.

    Times and scores are left out, since they vary between runs.
    """
    [done] = [event for event in events if isinstance(event, Done)]
    answer = done.answer
    steps = list[str]()
    for event in events:
        if isinstance(event, Status):
            steps.append(event.node)
        elif isinstance(event, Retrieved):
            steps[-1] += f" ({event.mode})"
    lines = [f"{answer.mode} · {question}", " → ".join(steps), "", answer.answer, ""]
    for source in answer.sources:
        lines += _trace_lines(source, answer)
    return "\n".join(
        [*lines, f"trust: {answer.trust.value}{', declined' if answer.declined else ''}\n"]
    )


def _trace_lines(source: Source, answer: Answer) -> list[str]:
    path = " › ".join([source.filename, *source.section_path])
    page = f", page {source.page}" if source.page else ""
    lanes = ", ".join(f"{name} {ranks['rank']}" for name, ranks in sorted(source.lanes.items()))
    ranks = f"; rank by lane: {lanes}" if lanes else ""
    citations = [citation for citation in answer.citations if citation.marker == source.marker]
    return [f"[{source.marker}] {path}{page}{ranks}", *map(_quote_line, citations)]


def _quote_line(citation: Citation) -> str:
    return (
        f"    {citation.start}–{citation.end}, support {citation.support:.1f}: “{citation.quote}”"
    )


@pytest_asyncio.fixture(scope="module")
async def rag(settings: Settings) -> AsyncIterator[Sextant]:
    async with Sextant.open(settings) as opened:
        await opened.ingest([ROOT / "samples" / "documents"], graph_id="demo")
        yield opened


def test_every_mode_is_shown() -> None:
    modes = {mode for _, mode, _ in SHOWN}
    assert modes == {"naive", "local", "global", "hybrid", "mix", "bypass"}


@pytest.mark.parametrize(
    ("shown", "mode", "question"), SHOWN, ids=[f"{mode}-{question}" for _, mode, question in SHOWN]
)
async def test_a_question_goes_the_way_that_is_shown(
    rag: Sextant, shown: str, mode: str, question: str
) -> None:
    events = [event async for event in rag.stream(question, graph_id="demo", mode=mode)]
    told = trace_of(question, events)
    assert _SOME_DOCUMENTS.sub("…", told) == _SOME_DOCUMENTS.sub("…", shown)
