"""The questions that one joins: "the highest and the lowest price", "which sold most, and what is the total?"."""

from __future__ import annotations

import re

from sextant.tables.question.wording import LARGEST, MEAN_WORDS, SMALLEST, SUM_WORDS

_ONE = f"(?:{LARGEST}|{SMALLEST}|{SUM_WORDS}|{MEAN_WORDS})"
_AND = r"\s*(?:,\s*and\b|\band\b|[,、和与及跟]|以及)\s*(?:\b(?:the|its|their)\s+)?"
# "The highest and the lowest price", 最高价和最低价: the same noun may stand behind each.
_SEVERAL = re.compile(
    rf"(?P<first>{_ONE})(?P<noun>[^,、?？]{{0,30}}?)(?P<more>(?:{_AND}{_ONE}(?P=noun))+)",
    re.IGNORECASE,
)
_EACH = re.compile(_ONE, re.IGNORECASE)
_CUT = re.compile(
    r"(?<=[?;？；])\s*(?=\S)|[,，]\s*(?=\S)|(?<=\s)and\s+(?:also\s+)?(?=(?:who|what|when|where|how|which)\b)",
    re.IGNORECASE,
)
_JOINING = re.compile(r"^(?:and|also|then)\b\s*|^(?:以及|并且|另外|同时|还有)", re.IGNORECASE)
_ASKS = re.compile(
    r"\b(?:who|what|when|where|how|which)\b|什么|多少|哪|谁|[几何]|怎", re.IGNORECASE
)
# Of what the clause before has led to.
_POINTS_BACK = re.compile(
    r"\b(?:it|its|they|their|them|that|those|these|he|she|his|her|one|ones)\b|[它他她]|其|[当该][月年天日]|[这那该][个些位家款]|^占|\b(?:share|percent(?:age)?)\b",
    re.IGNORECASE,
)


def clauses_in(question: str) -> list[str]:
    """Return the clauses of a question, each of which asks and stands alone; [] where it is one, or one leans on another."""
    parts = [_JOINING.sub("", part.strip()) for part in _CUT.split(question)]
    parts = [part for part in parts if part]
    alone = all(_ASKS.search(part) for part in parts)
    leaning = any(_POINTS_BACK.search(part) for part in parts[1:])
    return parts if len(parts) > 1 and alone and not leaning else []


def each_of(question: str) -> list[str]:
    """Return the questions that one joins: "the highest and the lowest price" asks for two computations."""
    match = _SEVERAL.search(question)
    if match is None:
        return [question]
    start, end = match.span()
    forms = [match["first"], *_EACH.findall(match["more"])]
    return [f"{question[:start]}{form}{match['noun']}{question[end:]}" for form in forms]
