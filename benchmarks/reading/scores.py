"""Score a reading against the truth, 0..1; None if the truth has nothing to compare."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from benchmarks.reading.markup import Grid, Reading, squash

_WORD = re.compile("[\u2e80-\u9fff\uf900-\ufaff]|[^\\W\u2e80-\u9fff\uf900-\ufaff_]+")
_MOST_CHARS = 400_000  # compared character by character
MEASURES = (
    "word recall",
    "word precision",
    "order",
    "edit similarity",
    "heading recall",
    "heading precision",
    "cells in their row",
    "table recall",
    "table precision",
    "table F",
)


def score(reading: Reading, truth: Reading) -> dict[str, float | None]:
    """Return each of `MEASURES`."""
    recall, precision = _score_tables(reading.tables, truth.tables)
    tables = [recall, precision, None if recall is None else f_score(recall, precision or 0.0)]
    rows = _cells_in_row(reading, truth.tables)
    by_text = (
        [None] * 6
        if truth.tables_only
        else [*_score_words(reading, truth), *_score_headings(reading, truth)]
    )
    return dict(zip(MEASURES, [*by_text, rows, *tables], strict=True))


def f_score(recall: float, precision: float) -> float:
    """Return the harmonic mean."""
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def words(text: str) -> list[str]:
    """Return its words in one case; each ideograph is one."""
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, by Hyyrö's way with bits."""
    places = _places(first)
    mask = (1 << len(first)) - 1
    state = mask
    for item in second:
        met = state & places[item]
        state = ((state + met) | (state - met)) & mask
    return len(first) - state.bit_count()


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the Levenshtein distance, by Myers's way with bits."""
    if not first:
        return len(second)
    places = _places(first)
    mask, last = (1 << len(first)) - 1, 1 << (len(first) - 1)
    up, down, distance = mask, 0, len(first)
    for item in second:
        equal = places[item]
        vertical = equal | down
        crossed = (((equal & up) + up) ^ up) | equal
        plus = down | ~(crossed | up) & mask
        minus = up & crossed
        distance += bool(plus & last) - bool(minus & last)
        plus = (plus << 1 | 1) & mask
        minus = (minus << 1) & mask
        up = minus | ~(vertical | plus) & mask
        down = plus & vertical
    return distance


def _places(items: Sequence[str]) -> defaultdict[str, int]:
    places = defaultdict[str, int](int)
    for at, item in enumerate(items):
        places[item] |= 1 << at
    return places


def _score_words(reading: Reading, truth: Reading) -> list[float | None]:
    """Return recall and precision of words, how many of those in common keep their order, and edit similarity."""
    found, known = words(reading.text), words(truth.text)
    if not known:
        return [None] * 4
    common = (Counter(found) & Counter(known)).total()
    order = longest_common(known, found) / common if common else 0.0
    a, b = squash(truth.text)[:_MOST_CHARS], squash(reading.text)[:_MOST_CHARS]
    edit = 1 - edit_distance(a, b) / max(len(a), len(b), 1)
    return [common / len(known), common / len(found) if found else 0.0, order, edit]


def _score_headings(reading: Reading, truth: Reading) -> list[float | None]:
    found, known = (Counter(map(squash, one.headings)) for one in (reading, truth))
    return list(_shares(found, known))


def _shares(found: Counter[str], known: Counter[str]) -> tuple[float | None, float | None]:
    """Return recall and precision; nothing found where there is nothing is left out of the means."""
    common = (found & known).total()
    recall = common / known.total() if known else None
    precision = common / found.total() if found else None
    return recall, precision


def _score_tables(
    found: Iterable[Grid], known: Iterable[Grid]
) -> tuple[float | None, float | None]:
    """Return recall and precision of adjacent cells, as the table competition of ICDAR 2013 counts them."""
    return _shares(_relations(found), _relations(known))


def _relations(grids: Iterable[Grid]) -> Counter[str]:
    return Counter(relation for grid in grids for relation in _neighbours(grid))


def _neighbours(grid: Grid) -> Iterator[str]:
    """Yield pairs of cells that are next to each other, blank cells passed over, each pair once."""
    width = max(map(len, grid), default=0)
    columns = [[row[at] for row in grid if at < len(row)] for at in range(width)]
    for direction, lines in (("right", grid), ("below", columns)):
        seen = dict[tuple[int, int], str]()
        for line in lines:
            filled = [(number, text) for number, cell in line if (text := squash(cell))]
            for (one, text), (other, next_text) in pairwise(filled):
                if one != other:
                    seen[one, other] = f"{text}\0{direction}\0{next_text}"
        yield from seen.values()


def _cells_in_row(reading: Reading, known: Iterable[Grid]) -> float | None:
    """Return the share of cells that stand on one line with the first cell of their row, in a table or not."""
    lines = [squash(line) for line in reading.text.split("\n")]
    lines += [squash("".join(text for _, text in row)) for grid in reading.tables for row in grid]
    unique = dict.fromkeys(lines)
    hits = total = 0
    for grid in known:
        for row in grid:
            first, *others = [text for _, cell in row if (text := squash(cell))] or [""]
            if others:
                beside = [line for line in unique if first in line]
                hits += sum(any(other in line for line in beside) for other in others)
                total += len(others)
    return hits / total if total else None
