"""Your own questions as tests: copy this file, put in your documents and questions, and run `pytest`.

It needs `pytest` and `pytest-asyncio`.

Settings are those of the environment and `.env`, so the same questions can be asked with and without a chat model, and
with one model after another. With LangSmith's plugin (`langsmith[pytest]`), `@pytest.mark.langsmith` on the
test makes an experiment of each run.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio

from sextant import Sextant

DOCUMENTS = Path(__file__).parents[1] / "documents"
FILES = ("release-notes.md", "rust-ownership.md", "产品周会纪要-2025-03-24.md")
GRAPH = "evaluation"


@dataclass(frozen=True)
class Expected:
    """A question, the file that must be cited, and words that the answer must have; no file: it must decline."""

    question: str
    source: str = ""
    words: tuple[str, ...] = ()


QUESTIONS = [
    Expected(
        "How does Rust keep memory safe without a garbage collector?",
        source="rust-ownership.md",
        words=("exactly one owner",),
    ),
    Expected(
        "增加低血糖随访提醒估算要多少人日？",
        source="产品周会纪要-2025-03-24.md",
        words=("9 人日",),
    ),
    Expected("Who composed the opera The Magic Flute?"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rag() -> AsyncIterator[Sextant]:
    """Open Sextant; documents that are there already are not read again."""
    async with Sextant.open() as opened:
        await opened.ingest([DOCUMENTS / name for name in FILES], graph_id=GRAPH)
        yield opened


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("expected", QUESTIONS, ids=lambda one: one.question)
async def test_the_answer_cites_its_source_and_has_the_words(
    rag: Sextant, expected: Expected
) -> None:
    """Ask, and compare the answer with what is expected."""
    answer = await rag.query(expected.question, graph_id=GRAPH)

    assert answer.declined == (not expected.source), answer.answer
    if expected.source:
        assert expected.source in {one.filename for one in answer.sources}
    # PDFs and Chinese texts break lines anywhere.
    said = "".join(answer.answer.split()).casefold()
    missing = [one for one in expected.words if "".join(one.split()).casefold() not in said]
    assert not missing, answer.answer
