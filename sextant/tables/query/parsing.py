"""Parse a question over a table into a query, or return none if any part of the question is not sure.

A question is cut into tokens (`tokens`): names of columns and values that the table has (`linker`), numbers and dates, and
words by what they ask for, which `english.txt` and `chinese.txt` list. Productions combine tokens into conditions on the
rows (`conditions`), and others choose the query (`chooser`). Every word must then be accounted for: as a name, as part of
the query, or as one of few words that exclude no row. One more word ("median", "growth", pears), and there is no query.
Questions that relate items and years of a statement are read in `statements`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.tables.cells.table import DataTable
from sextant.tables.query.chooser import QueryChooser
from sextant.tables.query.columns import read_kinds
from sextant.tables.query.conditions import CONDITION, Conditions
from sextant.tables.query.linker import Linker, is_list, plain_name
from sextant.tables.query.query import TableQuery
from sextant.tables.query.statements import FinancialStatement, is_for_statement, parse_statement
from sextant.tables.query.tokens import (
    COLUMN,
    HARMLESS,
    MAX_QUESTION_CHARS,
    NAME_WORDS,
    NUMBER,
    VALUE,
    WORD,
    WORDS,
    Question,
    QuestionToken,
    collect_kinds,
)
from sextant.text.characters import find_whole, has_cjk, plain_of
from sextant.text.number_words import in_digits
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.word_forms import stem

_COMPUTING = frozenset(["max", "min", "sum", "mean", "count", "share", "apart"])
_COMPARING = frozenset(
    [">", "<", ">=", "<=", "=", "negative", "positive", "zero", ">=_behind", "<=_behind"]
)
_DATING = frozenset(["DATE", "month", "after", "before"])


def lists_rows(question: str) -> bool:
    """Return whether a question asks for all rows that meet a condition."""
    return is_list(Question(plain_of(question)).tokens())


def may_compute(question: str) -> bool:
    """Return whether a question may ask for something computed of some table: a cheap test that is often wrong."""
    kinds = collect_kinds(plain_of(question))
    lists = "exist" in kinds and bool(kinds & {"which", "what", "list"})
    compares = "than" in kinds and bool(kinds & {"greater", "less"})
    is_any = bool(kinds & (_COMPUTING | _COMPARING | _DATING))
    return is_any or lists or compares or lists_rows(question)


def asks_computation(question: str) -> bool:
    """Return whether a question asks for an operation, an order or a bound."""
    kinds = collect_kinds(plain_of(question), whole=True)
    return bool(kinds & _COMPUTING) or (NUMBER in kinds and bool(kinds & _COMPARING))


def parse_query(question: str, table: DataTable, about: str = "") -> TableQuery | None:
    """Return the query that a question asks of a table; None if anything is not sure.

    Args:
        question: in Chinese or English.
        table: the table.
        about: its caption, or the names of its document and sections.
    """
    if len(question) > MAX_QUESTION_CHARS:
        return None
    statement = parse_statement(question, table)
    if statement or is_for_statement(question, table):
        return statement
    parsed = Question(in_digits(plain_of(question)).replace("’", "'"))
    if "refused" in WORDS.collect_kinds(parsed.text):
        return None
    linker = Linker(question, table, parsed)
    linker.link()
    conditions = Conditions(parsed, table, linker)
    conditions.reduce()
    if conditions.is_unsure or FinancialStatement(table).leading:
        return None
    chooser = QueryChooser(table, linker, conditions, parsed.text, about)
    found = chooser.choose()
    if found is None or _asks_more(found, chooser.tokens, parsed.text):
        return None
    return None if LeftoverWords(question, table, chooser, about).exist_for(found) else found


# Kinds of words that ask for something, and those that ask for a computation.
_ASKING = frozenset(["which", "what", "who", "when", "list", "how_much", "count", "share", "apart"])
_OF_EACH = frozenset(["分别", "各自", "respectively"])
_MAX_CAPTION_CHARS = 200  # a longer caption is a text, whose words do not describe the table
_NEARLY_ALL = 0.9  # a word in this share of the rows is in all of them ("Store 1", "Store 2")
_MIN_NOUN_CHARS = 4
_NAMES = frozenset({COLUMN, VALUE, CONDITION})
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b")


class LeftoverWords:
    """The words and names of a question that its query does not account for.

    Args:
        question: the question.
        table: its table.
        chooser: has chosen the query.
        about: the caption of the table.
    """

    def __init__(self, question: str, table: DataTable, chooser: QueryChooser, about: str) -> None:
        self._question, self._table, self._chooser = question, table, chooser
        used = {*chooser.named, *chooser.bound, *chooser.used}
        self._used = [table.columns[at] for at in sorted(used)]
        caption = about if len(about) <= _MAX_CAPTION_CHARS else ""
        of_words = [one.name for one in table.columns if one.index in chooser.words]
        # Names of other columns of numbers do not explain a word.
        self._above = plain_of(" ".join([caption, *(one.name for one in self._used), *of_words]))
        self._known = {stem(word) for word in NAME_WORDS.findall(self._above)}

    def exist_for(self, query: TableQuery) -> bool:
        """Return whether there is a word that nothing explains, or a named column without a part in the query."""
        taking_part = {*query.columns, *self._chooser.words[:1]}
        for token in self._chooser.tokens:
            if token.kind == COLUMN and token.column not in taking_part:
                name = plain_name(self._table.names[token.column])
                if find_whole(name, token.text) or find_whole(token.text, name):
                    return True
        senses = {kind for one in self._used for kind in read_kinds(one)}
        for token in self._chooser.left:
            if token.sense in senses and token.kind == "cost":
                continue
            if token.kind == "or" and len(self._chooser.where) <= 1:
                continue
            is_skippable = token.kind in HARMLESS
            if is_skippable and self._distinguishes_rows(token):
                return True
            if not is_skippable and not self._is_known(token):
                return True
        # A capitalised word that is no linked name but is in a cell: Max, Count Basie.
        words = {one.text for one in self._chooser.tokens if one.kind not in _NAMES}
        names = {one for one in _CAPITALISED.findall(self._question) if one.lower() in words}
        rows = [" ".join(row) for row in self._table.rows]
        return any(find_whole(row, name) for name in names for row in rows)

    def _distinguishes_rows(self, token: QuestionToken) -> bool:
        """Return whether a harmless word is in some rows of this table, which it may select: oak table, oak chair."""
        word = token.text
        if len(word) < _MIN_NOUN_CHARS or has_cjk(word):
            return False
        if word in ENGLISH_STOP_WORDS:  # "done" may be a status
            return any(plain_of(cell).strip() == word for row in self._table.rows for cell in row)
        return 0 < self._share_of_rows(stem(word)) < _NEARLY_ALL

    def _share_of_rows(self, word: str) -> float:
        """Return the share of rows with a stem."""
        begins = re.compile(("" if has_cjk(word) else r"\b") + re.escape(word))
        rows = [plain_of(" ".join(cells)) for cells in self._table.records]
        return sum(begins.search(row) is not None for row in rows) / max(len(rows), 1)

    def _is_known(self, token: QuestionToken) -> bool:
        """Return whether names of the table, its caption or nearly all of its rows have a word."""
        word = token.text.lstrip("-")  # of "sales-2024"
        if token.kind in {"not", "none"}:
            return False
        if token.kind == WORD and has_cjk(word):
            return word in self._above
        return stem(word) in self._known or self._share_of_rows(stem(word)) >= _NEARLY_ALL


def _asks_more(query: TableQuery, tokens: Sequence[QuestionToken], text: str) -> bool:
    """Return whether a question asks for more than its query: "the average price, and how many were sold?".

    Args:
        query: the query.
        tokens: the question's tokens.
        text: the question in plain spelling, which they were cut from.
    """
    is_total = query.aggregate is not None and not query.order_by
    asking = [one for one in _cut_clauses(tokens, text) if _asks(one)]
    computing = [one for one in asking if any(token.kind in _COMPUTING for token in one)]
    ends = {one.sense for one in tokens if one.kind in {"max", "min"} and one.text != "top"}
    is_of_each = not _OF_EACH.isdisjoint(one.text for one in tokens)
    of_several = (
        is_total and query.group_by is None and any(len(one.words) > 1 for one in query.where)
    )
    is_more = len(asking) > 1 and (is_total or (query.order_by and len(computing) > 1))
    return bool(is_more) or len(ends) > 1 or (is_of_each and of_several)


def _cut_clauses(tokens: Sequence[QuestionToken], text: str) -> list[list[QuestionToken]]:
    """Cut tokens at commas, question marks and ahead of a second question: "and how many"."""
    clauses, last = [list[QuestionToken]()], 0
    for at, one in enumerate(tokens):
        is_joined = one.kind == "and" and any(
            other.kind in _ASKING for other in tokens[at + 1 : at + 3]
        )
        if one.kind == "comma" or is_joined or not {"?", ";"}.isdisjoint(text[last : one.start]):
            clauses.append([])
        clauses[-1].append(one)
        last = one.end
    return clauses


def _asks(clause: Sequence[QuestionToken]) -> bool:
    """Return whether a clause is a question: "what is the price", 华南呢."""
    return any(one.kind in _ASKING for one in clause) or (clause != [] and clause[-1].text == "呢")
