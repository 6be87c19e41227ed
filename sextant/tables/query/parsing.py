"""Fills a query from a question by grammar, or leaves it alone where anything is not sure.

Every word must be accounted for: as a name in the table, as part of the query, or as one of few words that keep no
row out. One word more ("median", "growth", pears) and the question is not taken on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal

from sextant.tables.cells.arithmetic import Comparison, Condition
from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.column_links import (
    UNIT,
    QuestionReading,
    link_names,
    names_column,
    plain_name,
)
from sextant.tables.query.comparisons import (
    ANY_YEAR,
    COMPARING,
    NONE_OF,
    against_in,
    bounds_in,
    dates_in,
)
from sextant.tables.query.computation_choice import QueryChooser
from sextant.tables.query.families import is_code, is_implied
from sextant.tables.query.grammar import CHINESE, ENGLISH, VALUE_MASK, Grammar
from sextant.tables.query.query import TableQuery
from sextant.tables.query.statements import FinancialStatement, is_for_statement, parse_statement
from sextant.tables.query.units import comparable, find_unit_columns, in_units_of, unit_counted
from sextant.text.characters import find_whole, has_cjk, plain_of
from sextant.text.number_words import in_digits

_AMOUNT_BEFORE = re.compile(r"\d\s*%?\s*(?:\S{1,6}\s*)?$")  # at least 10 below their minimum
_OF_ANOTHER = re.compile(r"\0+\s+of\b")  # more than the price of BM-40


def take_denials(reading: QuestionReading, named: Sequence[Condition]) -> list[Condition]:
    """Return the conditions `named`, with those turned round that the question denies: "not in Oslo", 不是白色."""
    columns_named = list(named)
    for match in reading.grammar.denied.finditer(reading.text):
        columns_inside = [
            column for at, column in reading.values if match.start() <= at < match.end()
        ]
        of_it = [column for _, column in reading.values if column in columns_inside]
        # "Not Sales, Oslo" and "in Oslo, not in Graz" say more than that.
        reading.is_lost |= len(set(columns_inside)) > 1 or len(of_it) > len(columns_inside)
        columns_named = [
            replace(one, denied=True) if one.column in columns_inside else one
            for one in columns_named
        ]
        reading.take(*match.span(), VALUE_MASK)
    return columns_named


def take_dates(reading: QuestionReading, columns: Sequence[Column]) -> Iterator[Condition]:
    """Yield conditions on dates, each on the column that the question names, else on the only one of dates."""
    dated = [column for column in columns if column.kind is ValueKind.DATE]
    taken = {index for _, index in reading.columns}
    named = [one for one in dated if one.index in taken or names_column(reading.text, one.name)]
    chosen = named[:1] or (dated if len(dated) == 1 else [])
    spans = set[tuple[int, int]]()
    years = {value.date.year for one in chosen for value in one.values if value.date}
    year = years.pop() if len(years) == 1 else None
    for span, comparison, day in dates_in(reading.text, year) if chosen else ():
        spans.add(span)
        yield Condition(chosen[0].index, comparison, day)
    for span in spans:
        reading.take(*span)


def take_comparisons(reading: QuestionReading, columns: Sequence[Column]) -> Iterator[Condition]:
    """Yield conditions of one column against another: "below their minimum stock", 实际支出超过预算.

    What is compared is named last before it; else its name is a part of the other's, or it is the only one
    that can be compared.
    """
    for (start, end), comparison in against_in(reading.text):
        other = next((columns[at] for position, at in reading.columns if position == end), None)
        if other is None or other.kind is ValueKind.TEXT:
            continue
        before = [
            index for position, index in sorted(reading.columns, reverse=True) if position < start
        ]
        alike = [one for one in columns if _comparable(one, other)]
        named = [columns[index] for index in before if columns[index].kind is other.kind]
        meant = named[:1] or _parts_of(other, columns) or alike
        by_so_much = _AMOUNT_BEFORE.search(reading.text[:start])
        reading.take(start, end)
        if (
            by_so_much
            or len(meant) != 1
            or meant[0] not in alike
            or _OF_ANOTHER.match(reading.text[end:])
        ):
            reading.is_lost = True
        else:
            yield Condition(meant[0].index, comparison, other=other.index)


def take_none(reading: QuestionReading, columns: Sequence[Column]) -> Iterator[Condition]:
    """Yield conditions for rows that have nothing of a column of numbers: 没有库存, "no stock"."""
    for match in NONE_OF.finditer(reading.text):
        column = next(
            (columns[at] for position, at in reading.columns if position == match.end()), None
        )
        if column is None or column.kind is not ValueKind.NUMBER:
            continue
        reading.take(*match.span())
        # An empty cell may mean none as well, or that nobody knows.
        reading.is_lost |= any(value.kind is not ValueKind.NUMBER for value in column.values)
        yield Condition(column.index, Comparison.EQUAL, Decimal(0))


def _parts_of(other: Column, columns: Sequence[Column]) -> list[Column]:
    """Return the columns whose name is a part of the other's: "Stock" of "Minimum stock"."""
    whole = plain_name(other.name)
    names = [(one, plain_name(one.name)) for one in columns if one.index != other.index]
    return [one for one, name in names if name and find_whole(whole, name)]


def _comparable(one: Column, other: Column) -> bool:
    """Return whether two columns have values of one kind and unit, be it in their names: "Price (EUR)"."""
    same = one.kind is other.kind and one.unit == other.unit and one.unit is not None
    in_names = [UNIT.findall(plain_of(column.name)) for column in (one, other)]
    return same and one.index != other.index and in_names[0] == in_names[1]


def take_bounds(reading: QuestionReading, columns: Sequence[Column]) -> Iterator[Condition]:
    """Yield conditions on numbers, each on the column named last before it, else first after it.

    Of several prices the one in the bound's unit is meant, named or not; but a share that is named stays
    the share, whatever else has percents. A bound right before the name of a column of words is on that column,
    whose cells are ranges ("5 or more"), and on no other.
    """
    numeric = [
        column.index
        for column in columns
        if column.kind is ValueKind.NUMBER and not is_code(column)
    ]
    named = sorted(position for position in reading.columns if position[1] in numeric)
    for (start, end), comparison, number in bounds_in(reading.text):
        bound = reading.text[start:end].rstrip()
        behind = reading.text[start + len(bound) :]
        in_unit = find_unit_columns([columns[at] for at in numeric], bound, behind)
        of = (
            at
            for position, at in reading.columns
            if position >= end and not reading.text[end:position].strip()
        )
        before = [column for at, column in named if at < start]
        near = [*before[::-1], *(column for at, column in named if at >= end)]
        implied = [at for at in numeric if is_implied(reading.text, columns[at])]
        candidates = near or (implied if len(implied) == 1 else [])
        alone = next((one for one in (in_unit, numeric) if len(one) == 1), [])
        unit_first = [at for at in near if at in in_unit] + _of_that_name(alone, near, columns)
        column = next(iter([*(unit_first if in_unit else ()), *(candidates or alone)]), None)
        reading.take(start, end)
        is_of_words = any(columns[at].kind is ValueKind.TEXT for at in of)
        if column is None or is_of_words or not comparable(bound, behind, columns[column]):
            reading.is_lost = True
        else:
            reading.is_guessed |= column not in (*candidates, *in_unit)
            counted = in_units_of(columns[column], number, bound, behind)
            yield Condition(column, comparison, counted)


def _of_that_name(
    alone: Sequence[int], near: Sequence[int], columns: Sequence[Column]
) -> list[int]:
    """Return the only column of its unit, unless what is named nearby has no unit and is called otherwise."""
    close = {plain_name(columns[at].name) for at in near if not unit_counted(columns[at])}
    return [at for at in alone if not close or plain_name(columns[at].name) in close]


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
    r"\b(?:it|its|they|their|them|that|those|these|he|she|his|her|one|ones|share|percent(?:age)?)\b|[它他她]|其"
    r"|[当该][月年天日]|[这那该][个些位家款]|^占",
    re.IGNORECASE,
)


def grammar_of(question: str) -> Grammar:
    """Return the grammar of a question's language."""
    return CHINESE if has_cjk(question) else ENGLISH


def lists_rows(question: str) -> bool:
    """Return whether a question asks for all rows that are so."""
    return grammar_of(question).lists.search(plain_of(question)) is not None


def may_compute(question: str) -> bool:
    """Return whether a question may ask for something computed, of whatever table: cheap, and often wrong."""
    text, grammar = plain_of(question), grammar_of(question)
    forms = (*grammar.operations.values(), COMPARING, grammar.lists, grammar.apart, grammar.share)
    asks_all = re.search(
        r"(?:do (?:we|you) have|are there)\b|[有是在]哪|涉及哪|包括哪|分[为成][哪几]", text
    )
    return (
        any(form.search(text) for form in forms)
        or asks_all is not None
        or bool(bounds_in(text) or dates_in(text, ANY_YEAR))
    )


def asks_computation(question: str) -> bool:
    """Return whether a question asks for an operation, an order or a bound."""
    text, grammar = plain_of(question), grammar_of(question)
    forms = (*grammar.operations.values(), grammar.apart, grammar.share, *grammar.ranks)
    return any(form.search(text) for form in forms) or bool(bounds_in(text))


def clauses_of(question: str) -> list[str]:
    """Return the clauses of a question, each of which asks and stands alone; [] where one leans on another."""
    parts = [_JOINING.sub("", part.strip()) for part in _CUT.split(question)]
    parts = [part for part in parts if part]
    alone = all(_ASKS.search(part) for part in parts)
    leaning = any(_POINTS_BACK.search(part) for part in parts[1:])
    return parts if len(parts) > 1 and alone and not leaning else []


def parse_queries(question: str, table: DataTable, about: str = "") -> list[TableQuery]:
    """Return what a question asks of a table, [] where any part of it is not sure.

    "The highest and the lowest price" asks for two computations.
    """
    grammar = grammar_of(question)
    match = grammar.joined.search(question.lower())
    parts = [question]
    if match is not None and len(question.lower()) == len(question):
        forms = [match["first"], *(found[0] for found in grammar.one.finditer(match["more"]))]
        start, end = match.span()
        noun = question[match.start("noun") : match.end("noun")]
        parts = [f"{question[:start]}{form}{noun}{question[end:]}" for form in forms]
    found = [parse_query(part, table, about) for part in parts]
    return [one for one in found if one] if all(found) else []


def parse_query(question: str, table: DataTable, about: str = "") -> TableQuery | None:
    """Return the one query that a question is over a table; None if anything is not sure.

    Args:
        question: in Chinese or English.
        table: the table.
        about: its caption, or the names of its document and sections.
    """
    statement = parse_statement(question, table)
    if statement or is_for_statement(question, table):
        return statement
    grammar = grammar_of(question)
    reading = QuestionReading(in_digits(plain_of(question)), grammar)
    words = take_denials(reading, link_names(reading, question, table))
    columns = table.columns
    where = (
        *words,
        *take_comparisons(reading, columns),
        *take_none(reading, columns),
        *take_dates(reading, columns),
        *take_bounds(reading, columns),
    )
    if (
        reading.is_lost
        or FinancialStatement(table).leading
        or _refuses(grammar, question, reading.text)
    ):
        return None
    parser = QueryChooser(reading, table, where, is_list=lists_rows(question))
    found = parser.choose()
    if found is None or parser.leaves_unexplained(question, about):
        return None
    return replace(found, is_guessed=reading.is_guessed)


def _refuses(grammar: Grammar, question: str, masked: str) -> bool:
    return any(grammar.refused.search(text) for text in (plain_of(question), masked))
