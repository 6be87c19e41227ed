"""Fills a query from a question, or leaves it alone where anything is not sure.

A question is cut into tokens (`tokens`): names of columns and values that the table has (`linker`), numbers and dates, and
words by what they ask for, which `english.txt` and `chinese.txt` list. Productions take together what bounds the rows
(`conditions`), and others choose the query (`chooser`). Every word must be accounted for (`leftovers`): as a name, as
part of the query, or as one of few words that keep no row out. One word more ("median", "growth", pears) and the question
is not taken on. Questions that relate items and years of a statement are read in `statements`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sextant.tables.cells.table import DataTable
from sextant.tables.query.chooser import QueryChooser
from sextant.tables.query.conditions import Conditions
from sextant.tables.query.leftovers import Leftovers
from sextant.tables.query.lexicon import WORDS
from sextant.tables.query.linker import Linker, is_list
from sextant.tables.query.query import TableQuery
from sextant.tables.query.statements import FinancialStatement, is_for_statement, parse_statement
from sextant.tables.query.tokens import LONGEST, NUMBER, Question, collect_kinds, split_computations
from sextant.text.characters import plain_of
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


_COMPUTING = frozenset(["max", "min", "sum", "mean", "count", "share", "apart"])
_COMPARING = frozenset(
    [">", "<", ">=", "<=", "=", "negative", "positive", "zero", ">=_behind", "<=_behind"]
)
_DATING = frozenset(["DATE", "month", "after", "before"])


def lists_rows(question: str) -> bool:
    """Return whether a question asks for all rows that are so."""
    return is_list(Question(plain_of(question)).tokens())


def may_compute(question: str) -> bool:
    """Return whether a question may ask for something computed, of whatever table: cheap, and often wrong."""
    kinds = collect_kinds(plain_of(question))
    lists = "exist" in kinds and bool(kinds & {"which", "what", "list"})
    compares = "than" in kinds and bool(kinds & {"greater", "less"})
    is_any = bool(kinds & (_COMPUTING | _COMPARING | _DATING))
    return is_any or lists or compares or lists_rows(question)


def asks_computation(question: str) -> bool:
    """Return whether a question asks for an operation, an order or a bound."""
    kinds = collect_kinds(plain_of(question), whole=True)
    return bool(kinds & _COMPUTING) or (NUMBER in kinds and bool(kinds & _COMPARING))


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
    found = [parse_query(part, table, about) for part in split_computations(question)]
    return [one for one in found if one] if all(found) else []


def parse_query(question: str, table: DataTable, about: str = "") -> TableQuery | None:
    """Return the one query that a question is over a table; None if anything is not sure.

    Args:
        question: in Chinese or English.
        table: the table.
        about: its caption, or the names of its document and sections.
    """
    if len(question) > LONGEST:
        return None
    statement = parse_statement(question, table)
    if statement or is_for_statement(question, table):
        return statement
    asked = Question(in_digits(plain_of(question)).replace("’", "'"))
    if "refused" in WORDS.collect_kinds(asked.text):
        return None
    linker = Linker(question, table, asked)
    linker.link()
    conditions = Conditions(asked, table, linker)
    conditions.reduce()
    if conditions.is_unsure or FinancialStatement(table).leading:
        return None
    chooser = QueryChooser(table, linker, conditions, asked.text, about)
    found = chooser.choose()
    if found is None or Leftovers(question, table, chooser, about).exist():
        return None
    return replace(found, is_guessed=conditions.is_guessed)
