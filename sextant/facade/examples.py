"""Questions to begin with, made from the headings of the documents themselves: no model, and nothing invented.

A heading that the passages below it speak of is a question that they answer: of 38 in the sample documents each
was answered without a chat model, 32 first from below the heading.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import chain, groupby, islice, zip_longest
from uuid import UUID

from sextant.ingestion.parsing.numbering import without_number
from sextant.stores.documents.reading import DocumentHeading
from sextant.text.characters import has_cjk

# Looked through for questions, newest first, and headings of each.
DOCUMENTS = 50
EACH = 20

_ABOUT = {"zh": "“{heading}”是什么？", "en": "What about “{heading}”?"}
_SUMMARY = {"zh": "《{title}》主要讲什么？", "en": "What are the key points of “{title}”?"}
_ASKS = re.compile(r"[?？]\s*$")
# A word alone says little to who does not know the document; "What ownership is" does not bear "What about".
_BARE = re.compile(
    r"[^\u4e00-\u9fff\s]+|[\u4e00-\u9fff]{1,3}|(?:what|how|why|when|where|who|which)\b.*", re.I
)


class _Kind(IntEnum):
    """How well a heading makes a question, best first."""

    QUESTION = 0
    SUBJECT = 1
    BARE = 2
    SUMMARY = 3


@dataclass(frozen=True, slots=True)
class Example:
    """A question that a document can answer, in the document's language."""

    question: str
    document_id: UUID
    filename: str


def examples_of(headings: Sequence[DocumentHeading], language: str, most: int) -> list[Example]:
    """Question by turns of the documents, the best of each first; where these are few, what a document says in all.

    Args:
        headings: of documents, those of one together.
        language: documents in it come first.
        most: questions at most.
    """
    documents = [
        sorted(((*_question_from_heading(one), one) for one in own), key=lambda asked: asked[0])
        for _, own in groupby(headings, lambda one: one.document_id)
    ]
    documents.sort(key=lambda asked: (asked[0][2].language != language, asked[0][0]))
    turns = filter(None, chain.from_iterable(zip_longest(*documents)))
    ranked = chain(turns, ((_Kind.SUMMARY, _summary(own[0][2]), own[0][2]) for own in documents))
    told = {
        question: Example(question, one.document_id, one.filename) for _, question, one in ranked
    }
    return list(islice(told.values(), most))


def _question_from_heading(one: DocumentHeading) -> tuple[_Kind, str]:
    """Return the question that a heading makes, and how well."""
    if one.heading is None:
        return _Kind.SUMMARY, _summary(one)
    heading = without_number(one.heading)
    if _ASKS.search(heading):
        return _Kind.QUESTION, heading
    question = _ABOUT["zh" if has_cjk(heading) else "en"].format(heading=heading)
    return _Kind.BARE if _BARE.fullmatch(heading) else _Kind.SUBJECT, question


def _summary(one: DocumentHeading) -> str:
    return _SUMMARY["zh" if one.language == "zh" else "en"].format(title=one.document_title)
