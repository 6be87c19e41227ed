"""Which rows of a table answer: the one that is asked for, or the one for all others.

A question about Tokyo's limit is answered by Tokyo's row, not by the rows beside it, however alike they
are; one about Paris, of which no row speaks, by the row "Other cities" where the table has one; one about
limits over 150 by all rows that have such a limit; one about the highest by the row that has it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Protocol, TypeVar

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidate import Candidate
from sextant.models.offline.passages import is_row, table_heads
from sextant.models.offline.sentence_form import is_for_all_others
from sextant.models.offline.wording import content_words, own_part, terms
from sextant.tables.cells.arithmetic import Operation, compute, matching
from sextant.tables.cells.stored import cells_of
from sextant.tables.cells.table import DataTable, make_table
from sextant.tables.query.bands import rows_of_band
from sextant.tables.query.chinese import CHINESE
from sextant.tables.query.comparisons import bounds_in
from sextant.tables.query.dates import ANY_YEAR, dates_in
from sextant.tables.query.english import ENGLISH
from sextant.tables.query.parsing import lists_rows, parse_query
from sextant.tables.query.query import TableQuery
from sextant.text.characters import has_cjk, normalise
from sextant.text.negation import negates
from sextant.text.number_words import in_digits
from sextant.text.other_words import Otherwise, statement_synonyms
from sextant.text.whole_words import find_whole

_FIELD = re.compile(r"([^:|.]{1,20}):(?!//)")
# Asks for all that are so; one with a bound alone may ask of a row that it names.
_LISTING = re.compile(
    r"\b(?:which|list|how many)\b|哪些|哪几|[几多][少]?[个种款件项条家名]", re.IGNORECASE
)
# More or less of something than another has, 比无线键盘贵.
_THAN = re.compile(r"\bthan\b|比.{1,20}[贵宜高低多少大小长短重轻快慢早晚]")
# Asks which one it is; "how much at most" asks of one that it names.
_OUTERMOST = re.compile(
    r"\b(?:which|who)\b|\bwhat(?:['’]s| is| are| was| were) the (?:\w+ )?\w+(?:est|st)\b"
    r"|(?:哪|什么|谁).{0,20}最|最.{1,4}的.{0,12}[是有](?:哪|什么|谁)"
)
_MOST_OR_LEAST = [
    grammar.operations[end]
    for grammar in (ENGLISH, CHINESE)
    for end in (Operation.MAX, Operation.MIN)
]
# So many rows are quoted of those that keep a bound or share the largest value.
_MOST_WITHIN = 10


class _HasText(Protocol):
    """A sentence or row of a passage, in either language."""

    @property
    def source(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def meaning(self) -> str: ...


_Said = TypeVar("_Said", bound=_HasText)


def asked_themselves(ranked: Sequence[_Said], question: str) -> list[_Said]:
    """`ranked` without the rows that are asked for only by what a follow-up borrowed.

    "And in Brno? (Tokyo, hotel limit)" asks for Brno's row, where the table has one, and not for Tokyo's:
    what was asked before stands in brackets at the end (`sextant.nodes.question.conversation`). A city or the like that
    no row and no head of a table has is not asked of its rows, but for the one for all others.
    """
    own = own_part(question)
    if own == question:
        return list(ranked)
    words, otherwise = content_words(own), statement_synonyms(own)
    most = Counter[int]()
    for one in filter(_is_row, ranked):
        most[one.source] = max(most[one.source], len(_told(one, words, otherwise)))
    elsewhere = otherwise and not any(most.values())

    def may_answer(one: _HasText) -> bool:
        if not _is_row(one):
            return True
        if elsewhere:
            head = normalise(one.meaning)
            in_head = any(word in head or form.search(head) for word, form in otherwise)
            return in_head or is_for_all_others(one.text)
        return len(_told(one, words, otherwise)) == most[one.source]

    return [one for one in ranked if may_answer(one)]


def rows_instead(
    ranked: Sequence[Candidate], asked: Collection[str], otherwise: Otherwise
) -> list[Candidate]:
    """Return the rows that answer where the best is a row of a table that has none for what is asked.

    The row for all others ("Other cities"). Or all rows, in the table's order, where the head has what is
    asked and no row a word of it: how many days of leave a newcomer gets is told by the row for less than a
    year, and three of four rows may leave out just that. None of many rows.

    Args:
        ranked: the sentences, best first.
        asked: the content words of the question.
        otherwise: where a text says these in other words.
    """
    best = ranked[0]
    rows = [one for one in ranked if one.source == best.source and _is_row(one)]
    if not _is_row(best):
        return []
    others = [row for row in rows if is_for_all_others(row.text)]
    told = [row for row in rows if _told(row, asked, otherwise)]
    if best.missing and others and all(row in others for row in told):
        return others[:1]
    return sorted(rows, key=lambda row: row.start) if not told and len(rows) <= _MOST_WITHIN else []


def rows_together(
    best: Candidate, ranked: Sequence[Candidate], items: Sequence[RetrievedItem], question: str
) -> list[Candidate]:
    """Return the rows of the best's table that answer together, in its order; none where single ones may.

    Args:
        best: the best of `ranked`.
        ranked: the sentences.
        items: the passages they stand in.
        question: asks, say, for plans that cost more than 100, or for the dearest plan.
    """
    within = _rows_within(best, ranked, items, question)
    return within or _rows_alike(best, ranked, question)


def _rows_alike(best: Candidate, ranked: Sequence[Candidate], question: str) -> list[Candidate]:
    """Return the rows that have all that the best one has of the question, where it asks for all that are so.

    "Which trains go from Vienna to Graz?" is answered by each of them, in the table's order; none where
    one row alone has it.
    """
    if is_beside_computed(best, question) or not (_is_row(best) and lists_rows(question)):
        return []
    words = content_words(question)
    columns = _columns_named(question, best)
    asked = [word for word in words if word not in columns and _told(best, [word])] or words
    told = _told(best, asked)
    alike = [
        row
        for row in ranked
        if row.source == best.source and _is_row(row) and told and _told(row, asked) >= told
    ]
    others = any(row.source == best.source and _is_row(row) and row not in alike for row in ranked)
    several = len(alike) > 1 and others  # what all rows have singles out none
    return sorted(alike, key=lambda row: row.start)[:_MOST_WITHIN] if several else []


def _columns_named(question: str, row: Candidate) -> list[str]:
    """Return the words of the question that name a column: "which cities" singles out no row, "Other cities" neither."""
    asked = normalise(question)
    head = cells_of(normalise(row.meaning.partition("\n")[0]))
    spans = filter(None, (find_whole(asked, name) for name in head))
    return [word for start, end in spans for word in terms(asked[start:end])]


def _rows_within(
    best: Candidate, ranked: Sequence[Candidate], items: Sequence[RetrievedItem], question: str
) -> list[Candidate]:
    """Return the rows of the best's table that keep the bounds which the question sets, in the table's order.

    Or those in whose range a number of the question lies ("up to 5,000"), or those with the largest or
    smallest value, where it asks for that and the passage has the whole table. None where the question asks
    for neither, or it is not certain of which column.
    """
    if not _is_row(best):
        return []
    heads = _heads(items[best.source])
    rows = sorted(
        (one for one in ranked if one.source == best.source and _is_row(one)),
        key=lambda row: row.start,
    )
    told = [cells_of(_line(items[best.source].text, row.start)) for row in rows]
    if len(heads) != 1 or any(len(cells) != len(heads[0]) for cells in told):
        return []
    table = make_table([*heads, *told], header_rows=1)
    if banded := rows_of_band(table, question):
        return _most_told([rows[place] for place in banded], question)
    asked = parse_query(question, table)
    if asked is None:
        return []
    if asked.order_by is not None or asked.aggregate is Operation.COUNT:
        document = items[best.source].document_id
        parts = [item for item in items if (item.document_id, _heads(item)) == (document, heads)]
        if len(parts) > 1:
            return []
    at = _outermost(table, asked, question) if asked.order_by else _within(table, asked)
    return [rows[place] for place in at][:_MOST_WITHIN]


def _heads(item: RetrievedItem) -> list[list[str]]:
    return [cells_of(head) for head in table_heads(item)]


def _most_told(rows: Sequence[Candidate], question: str) -> list[Candidate]:
    """Return those of `rows` that have most of the question: of all with five years of service, the drivers'."""
    words, otherwise = content_words(question), statement_synonyms(question)
    told = [len(_told(row, words, otherwise)) for row in rows]
    return [row for row, many in zip(rows, told, strict=True) if many == max(told)]


def is_beside_computed(row: _HasText, question: str) -> bool:
    """Return whether a row cannot be the answer to a question for those that keep a bound, or for the most of all.

    "Which parts cost more than 100?" is not answered by part 100, "Which have no stock?" by any that does not
    say so, "Which are due before May?" by any, nor "Which part is the dearest?" by any part: where no row is
    known to be it (`rows_together`), none is shown. A row that states a bound itself ("over 500 km"), or says
    that it is the most ("Maximum load"), may be what is asked for.
    """
    if not _is_row(row):
        return False
    asked = normalise(question)
    if _LISTING.search(question):
        if bounds_in(asked):
            return not bounds_in(normalise(row.text))
        if negates(question) or _THAN.search(asked) or _is_bounded_by_date(asked):
            return not negates(row.text)
    if _OUTERMOST.search(asked) and any(form.search(asked) for form in _MOST_OR_LEAST):
        return not any(form.search(normalise(row.text)) for form in _MOST_OR_LEAST)
    return False


def _is_bounded_by_date(asked: str) -> bool:
    """Return whether a question asks for what is before or after a date, and not for what is of it."""
    bounds = Counter(span for span, *_ in dates_in(asked, ANY_YEAR))
    return 1 in bounds.values()


def _within(table: DataTable, asked: TableQuery) -> Sequence[int]:
    """Return the rows that keep the question's bounds."""
    bounded = any(condition.number is not None for condition in asked.where)
    listed = asked.aggregate in (None, Operation.COUNT) and asked.order_by is None
    return matching(table, asked.where) if bounded and listed else ()


def _outermost(table: DataTable, asked: TableQuery, question: str) -> Sequence[int]:
    """Return the rows with the largest or smallest value of a column that the question names."""
    if asked.column is None or asked.group_by is not None or asked.order_by is None:
        return ()
    if set(terms(table.names[asked.column])).isdisjoint(terms(question)):
        return ()
    column = table.columns[asked.column]
    found = compute(asked.order_by.operation, column, matching(table, asked.where))
    return found.at if found and not found.left_out else ()


def only_beside(row: Candidate, chosen: Sequence[Candidate], asked: Collection[str]) -> bool:
    """Return whether `row` stands beside a chosen row that is asked for, and is not asked for itself.

    One that is called like a chosen row, and has as much of the question, is: "Drivers, 0–4 years" beside
    "Drivers, 5 or more".
    """
    rows = [one for one in chosen if one.source == row.source and _is_row(one)]
    told, own = [_told(one, asked) for one in rows], _told(row, asked)
    if any(own == of_it and _is_of_one(row, one) for one, of_it in zip(rows, told, strict=True)):
        return False
    return _is_row(row) and any(told) and own <= set[str]().union(*told)


def _is_of_one(row: Candidate, other: Candidate) -> bool:
    """Return whether the first cells of two rows say the same."""
    return cells_of(normalise(row.text))[0] == cells_of(normalise(other.text))[0]


def only_another_field(
    line: Candidate, chosen: Sequence[Candidate], asked: Collection[str]
) -> bool:
    """Return whether `line` is a field (`乙方：…`) beside a chosen one whose name is asked for, and its own is not."""
    named = [_field(one) for one in chosen if one.source == line.source]
    own = _field(line)
    return (
        bool(own)
        and not any(word in own for word in asked)
        and any(word in name for name in named for word in asked)
    )


def _field(line: Candidate) -> str:
    """Return what a line says before its colon, where that is short enough to be the name of a field."""
    match = _FIELD.match(normalise(line.text))
    return match[1] if match else ""


def _told(row: _HasText, asked: Collection[str], otherwise: Otherwise = ()) -> set[str]:
    said = normalise(row.text)
    # A single letter is the whole of a cell, as in "grade c", or stands everywhere.
    cells = set(cells_of(in_digits(said)))
    told = {
        word
        for word in asked
        if word in cells or ((len(word) > 1 or has_cjk(word)) and word in said)
    }
    return told.union(word for word, pattern in otherwise if pattern.search(said))


def _is_row(candidate: _HasText) -> bool:
    return is_row(candidate.text)


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
