"""Cut passages into parts that are about one thing: sentences, clauses with a value, and cells of tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.citing.citations import is_table
from sextant.nodes.citing.evidence_part import (
    AHEAD,
    BEHIND,
    COLUMNS,
    HEADING,
    INHERITED,
    NEAR,
    OWN,
    EvidencePart,
    cut_rows,
    is_row,
)
from sextant.nodes.citing.support import COMPUTED, ITEM, ComputedSentence, headings
from sextant.nodes.citing.terms import CLAUSE, Text, cut, numbers_in, terms_of
from sextant.text.characters import IDEOGRAPHS, plain_of
from sextant.text.sentences import sentence_spans
from sextant.text.statements import REFERS_BACK
from sextant.text.units import ORDINAL
from sextant.text.values import normalise_values

_LISTED = re.compile("、")
MARKED = re.compile(
    r"[，;；：]|,(?!\d)|:(?!\d)|\s(?=(?:but|while|(?:al)?though|whereas) )|(?<=[\u4e00-\u9fff])(?:而|但)(?=[\u4e00-\u9fff])"
)
# What an amount is for: 15 EUR a year, 9 EUR per metre, 每吨16200元.
_RATE = re.compile(
    rf"\bper [a-z]+|\b(?:an?|each|every) (?:hour|day|night|week|month|quarter|year)\b|每(?:小时|季度|[{IDEOGRAPHS}])"
)
_LEADS_IN = re.compile(r"[:：]\W*\Z")


def all_parts(items: Sequence[RetrievedItem]) -> list[EvidencePart]:
    """Return the parts of all passages. Attached tables have none: their cells are checked apart."""
    return [
        part
        for index, item in enumerate(items)
        if not is_table(item)
        for part in (
            *_parts_of_computation(index, item),
            *cut_rows(index, item),
            *_clauses(index, item),
        )
    ]


def _parts_of_computation(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    """Yield the computed sentences of a table as parts, each with its row, or the columns' names above several rows."""
    computed: Sequence[ComputedSentence] = item.metadata.get(COMPUTED) or ()
    offset = int(item.metadata.get("start") or 0)
    for one in computed:
        span = (one.start - offset, one.end - offset)
        values = tuple(found.value for found in normalise_values(one.text))
        line = item.text[slice(*span)].partition("\n")[0]
        layers = (
            (OWN, Text(f"{one.text}\n{line}")),
            (COLUMNS, Text(item.text.partition("\n")[0])),
            (HEADING, Text(headings(item))),
        )
        yield EvidencePart(index, span, one.text, layers, values, values)


def _clauses(index: int, item: RetrievedItem) -> Iterator[EvidencePart]:
    above = Text(headings(item))
    spans = [span for span in sentence_spans(item.text) if not is_row(item.text[slice(*span)])]
    pieces = [_value_clauses(item.text[slice(*span)]) for span in spans]
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
        before = Text(_ahead_of_value(pieces[at - 1][0]) if at and pieces[at - 1] else "")
        mark = ITEM.match(sentence)
        lead = lead if mark and mark[0].strip() else ""
        for part in _of_sentence(index, span, sentence, pieces[at], (above, near, before)):
            yield _below(lead, part) if lead else part
        lead = _LEADS_IN.sub("", sentence) if _LEADS_IN.search(sentence) else lead


def _below(lead: str, part: EvidencePart) -> EvidencePart:
    """Return an item of a list with the line that introduces it."""
    stated = f"{lead} {ITEM.sub('', part.sentence)}"
    return replace(part, stated=stated, layers=(*part.layers, (INHERITED, Text(lead))))


def _of_sentence(
    index: int,
    span: tuple[int, int],
    sentence: str,
    clauses: Sequence[str],
    around: tuple[Text, Text, Text],
) -> Iterator[EvidencePart]:
    """Yield a sentence and each of its clauses with a number, with the texts around them as layers.

    A sentence that refers back ("It weighs 3 kg") has the subject of the sentence before it.
    """
    above, near, before = around
    whole = Text(sentence)
    found = [tuple(one.value for one in normalise_values(clause)) for clause in clauses]
    every = tuple(value for some in found for value in some)
    several = len(clauses) > 1
    subject = Text(_ahead_of_value(clauses[0]))
    refers_back = bool(REFERS_BACK.search(subject.plain)) and not terms_of(subject.plain)
    named = ((INHERITED, before),) if refers_back else ()
    layers = ((OWN, whole), *named, (HEADING, above), (NEAR, near))
    yield EvidencePart(
        index,
        span,
        sentence,
        layers,
        () if several else every,
        every,
        inherits=refers_back,
        clauses=tuple(map(Text, cut(MARKED, sentence))),
    )
    if not several:
        return
    ahead = [Text(_ahead_of_value(clause)) for clause in clauses]
    has_subject = [bool(terms_of(text.plain)) for text in ahead]
    left_out = _find_left_out(clauses)
    for position, values in enumerate(found):
        if not values:
            continue
        # A clause that begins with its number has the subject of the nearest one that has one.
        nearest = next((at for at in range(position - 1, -1, -1) if has_subject[at]), None)
        inherits = not has_subject[position] and nearest is not None
        rate, behind = left_out[position]
        of_clause = (
            (OWN, Text(f"{clauses[position]} {rate}")),
            (INHERITED if inherits else 0.0, ahead[nearest or 0]),
            (AHEAD, Text(f"{_shared_ahead(clauses[:position], ahead)} {behind}")),
            (HEADING, above),
            (BEHIND, whole),
            (NEAR, near),
        )
        yield EvidencePart(
            index,
            span,
            sentence,
            of_clause,
            values,
            every,
            is_clause=True,
            inherits=inherits,
        )


def _value_clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence that may each have a value."""
    return [piece for clause in cut(CLAUSE, sentence) for piece in _split_counts(clause)]


def _shared_ahead(clauses: Sequence[str], ahead: Sequence[Text]) -> str:
    """Return the subjects ahead of a clause; of items behind a colon only those up to the colon."""
    lead_in = [at for at, clause in enumerate(clauses, start=1) if _LEADS_IN.search(clause)]
    shared = ahead[: lead_in[-1] if lead_in else len(clauses)]
    return " ".join(text.plain for text in shared)


def _find_left_out(clauses: Sequence[str]) -> list[tuple[str, str]]:
    """Return what each clause leaves out of earlier ones: a rate, and the words behind the value.

    A card costs "15 EUR a year for adults, 6 EUR for students"; a cable is "3 m long here and 5 m there".
    """
    left_out, rate, last = list[tuple[str, str]](), "", ""
    for clause in clauses:
        plain = plain_of(clause)
        first = next(iter(normalise_values(clause)), None)
        behind = plain[first.end :] if first else ""
        own = _RATE.search(plain)
        left_out.append(("" if own else rate, "" if terms_of(behind) else last))
        rate = own[0] if own else rate
        last = behind if terms_of(behind) else last
    return left_out


def _split_counts(clause: str) -> list[str]:
    """Cut a list whose items all have a number into these: 干粉灭火器36具、二氧化碳灭火器8具."""
    pieces = cut(_LISTED, clause)
    return pieces if all(map(numbers_in, pieces)) else [clause]


def _ahead_of_value(clause: str) -> str:
    """Return the text of a clause before its first number, which the next clause may leave out."""
    plain = plain_of(clause)
    found = [one for one in normalise_values(clause) if one.value.unit != ORDINAL]
    # A date ahead of another value is not what the clause is about: "Until 2023 the fee was 20 EUR".
    first = next((one for one in found if one.value.date is None), next(iter(found), None))
    return plain[: first.start] if first else clause
