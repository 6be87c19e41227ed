"""The traces that docs/answers.md shows are those of the sample documents, in every mode."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from sextant import Sextant
from sextant.domain.settings import Settings
from sextant.testing.replies import trace_of

ROOT = Path(__file__).parents[3]
SHOWN = re.findall(
    r"^```text\n((\w+) · ([^\n]*)\n.*?)^```$",
    (ROOT / "docs/answers.md").read_text(),
    re.MULTILINE | re.DOTALL,
)

# Which documents `bypass` names depends on which were done first.
_SOME_DOCUMENTS = re.compile(r"(?<=这里有：).*|(?<=可以这样问：).*")


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
