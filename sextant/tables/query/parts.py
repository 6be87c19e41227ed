"""The parts of a question over a table: what it names and bounds, and what of it is not accounted for yet."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from sextant.tables.cells.arithmetic import Condition, Operation
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.column_links import QuestionReading, names_column
from sextant.tables.query.families import (
    asks_of_other_kind,
    is_code,
    is_implied,
    without_implied,
)
from sextant.tables.query.units import unit_of
from sextant.text.characters import IDEOGRAPHS, has_cjk, plain_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.word_forms import stem, synonym_patterns

_LONGEST_CAPTION = 200  # a longer one is a text, whose words are not those of the table
_OF_ALL = 0.9  # a word in so many rows is of all of them ("Store 1", "Store 2")
_LEAST_NOUN = 4  # characters
_WORD = re.compile(rf"[a-z]+(?:[’'-][a-z]+)*|\d+(?:[.,]\d+)*|%|[{IDEOGRAPHS}]+")
_CAPITALISED = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+\b")
_MARK = re.compile(r"(?<!^)\b(?!I\b)[A-Z][A-Z\d]{0,3}\b")
EITHER = re.compile(r"或|\bor\b")
"""Joins two conditions, or the two of which one is asked for."""
_EXTREMES = (Operation.MAX, Operation.MIN)


class QuestionParts:
    """What a question is made of; `rest` is what is not accounted for yet."""

    def __init__(
        self,
        reading: QuestionReading,
        table: DataTable,
        where: tuple[Condition, ...],
        *,
        is_list: bool,
    ) -> None:
        self.reading, self.table, self.where = reading, table, where
        self.grammar = reading.grammar
        self.text = self.rest = reading.text
        self.columns = table.columns
        self.positions = sorted(reading.columns)
        self.named = [at for _, at in self.positions]
        both = ({one.column, one.other} for one in where)
        self.bound = {at for one in both for at in one if at is not None}
        codes = [one.index for one in self.columns if one.kind is ValueKind.NUMBER and is_code(one)]
        self.words = [
            at for at, one in enumerate(self.columns) if one.kind is ValueKind.TEXT or at in codes
        ]
        self.numbers = [
            at
            for at, one in enumerate(self.columns)
            if one.kind is ValueKind.NUMBER and at not in codes and at not in reading.hidden
        ]
        self.group = self._find_group()
        self.is_list = is_list
        self.used = frozenset[int]()

    # What is left.

    def leaves_unexplained(self, question: str, about: str) -> bool:
        """Return whether a word is left that may keep rows out or ask for something else."""
        several = len({(one.column, one.bounds) for one in self.where}) > 1
        if (several and EITHER.search(self.rest)) or self._names_someone(question):
            return True
        used = {*self.named, *self.bound, *self.used}
        rest = without_implied(self.rest, [self.columns[at] for at in used])
        rest = EITHER.sub(" ", rest) if len(self.where) <= 1 else rest
        if any(map(self._tells_rows_apart, self.grammar.filler.findall(rest))):
            return True
        words = _WORD.findall(self.grammar.filler.sub(" ", rest))
        caption = about if len(about) <= _LONGEST_CAPTION else ""
        # What another column of numbers is called is not what is computed here.
        names = [one.name for one in self.columns if one.index in {*used, *self.words}]
        above = plain_of(" ".join([caption, *names]))
        explained = plain_of(" ".join([caption, *(self.columns[at].name for at in self.words)]))
        known = {stem(word) for word in _WORD.findall(above)}
        known |= {
            stem(word)
            for word, form in synonym_patterns(question).items()
            if form.search(explained)
        }
        marks = {mark.lower() for mark in _MARK.findall(question) if not question.isupper()}
        return any(
            not unit_of(word) and (word in marks or not self._is_known(word, known, above))
            for word in words
        )

    def _tells_rows_apart(self, filler: str) -> bool:
        """Return whether a word that keeps no row out of most tables stands in some rows of this one: oak table, oak chair."""
        if len(filler) < _LEAST_NOUN or has_cjk(filler) or filler in ENGLISH_STOP_WORDS:
            return False
        share = self._share_of_rows(stem(filler))
        return 0 < share < _OF_ALL

    def _share_of_rows(self, word: str) -> float:
        """Return in what share of the rows a stem stands."""
        begins = re.compile(("" if has_cjk(word) else r"\b") + re.escape(word))
        rows = [plain_of(" ".join(cells)) for cells in self.table.records]
        return sum(begins.search(row) is not None for row in rows) / max(len(rows), 1)

    def _is_known(self, word: str, known: Collection[str], above: str) -> bool:
        """Return whether the table's names, its caption or nearly all of its rows say a word."""
        if stem(word) in known:
            return True
        if has_cjk(word) and (len(word) == 1 or word in above):
            return word in above
        return self._share_of_rows(stem(word)) >= _OF_ALL

    def _names_someone(self, question: str) -> bool:
        """Return whether a capitalised word that was not understood stands in a cell: Max, Count Basie."""
        names = {name for name in _CAPITALISED.findall(question) if name.lower() in self.text}
        rows = [" ".join(row) for row in self.table.rows]
        return any(re.search(rf"\b{name}\b", row) for name in names for row in rows)

    def has(self, form: re.Pattern[str]) -> bool:
        """Return whether the question has a form."""
        return form.search(self.text) is not None

    def use(self, *forms: re.Pattern[str]) -> None:
        """Account for all that forms match."""
        for form in forms:
            self.rest = form.sub(" ", self.rest)

    def use_operations(self, *operations: Operation) -> None:
        """Account for the words of operations."""
        self.use(*(self.grammar.operations[one] for one in operations))

    def operations(self) -> list[Operation]:
        """Return the operations whose words are not accounted for yet."""
        return [one for one, form in self.grammar.operations.items() if form.search(self.rest)]

    # Columns.

    @property
    def subject(self) -> int | None:
        """Return the column that names a row: one that the question names, else the first of words."""
        # All but one thing are called what that one is.
        denied = {one.column for one in self.where if one.denied} & set(self.words[:1])
        free = [at for at in self.words if at not in self.bound or at in denied]
        chosen = [at for at in self.named if at in free]
        return next(iter(chosen or free or self.words), None)

    def named_of(self, kind: ValueKind) -> list[int]:
        """Return the named columns of one kind, in the question's order."""
        return [at for at in dict.fromkeys(self.named) if self.columns[at].kind is kind]

    def named_words(self) -> list[int]:
        """Return the named columns of words, in the question's order."""
        return [at for at in dict.fromkeys(self.named) if at in self.words]

    def free_numbers(self) -> list[int]:
        """Return the named columns of numbers that no condition is on."""
        named = dict.fromkeys(self.named)
        return [at for at in named if at in self.numbers and at not in self.bound]

    def repeats(self, column: int | None) -> bool:
        """Return whether several rows have the same value of a column."""
        return column is not None and self.columns[column].repeats

    def names_row(self, condition: Condition) -> bool:
        """Return whether a condition is by name on a column that names each row."""
        return not condition.bounds and not self.repeats(condition.column)

    def is_of_one(self, condition: Condition) -> bool:
        """Return whether a condition leaves the one row that it names."""
        return self.names_row(condition) and len(condition.words) == 1 and not condition.denied

    def _find_group(self) -> int | None:
        """Return the column whose name stands right behind "each"."""
        ends = {match.end() for match in self.grammar.group.finditer(self.text)}
        return next((at for position, at in self.positions if position in ends), None)

    def implied(self, columns: Iterable[int]) -> list[int]:
        """Return those of the columns that are asked for by a word for just their kind."""
        return [at for at in columns if is_implied(self.text, self.columns[at])]

    def only_number(self) -> list[int]:
        """Return the only column of numbers, where the question does not ask for another kind of them."""
        only = [self.columns[at] for at in self.numbers]
        return self.numbers if len(only) == 1 and not asks_of_other_kind(self.text, only) else []

    def target(self, operation: Operation) -> int | None:
        """Return the column that an operation is over."""
        if operation in _EXTREMES and self.has(self.grammar.by_time):
            if dates := self.named_of(ValueKind.DATE):
                return self._nearest(dates, operation)
            aged = self.implied(self.numbers) if self.has(self.grammar.old) else []
            dated = (one for one in self.columns if one.kind is ValueKind.DATE)
            partly = (one.index for one in dated if names_column(self.text, one.name))
            return next(iter(aged), next(partly, None))
        free = self.free_numbers()
        if free:
            return self._nearest(free, operation)
        meant = self.implied(self.numbers) or self.only_number()
        return meant[0] if len(meant) == 1 else None

    def _nearest(self, columns: Sequence[int], operation: Operation) -> int:
        """Return the column named right behind the word for an operation, in Chinese before it."""
        word = self.grammar.operations[operation].search(self.text)
        if word is None or len(columns) == 1:
            return columns[0]
        before = [
            at for position, at in self.positions if position < word.start() and at in columns
        ]
        behind = [at for position, at in self.positions if position >= word.end() and at in columns]
        if behind and (word[0].isascii() or not before):
            return behind[0]
        return before[-1]
