"""Align words to rows and columns by the gaps between them and by drawn rules."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from statistics import median

from sextant.ingestion.parsing.blocks import Word
from sextant.ingestion.parsing.formats.pdf_lines import SAME_ROW, PdfBox, PdfWord
from sextant.ingestion.parsing.lines import join_lines
from sextant.ingestion.parsing.tables import SpannedCell

# In sizes of letters.
_LEAST_GAP = 0.3  # between columns, and between figures of two cells
_OVERLAP = 0.8  # the distance of lines of one row that do not stand at one height, at most
_NEXT_LINE = 1.6  # the distance of lines of one cell, at most
_CROSSING = 0.1  # of the rows may cross a gap between columns
_HEADER_FIGURES = 2  # rows of a header that hold numbers, at most
_AMOUNT = re.compile(r"(?:[A-Z]{3}\s)?\d[\d.,\s]*(?:\s[^\W\d_]{1,3})?")  # 95 EUR, 3 kg, USD 5
_WIDE = 0.7  # of the table's width: a rule that parts rows


@dataclass(slots=True)
class AlignedCell:
    """Words of one cell, the columns (both inclusive) and the rows it takes."""

    lines: list[list[PdfWord]]
    left: int
    right: int
    top: int
    bottom: int

    @property
    def text(self) -> str:
        """Return its lines joined."""
        return join_lines(" ".join(word.text for word in line) for line in self.lines)

    @property
    def is_figure(self) -> bool:
        """Return whether it holds more of a number than of words."""
        return is_figure(self.text)


def is_figure(text: str) -> bool:
    """Return whether a text is a number rather than words: mostly digits, an amount with its unit, or a dash."""
    digits, letters = sum(map(str.isdigit, text)), sum(map(str.isalpha, text))
    return digits > letters or not digits + letters or _AMOUNT.fullmatch(text) is not None


def is_number(text: str) -> bool:
    """Return whether a text is a figure that has digits, and no dash or sign alone."""
    return any(map(str.isdigit, text)) and is_figure(text)


@dataclass(slots=True)
class _Row:
    base: float
    size: float
    cells: list[AlignedCell] = field(default_factory=list[AlignedCell])


@dataclass(frozen=True, slots=True)
class AlignedTable:
    """Cells in their final places."""

    cells: list[AlignedCell]
    width: int
    height: int

    def spanned(self) -> list[SpannedCell]:
        """Return the cells for laying out."""
        return [
            SpannedCell(
                one.top, one.left, one.text, one.bottom - one.top + 1, one.right - one.left + 1
            )
            for one in self.cells
        ]

    def words(self) -> dict[tuple[int, int], list[Word]]:
        """Return what the page shows of each cell, by its corner."""
        return {
            (one.top, one.left): [
                shown for line in one.lines for word in line for shown in word.shown
            ]
            for one in self.cells
        }


def align(words: Sequence[PdfWord], levels: Sequence[PdfBox]) -> AlignedTable | None:
    """Return the table that the words of an area make; None where they do not stand in columns."""
    rows = rows_of_words(words)
    parts = [*map(segments, rows)]
    several = [row for row in parts if len(row) > 1]
    usual = median(map(len, several)) if several else 0
    full = [row for row in several if len(row) >= usual / 2]
    gaps = _column_gaps(full)
    if not gaps:
        return None
    made = [
        _Row(row[0].base, max(word.size for word in row), _row_cells(each, gaps, at))
        for at, (row, each) in enumerate(zip(rows, parts, strict=True))
    ]
    left, right = min(word.left for word in words), max(word.right for word in words)
    edges = [left, *((low + high) / 2 for low, high in gaps), right]
    return _Structure(made, edges, levels).build()


def have_columns(rows: Sequence[Sequence[PdfWord]]) -> bool:
    """Return whether rows share a gap between words."""
    parts = [segments(row) for row in rows]
    return sum(len(row) > 1 for row in parts) > 1 and bool(_column_gaps(parts))


def rows_of_words(words: Sequence[PdfWord]) -> list[list[PdfWord]]:
    """Return the words of each height from left to right, from above down."""
    rows = list[list[PdfWord]]()
    for word in sorted(words, key=lambda word: -word.base):
        if rows and rows[-1][0].base - word.base <= SAME_ROW * min(rows[-1][0].size, word.size):
            rows[-1].append(word)
        else:
            rows.append([word])
    return [sorted(row, key=lambda word: word.left) for row in rows]


def segments(row: Sequence[PdfWord]) -> list[list[PdfWord]]:
    """Return the words of a row, parted where a gap is wider than those of one phrase."""
    parts = [[*row[:1]]]
    for left, right in pairwise(row):
        space = max(left.space, right.space)
        if any(map(str.isdigit, right.text)):  # before a figure a smaller gap separates cells
            space = min(space, _LEAST_GAP * left.size)
        if right.left - left.right > space:
            parts.append([right])
        else:
            parts[-1].append(right)
    return [part for part in parts if part]


Gap = tuple[float, float]


def _column_gaps(full: Sequence[Sequence[Sequence[PdfWord]]]) -> list[Gap]:
    """Return the gaps between columns: where hardly any of the rows has words."""
    if not full:
        return []
    spans = [(segment[0].left, segment[-1].right) for row in full for segment in row]
    size = median(word.size for row in full for segment in row for word in segment)
    allowed = int(_CROSSING * len(full))
    events = sorted([(left, 1) for left, _ in spans] + [(right, -1) for _, right in spans])
    gaps, covered, since = list[Gap](), 0, None
    for x, change in events:
        covered += change
        if covered <= allowed and since is None:
            since = x
        elif covered > allowed and since is not None:
            if x - since >= _LEAST_GAP * size:
                gaps.append((since, x))
            since = None
    return _supported(gaps, full)


def _supported(gaps: Sequence[Gap], rows: Sequence[Sequence[Sequence[PdfWord]]]) -> list[Gap]:
    """Return the gaps whose columns have words in more than one row, or a figure in one; currency signs are no column.

    Such a column joins the one before it; a sign, and a name over the figures behind it, join these.
    """
    kept = list(gaps)
    while kept:
        middles = [(lo + hi) / 2 for lo, hi in kept]
        columns = [list[tuple[int, str]]() for _ in range(len(kept) + 1)]
        for at, row in enumerate(rows):
            for segment in row:
                column = bisect_right(middles, (segment[0].left + segment[-1].right) / 2)
                columns[column].append((at, "".join(word.text for word in segment)))
        texts = [[text for _, text in column] for column in columns]
        poor = next((at for at, each in enumerate(texts) if _is_poor(each, len(rows))), None)
        if poor is None:
            return kept
        is_prefix = any(unicodedata.category(text[0]) == "Sc" for text in texts[poor])
        behind = columns[min(poor + 1, len(kept))]
        is_name = all(not at for at, _ in columns[poor]) and all(
            at and is_number(text) for at, text in behind
        )
        del kept[min(poor, len(kept) - 1) if is_prefix or is_name else max(poor - 1, 0)]
    return kept


def _is_poor(texts: Sequence[str], rows: int) -> bool:
    chars = "".join(texts)
    signs = all(unicodedata.category(char) in {"Sc", "Po"} for char in chars)
    has_figure = any(map(str.isdigit, chars)) and not any(map(str.isalpha, chars))
    return signs or (len(texts) < min(2, rows) and not has_figure)


def _row_cells(
    segments: Sequence[Sequence[PdfWord]], gaps: Sequence[Gap], row: int
) -> list[AlignedCell]:
    middles = [(lo + hi) / 2 for lo, hi in gaps]
    cells = list[AlignedCell]()
    for segment in segments:
        first = sum(lo <= segment[0].left + 1 for lo, _ in gaps)
        last = sum(hi < segment[-1].right - 1 for _, hi in gaps)
        if first > last:  # in a gap
            first = last = bisect_right(middles, (segment[0].left + segment[-1].right) / 2)
        if cells and first <= cells[-1].right:
            cells[-1].lines[0] += segment
            cells[-1].right = max(cells[-1].right, last)
        else:
            cells.append(AlignedCell([list(segment)], first, last, row, row))
    return cells


class _Structure:
    """Puts lines of words together to the rows of a table."""

    def __init__(self, rows: list[_Row], edges: Sequence[float], levels: Sequence[PdfBox]) -> None:
        self._rows, self._edges, self._levels = rows, edges, levels
        self._width = len(edges) - 1
        self._ends = dict[int, float]()
        for cell in (cell for row in rows for cell in row.cells):
            self._ends[cell.right] = max(
                self._ends.get(cell.right, edges[0]), cell.lines[0][-1].right
            )
        self._body = self._body_start()

    def build(self) -> AlignedTable:
        """Return the table."""
        for row, below in pairwise(self._rows[: self._body + 1]):
            self._widen(row, below)
        for at in range(1, self._body):
            self._join_header(at)
        # Rows, lines of which make one row together.
        groups = [[at] for at in range(min(self._body, len(self._rows)))]
        for at in range(self._body, len(self._rows)):
            if at > self._body and self._continues(groups[-1], at):
                groups[-1].append(at)
            else:
                groups.append([at])
        return self._placed(groups)

    def _rules_between(self, above: _Row, below: _Row) -> list[PdfBox]:
        low, high = below.base + 0.3 * below.size, above.base + 0.1 * above.size
        return [one for one in self._levels if low < one.y < high]

    def _is_parted(self, above: _Row, below: _Row) -> bool:
        """Return whether a rule over most of the table parts two rows."""
        left, right = self._edges[0], self._edges[-1]
        rules = self._rules_between(above, below)
        covered = sum(min(one.right, right) - max(one.left, left) for one in rules)
        return covered >= _WIDE * (right - left)

    def _body_start(self) -> int:
        """Return the first row that is none of the header's."""
        figures = next(
            (
                at
                for at, row in enumerate(self._rows)
                if (others := [cell for cell in row.cells if cell.left])
                and 2 * sum(cell.is_figure for cell in others) > len(others)
            ),
            None,
        )
        ruled = next(
            (
                at + 1
                for at, (above, below) in enumerate(pairwise(self._rows))
                if self._is_parted(above, below)
            ),
            None,
        )
        if figures is None:
            return ruled or 1
        return ruled if ruled and ruled - figures <= _HEADER_FIGURES else figures

    def _widen(self, row: _Row, below: _Row) -> None:
        """Extend a header cell over the columns that a rule below it spans."""
        rules = [] if self._is_parted(row, below) else self._rules_between(row, below)
        for cell in row.cells:
            middle = (cell.lines[0][0].left + cell.lines[0][-1].right) / 2
            for rule in rules:
                if rule.left <= middle <= rule.right:
                    under = [
                        column
                        for column, (left, right) in enumerate(pairwise(self._edges))
                        if rule.left <= (left + right) / 2 <= rule.right
                    ]
                    cell.left, cell.right = min([cell.left, *under]), max([cell.right, *under])

    def _join_header(self, at: int) -> None:
        below = self._rows[at]
        near = takewhile(lambda row: self._is_next(row, below), self._rows[at - 1 :: -1])
        uppers = {(one.left, one.right): one for row in [*near][::-1] for one in row.cells}
        for cell in list(below.cells):
            upper = uppers.get((cell.left, cell.right))
            if upper:
                upper.lines += cell.lines
                upper.bottom = at
                below.cells[below.cells.index(cell)] = upper

    def _is_next(self, above: _Row, below: _Row) -> bool:
        """Return whether a line may continue in a lower one, past others between them."""
        is_near = above.base - below.base <= _NEXT_LINE * max(above.size, below.size)
        return is_near and not self._is_parted(above, below)

    def _continues(self, group: Sequence[int], at: int) -> bool:
        above, row = self._rows[group[-1]], self._rows[at]
        size = max(above.size, row.size)
        distance = above.base - row.base
        if distance > _NEXT_LINE * size:
            return False
        lower = {cell.left: cell for cell in row.cells}
        upper = {cell.left: cell for each in group for cell in self._rows[each].cells}
        if distance < _OVERLAP * size:
            return lower.keys().isdisjoint(cell.left for cell in above.cells)
        shared = lower.keys() & upper.keys()
        is_text = not any(one[column].is_figure for one in (upper, lower) for column in shared)
        if not shared or not is_text:
            return False
        # A line alone in one column under a row of several tells more of that row; in the first one it may begin a group.
        if len(lower) == 1 and len(upper) > 1 and 0 not in lower:
            return True
        first = lower[0].text[0] if 0 in shared else ""
        begins = first.isupper() or first.isdigit()
        return not begins and all(self._wraps(upper[column], lower[column]) for column in shared)

    def _wraps(self, upper: AlignedCell, lower: AlignedCell) -> bool:
        """Return whether the first word of the lower cell had no room in the upper one."""
        end, word = upper.lines[-1][-1].right, lower.lines[0][0]
        return end + word.right - word.left > self._ends[upper.right] - word.space / 2

    def _placed(self, groups: Sequence[Sequence[int]]) -> AlignedTable:
        """Place each cell in its row; lines of one row and column are joined to one cell."""
        place = {row: at for at, group in enumerate(groups) for row in group}
        owner = dict[tuple[int, int], AlignedCell]()
        kept = list[AlignedCell]()
        for cell in {id(cell): cell for row in self._rows for cell in row.cells}.values():
            cell.top, cell.bottom = place[cell.top], place[cell.bottom]
            columns = range(cell.left, cell.right + 1)
            rows = range(cell.top, cell.bottom + 1)
            taken = next((owner[cell.top, at] for at in columns if (cell.top, at) in owner), None)
            if taken:
                taken.lines += cell.lines
            else:
                kept.append(cell)
                owner |= {(row, column): cell for row in rows for column in columns}
        return _squeeze(kept, self._width, len(groups), self._body)


def _squeeze(cells: list[AlignedCell], width: int, height: int, header: int) -> AlignedTable:
    """Merge rows of the header that complement each other."""
    row = 0
    while row + 1 < min(header, height):
        places = {
            (at, column): cell
            for cell in cells
            for at in range(cell.top, cell.bottom + 1)
            for column in range(cell.left, cell.right + 1)
        }
        pairs = [
            (places.get((row, column)), places.get((row + 1, column))) for column in range(width)
        ]
        if all(one is None or other is None or one is other for one, other in pairs):
            for cell in cells:
                cell.top -= cell.top > row
                cell.bottom -= cell.bottom > row
            header, height = header - 1, height - 1
        else:
            row += 1
    return AlignedTable(cells, width, height)
