"""Wording of computed results: sentences in one language, conditions, and names of rows."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from sextant.tables.cells.arithmetic import Condition, Operation
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.query import TableQuery

# Templates of the sentences in both languages.
TEXTS = {
    "zh": {
        Operation.MAX: "{scope}“{column}”最大的是{row}：{value}",
        Operation.MIN: "{scope}“{column}”最小的是{row}：{value}",
        "latest": "{scope}“{column}”最晚的是{row}：{value}",
        "earliest": "{scope}“{column}”最早的是{row}：{value}",
        Operation.SUM: "{scope}“{column}”合计为 {value}（{count} 行{left_out}）",
        Operation.MEAN: "{scope}“{column}”的平均值{about}为 {value}（{count} 行{left_out}）",
        Operation.COUNT: "{scope}共有 {value} 行",
        "matching": "符合条件（{conditions}）的共有 {value} 行",
        "distinct": "{scope}共有 {value} 个不同的“{column}”（{count} 行）",
        Operation.VALUE: "{row}的“{column}”是 {value}",
        "listed": "符合条件（{conditions}）的有 {row}",
        "grouped": "{row}：“{column}”{operation} {value}",
        "grouped_most": "{row}：“{column}”{operation}的是 {value}{label}",
        "grouped_count": "{scope}{row}：{value} 个不同的“{column}”",
        "grouped_rows": "{scope}{row}：{value} 行",
        "valued": "“{column}”：{value}",
        Operation.DIFFERENCE: "“{column}”相差 {value}：{cells}",
        "columns_apart": "{row}相差 {value}：{cells}",
        "cells_change": "{row}的变化为 {value}：{cells}",
        "cells_growth": "{row}的变化率{about}为 {value}：{cells}",
        "cells_ratio": "{row}的比值{about}为 {value}：{cells}",
        "cells_part": "{row}的占比{about}为 {value}：{cells}",
        "cells_mean": "{row}的平均值{about}为 {value}：{cells}",
        "cells_sum": "{row}合计为 {value}：{cells}",
        "pair": "{row} 为 {value}",
        Operation.SHARE: "{conditions}的“{column}”为 {part}，占全部 {whole} 的{about} {value}",
        "share_of_rows": "符合条件（{conditions}）的有 {part} 行，占全部 {whole} 行的{about} {value}",
        "more_values": "“{column}”另有 {count} 个值",
        "overall": "{scope}按“{subject}”{operation}，“{column}”{overall}的是 {row}：{value}",
        "more": "另有 {count} 行符合条件",
        "none": "没有符合条件（{conditions}）的行",
        "scope": "在{conditions}的行中，",
        "left_out": "，另有 {count} 行没有可计算的值",
        "and": "、",
        "or": "或",
        "row": "第 {row} 行",
        "about": "约",
    },
    "en": {
        Operation.MAX: "{scope}the largest {column} is {value} ({row})",
        Operation.MIN: "{scope}the smallest {column} is {value} ({row})",
        "latest": "{scope}the latest {column} is {value} ({row})",
        "earliest": "{scope}the earliest {column} is {value} ({row})",
        Operation.SUM: "{scope}{column} adds up to {value} ({count} rows{left_out})",
        Operation.MEAN: "{scope}the average {column} is {about}{value} ({count} rows{left_out})",
        Operation.COUNT: "{scope}there are {value} rows",
        "matching": "{value} rows have {conditions}",
        "distinct": "{scope}there are {value} different values of {column} ({count} rows)",
        Operation.VALUE: "{row}: {column} is {value}",
        "listed": "{row} is a row with {conditions}",
        "grouped": "{row}: {operation} of {column} {value}",
        "grouped_most": "{row}: the {operation} {column} is {value}{label}",
        "grouped_count": "{scope}{row}: {value} different values of {column}",
        "grouped_rows": "{scope}{row}: {value} rows",
        "valued": "{column}: {value}",
        Operation.DIFFERENCE: "the difference in {column} is {value}: {cells}",
        "columns_apart": "{row}: the difference is {value}: {cells}",
        "cells_change": "{row}: the change is {value}: {cells}",
        "cells_growth": "{row}: the change is {about}{value}: {cells}",
        "cells_ratio": "{row}: the ratio is {about}{value}: {cells}",
        "cells_part": "{row}: the share is {about}{value}: {cells}",
        "cells_mean": "{row}: the average is {about}{value}: {cells}",
        "cells_sum": "{row} adds up to {value}: {cells}",
        "pair": "{row} {value}",
        Operation.SHARE: "{column} of rows with {conditions} is {part} of {whole}, {about}{value}",
        "share_of_rows": "{part} of {whole} rows have {conditions}, {about}{value}",
        "more_values": "{count} more values of {column}",
        "overall": "{scope}by {subject}, {row} has the {overall} {operation} of {column}: {value}",
        "more": "{count} more rows match",
        "none": "no row has {conditions}",
        "scope": "among rows with {conditions}, ",
        "left_out": "; {count} more have no value to compute with",
        "and": ", ",
        "or": " or ",
        "row": "row {row}",
        "about": "about ",
    },
}
# The singular of English sentences; Chinese has none.
OF_ONE = {
    Operation.SUM: "{scope}{column} adds up to {value} ({count} row{left_out})",
    Operation.MEAN: "{scope}the average {column} is {about}{value} ({count} row{left_out})",
    Operation.COUNT: "{scope}there is {value} row",
    "matching": "{value} row has {conditions}",
    "distinct": "{scope}there is {value} value of {column} ({count} rows)",
    "grouped_count": "{scope}{row}: {value} value of {column}",
    "grouped_rows": "{scope}{row}: {value} row",
    "more_values": "{count} more value of {column}",
    "more": "{count} more row matches",
    "left_out": "; {count} more has no value to compute with",
}
OF_DATES = {Operation.MAX: "latest", Operation.MIN: "earliest"}
OPERATION_NAMES = {
    "zh": {
        Operation.SUM: "合计",
        Operation.MEAN: "平均",
        Operation.MAX: "最大",
        Operation.MIN: "最小",
        Operation.COUNT: "行数",
    },
    "en": {
        Operation.SUM: "sum",
        Operation.MEAN: "average",
        Operation.MAX: "largest",
        Operation.MIN: "smallest",
        Operation.COUNT: "count",
    },
}


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
        self._of_one = OF_ONE if language == "en" else {}

    def text(self, key: str, of: int = 0, **values: object) -> str:
        """Return a sentence in the singular or plural, with the conditions of the query."""
        text = (of == 1 and self._of_one.get(key)) or self._texts[key]
        conditions = self.join(map(self._condition, self._query.where))
        scope = self._texts["scope"].format(conditions=conditions) if self._query.where else ""
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
