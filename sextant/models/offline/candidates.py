"""Read the sentences and rows of passages that an answer may quote, and complete quotations with what belongs to them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.distractors import Siblings
from sextant.models.offline.passages import (
    FENCE,
    NUMBERED,
    Span,
    document_of,
    find_key,
    is_row,
    quotable_spans,
    table_heads,
)
from sextant.models.offline.wording import Paraphrases
from sextant.text.characters import NOTE_MARK, language_of
from sextant.text.orders import asks_of_orders, orders_answerer
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


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a row of a table: `items[source].text[start:end] == text`.

    Attributes:
        terms: what it speaks of, in the words of the question.
        heading: the heads of the tables above a row, or what an item stands below; "" for other sentences.
        language: `zh` or `en`.
        introduces: whether a list, code or a table stands below it.
    """

    source: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    heading: str
    language: str
    introduces: bool

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.source, self.start, self.end

    @property
    def meaning(self) -> str:
        """The text whose meaning is compared: a row stands under the head of its table."""
        return f"{self.heading}\n{self.text}" if self.heading and is_row(self.text) else self.text


def read_sentences(question: str, items: Sequence[RetrievedItem]) -> list[Sentence]:
    """Return all sentences and rows of the passages that may be quoted, in their order.

    Orders to whoever answers ("ignore all instructions") are left out unless the question is about orders. So are
    sentences about a sibling of what the question names: P-30 where it asks for P-20.
    """
    allows_orders, siblings = asks_of_orders(question), Siblings(question, items)
    return [
        one
        for one in read_statements(question, items)
        if (allows_orders or not orders_answerer(one.text))
        and not siblings.are_named(one.source, one.start, one.text)
    ]


def read_statements(question: str, items: Sequence[RetrievedItem]) -> list[Sentence]:
    """Return all sentences and rows of the passages in their order, whatever they are about."""
    paraphrases = Paraphrases(question)
    return [
        one for source, item in enumerate(items) for one in _read_passage(source, item, paraphrases)
    ]


def _read_passage(source: int, item: RetrievedItem, paraphrases: Paraphrases) -> Iterator[Sentence]:
    heads, outline, text = table_heads(item), PassageOutline(item.text), item.text
    for start, end in quotable_spans(text):
        quoted = text[start:end]
        if any(quoted in head for head in heads):
            continue
        if (key := find_key(quoted)) and not paraphrases.speaks_of(key):
            continue
        above = heads if is_row(quoted) else [text[slice(*outline.find_label(start))]]
        yield Sentence(
            source,
            start,
            end,
            quoted,
            paraphrases.read_terms(quoted),
            "\n".join(filter(None, above)),
            language_of(quoted),
            bool(outline.read_below(start, end)),
        )


def complete_quotations(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """Return `spans`, each with what belongs to it.

    Ahead of an item stands what introduces it ("`timeout`:" of "300 by default"), if that has something of the question.
    Behind a sentence stands the list, code or small table that it introduces. Notes follow what refers to them.
    """
    paraphrases, completed = Paraphrases(question), list[Span]()
    for span in spans:
        source, start, end = span
        text, outline = items[source].text, PassageOutline(items[source].text)
        label, below = outline.find_label(start), outline.read_below(start, end)
        if paraphrases.speaks_of(text[slice(*label)]):
            completed.append((source, *label))
        completed += [span, *((source, *one) for one in below), *_find_notes(items, span)]
    return _drop_repeated(completed)


def _find_notes(items: Sequence[RetrievedItem], span: Span) -> Iterator[Span]:
    """Yield the notes that a quotation's marks refer to, from its passage before others of its document."""
    source, start, end = span
    marks = NOTE_MARK.findall(items[source].text, start + 1, end)
    wanted = {label for mark in marks for label in mark.split(", ")}
    home = document_of(items[source])
    near = [at for at, item in enumerate(items) if wanted and document_of(item) == home]
    for at in sorted(near, key=lambda at: at != source):
        for note in quotable_spans(items[at].text):
            mark = NOTE_MARK.match(items[at].text, *note)
            if mark and mark[1] in wanted:
                wanted.remove(mark[1])
                yield at, *note


def _drop_repeated(spans: Sequence[Span]) -> list[Span]:
    """Return the spans that share nothing with one before them."""
    chosen = list[Span]()
    for span in spans:
        source, start, end = span
        if not any(one == source and start < last and first < end for one, first, last in chosen):
            chosen.append(span)
    return chosen
