"""Read what introduces what in a passage: a line its list or code, a caption its table, an item what is indented below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sextant.models.offline.passages import FENCE, NUMBERED
from sextant.text.sentences import is_ended, sentence_spans

# Longer lists, tables and code are not quoted whole.
_MOST_ITEMS, _MOST_ROWS, _MOST_LINES = 12, 8, 12
_MOST_BETWEEN = 3  # lines or blocks of code between two items of a numbered list
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_MARK = re.compile(rf"[ \t]*(?:[-*+•·]\s+|{NUMBERED})(?=\S)")
_DIGITS = re.compile(r"\d+")
_RULE = re.compile(r"\s*\|[ :|-]+$")
_INTRODUCES = re.compile(r"[:：][*_]*\s*$")
_POINTS_BELOW = re.compile(
    r"[:：]|[如以]下|下列|[下附]表|\b(?:below|following|follows?|table)\b", re.IGNORECASE
)
_TEXT, _ITEM, _ROW, _CODE = "text", "item", "row", "code"
_BARS = "| \t"


@dataclass(frozen=True, slots=True)
class _Part:
    """A line, or code with its fences; `depth` is how far it is indented, `number` that of an item, if it has one."""

    kind: str
    depth: int
    start: int
    end: int
    number: int | None = None


class PassageOutline:
    """The lines of a passage, and what each stands under.

    Args:
        text: of the passage.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts = list(_read_parts(text))
        self._parents = [self._find_parent(at) for at in range(len(self._parts))]
        self._ends = [part.end for part in self._parts]
        for at in range(len(self._parts)):
            self._join_numbered(at)

    def find_label(self, start: int) -> tuple[int, int]:
        """Return where that stands which an item belongs to, an empty span for other sentences.

        That is the item which it is indented below, or the sentence before its list where that ends with a colon.
        """
        at = self._find_part(start)
        parent = None if at is None or self._parts[at].kind in (_ROW, _CODE) else self._parents[at]
        if parent is None:
            return 0, 0
        part = self._parts[parent]
        if part.kind == _ITEM:
            return part.start, part.end
        *_, (begin, end) = sentence_spans(self._text[part.start : part.end])
        return part.start + begin, part.start + end

    def read_below(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return what a sentence introduces, if that is short: the items of a list, code, or the rows of a table."""
        at = self._find_part(start)
        if at is None or self._text[end : self._parts[at].end].strip(" *_"):
            return []
        below = [child for child, parent in enumerate(self._parents) if parent == at]
        kind = self._parts[below[0]].kind if below else ""
        below = [child for child in below if self._parts[child].kind == kind]
        if kind == _ROW:
            return self._read_rows(below)
        if kind == _CODE:
            part = self._parts[below[0]]
            is_short = self._text.count("\n", part.start, part.end) <= _MOST_LINES + 1
            return [(part.start, part.end)] if is_short else []
        if len(below) > _MOST_ITEMS:
            return []
        return [(self._parts[child].start, self._find_last(child)) for child in below]

    def _find_part(self, start: int) -> int | None:
        parts = enumerate(self._parts)
        return next((at for at, one in parts if one.start <= start < one.end), None)

    def _find_last(self, at: int) -> int:
        """Return where the last thing ends that stands below an item."""
        below = [child for child, parent in enumerate(self._parents) if parent == at]
        return max([self._ends[at], *map(self._find_last, below)])

    def _find_parent(self, at: int) -> int | None:
        part = self._parts[at]
        before = at - 1
        if part.kind == _ROW:
            while before >= 0 and self._parts[before].kind == _ROW:
                before -= 1
            return before if before >= 0 and self._is_caption(self._parts[before]) else None
        if part.kind == _CODE:
            other = self._parts[before] if at else part
            opens = other.kind in (_TEXT, _ITEM) and not is_ended(
                self._text[other.start : other.end]
            )
            return before if opens else None
        if part.kind == _TEXT and not part.depth:  # "Due date:", "4 April" below it
            is_value = before >= 0 and self._parts[before].kind == _TEXT
            opens = is_value and self._introduces(self._parts[before])
            return before if opens and not self._introduces(part) else None
        while before >= 0:
            other, is_item = self._parts[before], self._parts[before].kind == _ITEM
            if other.depth < part.depth + (part.kind == _ITEM and not is_item):
                opens = is_item or (part.kind == _ITEM and self._introduces(other))
                return before if opens else None
            before -= 1
        return None

    def _join_numbered(self, at: int) -> None:
        """Let an item go on a numbered list over a few lines or code between, which belong to the item before."""
        part = self._parts[at]
        if self._parents[at] is not None or part.number is None:
            return
        near = range(at - 1, max(at - 2 - _MOST_BETWEEN, -1), -1)
        items = (one for one in near if self._parts[one].kind == _ITEM)
        last = next((one for one in items if self._parts[one].depth == part.depth), None)
        if last is not None and self._parts[last].number == part.number - 1:
            self._parents[at] = self._parents[last]
            self._ends[last] = self._parts[at - 1].end

    def _introduces(self, part: _Part) -> bool:
        return _INTRODUCES.search(self._text[part.start : part.end]) is not None

    def _is_caption(self, part: _Part) -> bool:
        caption = self._text[part.start : part.end]
        return part.kind == _TEXT and bool(not is_ended(caption) or _POINTS_BELOW.search(caption))

    def _read_rows(self, below: list[int]) -> list[tuple[int, int]]:
        """Return the rows of a small table without its head and bars."""
        lines = [self._text[self._parts[at].start : self._parts[at].end] for at in below]
        if not 2 < len(lines) <= _MOST_ROWS + 2 or not _RULE.match(lines[1]):
            return []
        starts = [self._parts[at].start for at in below[2:]]
        return [
            (start + len(line) - len(line.lstrip(_BARS)), start + len(line.rstrip(_BARS)))
            for start, line in zip(starts, lines[2:], strict=True)
        ]


def _read_parts(text: str) -> Iterator[_Part]:
    """Yield the lines of a text with something on them; code that is closed as one."""
    code: list[re.Match[str]] = []
    for line in _LINE.finditer(text):
        is_fence = line[0].lstrip().startswith(FENCE)
        if code or is_fence:
            code.append(line)
        if code and is_fence and len(code) > 1:
            yield _read_part(_CODE, code[0], line)
            code.clear()
        elif not code:
            is_row = line[0].lstrip().startswith("|")
            yield _read_part(_ROW if is_row else _TEXT, line, line)


def _read_part(kind: str, first: re.Match[str], last: re.Match[str]) -> _Part:
    depth = len(first[0]) - len(first[0].lstrip())
    mark = _MARK.match(first[0]) if kind == _TEXT else None
    start = first.start() + (mark.end() if mark else depth)
    end, digits = last.start() + len(last[0].rstrip()), _DIGITS.search(mark[0]) if mark else None
    return _Part(_ITEM if mark else kind, depth, start, end, int(digits[0]) if digits else None)
