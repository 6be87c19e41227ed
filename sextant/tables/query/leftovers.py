"""Whether a word of a question is left that may keep rows out, or ask for something else than the query does."""

from __future__ import annotations

import re

from sextant.tables.cells.table import DataTable
from sextant.tables.query.chooser import QueryChooser
from sextant.tables.query.column_kinds import read_kinds
from sextant.tables.query.conditions import CONDITION
from sextant.tables.query.tokens import COLUMN, HARMLESS, VALUE, WORD, QuestionToken
from sextant.text.characters import has_cjk, plain_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.word_forms import stem, synonym_patterns

_LONGEST_CAPTION = 200  # a longer one is a text, whose words are not those of the table
_OF_ALL = 0.9  # a word in so many rows is of all of them ("Store 1", "Store 2")
_LEAST_NOUN = 4  # characters
_NAMES = frozenset({COLUMN, VALUE, CONDITION})
_WORDS = re.compile(r"[a-z]+(?:[’'-][a-z]+)*|\d+(?:[.,]\d+)*|[^\W\da-z_]+")
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b")
_MARK = re.compile(r"(?<!^)\b(?!I\b)[A-Z][A-Z\d]{0,3}\b")


class Leftovers:
    """The words that a query does not account for.

    Args:
        question: as it was asked.
        table: that it is over.
        chooser: which has chosen the query.
        about: the caption of the table.
    """

    def __init__(self, question: str, table: DataTable, chooser: QueryChooser, about: str) -> None:
        self._question, self._table, self._chooser = question, table, chooser
        used = {*chooser.named, *chooser.bound, *chooser.used}
        self._used = [table.columns[at] for at in sorted(used)]
        caption = about if len(about) <= _LONGEST_CAPTION else ""
        of_words = [one.name for one in table.columns if one.index in chooser.words]
        # What another column of numbers is called is not what is computed here.
        self._above = plain_of(" ".join([caption, *(one.name for one in self._used), *of_words]))
        explained = plain_of(" ".join([caption, *of_words]))
        self._known = {stem(word) for word in _WORDS.findall(self._above)}
        self._known |= {
            stem(word)
            for word, form in synonym_patterns(question).items()
            if form.search(explained)
        }
        marks = _MARK.findall(question) if not question.isupper() else []
        self._marks = {mark.lower() for mark in marks}

    def exist(self) -> bool:
        """Return whether a word is left that is not explained."""
        senses = {kind for one in self._used for kind in read_kinds(one)}
        for token in self._chooser.left:
            if token.sense in senses and token.kind == "cost":
                continue
            if token.kind == "or" and len(self._chooser.where) <= 1:
                continue
            is_harmless = token.kind in HARMLESS
            if is_harmless and self._tells_rows_apart(token):
                return True
            if not is_harmless and not self._is_known(token):
                return True
        return self._names_someone()

    def _tells_rows_apart(self, token: QuestionToken) -> bool:
        """Return whether a word that keeps no row out of most tables stands in some rows of this one: oak table, oak chair."""
        word = token.text
        if len(word) < _LEAST_NOUN or has_cjk(word) or word in ENGLISH_STOP_WORDS:
            return False
        return 0 < self._share_of_rows(stem(word)) < _OF_ALL

    def _share_of_rows(self, word: str) -> float:
        """Return in what share of the rows a stem stands."""
        begins = re.compile(("" if has_cjk(word) else r"\b") + re.escape(word))
        rows = [plain_of(" ".join(cells)) for cells in self._table.records]
        return sum(begins.search(row) is not None for row in rows) / max(len(rows), 1)

    def _is_known(self, token: QuestionToken) -> bool:
        """Return whether the table's names, its caption or nearly all of its rows say a word."""
        word = token.text.lstrip("-")  # of "sales-2024"
        if word in self._marks:
            return False
        if token.kind == WORD and has_cjk(word):
            return word in self._above
        return stem(word) in self._known or self._share_of_rows(stem(word)) >= _OF_ALL

    def _names_someone(self) -> bool:
        """Return whether a capitalised word that was not understood stands in a cell: Max, Count Basie."""
        said = {one.text for one in self._chooser.tokens if one.kind not in _NAMES}
        names = {one for one in _CAPITALISED.findall(self._question) if one.lower() in said}
        rows = [" ".join(row) for row in self._table.rows]
        return any(re.search(rf"\b{name}\b", row) for name in names for row in rows)
