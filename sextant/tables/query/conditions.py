"""The conditions on rows in a question: productions over its tokens, each of which makes conditions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial

from sextant.tables.cells.arithmetic import Comparison, Condition
from sextant.tables.cells.table import Column, DataTable
from sextant.tables.cells.values import ValueKind
from sextant.tables.query.columns import convert_to_column, find_by_kind, find_unit, is_code
from sextant.tables.query.linker import Linker, is_list, names_column, plain_name
from sextant.tables.query.tokens import (
    COLUMN,
    DAY,
    HARMLESS,
    NUMBER,
    VALUE,
    Question,
    QuestionToken,
    find_all,
    match_at,
    read_year,
)
from sextant.text.characters import find_whole

CONDITION, COMPARED = "CONDITION", "COMPARED"
"""Kinds of tokens: a condition on the rows, and a comparison."""
_OPPOSITES = {
    Comparison.MORE: Comparison.AT_MOST,
    Comparison.LESS: Comparison.AT_LEAST,
    Comparison.AT_LEAST: Comparison.LESS,
    Comparison.AT_MOST: Comparison.MORE,
}
_COMPARISONS = {
    "> or_equal": Comparison.AT_LEAST,
    "< or_equal": Comparison.AT_MOST,
    "greater than or_equal": Comparison.AT_LEAST,
    "less than or_equal": Comparison.AT_MOST,
    "greater than": Comparison.MORE,
    "less than": Comparison.LESS,
    ">=": Comparison.AT_LEAST,
    "<=": Comparison.AT_MOST,
    ">": Comparison.MORE,
    "<": Comparison.LESS,
    "=": Comparison.EQUAL,
}
_SIDES = {
    "negative": Comparison.LESS,
    "positive": Comparison.MORE,
    "zero": Comparison.EQUAL,
    "after": Comparison.MORE,
    "before": Comparison.LESS,
    "since": Comparison.AT_LEAST,
    "from": Comparison.AT_LEAST,
    "until": Comparison.AT_MOST,
    "by": Comparison.AT_MOST,
    ">=_behind": Comparison.AT_LEAST,
    "<=_behind": Comparison.AT_MOST,
    "after_behind": Comparison.MORE,
    "before_behind": Comparison.LESS,
    "since_behind": Comparison.AT_LEAST,
    "greater": Comparison.MORE,
    "less": Comparison.LESS,
}
_Build = Callable[[list[QuestionToken], list[int]], QuestionToken | None]


class Conditions:
    """Combines the tokens of a question into conditions, one production after the other.

    Attributes:
        tokens: the tokens as they are now.
        found: the conditions.
        is_list: the question asks for all rows that meet the conditions.
        is_unsure: something restricts the rows in an unclear way.
    """

    def __init__(self, parsed: Question, table: DataTable, linker: Linker) -> None:
        self._text, self._columns = parsed.text, table.columns
        self.named = sorted((one.start, one.column) for one in parsed.names if one.kind == COLUMN)
        self.is_unsure = linker.is_unsure
        dated = [column for column in self._columns if column.kind is ValueKind.DATE]
        named = [self._columns[at] for _, at in reversed(self.named) if self._columns[at] in dated]
        named += [one for one in dated if names_column(self._text, one.name)]
        self._dated = named[:1] or (dated if len(dated) == 1 else [])
        years = {value.date.year for one in self._dated for value in one.values if value.date}
        parsed.year = years.pop() if len(years) == 1 else None
        self.tokens = parsed.tokens()
        self.is_list = is_list(self.tokens)
        self.found = [
            Condition(at, words=frozenset(words), blanks=at in linker.ticked)
            for at, words in sorted(linker.written.items())
        ]

    def reduce(self) -> None:
        """Apply all productions."""
        filler = {"filler"}
        self._apply(
            "not|none COLUMN? VALUE and|or|comma|not? VALUE? not_behind?", self._deny, HARMLESS
        )
        self._apply("VALUE and|or|comma VALUE not_behind", self._deny, HARMLESS)
        self._apply("VALUE not_behind", self._deny, HARMLESS)
        for pattern, comparison in _COMPARISONS.items():
            self._apply(pattern, partial(self._compare, comparison))
        self._apply(
            "not|none COMPARED", lambda found, _: _compared(found, _OPPOSITES[_side(found)])
        )
        self._apply("COMPARED|after|before COLUMN of?", self._compare_columns, filler)
        self._apply("greater|less COLUMN than COLUMN of?", self._compare_columns, filler)
        self._apply("than COLUMN more? greater|less how_much?", self._compare_columns, filler)
        self._apply("none COLUMN", self._have_none, filler)
        if self._dated:
            self._read_years("within|after|before|since|from|until|by|between NUMBER", filler)
            self._read_years("DATE to|and NUMBER", filler)
            self._apply("between|from|within? DATE to|and DATE", self._between_days, filler)
            self._apply("DATE after_behind|before_behind|since_behind", self._bound_days)
            self._apply("after|before|since|from|until|by|within? DATE", self._bound_days, filler)
        self._apply("between NUMBER and|to NUMBER within_range?", self._between)
        self._apply("NUMBER and|to NUMBER within_range", self._between)
        self._apply("from? NUMBER to NUMBER", self._between)
        self._apply("COMPARED NUMBER", self._bound, filler)
        self._apply("NUMBER >=_behind|<=_behind", self._bound, {"measure", "suffix", "unit"})
        self._apply("negative|positive|zero", self._bound)

    def _read_years(self, pattern: str, skipped: Collection[str]) -> None:
        """Make dates of the numbers that a pattern ends with, if they can be years."""
        for positions in find_all(self.tokens, pattern, skipped):
            number = self.tokens[positions[-1]]
            if days := read_year(number):
                self.tokens[positions[-1]] = replace(number, kind=DAY, days=days)

    def _apply(self, pattern: str, build: _Build, skipped: Collection[str] = ()) -> None:
        """Replace the tokens that match a pattern by what a production makes of them."""
        for start in range(len(self.tokens)):
            positions = match_at(self.tokens, start, pattern, skipped)
            made = build([self.tokens[at] for at in positions], positions) if positions else None
            if made:
                self.tokens[positions[-1]] = made
                self.tokens = [
                    one for at, one in enumerate(self.tokens) if at not in positions[:-1]
                ]

    def _make(self, taken: Sequence[QuestionToken], *conditions: Condition) -> QuestionToken:
        """Add conditions, and return the token that stands for them."""
        self.found += conditions
        return replace(taken[-1], kind=CONDITION, start=taken[0].start)

    def _compare(
        self, side: Comparison, taken: Sequence[QuestionToken], positions: Sequence[int]
    ) -> QuestionToken | None:
        """Return the token of a comparison; None if no number or column follows: "did it sell more than that?"."""
        behind = (one.kind for one in self.tokens[positions[-1] + 1 :] if one.kind != "filler")
        is_of_rows = taken[0].kind in {"greater", "less"}
        if is_of_rows and next(behind, "") not in {NUMBER, COLUMN, DAY}:
            return None
        return _compared(taken, side)

    # Values and columns.

    def _deny(self, taken: list[QuestionToken], _: list[int]) -> QuestionToken | None:
        """Negate the conditions of values: "not in Oslo", "not in group A", 不是白色; None for "no stock in Oslo"."""
        columns = [one.column for one in taken if one.kind == VALUE]
        if any(one.kind == COLUMN and one.column not in columns for one in taken):
            return None
        values = [one for one in self.tokens if one.kind == VALUE and one.column in columns]
        # "Not Sales, Oslo" and "in Oslo, not in Graz" are more than one negation.
        self.is_unsure |= len(set(columns)) > 1 or len(values) > len(columns)
        self.found = [
            replace(one, denied=True) if one.column in columns else one for one in self.found
        ]
        return self._make(taken)

    def _compare_columns(
        self, taken: list[QuestionToken], positions: list[int]
    ) -> QuestionToken | None:
        """Compare a column with another: "below their minimum stock", 实际支出超过预算.

        The first column is the last one named before; else one whose name is part of the other's, or the only
        comparable one.
        """
        *named, other = (self._columns[one.column] for one in taken if one.kind == COLUMN)
        if other.kind is ValueKind.TEXT and _kinds(self.tokens[positions[-1] + 1 :])[:1] == [VALUE]:
            return taken[-1]  # "under supplier Optik"
        if other.kind is ValueKind.TEXT or taken[-1].kind == "how_much":
            return None
        before = [self._columns[at] for start, at in reversed(self.named) if start < taken[0].start]
        named = named or [one for one in before if one.kind is other.kind]
        alike = [one for one in self._columns if _comparable(one, other)]
        meant = named[:1] or _parts_of(other, self._columns) or alike
        # "At least 10 below their minimum", "more than the price of BM-40"
        is_by_so_much = positions[0] > 0 and self.tokens[positions[0] - 1].kind in {NUMBER, "unit"}
        if is_by_so_much or len(meant) != 1 or meant[0] not in alike or taken[-1].kind == "of":
            self.is_unsure = True
            return self._make(taken)
        side = next(_side([one]) for one in taken if one.kind in {COMPARED, *_SIDES})
        return self._make(taken, Condition(meant[0].index, side, other=other.index))

    def _have_none(self, taken: list[QuestionToken], _: list[int]) -> QuestionToken | None:
        """Return a condition for rows with zero in a column of numbers: 没有库存, "no stock"."""
        column = self._columns[taken[-1].column]
        if column.kind is not ValueKind.NUMBER:
            return None
        # An empty cell may mean zero or unknown.
        self.is_unsure |= any(value.kind is not ValueKind.NUMBER for value in column.values)
        return self._make(taken, Condition(column.index, Comparison.EQUAL, Decimal(0)))

    # Dates.

    def _between_days(self, taken: list[QuestionToken], _: list[int]) -> QuestionToken | None:
        (first, end), (start, last) = (one.days for one in taken if one.days)
        # "In 2014 and 2016" is no span, and no day is in both.
        is_span = taken[-2].kind != "and" or taken[0].kind in {"between", "from"}
        is_within = taken[0].kind == "within" and (start - end).days == 1
        return self._within_days(taken, first, last) if is_span or is_within else None

    def _bound_days(self, taken: list[QuestionToken], _: list[int]) -> QuestionToken | None:
        """Return a condition on dates: "after 2023" is after its last day."""
        date = next(one for one in taken if one.days)
        side = next((_SIDES[one.kind] for one in taken if one.kind in _SIDES), None)
        if date.days is None or (len(taken) == 1 and date.text.isascii()):
            return None  # "the 2024 budget"; in Chinese a date needs no other word: 2024年入职
        first, last = date.days
        if side is None:
            return self._within_days(taken, first, last)
        day = last if side in {Comparison.MORE, Comparison.AT_MOST} else first
        return self._make(taken, Condition(self._dated[0].index, side, _ordinal(day)))

    def _within_days(self, taken: list[QuestionToken], first: date, last: date) -> QuestionToken:
        ends = ((Comparison.AT_LEAST, first), (Comparison.AT_MOST, last))
        column = self._dated[0].index
        return self._make(taken, *(Condition(column, side, _ordinal(day)) for side, day in ends))

    # Numbers.

    def _between(self, taken: list[QuestionToken], positions: list[int]) -> QuestionToken | None:
        low, high = (one for one in taken if one.kind == NUMBER)
        behind = self.tokens[positions[-1] + 1 : positions[-1] + 2]
        is_sure = taken[0].kind == "between" or taken[-1].kind == "within_range"
        if not is_sure and not (high.amount and high.amount.unit) and _kinds(behind) != [COLUMN]:
            return None  # a time of day, or years
        ends = ((low, Comparison.AT_LEAST), (high, Comparison.AT_MOST))
        conditions = [self._on_column(one, side, taken, behind) for one, side in ends]
        return self._make(taken, *(one for one in conditions if one))

    def _bound(self, taken: list[QuestionToken], positions: list[int]) -> QuestionToken:
        number = next((one for one in taken if one.kind == NUMBER), taken[0])
        side = next(_side([one]) for one in taken if one.kind in {COMPARED, *_SIDES})
        behind = self.tokens[positions[-1] + 1 : positions[-1] + 2]
        condition = self._on_column(number, side, taken, behind)
        return self._make(taken, *([condition] if condition else []))

    def _on_column(
        self,
        number: QuestionToken,
        side: Comparison,
        taken: Sequence[QuestionToken],
        behind: Sequence[QuestionToken],
    ) -> Condition | None:
        """Return a bound on the column that is named last before it, else first after it.

        A column in the unit of the bound goes first, named or not, except that a named column without a unit is
        kept. A bound right before the name of a column of words is on that column, whose cells are ranges
        ("5 or more"): that is unsure.
        """
        columns, start = self._columns, taken[0].start
        numeric = [
            one.index for one in columns if one.kind is ValueKind.NUMBER and not is_code(one)
        ]
        unit = number.amount.unit if number.amount else ""
        in_unit = [at for at in numeric if unit and find_unit(columns[at]) == unit]
        named = [(position, at) for position, at in self.named if at in numeric]
        before = [at for position, at in named if position < start]
        near = [*before[::-1], *(at for position, at in named if position >= start)]
        implied = find_by_kind(self._text, [columns[at] for at in numeric])
        chosen = [at for at in near if at in in_unit]
        if len(in_unit) == 1 and all(find_unit(columns[at]) for at in near):
            chosen += in_unit
        chosen += near or (implied if len(implied) == 1 else [])
        is_of_words = any(
            one.kind == COLUMN and columns[one.column].kind is ValueKind.TEXT for one in behind
        )
        if chosen and not is_of_words:
            counted = convert_to_column(columns[chosen[0]], number.amount, number.text)
            if counted is not None:
                return Condition(chosen[0], side, counted)
        self.is_unsure = True
        return None


def _kinds(tokens: Sequence[QuestionToken]) -> list[str]:
    return [one.kind for one in tokens]


def _compared(taken: Sequence[QuestionToken], side: Comparison) -> QuestionToken:
    return replace(taken[-1], kind=COMPARED, start=taken[0].start, sense=side.value)


def _side(taken: Sequence[QuestionToken]) -> Comparison:
    last = taken[-1]
    return Comparison(last.sense) if last.kind == COMPARED else _SIDES[last.kind]


def _ordinal(day: date) -> Decimal:
    return Decimal(day.toordinal())


def _parts_of(other: Column, columns: Sequence[Column]) -> list[Column]:
    """Return the columns whose name is part of the other's: "Stock" of "Minimum stock"."""
    whole = plain_name(other.name)
    names = [(one, plain_name(one.name)) for one in columns if one.index != other.index]
    return [one for one, name in names if name and find_whole(whole, name)]


def _comparable(one: Column, other: Column) -> bool:
    """Return whether two columns have values of the same kind and unit; the unit may be in the name: "Price (EUR)"."""
    same = one.kind is other.kind and one.unit == other.unit and one.unit is not None
    return same and one.index != other.index and find_unit(one) == find_unit(other)
