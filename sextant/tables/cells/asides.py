"""The rows of a table that are no records of their own: its names again, and what sums up other rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal

from sextant.tables.cells.values import CellValue, ValueKind
from sextant.text.characters import normalise

_EXACT = Context(prec=300)
_LONGEST_LABEL = 60
# What the first cell of a row says that tells of the other rows.
_SUMS_UP = re.compile(
    r"(?:grand |sub[ -]?)?totals?|sum|averages?|mean|总和|總和|平均值?|均值"
    r"|(?:grand |sub[ -]?)total\b.*|total (?:\d{4}|(?:of|for|in) .+|[(（].+)|.+ (?:sub)?totals?"
    r"|.*(?:合|总|總|小|共)[计計]\s*(?:[(（].*)?",
    re.IGNORECASE,
)
# What any cell of a row may say that its numbers then have to prove; the second only below a row that sums up.
_MAY_SUM_UP = re.compile(
    r"total|sum|average|\bavg|\bmean\b|[合总總小共][计計]|平均|均值|总", re.IGNORECASE
)
_MAY_BE_OUTERMOST = re.compile(r"\bm(?:ax|in)(?:imum)?\b|最[高低大小]", re.IGNORECASE)
# So many digits of a row that are sums of the rows above it are no chance; a further column is worth one more.
_NO_CHANCE = 4


@dataclass(slots=True)
class _Above:
    """The numbers of a column in the rows above one, and what of them is below the last row that sums up."""

    count: int = 0
    filled: int = 0  # those that are not zero
    least: Decimal = Decimal("Infinity")
    most: Decimal = Decimal("-Infinity")
    total: Decimal = Decimal(0)
    since: Decimal = Decimal(0)

    def add(self, number: Decimal) -> None:
        self.count += 1
        self.filled += number != 0
        self.least, self.most = min(self.least, number), max(self.most, number)
        self.total = _EXACT.add(self.total, number)
        self.since = _EXACT.add(self.since, number)

    def adds_up_to(self, number: Decimal) -> bool:
        return number in (self.total, self.since)

    def has_mean(self, number: Decimal) -> bool:
        """Return whether a number is the mean, to the digits that it shows."""
        mean = _EXACT.divide(self.total, Decimal(self.count))
        exponent = Decimal(1).scaleb(int(number.as_tuple().exponent))
        return mean.quantize(exponent, context=_EXACT) == number


_Own = Sequence[tuple[Decimal, _Above]]


def repeats_names(names: Sequence[str], cells: Sequence[str]) -> bool:
    """Return whether a row says the names of the columns once more, as at the head of each printed page."""
    return any(names) and list(map(normalise, names)) == list(map(normalise, cells))


def rows_summing_up(
    rows: Sequence[Sequence[str]], numbers: Sequence[Sequence[CellValue]], words: Sequence[int]
) -> frozenset[int]:
    """Return the rows that sum up others: their first cell says so, or their numbers show it.

    Those of a row that another cell calls a total or a mean; of a row without a name where the others have one; and,
    in whatever words (Summe, Net profit, 一季度), of a row whose sums have too many digits for a chance.

    Args:
        rows: the cells.
        numbers: the columns of numbers.
        words: the columns of words, which name the rows.
    """
    found, above = set[int](), [_Above() for _ in numbers]
    are_named = sum(any(cells[at].strip() for at in words) for cells in rows) * 2 > len(rows)
    for row, cells in enumerate(rows):
        labels = [label for at in words if (label := cells[at].strip())]
        own = [
            (column[row].number, sums)
            for column, sums in zip(numbers, above, strict=True)
            if column[row].kind is ValueKind.NUMBER
        ]
        label = " ".join(labels)[:_LONGEST_LABEL]
        is_unnamed = are_named and not labels
        if (
            _sums_up(cells)
            or (_MAY_SUM_UP.search(label) and _sums_or_means(own))
            or (row - 1 in found and _MAY_BE_OUTERMOST.search(label) and _are_outermost(own))
            or (is_unnamed and _digits_summed(own))
            or _digits_summed(own) >= _NO_CHANCE
        ):
            found.add(row)
            for sums in above:
                sums.since = Decimal(0)
        else:
            for number, sums in own:
                sums.add(number)
    return frozenset(found)


def _sums_up(cells: Sequence[str]) -> bool:
    first = next(filter(None, (cell.strip(" *:：") for cell in cells)), "")
    return _SUMS_UP.fullmatch(first[:_LONGEST_LABEL]) is not None


def _sums_or_means(own: _Own) -> bool:
    return bool(own) and all(
        sums.count > 1 and (sums.adds_up_to(number) or sums.has_mean(number))
        for number, sums in own
    )


def _are_outermost(own: _Own) -> bool:
    return bool(own) and all(
        number in (sums.least, sums.most) for number, sums in own if sums.count
    )


def _digits_summed(own: _Own) -> int:
    """Return how many digits a row's numbers have together, if each is the sum of several above it; else 0."""
    several = any(sums.filled > 1 for _, sums in own)
    sums_all = all(number == sums.total for number, sums in own)
    sums_group = all(number == sums.since for number, sums in own)
    if not several or not (sums_all or sums_group):
        return 0
    digits = [len(number.normalize(_EXACT).as_tuple().digits) for number, _ in own if number]
    return sum(digits) + len(digits) - 1
