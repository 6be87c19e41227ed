"""The query over a table that a question asks for."""

from __future__ import annotations

from dataclasses import dataclass

from sextant.tables.cells.arithmetic import Condition, Operation


@dataclass(frozen=True, slots=True)
class Order:
    """The order of rows by a column."""

    column: int
    descending: bool = True

    @property
    def operation(self) -> Operation:
        """Return the operation whose result the first row has."""
        return Operation.MAX if self.descending else Operation.MIN


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A query over one table; columns and rows count from 0.

    Attributes:
        select: columns to show of the rows, or to aggregate; none: the rows themselves.
        aggregate: what to compute; None: show cells.
        where: conditions on rows.
        group_by: compute `aggregate` for each value of this column.
        order_by: order of the rows, or with `group_by` of the groups by their results.
        limit: number of rows or groups; ties with the last are shown, too.
        offset: rows to skip: the second largest is at offset 1.
        subject: the column that names a row.
        operands: cells (row, column) to aggregate instead of rows, in the question's order.
    """

    select: tuple[int, ...] = ()
    aggregate: Operation | None = None
    where: tuple[Condition, ...] = ()
    group_by: int | None = None
    order_by: Order | None = None
    limit: int | None = None
    offset: int = 0
    subject: int | None = None
    operands: tuple[tuple[int, int], ...] = ()

    @property
    def column(self) -> int | None:
        """Return the column of the numbers; None: rows are counted."""
        if self.order_by is not None and self.group_by is None:
            return self.order_by.column
        return self.select[0] if self.select else None

    @property
    def columns(self) -> set[int | None]:
        """Return all columns that have a part in the query."""
        ordered = self.order_by.column if self.order_by else None
        shown = self.subject if self.aggregate in (None, Operation.COUNT) else None
        bound = {at for one in self.where for at in (one.column, one.other)}
        return {*self.select, self.group_by, shown, ordered, *bound}
