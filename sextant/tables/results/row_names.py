"""What rows and conditions are called in sentences about a table."""

from __future__ import annotations

from datetime import date
from functools import cached_property

from sextant.tables.cells.computing import Condition, Result
from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.computation.asked import Asked
from sextant.tables.results.sentences import OF_ONE, OPERATION_NAMES, TEXTS
from sextant.text.identifiers import codes_in

# A longer text beside a code describes the row and is no name of it.
_LONGEST_NAME = 40


class RowNames:
    """The names that one computation over a table needs.

    Args:
        table: the table.
        asked: the computation.
        language: `zh` or `en`, of the sentences.
    """

    def __init__(self, table: DataTable, asked: Asked, language: str) -> None:
        self._table = table
        self._columns = table.columns
        self._asked = asked
        self._texts = TEXTS[language]
        self._names = OPERATION_NAMES[language]

    def _named(self, row: int, one_of: int) -> str:
        """Return a row by what the question calls it, and by more when it calls others the same."""
        bound = [c.column for c in self._asked.conditions if c.words]
        parts = [self._table.rows[row][column].strip() for column in bound]
        if one_of > 1 or not parts:
            parts.append(self._row(row))
        return " ".join(dict.fromkeys(parts))

    def _row(self, row: int) -> str:
        label = self._label(row) or self._texts["row"].format(row=row + 1)
        return ", ".join(filter(None, [label, self._called(row)]))

    def _called(self, row: int) -> str:
        """Return what a row is called that the first column only has a code for: "CF-401, Geisha Reserve"."""
        if self._naming is None:
            return ""
        name = self._table.rows[row][self._naming.index].strip()
        return name if len(name) <= _LONGEST_NAME else ""

    @cached_property
    def _naming(self) -> Column | None:
        """Return the second column, where it names rows of which the first only has codes."""
        first, *others = self._columns
        if not others or self._asked.subject != first.index:
            return None
        filled = (text for value in first.values if (text := value.text.strip()))
        named = others[0].kind is ValueKind.TEXT and all(map(codes_in, filled))
        return others[0] if named and not others[0].repeats else None

    def _label(self, row: int) -> str:
        subject = self._asked.subject
        if subject is None:
            words = (column for column in self._columns if column.kind is ValueKind.TEXT)
            subject = next((column.index for column in words), None)
        return "" if subject is None else self._table.rows[row][subject].strip()

    def _scope(self) -> str:
        if not self._asked.conditions:
            return ""
        return self._texts["scope"].format(conditions=self._conditions())

    def _conditions(self) -> str:
        return self._texts["and"].join(map(self._condition, self._asked.conditions))

    def _condition(self, condition: Condition) -> str:
        name = self._table.name(condition.column)
        if condition.other is not None:
            return f"{name} {condition.comparison.value} {self._table.name(condition.other)}"
        if condition.number is None:
            if condition.denied:
                return f"{name} ≠ {self._texts['and'].join(sorted(condition.words))}"
            return f"{name} = {self._texts['or'].join(sorted(condition.words))}"
        if self._columns[condition.column].kind is ValueKind.DATE:
            return f"{name} {condition.comparison.value} {date.fromordinal(int(condition.number))}"
        return f"{name} {condition.comparison.value} {condition.number:,f}"

    def _left_out(self, result: Result) -> str:
        if not result.left_out:
            return ""
        return said_of(result.left_out, self._texts["left_out"]).format(count=result.left_out)


def said_of(number: int, text: str) -> str:
    """Return `text` as it is said of so many."""
    return OF_ONE.get(text, text) if number == 1 else text
