"""The sentences in which is told what was computed of a table, in both languages."""

from __future__ import annotations

from domain.tables.computing import Operation

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
        "distinct": "{scope}共有 {value} 个不同的“{column}”",
        Operation.VALUE: "{row}的“{column}”是 {value}",
        "listed": "符合条件（{conditions}）的有 {row}",
        "grouped": "{row}：“{column}”{operation} {value}",
        "grouped_most": "{row}：“{column}”{operation}的是 {value}",
        "grouped_count": "{scope}{row}：{value} 个不同的“{column}”",
        "grouped_rows": "{scope}{row}：{value} 行",
        "valued": "“{column}”：{value}",
        Operation.DIFFERENCE: "“{column}”相差 {value}：{rows}",
        "pair": "{row} 为 {value}",
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
        "distinct": "{scope}there are {value} different values of {column}",
        Operation.VALUE: "{row}: {column} is {value}",
        "listed": "{row} is a row with {conditions}",
        "grouped": "{row}: {operation} of {column} {value}",
        "grouped_most": "{row}: the {operation} {column} is {value}",
        "grouped_count": "{scope}{row}: {value} different values of {column}",
        "grouped_rows": "{scope}{row}: {value} rows",
        "valued": "{column}: {value}",
        Operation.DIFFERENCE: "the difference in {column} is {value}: {rows}",
        "pair": "{row} {value}",
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
# What is said of one row; Chinese makes no difference.
OF_ONE = {
    TEXTS["en"][Operation.SUM]: "{scope}{column} adds up to {value} ({count} row{left_out})",
    TEXTS["en"][
        Operation.MEAN
    ]: "{scope}the average {column} is {about}{value} ({count} row{left_out})",
    TEXTS["en"][Operation.COUNT]: "{scope}there is {value} row",
    TEXTS["en"]["matching"]: "{value} row has {conditions}",
    TEXTS["en"]["distinct"]: "{scope}there is {value} value of {column}",
    TEXTS["en"]["grouped_count"]: "{scope}{row}: {value} value of {column}",
    TEXTS["en"]["grouped_rows"]: "{scope}{row}: {value} row",
    TEXTS["en"]["more_values"]: "{count} more value of {column}",
    TEXTS["en"]["more"]: "{count} more row matches",
    TEXTS["en"]["left_out"]: "; {count} more has no value to compute with",
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
