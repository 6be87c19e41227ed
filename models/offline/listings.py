"""Lists and code in a passage, and the line that introduces them: neither says it all without the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from domain.retrieval import RetrievedItem
from models.offline.captions import Span
from models.offline.passages import FENCE
from models.offline.wording import WORD, terms

# So many items, or lines of code, an answer may have.
_MOST = 12
_INTRODUCES = re.compile(r"[:：][*_]*$")
_MARK = re.compile(
    r"[ \t]*(?:[-*+•·]\s+|\d{1,3}(?:[)、]|\.(?!\d))\s*|[(（]?[一二三四五六七八九十]{1,3}[)）、]\s*)(?=\S)"
)
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Listing:
    """A list, or lines of code.

    Attributes:
        introduction: start and end of the line that introduces it; None where none does.
        items: start and end of each item without its mark, or of each line of code, in their order.
    """

    introduction: tuple[int, int] | None
    items: tuple[tuple[int, int], ...]

    def holds(self, place: int) -> bool:
        """Whether what begins at `place` is of one of the items."""
        return any(start <= place < end for start, end in self.items)


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    end: int
    indent: int
    text: str
    begins: int  # behind its mark, if it has one

    @property
    def is_marked(self) -> bool:
        return self.begins > self.start

    @property
    def introduces(self) -> bool:
        return "|" not in self.text and bool(
            _INTRODUCES.search(self.text) and WORD.search(self.text)
        )


def listings(text: str) -> list[Listing]:
    """The lists in `text`, each with the line above it that ends in a colon, and the code that such a line introduces.

    What is indented below an item belongs to it.
    """
    lines = [_line(match) for match in _LINE.finditer(text) if match[0].strip()]
    found: list[Listing] = []
    for place, line in enumerate(lines):
        before = lines[place - 1] if place else None
        introduced = before is not None and before.introduces
        deeper = before is None or not before.is_marked or line.indent > before.indent
        if line.text.startswith(FENCE):
            items = _code(lines, place + 1) if introduced else ()
        elif line.is_marked and ((introduced and deeper) or before is None or not before.is_marked):
            items = _items(lines, place)
        else:
            items = ()
        if len(items) > 1 or (items and introduced):
            over = (before.begins, before.end) if before and introduced and deeper else None
            found.append(Listing(over, items))
    return found


def with_lists_told(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """`spans` with the whole list that the first of them introduces, or is of.

    Of a list only an item that has no word of the question itself: it answers by what stands over it, as all the
    others do. Longer lists are left as they are.
    """
    if not spans:
        return []
    (source, start, end), *others = spans
    text = items[source].text
    found = [one for one in listings(text) if len(one.items) <= _MOST]
    introduced = [one for one in found if one.introduction and one.introduction[1] == end]
    unasked = frozenset(terms(question)).isdisjoint(terms(text[start:end]))
    around = [one for one in found if unasked and one.holds(start)]
    if not (lists := introduced or around):
        return list(spans)
    told = [*filter(None, [lists[0].introduction]), *lists[0].items]
    beside = [one for one in others if one[0] != source or not lists[0].holds(one[1])]
    return list(dict.fromkeys([*((source, *span) for span in told), *beside]))


def _items(lines: Sequence[_Line], place: int) -> tuple[tuple[int, int], ...]:
    """The items of a list that begins with a line; those of lists within it, too, unless they are many."""
    first = lines[place]
    found: list[_Line] = []
    ends: list[int] = []
    for line in map(lines.__getitem__, range(place, len(lines))):
        if line.is_marked and line.indent >= first.indent:
            found.append(line)
            ends.append(line.end)
        elif line.indent > first.indent and not line.text.startswith(FENCE):
            ends[-1] = line.end
        else:
            break
    few = len(found) <= _MOST
    return tuple(
        (line.begins, end)
        for line, end in zip(found, ends, strict=True)
        if few or line.indent == first.indent
    )


def _code(lines: Sequence[_Line], place: int) -> tuple[tuple[int, int], ...]:
    """The lines of code from a line up to its end; none where it has no end here, or has it later than an answer would."""
    for end, line in enumerate(lines[place : place + _MOST + 1], place):
        if line.text.startswith(FENCE):
            return tuple((one.start, one.end) for one in lines[place:end])
    return ()


def _line(match: re.Match[str]) -> _Line:
    whole = match[0]
    stripped = whole.strip()
    start = match.start() + whole.index(stripped)
    mark = _MARK.match(whole)
    begins = match.start() + mark.end() if mark else start
    return _Line(start, start + len(stripped), start - match.start(), stripped, begins)
