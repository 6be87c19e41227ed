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
from sextant.models.offline.wording import Paraphrases, terms
from sextant.text.characters import NOTE_MARK, find_whole, language_of, plain_of
from sextant.text.orders import asks_of_orders, orders_answerer
from sextant.text.sentences import is_ended, sentence_spans
from sextant.text.statements import REFERS_BACK


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or a row of a table: `items[source].text[start:end] == text`.

    Attributes:
        terms: what it speaks of, in the words of the question.
        heading: the heads of the tables above a row, or the item that an indented one stands below; "" for a sentence.
        language: `zh` or `en`.
    """

    source: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    heading: str
    language: str

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
    allows_orders = asks_of_orders(question)
    siblings, paraphrases = Siblings(question, items), Paraphrases(question)
    return [
        one
        for source, item in enumerate(items)
        for one in _read_passage(source, item, paraphrases)
        if (allows_orders or not orders_answerer(one.text))
        and not siblings.are_named(source, one.start, one.text)
    ]


def _read_passage(source: int, item: RetrievedItem, paraphrases: Paraphrases) -> Iterator[Sentence]:
    heads = table_heads(item)
    for start, end in quotable_spans(item.text):
        text = item.text[start:end]
        if any(text in head for head in heads):
            continue
        if (key := find_key(text)) and not paraphrases.speaks_of(key):
            continue
        above = heads if is_row(text) else [item.text[slice(*find_label(item.text, start))]]
        yield Sentence(
            source,
            start,
            end,
            text,
            paraphrases.read_terms(text),
            "\n".join(filter(None, above)),
            language_of(text),
        )


def find_label(text: str, start: int) -> tuple[int, int]:
    """Return where that stands which an item belongs to, an empty span for other sentences.

    That is the item which it is indented below, or the sentence before its list where that ends with a colon.
    """
    begin = text.rfind("\n", 0, start) + 1
    depth, is_item = _measure_indent(text[begin:start]), _MARK.match(text, begin)
    lines = list(_LINE.finditer(text, 0, begin))[::-1] if depth or is_item else ()
    for line in lines:
        mark = _MARK.match(line[0])
        if _measure_indent(line[0]) >= depth + bool(is_item and not mark):
            continue
        if mark:
            return line.start() + mark.end(), line.end()
        if not is_item or not _INTRODUCES.search(line[0]):
            break
        last = list(sentence_spans(line[0]))[-1]
        return line.start() + last[0], line.start() + last[1]
    return 0, 0


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


# Tables of more rows, lists and code of more lines are not quoted whole.
_MOST_ROWS, _MOST_LINES = 8, 12
_MOST_BETWEEN = 3  # lines between two items of a numbered list
_MARK = re.compile(rf"[ \t]*(?:[-*+•·]\s+|{NUMBERED})(?=\S)")
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_ASKS_OF_EACH = re.compile(r"各|每[个個种種台款]|分别|分別|所有|全部|\b(?:each|every|all)\b")
_POINTS_BELOW = re.compile(
    r"[:：]|[如以]下|下列|[下附]表|\b(?:below|following|follows?|table)\b", re.IGNORECASE
)
_INTRODUCES = re.compile(r"[:：][*_]*\s*$")
_LABEL = re.compile(r"[^\n:：]{1,60}[:：](?=\s)")
# Not "those who …", "it is forbidden to …", 其他 and 此外.
_BACK = re.compile(
    r"(?:this|these|those(?! who)|it(?! (?:is|was) \w+ (?:to|that)\b)|they|such)\b"
    r"|[该这]|其(?![他它余次实])|此(?!外)|上述",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*\|[ :|-]+$")


def complete_lists(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """Return `spans` with the list or code that the first of them to do so introduces, or the small table below the first.

    Of a table, the rows of `_choose_rows`. A row stands for all of its table where the question asks of each.
    """
    if not spans:
        return []
    source, start, end = spans[0]
    text = items[source].text
    if is_row(text[start:end]) and _ASKS_OF_EACH.search(plain_of(question)):
        table = _read_rows_around(text, start)
        rows = [(source, *span) for span in _choose_rows(question, text, "", table)]
        others = [one for one in spans if not is_row(items[one[0]].text[slice(*one[1:])])]
        return [*rows, *others] if rows else list(spans)
    spans = [_extend_to_introduction(items[span[0]].text, span) for span in spans]
    openings = (at for at, one in enumerate(spans) if _opens(items[one[0]].text, spans[:at], one))
    at = next(openings, 0)
    source, start, end = spans[at]
    text = items[source].text
    caption = text[start:end]
    below: Sequence[tuple[int, int]] = list(_read_below(text, start, end))
    if not below:
        return list(spans)
    first = [] if is_row(text[slice(*below[0])]) else [*spans[: at + 1]]
    if not first:
        if is_ended(caption) and not _POINTS_BELOW.search(caption):
            return list(spans)
        below = _choose_rows(question, text, caption, below)
    completed = [*first, *((source, *span) for span in below)]
    last = max(span[1] for span in below)
    others = [one for one in spans[at + 1 :] if one[0] != source or not start <= one[1] < last]
    return [*completed, *others]


def _extend_to_introduction(text: str, span: Span) -> Span:
    """Return a sentence with the next one where that refers back to it and introduces: "Report it. You can do this by:"."""
    source, start, end = span
    rest = text[end:].partition("\n")[0]
    is_one = len(list(sentence_spans(rest))) == 1
    goes_on = is_one and REFERS_BACK.search(rest) and introduces(text, start, end + len(rest))
    return (source, start, end + len(rest)) if goes_on else span


def _opens(text: str, before: Sequence[Span], span: Span) -> bool:
    """Return whether a sentence introduces a list, or code that none of the spans before it is of; only the first one, a table."""
    below = list(_read_below(text, *span[1:]))
    if not below:
        return False
    start, end = below[0][0], below[-1][1]
    if text.startswith(FENCE, start):
        return not any(one[0] == span[0] and start <= one[1] < end for one in before)
    return not (before and is_row(text[slice(*below[0])]))


def complete_labels(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """Return `spans`, ahead of each what says what it is of.

    That is what introduces an item ("`timeout`:" of "300 by default") where it has something that the question speaks
    of, and of the first the opening of its line (`_find_opening`).
    """
    completed, paraphrases = list[Span](), Paraphrases(question)
    for span in spans:
        source, start, _ = span
        text = items[source].text
        label = (source, *find_label(text, start))
        above = text[label[1] : label[2]]
        if _INTRODUCES.search(above) and paraphrases.speaks_of(above):
            completed.append(label)
        if span == spans[0] and (opening := _find_opening(text, start)):
            completed.append((source, *opening))
        completed.append(span)
    return list(dict.fromkeys(completed))


def _find_opening(text: str, start: int) -> tuple[int, int] | None:
    """Return the label of the list item that a sentence goes on with, else the sentence before one that refers back."""
    begin = text.rfind("\n", 0, start) + 1
    mark = _MARK.match(text, begin, start)
    if mark and (label := _LABEL.match(text, mark.end(), start)):
        return label.span()
    before = [one for one in quotable_spans(text) if begin <= one[0] and one[1] <= start]
    return before[-1] if before and _BACK.match(text, start) else None


def complete_notes(items: Sequence[RetrievedItem], spans: Sequence[Span]) -> list[Span]:
    """Return `spans`, each with the notes behind it that its marks refer to."""
    completed = list[Span]()
    for span in spans:
        source, start, end = span
        labels = [
            one
            for mark in NOTE_MARK.finditer(items[source].text, start + 1, end)
            for one in mark[1].split(", ")
        ]
        notes = (_find_note(items, source, label) for label in labels)
        completed += [one for one in (span, *filter(None, notes)) if one not in completed]
    return completed


def _find_note(items: Sequence[RetrievedItem], source: int, label: str) -> Span | None:
    """Return the note of this label in the passage, else in another of its document, of the same page first."""
    home = items[source]
    others = [at for at, one in enumerate(items) if document_of(one) == document_of(home)]
    others.sort(
        key=lambda at: (at != source, items[at].metadata.get("page") != home.metadata.get("page"))
    )
    for at in others:
        for start, end in quotable_spans(items[at].text):
            mark = NOTE_MARK.match(items[at].text, start, end)
            if mark and mark[1] == label:
                return at, start, end
    return None


def _choose_rows(
    question: str, text: str, caption: str, rows: Sequence[tuple[int, int]]
) -> Sequence[tuple[int, int]]:
    """Return the rows that share most with what the question says beyond the caption; where it asks of each, those that it names, or all."""
    plain = plain_of(question)
    if _ASKS_OF_EACH.search(plain):
        items = ((row, plain_of(text[slice(*row)].partition(" |")[0])) for row in rows)
        return [
            row for row, item in items if not item.isdigit() and find_whole(plain, item)
        ] or rows
    paraphrases = Paraphrases(question)
    wanted = frozenset(terms(plain)) - paraphrases.read_terms(caption)
    shared = [len(wanted & paraphrases.read_terms(text[slice(*row)])) for row in rows]
    most = max(shared, default=0)
    return [row for row, count in zip(rows, shared, strict=True) if count == most]


def introduces(text: str, start: int, end: int) -> bool:
    """Return whether a line of a passage's text introduces a list, code or a table."""
    return next(_read_below(text, start, end), None) is not None


def _read_below(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what a line introduces: items of a list, lines of code, or rows; nothing for a row, or within code."""
    in_code = f"\n{text[:start]}".count(f"\n{FENCE}") % 2
    if in_code or is_row(text[start:end]) or text[end:].partition("\n")[0].strip(" *_"):
        return
    lines = list(_LINE.finditer(text, end))
    if not lines:
        return
    if lines[0][0].lstrip().startswith("|"):
        yield from _read_rows(text, lines)
    elif lines[0][0].lstrip().startswith(FENCE):
        if not is_ended(text[start:end]):
            yield from _read_code(lines)
    elif _INTRODUCES.search(text[start:end]):
        yield from _read_items(lines)


def _read_rows(text: str, lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    rows = list[re.Match[str]]()
    for line in lines:
        if not line[0].lstrip().startswith("|"):
            break
        rows.append(line)
    if len(rows) > 2 and _RULE.match(rows[1][0]) and len(rows) - 2 <= _MOST_ROWS:
        last = rows[-1].end()
        yield from (
            span for span in quotable_spans(text) if rows[2].start() <= span[0] and span[1] <= last
        )


def _read_rows_around(text: str, start: int) -> list[tuple[int, int]]:
    """Return the rows of the small table that one of them stands in."""
    lines = list(_LINE.finditer(text))
    above = [at for at, line in enumerate(lines) if line.end() <= start and line[0][0] != "|"]
    return list(_read_rows(text, lines[above[-1] + 1 if above else 0 :]))


def _read_code(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the code with its fences; nothing where it is not closed, or long."""
    for line in lines[1 : _MOST_LINES + 2]:
        if line[0].lstrip().startswith(FENCE):
            yield _strip(lines[0])[0], _strip(line)[1]
            return


def _read_items(lines: Sequence[re.Match[str]]) -> Iterator[tuple[int, int]]:
    """Yield the items of a list without their marks; code and lines indented below an item belong to it.

    So do a few lines behind it that the next number follows. A line with another mark, such as a bullet behind "五、",
    ends the list.
    """
    found, sign, between, in_code = list[tuple[int, int]](), "", list[re.Match[str]](), False
    for line in lines:
        mark = None if in_code else _MARK.match(line[0])
        if mark and _measure_indent(line[0]) < _measure_indent(lines[0][0]):
            break  # an item of the list that the introducing item stands in
        is_fence = line[0].lstrip().startswith(FENCE)
        if mark and sign in ("", mark[0].rstrip()[-1]):
            if between and mark[0].strip(" .)、．") != str(len(found) + 1):
                break
            if between:
                found[-1] = (found[-1][0], _strip(between[-1])[1])
            between.clear()
            sign = mark[0].rstrip()[-1]
            found.append((line.start() + mark.end(), _strip(line)[1]))
        elif found and not between and (in_code or is_fence or line[0][0].isspace()):
            found[-1] = (found[-1][0], _strip(line)[1])
        elif found and not mark and len(between) < _MOST_BETWEEN:
            between.append(line)
        else:
            break
        in_code ^= is_fence
    yield from found if len(found) <= _MOST_LINES else ()


def _strip(line: re.Match[str]) -> tuple[int, int]:
    text = line[0]
    start = line.start() + len(text) - len(text.lstrip())
    return start, start + len(text.strip())
