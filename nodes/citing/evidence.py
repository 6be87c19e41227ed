"""What passages say, cut into the smallest parts that speak of one thing: clauses, and cells of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.citations import is_table
from sextant.nodes.citing.support import COMPUTED, ComputedSentence, headings
from sextant.nodes.citing.terms import CLAUSE, Text, cut, numbers_in, terms_of, values_of_pieces
from sextant.text.characters import plain_of
from sextant.text.sentences import sentence_spans
from sextant.text.units import COUNT, ORDINAL, SHARE, TextValue
from sextant.text.values import normalise_values, scale_of_heading, unit_of_heading

# How much a term says for a part: in itself; ahead of it in its sentence, where the part has a subject of its own or
# none; in its headings; elsewhere in its sentence; in the next ones.
OWN, INHERITED, AHEAD, HEADING, BEHIND, NEAR = 1.0, 0.92, 0.65, 0.7, 0.45, 0.3
# Every row has the names of all columns, and a cell first that of its own.
COLUMNS = 0.75


@dataclass(frozen=True, slots=True)
class EvidencePart:
    """A clause or a cell with what it is said under.

    Attributes:
        passage: the index of its passage.
        span: where its sentence or row stands in the passage's text.
        sentence: the text of that.
        layers: texts by how much a term in them says for this part, most first.
        values: what its numbers say.
        conditions: what else its row or sentence says in numbers, in which a question's numbers may lie.
        is_row: whether it is of a table.
        is_clause: whether it is one of several clauses of a sentence, which is a part, too.
        inherits: whether it has no subject of its own.
        label: the words that name the row and the column, of which a statement should have most.
        row: of a cell the first one of its row.
        column: of a cell the name of its column.
        clauses: of a sentence, between its marks.
        wording: the part as it is written, with the clause that it takes its subject from.
    """

    passage: int
    span: tuple[int, int]
    sentence: str
    layers: tuple[tuple[float, Text], ...]
    values: tuple[TextValue, ...]
    conditions: tuple[TextValue, ...] = ()
    is_row: bool = False
    is_clause: bool = False
    inherits: bool = False
    label: tuple[str, ...] = ()
    row: str = ""
    column: str = ""
    clauses: tuple[Text, ...] = ()
    wording: str = ""

    def speaks_of(self, mark: str) -> bool:
        """Return whether a term or a phrase stands in a clause or before it in its sentence."""
        return self.owns(mark) or any(
            mark in text.plain or text.has(mark) == 1.0
            for level, text in self.layers
            if level == AHEAD
        )

    def owns(self, mark: str) -> bool:
        """Return whether a term or a phrase stands in the part itself, or in what it takes its subject from."""
        first = self.layers[: 2 if self.inherits else 1]
        return any(mark in text.plain or text.has(mark) == 1.0 for _, text in first)

    def is_called(self, value: TextValue) -> bool:
        """Return whether a value stands in the name of a cell's row or column."""
        named = normalise_values(f"{self.row} | {self.column}") if self.is_row else ()
        return any(value.matches(one.value) for one in named)

    def level(self, term: str) -> float:
        """Return how much a term says for this part: 0 where it stands nowhere near."""
        return max((level * text.has(term) for level, text in self.layers), default=0.0)

    def level_of(self, pattern: re.Pattern[str]) -> float:
        """Return the same for other words of the same meaning."""
        found = (level for level, text in self.layers if pattern.search(text.plain))
        return next(found, 0.0)


ROW = re.compile(r"\s*\|")
_RULE_ROW = re.compile(r"[\s|:-]+")
_SHORT_CELL = 40
_YEARS = (1900, 2100)


def cut_rows(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    """Yield the cells of the tables in a passage."""
    lines = list(_lines(item.text))
    rows = [(span, _cells(line)) for span, line in lines if ROW.match(line)]
    if not rows:
        return
    rows = [
        (span, cells) for span, cells in rows if not all(map(_RULE_ROW.fullmatch, cells or [" "]))
    ]
    context = str(item.metadata.get("context") or "")
    head, body = _head(context, rows, item.text)
    caption = " ".join(line for _, line in _lines(f"{context}\n{item.text}") if not ROW.match(line))
    above, heads = Text(f"{headings(item)} {caption}"), Text(" ".join(head))
    units = [unit_of_heading(name) for name in head]
    of_all = next(filter(None, map(scale_of_heading, [*head[:1], caption])), None)
    scales = [scale_of_heading(name) or of_all for name in head]
    columns = _Columns(head, units, heads, above, scales)
    for span, cells in body:
        yield from _cells_of_row(index, span, item.text[slice(*span)], cells, columns)


@dataclass(frozen=True, slots=True)
class _Columns:
    """The names of a table's columns, the units and scales that these give, and what stands above the table."""

    names: Sequence[str]
    units: Sequence[str]
    all_names: Text
    above: Text
    scales: Sequence[tuple[int, str] | None] = ()


def _cells_of_row(
    index: int,
    span: tuple[int, int],
    line: str,
    cells: Sequence[str],
    columns: _Columns,
) -> Iterator[EvidencePart]:
    head, of_columns = columns.names, columns.units
    of_row = unit_of_heading(cells[0]) if not normalise_values(cells[0]) else ""
    units = [
        (of_columns[at] if at < len(of_columns) else "") or (of_row if at else "")
        for at in range(len(cells))
    ]
    scales = [columns.scales[at] if at < len(columns.scales) else None for at in range(len(cells))]
    values = [
        _values_in(cell, unit, scale)
        for cell, unit, scale in zip(cells, units, scales, strict=True)
    ]
    every = tuple(value for some in values for value in some)
    words = [cell for cell, some in zip(cells, values, strict=True) if not some or at_words(cell)]
    for at, cell in enumerate(cells):
        if not cell.strip():
            continue
        name = head[at] if at < len(head) else ""
        around = (
            (HEADING, columns.above),
            (BEHIND, Text(" ".join(cells))),
            (COLUMNS, columns.all_names),
        )
        label = terms_of(" ".join([*(word for word in words if len(word) < _SHORT_CELL), name]))
        conditions = (*every, *(one.value for one in normalise_values(name)))
        clauses = [clause for clause in cut(CLAUSE, cell) if numbers_in(clause)]
        several = clauses if len(clauses) > 1 else []
        whole = EvidencePart(
            index,
            span,
            line,
            ((OWN, Text(" ".join([*words, cell, name]))), *around),
            () if several else values[at],
            conditions,
            is_row=True,
            label=label,
            row=cells[0],
            column=name,
        )
        yield whole
        named = [*(word for word in words if word is not cell), name]
        for clause in several:
            layers = ((OWN, Text(" ".join([*named, clause]))), *around)
            clause_values = _values_in(clause, units[at], scales[at])
            yield replace(whole, layers=layers, values=clause_values, is_clause=True)


def _values_in(cell: str, unit: str, scale: tuple[int, str] | None) -> tuple[TextValue, ...]:
    found = [one.value for one in normalise_values(cell)]
    if scale is None or unit == SHARE:
        return tuple(_with_unit(value, unit) for value in found)
    return tuple(one for value in found for one in _scale(value, *scale))


def _scale(value: TextValue, power: int, unit: str) -> tuple[TextValue, ...]:
    """Return what a number of a column in thousands or millions says: as it is written, without a unit, and as it is meant."""
    if value.unit and value.dimension != "money":
        return (value,)
    meant = replace(value, number=value.number * 10**power, unit=value.unit or unit)
    return (meant, replace(value, unit=COUNT))


def at_words(cell: str) -> bool:
    """Return whether a cell says something beside its numbers."""
    return len(terms_of(cell)) > 1


def _with_unit(value: TextValue, unit: str) -> TextValue:
    if value.unit or not unit:
        return value
    number = value.number / 100 if unit == "share" else value.number
    return TextValue(number, unit, value.bound, value.date)


def _lines(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    start = 0
    for line in text.split("\n"):
        if line.strip():
            yield (start + len(line) - len(line.lstrip()), start + len(line.rstrip())), line
        start += len(line) + 1


def _cells(line: str) -> list[str]:
    return [
        cell.strip()
        for cell in re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))
    ]


def _head(
    context: str, rows: Sequence[tuple[tuple[int, int], list[str]]], text: str
) -> tuple[list[str], Sequence[tuple[tuple[int, int], list[str]]]]:
    """Return the names of the columns, and the rows below them."""
    above = [_cells(line) for _, line in _lines(context) if ROW.match(line)]
    if above:
        return above[0], rows
    ruled = len(text.split("\n")) > 1 and re.search(r"^\s*\|?[\s:|-]*-{3}", text, re.MULTILINE)
    if not (ruled and len(rows) > 1):
        return [], rows
    names, body = rows[0][1], rows[1:]
    # Names may take several rows: "Year ended" over 2019 and 2018.
    while (
        len(body) > 1
        and not (all(names[1:]) and body[0][1][0])
        and not any(map(_measures, body[0][1][1:]))
    ):
        names = [
            f"{one} {two}".strip() for one, two in zip_longest(names, body[0][1], fillvalue="")
        ]
        body = body[1:]
    return names, body


def _measures(cell: str) -> bool:
    """Return whether a cell has a number that is no date and no year."""
    return any(
        not value.date and (value.unit or not _YEARS[0] <= value.number <= _YEARS[1])
        for value in numbers_in(cell)
    )


_LISTED = re.compile("、")
MARKED = re.compile(
    r"[，;；：]|,(?!\d)|:(?!\d)|\s(?=(?:but|while|(?:al)?though|whereas) )|(?<=[\u4e00-\u9fff])(?:而|但)(?=[\u4e00-\u9fff])"
)
_REFERS_BACK = re.compile(r"\b(?:it|them|they|this|these)\b|[该其此]")
# 二级: behind a number that is a name.
_GRADES = {"级", "档", "审", "期"}
_ENDED = re.compile(r"[。！？.!?…:：;；][\"'”’」』）)\]]*\Z")
_OPENS = re.compile(r"\s*(?:[-*+•·#|>]|\d{1,2}[.)、：]|[A-Z]\d\s|\d\d:\d\d\s)")
_LEADS_IN = re.compile(r"[:：]\W*\Z")
# A text that begins by saying what a thing is speaks of that thing: 帕特纳赫峡谷（…）是一座…, Jacksonville is the ….
_TOPIC = re.compile(
    r"\W*([^，。,.;；:：、\d\n]{1,40}?)\s*(?:[（(]|是(?![否由])|\b(?:is|was|are|were) (?:an?|the|one)\b)"
)
_WRAPPED_CHARS = 40


def parts_of(index: int, item: RetrievedItem) -> list[EvidencePart]:
    """Return the parts of a passage; none of a table that came with the question, whose cells are checked by value."""
    if is_table(item):
        return []
    return [*_parts_of_computation(index, item), *cut_rows(index, item), *_clauses(index, item)]


def _parts_of_computation(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    """Yield what was computed of the table that a passage is of; it rests on a line of that."""
    computed: Sequence[ComputedSentence] = item.metadata.get(COMPUTED) or ()
    offset = int(item.metadata.get("start") or 0)
    for one in computed:
        span = (one.start - offset, one.end - offset)
        values = tuple(found.value for found in normalise_values(one.text))
        layers = (
            (OWN, Text(f"{one.text}\n{item.text[slice(*span)]}")),
            (COLUMNS, Text(item.text.partition("\n")[0])),
            (HEADING, _heading_text(item)),
        )
        yield EvidencePart(index, span, one.text, layers, values, values)


def _heading_text(item: RetrievedItem) -> Text:
    return Text(headings(item))


def all_parts(items: Sequence[RetrievedItem], withheld: Collection[int] = ()) -> list[EvidencePart]:
    """Return the parts of all passages that may be cited."""
    return [
        part
        for index, item in enumerate(items)
        if index not in withheld
        for part in parts_of(index, item)
    ]


def _clauses(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    topic = _TOPIC.match(item.text)
    above = Text(f"{headings(item)} {topic[1] if topic else ''}")
    spans = [span for span in _sentence_spans(item.text) if not ROW.match(item.text[slice(*span)])]
    lead = ""
    pieces = [_value_clauses(item.text[slice(*span)]) for span in spans]
    for at, span in enumerate(spans):
        near = Text(
            " ".join(
                item.text[slice(*spans[position])]
                for position in (at - 1, at + 1)
                if 0 <= position < len(spans)
            )
        )
        sentence = item.text[slice(*span)]
        lead = _lead_of(lead, sentence)
        under = Text(lead if lead != sentence else "")
        before = Text(_ahead_of_value(pieces[at - 1][0]) if at and pieces[at - 1] else "")
        yield from _of_sentence(index, span, sentence, pieces[at], (above, near, under, before))


def _lead_of(lead: str, sentence: str) -> str:
    """Return the lead-in of a list that a sentence is an item of, or is itself; "" for none."""
    if _LEADS_IN.search(sentence):
        return sentence
    return lead if _OPENS.match(sentence) else ""


def _of_sentence(
    index: int,
    span: tuple[int, int],
    sentence: str,
    clauses: Sequence[str],
    around: tuple[Text, Text, Text, Text],
) -> Iterator[EvidencePart]:
    """Yield the sentence, and each of its clauses that has a number; both below headings, near others, in a list.

    One that refers back, and names nothing itself, has the subject of the sentence before it.
    """
    above, near, lead, before = around
    whole = Text(sentence)
    found = values_of_pieces(sentence, clauses)
    every = tuple(value for some in found for value in some)
    texts = tuple(map(Text, clauses))
    several = len(clauses) > 1
    subject = Text(_ahead_of_value(clauses[0]))
    refers_back = bool(_REFERS_BACK.search(subject.plain)) and not terms_of(subject.plain)
    named = ((INHERITED, before),) if refers_back else ()
    layers = ((OWN, whole), *named, (HEADING, above), (NEAR, near), (INHERITED, lead))
    yield EvidencePart(
        index,
        span,
        sentence,
        layers,
        () if several else every,
        inherits=refers_back,
        clauses=tuple(map(Text, cut(MARKED, sentence))),
        wording=sentence,
    )
    if not several:
        return
    ahead = [Text(_ahead_of_value(clause)) for clause in clauses]
    has_subject = [bool(terms_of(text.plain)) for text in ahead]
    for position, values in enumerate(found):
        if not values:
            continue
        # A clause that begins with its number has the subject of the nearest one that has one.
        nearest = next((at for at in range(position - 1, -1, -1) if has_subject[at]), None)
        inherits = not has_subject[position] and nearest is not None
        of_clause = (
            (OWN, texts[position]),
            (INHERITED if inherits else 0.0, ahead[nearest or 0]),
            (AHEAD, Text(_shared_ahead(clauses[:position], ahead))),
            (HEADING, above),
            (BEHIND, whole),
            (NEAR, near),
            (INHERITED, lead),
        )
        wording = f"{clauses[nearest or 0] if inherits else ''} {clauses[position]}"
        yield EvidencePart(
            index,
            span,
            sentence,
            of_clause,
            values,
            every,
            is_clause=True,
            inherits=inherits,
            wording=wording,
        )


def _value_clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence, each of which may say a value of its own."""
    return [piece for clause in cut(CLAUSE, sentence) for piece in _split_counts(clause)]


def _shared_ahead(clauses: Sequence[str], ahead: Sequence[Text]) -> str:
    """Return what stands ahead of a clause and is said of it, too: of items behind a colon only what leads in to them."""
    lead_in = [at for at, clause in enumerate(clauses, start=1) if _LEADS_IN.search(clause)]
    shared = ahead[: lead_in[-1] if lead_in else len(clauses)]
    return " ".join(text.plain for text in shared)


def _split_counts(clause: str) -> list[str]:
    """Return a list whose every item has a number is that many clauses: 干粉灭火器36具、二氧化碳灭火器8具."""
    pieces = cut(_LISTED, clause)
    return pieces if all(map(numbers_in, pieces)) else [clause]


def _ahead_of_value(clause: str) -> str:
    """Return what a clause says before its first number, no label: the next one may leave out that much."""
    plain = plain_of(clause)
    found = [
        one
        for one in normalise_values(clause)
        if one.value.unit != ORDINAL and plain[one.end : one.end + 1] not in _GRADES
    ]
    # "Until 2023 the fee was 20 EUR": a date ahead of another value is no value.
    first = next((one for one in found if one.value.date is None), next(iter(found), None))
    return plain[: first.start] if first else clause


def _sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences; lines of a text that was broken to a width are one."""
    joined = list[tuple[int, int]]()
    for start, end in sentence_spans(text):
        if joined and _is_wrapped(text, joined[-1], start):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def _is_wrapped(text: str, before: tuple[int, int], start: int) -> bool:
    line = text[before[0] : before[1]].rpartition("\n")[2]
    between = text[before[1] : start]
    return (
        between.strip(" ") == "\n"
        and len(line) >= _WRAPPED_CHARS
        and not _ENDED.search(line)
        and not _OPENS.match(text[start : start + 8])
        and not ROW.match(line)
    )
