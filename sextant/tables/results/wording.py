"""Wording of computed results: sentences in one language, conditions, and names of rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from sextant.tables.cells.arithmetic import Condition
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.query import TableQuery
from sextant.tables.results.sentences import OF_ONE, OPERATION_NAMES, TEXTS


class FindingWording:
    """Words the result of one query.

    Args:
        table: the table.
        query: over it.
        language: `zh` or `en`.
    """

    def __init__(self, table: DataTable, query: TableQuery, language: str) -> None:
        self._table, self._query = table, query
        self._texts, self.operations = TEXTS[language], OPERATION_NAMES[language]

    def text(self, key: str, of: int = 0, **values: object) -> str:
        """Return a sentence in the singular or plural, with the conditions of the query."""
        text = self._texts[key]
        conditions = self.join(map(self._condition, self._query.where))
        scope = self._texts["scope"].format(conditions=conditions) if self._query.where else ""
        text = OF_ONE.get(text, text) if of == 1 else text
        return text.format(scope=scope, conditions=conditions, **values)

    def _condition(self, condition: Condition) -> str:
        name = self._table.name(condition.column)
        if condition.other is not None:
            return f"{name} {condition.comparison.value} {self._table.name(condition.other)}"
        if condition.number is None:
            joint = self._texts["and" if condition.denied else "or"]
            return (
                f"{name} {'≠' if condition.denied else '='} {joint.join(sorted(condition.words))}"
            )
        if self._table.columns[condition.column].kind is ValueKind.DATE:
            return f"{name} {condition.comparison.value} {date.fromordinal(int(condition.number))}"
        return f"{name} {condition.comparison.value} {condition.number:,f}"

    def name_in_question(self, row: int, one_of: int) -> str:
        """Return the name of a row by the conditions of the question, and its own if several rows match."""
        bound = [one.column for one in self._query.where if one.words]
        parts = [self._table.rows[row][column].strip() for column in bound]
        if one_of > 1 or not parts:
            parts.append(self.name(row))
        return " ".join(dict.fromkeys(parts))

    def name(self, row: int) -> str:
        """Return the name of a row, or its number."""
        return self.label(row) or self._texts["row"].format(row=row + 1)

    def label(self, row: int) -> str:
        """Return the cell that names a row."""
        words = (one.index for one in self._table.columns if one.kind is ValueKind.TEXT)
        subject = next(words, None) if self._query.subject is None else self._query.subject
        return "" if subject is None else self._table.rows[row][subject].strip()

    def join(self, parts: Iterable[str]) -> str:
        """Return an enumeration."""
        return self._texts["and"].join(parts)

    def about(self, *, rounded: bool) -> str:
        """Return the word before a rounded number."""
        return self._texts["about"] if rounded else ""
