"""Compute what a question asks of a table, as sentences that each cite a cell or column."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sextant.tables.cells.arithmetic import Condition, Operation, matching
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.linker import names_column
from sextant.tables.query.parsing import parse_query
from sextant.tables.query.query import Order, TableQuery
from sextant.tables.results.written import ComputedFinding, Writer
from sextant.text.characters import plain_of

# Names of a column with the date of its row.
_OF_DAYS = frozenset(
    ["date", "day", "month", "year", "日期", "年", "年份", "月", "月份", "年度", "时间"]
)
_MAX_COLUMNS = 20  # columns of numbers with statistics


@dataclass(frozen=True, slots=True)
class Computed:
    """The answers to a question, and statistics (sum, mean, largest, smallest) of the columns of numbers."""

    answers: list[ComputedFinding]
    statistics: list[ComputedFinding]


def compute_findings(question: str, table: DataTable, language: str, about: str = "") -> Computed:
    """Compute what a question asks of a table, if that is sure, and statistics of its columns.

    CPU-bound, a second for 100,000 cells.

    Args:
        question: in Chinese or English.
        table: the table.
        language: `zh` or `en`, of the sentences.
        about: its caption.
    """
    # A second question may be about something else: 它由什么分泌？
    asked = parse_query(question, table, about)
    each = [asked] if asked else [parse_query(one, table, about) for one in _cut(question)]
    numeric = [column.index for column in table.columns if column.kind is ValueKind.NUMBER]
    always = list[TableQuery]()
    for at in numeric[:_MAX_COLUMNS]:
        always += [TableQuery((at,), one) for one in (Operation.SUM, Operation.MEAN)]
        always += [TableQuery(order_by=Order(at, end), limit=1) for end in (True, False)]

    def run(queries: Iterable[TableQuery | None]) -> list[ComputedFinding]:
        found = (Writer(table, one, language).findings() for one in queries if one)
        return [finding for findings in found for finding in findings]

    return Computed(run(each), run(always))


def _cut(question: str) -> list[str]:
    """Return the questions of a text if there are several."""
    marked = question.replace("?", "?\n").replace("？", "？\n")
    each = [part.strip() for part in marked.split("\n") if len(part.strip()) > 1]
    return each if len(each) > 1 else []


def query_for(question: str, table: DataTable, about: str = "") -> TableQuery | None:
    """Return the query of a question over a table that a search has found; None if it is not sure.

    Unlike with a table that comes with the question, the question must name the columns that are computed and
    bounded.

    Args:
        question: in Chinese or English.
        table: the table.
        about: the names of its document and sections.
    """
    found = parse_query(question, table, about)
    if found is None or (found.aggregate is None and found.order_by is None):
        return found
    is_named = found.column is None or names_column(question, table.names[found.column])
    return found if is_named and all(_names(question, table, one) for one in found.where) else None


def run_query(
    query: TableQuery, table: DataTable, language: str, *, is_list: bool
) -> list[ComputedFinding]:
    """Return the results of a query over a table that a search has found; listed rows are counted, too.

    Args:
        query: from `query_for`.
        table: the table.
        language: `zh` or `en`, of the sentences.
        is_list: the question asks for all rows that meet its conditions.
    """
    rows, parts = matching(table, query.where), [query]
    if query.aggregate is None and query.order_by is None:
        bounded = any(one.bounds for one in query.where)
        telling = any(table.columns[one.column].repeats for one in query.where)
        if not (bounded or (rows and telling and is_list)):
            return []
        if len(rows) > 1:
            parts = [TableQuery((), Operation.COUNT, query.where), query]
    elif query.aggregate is Operation.DISTINCT:
        parts = [TableQuery(query.select, Operation.COUNT), query]
    return [one for part in parts for one in Writer(table, part, language).findings()]


def _names(question: str, table: DataTable, condition: Condition) -> bool:
    """Return whether the question names the column of a condition; for words and dates it need not."""
    name = table.names[condition.column]
    return bool(condition.words or plain_of(name) in _OF_DAYS or names_column(question, name))
