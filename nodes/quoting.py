"""Answers without a chat model: quotations from the passages, or that there are none."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from typing import TYPE_CHECKING

from domain.events import Cited, Token
from domain.retrieval import RetrievedItem
from nodes.answer_generator import NOTHING_FOUND, AnswerEvent, ending, said
from nodes.citations import Citations
from nodes.support import Quote

if TYPE_CHECKING:
    from models.extractive import Extraction, ExtractiveAnswerer

FOUND = {"en": "According to the documents:", "zh": "根据文档："}
NEAREST = {"en": "The nearest passage is this one:", "zh": "最接近的内容见："}

# A document's own reference numbers would look like our markers.
_LIKE_A_MARKER = re.compile(r"[\[【](\d+)[\]】]")


async def quoted(
    answerer: ExtractiveAnswerer, question: str, items: Sequence[RetrievedItem], language: str
) -> AsyncGenerator[AnswerEvent]:
    """Yield the answer that quotes the best sentences of `items`, cited sentence by sentence."""
    found = await answerer.extract(question, items, language=language)
    given = Citations(items)
    if found.quotations:
        yield given.token(FOUND[language])
        for event in _quotations(found, items, given):
            yield event
    elif found.nearest is None:
        for whole in said(NOTHING_FOUND[language], answerer.name):
            yield whole
        return
    else:
        gap = "" if language == "zh" else " "
        yield given.token(f"{NOTHING_FOUND[language]}{gap}{NEAREST[language]}")
        yield given.token(f"{gap}[{given.marker(found.nearest)}]")
    for last in ending(given, answerer.name, grounded=bool(found.quotations)):
        yield last


def _quotations(
    found: Extraction, items: Sequence[RetrievedItem], given: Citations
) -> Iterator[Token | Cited]:
    for quotation in found.quotations:
        marker = given.marker(quotation.source)
        shown = unmarked(quotation.sentence)
        yield given.token(f"\n{shown}")
        yield given.token(f"[{marker}]")
        offset = int(items[quotation.source].metadata.get("start") or 0)
        quote = Quote(quotation.sentence, offset + quotation.start, offset + quotation.end, 1.0)
        yield given.cite(marker, f"{shown}[{marker}]", quote)


def unmarked(text: str) -> str:
    """Return `text` with what looks like one of our markers in round brackets."""
    return _LIKE_A_MARKER.sub(r"(\1)", text)
