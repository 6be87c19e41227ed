"""What passages say, cut into the smallest parts that speak of one thing: clauses, and cells of rows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.citations import is_table
from sextant.nodes.citing.evidence import (
    AHEAD,
    BEHIND,
    COLUMNS,
    HEADING,
    INHERITED,
    NEAR,
    OWN,
    ROW,
    EvidencePart,
    cut_rows,
)
from sextant.nodes.citing.support import COMPUTED, ComputedSentence, headings
from sextant.nodes.citing.terms import CLAUSE, Text, cut, numbers_in, terms_of
from sextant.text.characters import plain_of
from sextant.text.sentences import sentence_spans
from sextant.text.statements import complete_denials, split_joined
from sextant.text.units import ORDINAL
from sextant.text.values import normalise_values

MARKED = re.compile(
    r"[，;；：]|,(?!\d)|:(?!\d)|\s(?=(?:but|while|(?:al)?though|whereas) )|(?<=[\u4e00-\u9fff])(?:而|但)(?=[\u4e00-\u9fff])"
)
_LISTED = re.compile("、")
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
    return [*_computed_parts(index, item), *cut_rows(index, item), *_clauses(index, item)]


def _computed_parts(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
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
        yield from _of_sentence(index, span, sentence, (above, near, under))


def _lead_of(lead: str, sentence: str) -> str:
    """Return the lead-in of a list that a sentence is an item of, or is itself; "" for none."""
    if _LEADS_IN.search(sentence):
        return sentence
    return lead if _OPENS.match(sentence) else ""


def _of_sentence(
    index: int, span: tuple[int, int], sentence: str, around: tuple[Text, Text, Text]
) -> Iterator[EvidencePart]:
    """Yield the sentence, and each of its clauses that has a number; both below headings, near others, in a list."""
    above, near, lead = around
    whole = Text(sentence)
    clauses = [piece for clause in cut(CLAUSE, sentence) for piece in _split_counts(clause)]
    found = [tuple(one.value for one in normalise_values(clause)) for clause in clauses]
    every = tuple(value for some in found for value in some)
    texts = tuple(map(Text, clauses))
    layers = ((OWN, whole), (HEADING, above), (NEAR, near), (INHERITED, lead))
    several = len(clauses) > 1
    yield EvidencePart(
        index,
        span,
        sentence,
        layers,
        () if several else every,
        clauses=tuple(map(Text, cut_clauses(sentence))),
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
        named = next((at for at in range(position - 1, -1, -1) if has_subject[at]), None)
        inherits = not has_subject[position] and named is not None
        of_clause = (
            (OWN, texts[position]),
            (INHERITED if inherits else 0.0, ahead[named or 0]),
            (AHEAD, Text(" ".join(text.plain for text in ahead[:position]))),
            (HEADING, above),
            (BEHIND, whole),
            (NEAR, near),
            (INHERITED, lead),
        )
        wording = f"{clauses[named or 0] if inherits else ''} {clauses[position]}"
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


def cut_clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence, cut at its marks and where each side says that something is so."""
    pieces = [piece for clause in cut(MARKED, sentence) for piece in split_joined(clause)]
    complete = complete_denials(pieces)
    return [complete.get(piece, piece) for piece in pieces]


def _split_counts(clause: str) -> list[str]:
    """Return a list whose every item has a number is that many clauses: 干粉灭火器36具、二氧化碳灭火器8具."""
    pieces = cut(_LISTED, clause)
    return pieces if all(map(numbers_in, pieces)) else [clause]


def _ahead_of_value(clause: str) -> str:
    """Return what a clause says before its first number, no label: the next one may leave out that much."""
    plain = plain_of(clause)
    found = [
        one.start
        for one in normalise_values(clause)
        if one.value.unit != ORDINAL and plain[one.end : one.end + 1] not in _GRADES
    ]
    return plain[: found[0]] if found else clause


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
