"""Fills a query from a question by grammar, or leaves it alone where anything is not sure.

Every word must be accounted for: as a name in the table, as part of the query, or as one of few words that keep no
row out. One word more ("median", "growth", pears) and the question is not taken on.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sextant.tables.cells.table import DataTable
from sextant.tables.query.bounds import (
    take_bounds,
    take_comparisons,
    take_dates,
    take_denials,
    take_none,
)
from sextant.tables.query.column_links import QuestionReading, link_names
from sextant.tables.query.comparisons import ANY_YEAR, COMPARING, bounds_in, dates_in
from sextant.tables.query.computation_choice import QueryChooser
from sextant.tables.query.grammar import CHINESE, ENGLISH, Grammar
from sextant.tables.query.query import TableQuery
from sextant.tables.query.statements import FinancialStatement, is_for_statement, parse_statement
from sextant.text.characters import has_cjk, plain_of
from sextant.text.number_words import in_digits

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
