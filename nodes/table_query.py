"""Ask the chat model for the query that a question makes over a table, where the grammars are not sure.

The model only says what is asked for: everything it names must be in the table, and we compute.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from pydantic import Field

from sextant import prompts
from sextant.models.chat.replies import Number, Yes
from sextant.models.chat.structured import AtMost, Declared, ModelReply
from sextant.nodes.context import RunContext
from sextant.nodes.judgements import ask
from sextant.nodes.state import State
from sextant.tables.cells.arithmetic import Comparison, Condition, Operation
from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import ValueKind, read_value
from sextant.tables.query.query import Order, TableQuery
from sextant.text.characters import plain_of

_MOST_COLUMNS = 30
_EXAMPLES = 8  # values of a column that the model is shown
_LONGEST = 60  # characters of such a value
_Name = Annotated[str, AtMost(200)]
_AGGREGATES = {
    "count": Operation.COUNT,
    "sum": Operation.SUM,
    "mean": Operation.MEAN,
    "share": Operation.SHARE,
}


class RowCondition(ModelReply):
    """One condition on rows, as the chat model says it."""

    column: _Name = ""
    comparison: Annotated[str, Declared(enum=["=", "!=", ">", "<", ">=", "<="])] = "="
    value: _Name = ""


class TableRequest(ModelReply):
    """What a question asks of a table, as the chat model says it."""

    answerable: Yes = False
    aggregate: Annotated[str, Declared(enum=["none", *_AGGREGATES])] = "none"
    select: Annotated[list[_Name], AtMost(4)] = Field(default_factory=list[str])
    where: Annotated[list[RowCondition], AtMost(6)] = Field(default_factory=list[RowCondition])
    group_by: _Name = ""
    order_by: _Name = ""
    descending: Yes = False
    limit: Number = None


async def ask_for_query(
    state: State, run: RunContext, table: DataTable, caption: str
) -> tuple[TableQuery | None, dict[str, Any]]:
    """Ask the chat model once for the query that the question makes over a table.

    Returns:
        The query (None if there is none, no model or no sure reply), and the state update with the costs of the call.
    """
    if run.deps.judging is None or table.width > _MOST_COLUMNS:
        return None, {}
    messages = prompts.TABLE_QUERY.messages(
        state.language,
        caption=prompts.as_data(caption),
        columns=prompts.as_data(await asyncio.to_thread(_describe, table)),
        question=prompts.as_data(state.question),
    )
    reply = await ask(state, run, messages, TableRequest)
    query = None if reply.reply is None else to_query(reply.reply, table)
    # Other costs, such as a failure, are not those of the answer's own call.
    costs: dict[str, Any] = {
        key: cost for key, cost in reply.costs.items() if key in {"usage", "coded_warnings"}
    }
    return query, costs


def to_query(request: TableRequest, table: DataTable) -> TableQuery | None:
    """Make a query of the chat model's reply; None if it names anything that the table does not have."""
    names = {plain_of(table.name(at)): at for at in range(table.width)}
    known = {"none", *_AGGREGATES}
    if not request.answerable or len(names) != table.width or request.aggregate not in known:
        return None
    requested = [*request.select, *filter(None, (request.group_by, request.order_by))]
    if not {plain_of(one) for one in requested} <= names.keys():
        return None
    where = [_condition(one, table, names) for one in request.where]
    group, order = names.get(plain_of(request.group_by)), names.get(plain_of(request.order_by))
    select = tuple(names[plain_of(one)] for one in request.select)
    aggregate = _AGGREGATES.get(request.aggregate)
    conditions = tuple(one for one in where if one)
    if len(conditions) != len(where) or not _fits(table, aggregate, select, group, order):
        return None
    words = (one.index for one in table.columns if one.kind is ValueKind.TEXT)
    return TableQuery(
        select=select if aggregate is not Operation.COUNT else (),
        aggregate=aggregate,
        where=conditions,
        group_by=group,
        order_by=None if order is None else Order(order, request.descending),
        limit=request.limit or (1 if group is not None and order is not None else None),
        subject=group if group is not None else next(words, None),
    )


def _fits(
    table: DataTable,
    aggregate: Operation | None,
    select: Sequence[int],
    group: int | None,
    order: int | None,
) -> bool:
    """Return whether the parts of a query go together, and computed columns have numbers."""
    numbers = {one.index for one in table.columns if one.kind is ValueKind.NUMBER}
    ordered = numbers | {one.index for one in table.columns if one.kind is ValueKind.DATE}
    if aggregate in (Operation.SUM, Operation.MEAN):
        return len(select) == 1 and select[0] in numbers and (order is None or group is not None)
    if aggregate is Operation.SHARE:
        return set(select) <= numbers and len(select) <= 1 and group is None and order is None
    if aggregate is Operation.COUNT:
        return order is None
    return group is None and (order in ordered if order is not None else bool(select))


def _condition(given: RowCondition, table: DataTable, names: dict[str, int]) -> Condition | None:
    """Return a condition; None if there is no such column, or no cell of it can meet the condition."""
    at = names.get(plain_of(given.column))
    if at is None:
        return None
    column = table.columns[at]
    is_denied = given.comparison == "!="
    if not is_denied and given.comparison not in set(Comparison):
        return None
    if column.kind is ValueKind.TEXT:
        cells = {row[at].strip() for row in table.records}
        words = frozenset(cell for cell in cells if plain_of(cell) == plain_of(given.value))
        is_equal = is_denied or given.comparison == "="
        return Condition(at, words=words, denied=is_denied) if words and is_equal else None
    bound = _bound(given.value, column)
    if bound is None or is_denied:
        return None
    return Condition(at, Comparison(given.comparison), bound)


def _bound(text: str, column: Column) -> Decimal | None:
    value = read_value(text)
    if column.kind is ValueKind.DATE:
        day: date | None = value.date
        return None if day is None else Decimal(day.toordinal())
    same = value.unit in (("", ""), column.unit)
    return value.number if value.kind is ValueKind.NUMBER and same else None


def _describe(table: DataTable) -> str:
    """Return the columns of a table, a line each, with some of their values."""
    lines = [f"{len(table.records):,} rows"]
    for column in table.columns:
        values = dict.fromkeys(row[column.index].strip()[:_LONGEST] for row in table.records)
        shown = list(filter(None, values))[:_EXAMPLES]
        more = ", …" if len(values) > _EXAMPLES else ""
        lines.append(f"- {table.name(column.index)} ({column.kind}): {', '.join(shown)}{more}")
    return "\n".join(lines)
