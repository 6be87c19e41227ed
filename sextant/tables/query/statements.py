"""Reads questions about statements, tables whose rows are items and whose columns are years, or the reverse.

"The change in sales from 2018 to 2019", 销售额2019年比2018年增长了多少, "the average of sales for 2017 to 2019", "the
ratio of cost to sales in 2019". A cell is meant where row and column together say just what the question says of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from sextant.tables.cells.arithmetic import Operation
from sextant.tables.cells.table import DataTable
from sextant.tables.cells.values import CellValue, ValueKind, read_value
from sextant.tables.query.query import TableQuery
from sextant.text.characters import IDEOGRAPHS, has_cjk, plain_of
from sextant.text.segmenter import words_of
from sextant.text.word_forms import stem

_YEAR = re.compile(
    r"(?<![\d.,$/])(?:fy|f)?\s?(?:(?P<long>(?:19|20)\d\d)|(?<=f|y)(?P<short>\d\d))(?!\d|[.,]\d)",
    re.IGNORECASE,
)
_TOKEN = re.compile(rf"¿|[a-z]+(?:['’&.-][a-z]+)*|\d+(?:[.,]\d+)*%?|[{IDEOGRAPHS}]+")
_UNIT = re.compile(
    r"\(?\b(?:rmb|us|hk|a)?[$€£¥]?\s?(?:in |u\.s\. )?(?:millions?|thousands?|billions?|dollars?)\b[^()]*\)?|[$€£¥]\s?[mk]\b|(?:\b(?:rmb|us|hk|a)[$€£¥]?|[$€£¥])?\s?[’']?000s?\b|\b(?:us|hk|a)\$|\brmb\b"
    r"|[(（](?:单位[:：])?[百千万亿]*元?[)）]"
)
# What headers say of the time besides the year, which all columns share.
_OF_TIME = re.compile(
    r"\b(?:fiscal|financial|calendar|years?|year-?end(?:ed|s|ing)?|months?|weeks?|quarters?|periods?|twelve|ended|ending|end|as|at|of|on|"
    r"for|the|in|and|to|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|fy|december31)\b|年度?|财年|年末|年底|截至|\d{1,2}月|\d{1,2}日"
)
_DAY = re.compile(r"(?<![\d.,$])\d{1,2}(?!\d|[.,]\d|%)")
_FILLER_WORDS = """
比 相比 较 同比
a an the of in on at as for from to by with and or was were is are be been do does did have has had what which how
much its their it this that there between over during per respectively company company's companies year years fiscal
period periods respective both respectively amount value number figure 's end ended month months table given reported
altogether across compared all annual totalled relative 的 是 多少 了 和 与 在 从 到 之间 年 年度 为 有 数值 金额 请问 两 年间 期间
"""
_FILLER = frozenset(_FILLER_WORDS.split())
_CHANGE = r"(?:increase\s*/\s*\(?\s*decrease\)?|\(?increase\)?\s*/\s*\(?decrease\)?|change|increase|decrease|growth|difference|variance)"
_PERCENT = r"(?:percent(?:age)?|%)"
_FORMS = tuple(
    (operation, re.compile(form))
    for operation, form in (
        (Operation.GROWTH, rf"\b{_PERCENT} (?:of )?{_CHANGE}|\bgrowth rate\b|\byear[ -]on[ -]year {_PERCENT} {_CHANGE}|增长率|同比增[长减]|增长了?百分之[几多]少?|(?:变化|变动)(?:率|百分比)"),
        (Operation.RATIO, r"\bratio of\b(?=.*\bto\b)|的?(?:比值|比率|之比)"),
        (Operation.PART, rf"\b(?:what )?{_PERCENT} of\b(?=.*\b(?:is|was|are|were|did|in|over|to)\b)|\bas an? {_PERCENT} of\b|\bproportion of\b(?=.*\b(?:over|to)\b)"),
        (Operation.CHANGE, rf"(?:\bnominal |\bnet |\babsolute )?(?<![a-z] )?\b{_CHANGE}(?: or decrease)?|(?:变化|变动|增加|增长|减少|下降)了?(?:多少|额|量)?"),
        (Operation.MEAN, r"\b(?:average|mean)\b|平均(?:值|数|每年)?"),
        (Operation.SUM, r"\b(?:sum|total amount)\b|\btotal\b|\bcombined\b|\baltogether\b|总和|合计|总共|一共|共计"),
    )
)  # fmt: skip
_TO = re.compile(r"\s*(?:to|through|until|till|[-–—~]|到|至)\s*$")
_FROM = re.compile(r"\bfrom$|从$|自$")
_BETWEEN = re.compile(r"\bbetween$")
# What stands beside a year and says no more than that it is one.
_AROUND = re.compile(
    r"\b(?:fiscal|financial|years?|fy|ended|ending|end|the|period|as at|as of|(?:january|february|march|april|may|june|july|august"
    r"|september|october|november|december)(?: \d{1,2})?|\d{1,2})\b|[年,、]"
)
_BACK = re.compile(
    r"\bfrom\s*$|比\s*$|compared (?:to|with)\s*$|\bagainst\s*$|\bover\s*$|\bversus\s*$|相比\s*$"
)
_OF_YEARS = re.compile(r"\bhow many (?:of the )?(?:\w+ )?(?:years|periods)\b")
_SIGNED = re.compile(r"change|/|growth|变|增长率|同比")
_MOST_ROWS = 1_000  # no statement is longer


@dataclass(frozen=True, slots=True)
class _StatementLabel:
    """What a row or column is called: its words, and the years in it."""

    words: frozenset[str]
    years: frozenset[int]


class FinancialStatement:
    """A table whose cells are found by an item and a year.

    Args:
        table: the table; names of columns may go on in its first rows.
    """

    def __init__(self, table: DataTable) -> None:
        self._table = table

    @cached_property
    def rows(self) -> dict[int, _StatementLabel]:
        """Return what each row with numbers is called."""
        first = 0
        rows = range(self.leading, len(self._table.rows))
        return {
            at: _label(self._table.rows[at][first])
            for at in rows
            if any(read_value(cell).kind is ValueKind.NUMBER for cell in self._table.rows[at][1:])
        }

    @cached_property
    def columns(self) -> dict[int, _StatementLabel]:
        """Return what each column but the first is called, by its name and the rows of names below it."""
        return {at: _label(self.title(at)) for at in range(1, self._table.width)}

    @cached_property
    def years(self) -> frozenset[int]:
        """Return all years that are on one axis."""
        labels = [*self.columns.values(), *self.rows.values()]
        return frozenset(year for one in labels for year in one.years)

    @cached_property
    def leading(self) -> int:
        """Return how many first rows go on with the names: they have no numbers but years."""
        count, unnamed = (
            0,
            sum(not name.strip() for name in self._table.names) * 2 > self._table.width,
        )
        for cells in self._table.rows if self._table.width > 1 else ():
            if cells[0].strip() and not unnamed:
                break
            values = [cell for cell in cells[1:] if cell.strip()]
            if any(
                not _YEAR.fullmatch(cell.strip()) and read_value(cell).kind is ValueKind.NUMBER
                for cell in values
            ):
                break
            if not values and cells[0].strip() and self._has_years(count):
                break
            count += 1
        return count if count < len(self._table.rows) else 0

    def _has_years(self, rows: int) -> bool:
        heads = [self._table.names, *self._table.rows[:rows]]
        return any(_YEAR.search(cell) for head in heads for cell in head[1:])

    def title(self, column: int) -> str:
        """Return what a column is called, with the rows of names below the first."""
        heads = [self._table.names, *self._table.rows[: self.leading]]
        return " ".join(dict.fromkeys(filter(None, (_spread(head)[column] for head in heads))))

    def find(self, words: Collection[str], year: int | None) -> list[tuple[int, int]]:
        """Find the cells whose row and column say just these words, of a year if there is one."""
        words_asked = frozenset(words)
        found = list[tuple[int, int]]()
        for row, of_row in self.rows.items():
            if (
                not (of_row.words or of_row.years)
                or not of_row.words <= words_asked
                or (of_row.years and year not in of_row.years)
            ):
                continue
            for column, of_column in self.columns.items():
                years = of_row.years | of_column.years
                if year is not None and years != {year}:
                    continue
                if year is None and not years:
                    continue
                if of_column.words <= words_asked <= of_row.words | of_column.words:
                    found.append((row, column))
        return found

    def find_one(self, words: Collection[str], year: int) -> tuple[int, int] | None:
        """Find the one cell of a year; None where there is none, several, or no number in it."""
        found = [
            cell for cell in self.find(words, year) if self.value(cell).kind is ValueKind.NUMBER
        ]
        return found[0] if len(found) == 1 else None

    def find_all(self, words: Collection[str]) -> list[tuple[int, int] | None]:
        """Find the cells of one item in all years, each year once; [] where that is not sure."""
        found = self.find(words, None)
        is_line = any(len({cell[axis] for cell in found}) == 1 for axis in (0, 1))
        years = [self.rows[row].years | self.columns[column].years for row, column in found]
        return list(found) if is_line and len(set(years)) == len(years) else []

    def value(self, cell: tuple[int, int]) -> CellValue:
        """Return what a cell says."""
        return read_value(self._table.rows[cell[0]][cell[1]])

    def rises(self, cells: Sequence[tuple[int, int] | None]) -> bool:
        """Return whether the last of some cells has no smaller number than the first."""
        numbers = [self.value(cell).number for cell in cells if cell]
        return numbers[:1] <= numbers[-1:]


def _label(text: str) -> _StatementLabel:
    plain = plain_of(text)
    years = frozenset(map(_year_of, _YEAR.finditer(plain)))
    return _StatementLabel(frozenset(_words(plain)), years)


def _year_of(match: re.Match[str]) -> int:
    return int(match["long"] or f"20{match['short']}")


def _words(text: str) -> Iterator[str]:
    """Yield the words by which an item is told from others."""
    bare = _UNIT.sub(" ", text)
    bare = _DAY.sub(" ", _OF_TIME.sub(" ", _YEAR.sub(" ", bare)))
    for token in _TOKEN.findall(bare):
        for word in words_of(token) if has_cjk(token) else [token]:
            if word not in _FILLER:
                yield stem(word)


def _spread(cells: Sequence[str]) -> list[str]:
    """Return a row of names with each group's name over all its columns; "¿" where it is not sure which these are."""
    filled = [cell.strip() for cell in cells]
    if sum(map(bool, filled[1:])) * 2 > len(filled[1:]):
        return filled
    if sum(map(bool, filled[1:])) == 1:
        one = next(filter(None, filled[1:]))
        return ["", *[one] * (len(filled) - 1)]
    if any(filled[1:]) and not filled[1]:  # names in the middle of their groups
        return ["", *["¿"] * (len(filled) - 1)]
    shown, last = list[str](), ""
    for cell in filled[1:]:
        last = cell or last
        shown.append(last)
    return ["", *shown]


def is_for_statement(question: str, table: DataTable) -> bool:
    """Return whether a question for a change, a share or a count of years is about a table whose columns are years."""
    text = plain_of(question)
    form = _form_in(text)
    relates = form is not None and form[0] not in (Operation.MEAN, Operation.SUM)
    if not (relates or _OF_YEARS.search(text)):
        return False
    return any(one.years for one in FinancialStatement(table).columns.values())


def parse_statement(question: str, table: DataTable) -> TableQuery | None:
    """Return what a question asks of items and years; None where a cell is not sure."""
    text = plain_of(question)
    form, statement = _form_in(text), FinancialStatement(table)
    if form is None or len(table.rows) > _MOST_ROWS or not statement.years:
        return None
    operation, match = form
    years, is_range = _find_years(text)
    rest = f"{text[: match.start()]} \0 {text[match.end() :]}"
    if operation in (Operation.RATIO, Operation.PART):
        return _of_two(statement, operation, rest, years)
    words = set(_words(rest.replace("\0", " ")))
    if years is None:
        cells = statement.find_all(words) if operation is Operation.MEAN else []
        return _query(operation, cells)
    if operation in (Operation.CHANGE, Operation.GROWTH):
        cells = [statement.find_one(words, year) for year in years]
        # A difference, increase or decrease has no sign of its own.
        sure = len(years) == 2 and (_SIGNED.search(match[0]) or statement.rises(cells))
        return _query(operation, cells) if sure else None
    meant = range(years[0], years[-1] + 1) if is_range and years else years
    return _query(operation, [statement.find_one(words, year) for year in meant])


def _form_in(text: str) -> tuple[Operation, re.Match[str]] | None:
    return next(((one, m) for one, pattern in _FORMS if (m := pattern.search(text))), None)


def _query(operation: Operation, cells: Sequence[tuple[int, int] | None]) -> TableQuery | None:
    found = tuple(cell for cell in cells if cell is not None)
    whole = len(found) == len(cells) >= 2
    return TableQuery(aggregate=operation, operands=found) if whole else None


def _of_two(
    statement: FinancialStatement, operation: Operation, rest: str, years: Sequence[int] | None
) -> TableQuery | None:
    """Return the ratio of two items of one year: "of A to B", "of A is B", "A as a percentage of B"."""
    if years is None or len(years) != 1:
        return None
    ahead, _, behind = rest.partition("\0")
    pairs = [(ahead, behind)]
    if not (set(_words(ahead)) and set(_words(behind))):
        one = behind if set(_words(behind)) else ahead
        joints = re.finditer(r"\b(?:to|over|in)\b|[和与]", one)
        pairs = [(one[: at.start()], one[at.end() :]) for at in joints]
        if operation is Operation.PART:  # "what percentage of B is A"
            joints = re.finditer(r"\b(?:is|was|are|were|did)\b", one)
            pairs += [(one[at.end() :], one[: at.start()]) for at in joints]
    found = [
        cells
        for part, whole in pairs
        if all(cells := [statement.find_one(set(_words(one)), years[0]) for one in (part, whole)])
    ]
    return _query(operation, found[0]) if len(found) == 1 else None


def _find_years(text: str) -> tuple[list[int] | None, bool]:
    """Return the years that a question asks of, rising, and whether it means all between; None where it names none.

    [] where it is not sure which, for a way back in time.
    """
    matches = {_year_of(match): match for match in reversed(list(_YEAR.finditer(text)))}
    years = sorted(matches)
    if not years:
        return None, False
    if len(years) != 2:
        return years, False
    first, second = sorted(matches.values(), key=lambda match: match.start())
    ahead, between = (
        _AROUND.sub(" ", part)
        for part in (text[: first.start()], text[first.end() : second.start()])
    )
    is_back = _BACK.search(between.rstrip()) is not None  # in 2019 from 2018
    starts_late = _year_of(first) > _year_of(second)
    if is_back != starts_late and (is_back or _FROM.search(ahead.rstrip())):
        return [], False
    is_range = _TO.fullmatch(between) is not None or _BETWEEN.search(ahead.rstrip()) is not None
    return years, is_range and not is_back
