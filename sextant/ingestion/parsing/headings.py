"""Headings of documents that mark none: told by size, weight and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sextant.ingestion.parsing.numbering import could_be_heading, is_strong, number_rank

_LARGER = 1.12  # times the size of the body's letters


@dataclass(frozen=True, slots=True)
class Styled:
    """A line or paragraph with its look. `alone`: it begins and ends its own paragraph. `is_body`: it is no heading, however it looks."""

    text: str
    size: float = 0.0
    bold: bool = False
    alone: bool = True
    is_body: bool = False


@dataclass(frozen=True, slots=True, order=True)
class _HeadingStyle:
    """Sorts from the highest kind of heading to the lowest."""

    smallness: float
    plain: bool
    rank: int


def infer_levels(lines: Sequence[Styled]) -> list[int | None]:
    """Return the heading level of each line, None for body text, 0 for the document's title.

    A short line without final stop is a heading when it is larger than the body, or stands alone
    and is bold in a body that is not, or has a strong number (第三章, 3.1). Larger stands above
    bolder above plain; among equals the number decides (章 above 节 above 一、 above 1 above 1.1),
    and a heading without number stands with the highest numbered one of its look.
    """
    body = _body(lines)
    looks = [_look(line, body) for line in lines]
    ranks: dict[tuple[float, bool], int] = {}
    for look in looks:
        if look and look.rank >= 0:
            style = (look.smallness, look.plain)
            ranks[style] = min(look.rank, ranks.get(style, look.rank))
    resolved = [
        _HeadingStyle(look.smallness, look.plain, ranks.get((look.smallness, look.plain), 0))
        if look and look.rank < 0
        else look
        for look in looks
    ]
    return _number(resolved, lines)


def _number(looks: Sequence[_HeadingStyle | None], lines: Sequence[Styled]) -> list[int | None]:
    used = Counter(look for look in looks if look)
    order = sorted(used)
    has_title = len(order) > 1 and used[order[0]] == 1 and _is_title(looks, lines)
    level = {look: index for index, look in enumerate(order, start=0 if has_title else 1)}
    return [level[look] if look else None for look in looks]


def _is_title(looks: Sequence[_HeadingStyle | None], lines: Sequence[Styled]) -> bool:
    """Return whether the first heading is the one highest, has no number, and opens the document."""
    first = next(index for index, look in enumerate(looks) if look)
    highest = min(look for look in looks if look)
    return looks[first] == highest and first < 10 and number_rank(lines[first].text) is None


def _body(lines: Sequence[Styled]) -> tuple[float, bool]:
    characters = Counter[tuple[float, bool]]()
    for line in lines:
        characters[(line.size, line.bold)] += len(line.text)
    return characters.most_common(1)[0][0] if characters else (0.0, False)


def _look(line: Styled, body: tuple[float, bool]) -> _HeadingStyle | None:
    if line.is_body or not could_be_heading(line.text):
        return None
    body_size, body_bold = body
    rank = number_rank(line.text)
    larger = line.size >= body_size * _LARGER if body_size else False
    bolder = line.bold and not body_bold
    if larger or (line.alone and (bolder or is_strong(rank))):
        return _HeadingStyle(-line.size, not line.bold, -1 if rank is None else rank)
    return None
