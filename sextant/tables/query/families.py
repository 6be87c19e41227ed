"""What columns are called and are of: another word of the same family (sold, Sales), amounts, prices, codes.

The families that no ending tells are listed in `related_words.txt`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterator, Sequence
from decimal import Decimal
from importlib.resources import files
from itertools import pairwise

from sextant.tables.cells.table import Column
from sextant.tables.cells.values import ValueKind
from sextant.text.characters import plain_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.word_forms import stem

_WORD = re.compile(r"(?<![\w-])[a-z]{4,}(?![\w-])")
# Who does it, or that it is done: visitor, payment, attendance.
_DERIVED = re.compile(r"(?<=\w{4})(?:er|or|ment|ance)$")
_PLURAL = re.compile(r"[a-z]{2}(?<!s)s(?:\s*\(.*\))?$")
_RUN = 3  # so many numbers in a row count their rows, from 1 also two
_LONGEST = 60  # a header cell may be a page of text
# Words for the most or least of one kind of thing, and what columns of it are called.
_IMPLIED = tuple(
    (re.compile(asks), re.compile(kind))
    for asks, kind in (
        (
            r"贵|便宜|多少钱|\bcosts?\b|\b(?:cheap(?:er|est)?|expensive|costl(?:y|iest)|dear(?:er|est))\b",
            "price|cost|fee|价|费",
        ),
        (r"最老|最年[轻长]|\b(?:old|young)est\b", r"\bage\b|年龄"),
        (r"重|(?<!年)轻|\b(?:heav(?:y|ier|iest)|light(?:er|est))\b", "weight|重量"),
        (r"\b(?:paid|earns?|earned)\b|收入|赚", "salary|wage|pay|income|工资|薪|收入"),
        (r"最高的人|\btall(?:er|est)?\b", "height|身高|高度"),
        (
            r"最[长短](?!期)|\b(?:long|short)(?:er|est)\b",
            r"length|distance|duration|time|wait|period|days|hours|\bkm\b|长|距离|里程|时|期|天数",
        ),
        (r"最[远近]|\b(?:farthest|furthest|nearest)\b", r"distance|\bkm\b|距离|里程|路程"),
    )
)
# Amounts add up over rows; prices, rates, temperatures, ages and scores do not.
_AMOUNTS = re.compile(
    r"\b(?:sales|revenues?|turnover|amounts?|quantit(?:y|ies)|qty|units?|total|sold|stock|orders?|count|number"
    r"|visits?|visitors?|output|volume|spend(?:ing)?|spent|expenses?|costs?|profits?|hours|population|budget|income"
    r"|staff|employees|customers|users|downloads|production|shipments?|donations?|points|goals|views|votes|deliveries)\b"
    r"|销[量售]|额|数量|总|营收|收入|利润|产量|[人台件次户]数|员工数|费用|支出|成本|订单|库存|预算|用量|工时|流量"
)
_NO_AMOUNT = re.compile(
    r"\b(?:price|rate|ratio|average|avg|mean|per|percent|ages?|years|temperature|ratings?|grades?)\b"
    r"|价|率|比例|平均|均|%|每|/|年龄|温度|工龄|年限|满意|评级"
)
_CODES = re.compile(r"(?:\b(?:no|nr|id|code|zip|phone)\.?|编号|代码|号码|学号|工号)$")
_SCORES = re.compile(r"\b(?:score|rating|grade|mark|points|review|result)s?\b|分|成绩|满意|评级")
_TIMES = re.compile(
    r"\b(?:time|duration|latency|delay|seconds?|minutes?|hours?)\b|时间|用时|耗时|时长|延迟"
)
OF_PERSONS = re.compile(
    r"客户|姓名|人$|人员|员$|经理|司机|医生|老师|教师|作者"
    r"|\b(?:customer|client|owner|name|assignee|driver|teacher|author|manager|buyer|doctor|lead)\b"
)
"""What a column is called that says whose a row is."""
_FAMILIES = defaultdict[str, set[int]](set)
for _at, _line in enumerate(
    (files("sextant.tables.query") / "related_words.txt").read_text(encoding="utf-8").split("\n")
):
    for _listed in () if _line.startswith("#") else filter(None, _line.split(", ")):
        _FAMILIES[_listed].add(_at)
_LISTED = re.compile(
    "|".join(
        rf"(?<![\w-]){one}(?![\w-])" if one.isascii() else one
        for one in sorted(_FAMILIES, key=len, reverse=True)
    )
)


def find_related(
    text: str, columns: Sequence[Column], named: Collection[int], kind: ValueKind
) -> list[tuple[tuple[int, int], int | None]]:
    """Find the words that name a column by another word of its family, and which.

    Args:
        text: the question, in plain spelling.
        columns: of the table.
        named: those that are named already; a word for them again has None.
        kind: of which kind a column is rather meant, where there are several.
    """
    found = list[tuple[tuple[int, int], int | None]]()
    names = {column.index: plain_of(column.name)[:_LONGEST] for column in columns}
    kinds = {column.index: column.kind for column in columns}
    for span, families, root in _words(text):
        meant = [
            at
            for at, name in names.items()
            if any(
                families & other or (root and root == base and text[slice(*span)] != word)
                for word, other, base in _parts(name)
            )
        ]
        if any(at in named for at in meant):
            found.append((span, None))
            continue
        alike = [at for at in meant if kinds[at] is kind]
        if len(meant) == 1 or len(alike) == 1:
            found.append((span, (alike or meant)[0]))
    return found


def is_implied(text: str, column: Column) -> bool:
    """Return whether a question asks for a column by a word for just its kind: "cheapest" for a price."""
    name = plain_of(column.name)
    return any(asks.search(text) and kind.search(name) for asks, kind in _IMPLIED)


def asks_of_other_kind(text: str, columns: Sequence[Column]) -> bool:
    """Return whether a question has a word for a kind of column of which none is given."""
    names = [plain_of(one.name) for one in columns]
    return any(asks.search(text) and not any(map(kind.search, names)) for asks, kind in _IMPLIED)


def without_implied(text: str, columns: Sequence[Column]) -> str:
    """Return a text without the words that ask for one of these columns by its kind."""
    for asks, kind in _IMPLIED:
        if any(kind.search(plain_of(column.name)) for column in columns):
            text = asks.sub(" ", text)
    return text


def is_code(column: Column) -> bool:
    """Return whether the numbers of a column only name its rows."""
    is_named_so = _CODES.search(plain_of(column.name).strip()) is not None
    return is_named_so or (column.index == 0 and is_run(column))


def is_run(column: Column) -> bool:
    """Return whether the numbers of a column go up by one from row to row."""
    return _goes_up_by_one(_ascending(column))


def is_run_in_each(column: Column, groups: Sequence[Hashable]) -> bool:
    """Return whether the numbers of a column begin with one again in each group of rows, as those of flats do in each house.

    A column in the plural ("Rooms") says how many there are.

    Args:
        column: of the table.
        groups: of each of its rows, the group that it is in.
    """
    numbers = defaultdict[Hashable, list[Decimal]](list)
    for group, number in zip(groups, _whole_numbers(column), strict=False):
        numbers[group].append(number)
    runs = [run for run in numbers.values() if len(run) > 1]
    return (
        0 < len(runs) < len(column.values)
        and len(numbers) > 1
        and all(run[0] == 1 for run in numbers.values())
        and all(map(_goes_up_by_one, runs))
        and not _PLURAL.search(plain_of(column.name))
    )


def may_be_code(column: Column) -> bool:
    """Return whether the numbers of a first column may name its rows, as those of rooms do: 101, 102, 201."""
    return column.index == 0 and len(_ascending(column)) >= _RUN and not is_surely_amount(column)


def _goes_up_by_one(numbers: Sequence[Decimal]) -> bool:
    is_long = len(numbers) >= _RUN or (len(numbers) > 1 and numbers[0] == 1)
    return is_long and all(other - one == 1 for one, other in pairwise(numbers))


def _ascending(column: Column) -> list[Decimal]:
    """Return the numbers of a column if all are whole, have no unit and go up from row to row; else none."""
    numbers = _whole_numbers(column)
    return numbers if all(one < other for one, other in pairwise(numbers)) else []


def _whole_numbers(column: Column) -> list[Decimal]:
    """Return the numbers of a column if each row has one and all are whole and have no unit; else none."""
    numbers = [value.number for value in column.values if value.kind is ValueKind.NUMBER]
    is_whole = column.unit == ("", "") and all(one == one.to_integral_value() for one in numbers)
    return numbers if is_whole and len(numbers) == len(column.values) else []


def is_amount(column: Column) -> bool:
    """Return whether the numbers of a column may add up, as far as its name and unit tell."""
    no_amount = _NO_AMOUNT.search(plain_of(column.name)) or is_code(column)
    return column.kind is ValueKind.NUMBER and "%" not in (column.unit or ()) and not no_amount


def is_surely_amount(column: Column) -> bool:
    """Return whether the name of a column says that its numbers add up."""
    return is_amount(column) and _AMOUNTS.search(plain_of(column.name)) is not None


def is_score(column: Column) -> bool:
    """Return whether the best of a column is its largest number."""
    return _SCORES.search(plain_of(column.name)) is not None


def is_time(column: Column) -> bool:
    """Return whether the fastest of a column is its smallest number."""
    return _TIMES.search(plain_of(column.name)) is not None


def _words(text: str) -> Iterator[tuple[tuple[int, int], set[int], str]]:
    """Yield the words that may be of a family: where each stands, its families, its root without endings."""
    listed = set[int]()
    for match in _LISTED.finditer(text):
        listed.add(match.start())
        yield match.span(), _FAMILIES[match[0]], _root(match[0])
    for match in _WORD.finditer(text):
        if match.start() not in listed and match[0] not in ENGLISH_STOP_WORDS:
            yield match.span(), set(), _root(match[0])


def _parts(name: str) -> Iterator[tuple[str, set[int], str]]:
    return ((name[slice(*span)], families, root) for span, families, root in _words(name))


def _root(word: str) -> str:
    return _DERIVED.sub("", stem(word)) if word.isascii() and " " not in word else ""
