"""Which rows of a table answer: the one that is asked for, or the one for all others.

A question about Tokyo's limit is answered by Tokyo's row, not by the rows beside it, however alike they
are; one about Paris, of which no row speaks, by the row "Other cities" where the table has one; one about limits over 150 by all rows that have
such a limit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from domain.retrieval import RetrievedItem
from domain.tables.asking import asked_of
from domain.tables.computing import Operation, matching
from domain.tables.table import make_table
from domain.tables.wording import bounds_in
from domain.text import normalise
from models.sentence_ranking import Candidate, content_words, table_heads

# What a row is for stands in its first cell; in another one, "other cities" are those of some class.
_ALL_OTHERS = re.compile(
    r"(?:(?:all |any )?others?\b|elsewhere\b|(?:the )?rest\b|otherwise\b|其他|其它|其余|其餘)",
    re.IGNORECASE,
)
_BAR = re.compile(r"(?<!\\)\|")
# So many rows are quoted of those that keep a bound.
_MOST_WITHIN = 10


def asked_themselves(ranked: Sequence[Candidate], question: str) -> list[Candidate]:
    """`ranked` without the rows that are asked for only by what a follow-up borrowed.

    "And in Brno? (Tokyo, hotel limit)" asks for Brno's row, where the table has one, and not for Tokyo's:
    what was asked before stands in brackets at the end (`nodes.follow_up`).
    """
    own, borrowed, _ = question.rpartition(" (")
    if not borrowed or not question.endswith(")"):
        return list(ranked)
    words = content_words(own)
    tables = {one.source for one in ranked if _is_row(one) and _told(one, words)}
    return [
        one for one in ranked if not (_is_row(one) and one.source in tables) or _told(one, words)
    ]


def row_for_others(ranked: Sequence[Candidate], asked: Collection[str]) -> Candidate | None:
    """The row for all others, where the best is a row of a table that has none for what is asked.

    Args:
        ranked: the sentences, best first.
        asked: the content words of the question.
    """
    best = ranked[0]
    if not (_is_row(best) and best.missing):
        return None
    rows = [one for one in ranked if one.source == best.source and _is_row(one)]
    others = [row for row in rows if _ALL_OTHERS.match(row.text)]
    named = any(_told(row, asked) for row in rows if row not in others)
    return others[0] if others and not named else None


def rows_within(
    best: Candidate, ranked: Sequence[Candidate], passage: RetrievedItem, question: str
) -> list[Candidate]:
    """The rows of the best's table that keep the bounds which the question sets, in the table's order.

    None where the question sets none, or it is not certain which column it bounds.

    Args:
        best: the best of `ranked`.
        ranked: the sentences.
        passage: what the best stands in.
        question: asks, say, for plans that cost more than 100.
    """
    if not (_is_row(best) and bounds_in(normalise(question))):
        return []
    heads = [_cells(head) for head in table_heads(passage)]
    rows = sorted(
        (one for one in ranked if one.source == best.source and _is_row(one)),
        key=lambda row: row.start,
    )
    told = [_cells(_line(passage.text, row.start)) for row in rows]
    if len(heads) != 1 or any(len(cells) != len(heads[0]) for cells in told):
        return []
    table = make_table([*heads, *told], header_rows=1)
    asked = asked_of(question, table, table.columns())
    if asked is None or asked.operation not in (Operation.VALUE, Operation.COUNT):
        return []
    if all(condition.number is None for condition in asked.conditions):
        return []
    return [rows[at] for at in matching(table, asked.conditions)][:_MOST_WITHIN]


def only_beside(row: Candidate, chosen: Sequence[Candidate], asked: Collection[str]) -> bool:
    """Whether `row` stands beside a chosen row that is asked for, and is not asked for itself."""
    rows = [one for one in chosen if one.source == row.source and _is_row(one)]
    told = [_told(one, asked) for one in rows]
    return _is_row(row) and any(told) and _told(row, asked) <= set[str]().union(*told)


def _told(row: Candidate, asked: Collection[str]) -> set[str]:
    said = normalise(row.text)
    return {word for word in asked if word in said}


def _is_row(candidate: Candidate) -> bool:
    return "|" in candidate.text


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in _BAR.split(row.strip().strip("|"))]
