"""What the numbers of a column are, as far as its name tells: whether they add up, and which is best."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.tables.cells.computing import Operation
from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.tables.question.wording import OF_ALL_ROWS, OF_ONE_ROW, PER_PERIOD
from sextant.text.simplified import plain_of

# Amounts add up over rows; prices, rates, temperatures, ages and scores do not.
_AMOUNTS = re.compile(
    r"\b(?:sales|revenues?|turnover|amounts?|quantit(?:y|ies)|qty|units?|total|sold|stock|orders?|count|number"
    r"|visits?|visitors?|output|volume|spend(?:ing)?|expenses?|costs?|profits?|hours|population|budget|income"
    r"|staff|employees|customers|users|downloads|production|shipments?|donations?|points|goals|views|votes)\b"
    r"|销[量售]|额|数量|总|营收|收入|利润|产量|[人台件次户]数|员工数|费用|支出|成本|订单|库存|预算|用量|工时|流量"
)
_NO_AMOUNT = re.compile(
    r"\b(?:price|rate|ratio|average|avg|mean|per|percent)\b|价|率|比例|平均|均|%|每|/"
)
_CODES = re.compile(r"(?:\b(?:no|nr|id|code|zip|phone)\.?|编号|代码|号码|学号|工号)$")
_SCORES = re.compile(r"\b(?:score|rating|grade|mark|points|review|result)s?\b|分|成绩|满意|评级")
_SCORED = re.compile(r"\b(?:rating|grade)s?\b|满意|评级")
_AGES = re.compile(r"\b(?:ages?|years|temperature)\b|年龄|温度|工龄|年限")
_TIMES = re.compile(
    r"\b(?:time|duration|latency|delay|seconds?|minutes?|hours?)\b|时间|用时|耗时|时长|延迟"
)
_GOOD = re.compile(
    r"最[好强差弱]|(?<!sold )(?<!sells )(?<!sell )\b(?:best|worst)\b(?![\s-](?:paid|selling|sold|earning))"
)
_QUICK = re.compile(r"最[快慢]|\b(?:fastest|slowest)\b")
_OLD = re.compile(r"最老|最年[轻长]|\b(?:old|young)est\b")
_CALLED = {"day": "daily", "year": "annual", "annum": "annual|year", "天": "日", "日": "天"}
_TURNED = {Operation.MAX: Operation.MIN, Operation.MIN: Operation.MAX}


def adds_up(column: Column, text: str) -> bool:
    """Return whether a normalised question for the most of a column means the sums over what names several rows.

    Sales are taken together unasked, prices are not; "the longest hours" are of one row.
    """
    name = plain_of(column.name)
    if column.kind is not ValueKind.NUMBER or "%" in (column.unit or ()):
        return False
    if OF_ALL_ROWS.search(text):
        return True
    amounts = _AMOUNTS.search(name) and not _NO_AMOUNT.search(name)
    return bool(amounts) and not OF_ONE_ROW.search(text)


def is_code(column: Column) -> bool:
    """Return whether the numbers of a column only name its rows."""
    return _CODES.search(plain_of(column.name).strip()) is not None


def is_amount(column: Column) -> bool:
    """Return whether a column may be one of amounts, which add up, as far as its name and its unit tell."""
    name = plain_of(column.name)
    others = (
        _NO_AMOUNT.search(name) or _AGES.search(name) or _SCORED.search(name) or is_code(column)
    )
    return column.kind is ValueKind.NUMBER and "%" not in (column.unit or ()) and not others


def outermost_of(operation: Operation, column: Column, text: str) -> Operation | None:
    """Return which end of a column a normalised question means: the fastest has the smallest time.

    None where its name does not tell: the best price is the lowest or the highest.
    """
    name = plain_of(column.name)
    if _GOOD.search(text):
        return operation if _SCORES.search(name) else None
    dated = column.kind is ValueKind.DATE
    turned = (dated and _OLD.search(text)) or (_QUICK.search(text) and _TIMES.search(name))
    return _TURNED.get(operation) if turned else operation


def is_by_period(column: int | None, columns: Sequence[Column], text: str) -> bool:
    """Return whether a normalised question asks for a column month by month, which only dates of other columns could tell.

    What "monthly cost" and 月费 are is asked for "per month" as it stands.
    """
    period = PER_PERIOD.search(text)
    if period is None or column is None or all(one.kind is not ValueKind.DATE for one in columns):
        return False
    word = period["en"] or period["zh"]
    return re.search(f"{word}|{_CALLED.get(word, word)}", plain_of(columns[column].name)) is None
