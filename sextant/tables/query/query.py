"""The query that a question asks of a table."""

from __future__ import annotations

from dataclasses import dataclass

from sextant.tables.cells.arithmetic import Condition, Operation


@dataclass(frozen=True, slots=True)
class Order:
    """By which column rows are ordered."""

    column: int
    descending: bool = True

    @property
    def operation(self) -> Operation:
        """Return what the first row has: the largest or the smallest."""
        return Operation.MAX if self.descending else Operation.MIN


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A query over one table; columns and rows count from 0.

    Attributes:
        select: the columns that are told of the rows found, or that `aggregate` is over; none: the rows.
        aggregate: what is computed; None: cells are told as they are.
        where: the conditions that rows fulfil.
        group_by: the column for each of whose values `aggregate` is computed.
        order_by: the order of the rows, or with `group_by` of the groups (its column is then not used).
        limit: so many of them are told, and those that equal the last.
        offset: so many are passed over first: the second largest is at offset 1.
        subject: the column that names a row.
        operands: the cells, as (row, column), that `aggregate` is of instead, in the question's order.
        is_guessed: a bound is on a column that the question does not name.
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
    is_guessed: bool = False

    @property
    def column(self) -> int | None:
        """Return the column that numbers are taken from; None: the rows are counted."""
        if self.order_by is not None and self.group_by is None:
            return self.order_by.column
        return self.select[0] if self.select else None
