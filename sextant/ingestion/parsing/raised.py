"""Raised and lowered figures: kept apart from what they stand on, the same way in every format.

A format marks them while it reads (`mark_raised`, `mark_lowered`, `note`), with characters that no text holds and no text
function touches, and writes them out at its end (`write_raised`), when all notes are known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from sextant.ingestion.parsing.blocks import Block, Caption, HeadingBlock, Image, Paragraph, Table
from sextant.text.characters import has_cjk
from sextant.text.units import CURRENCIES
from sextant.text.values import normalise_values

# Noncharacters of Unicode, which it sets aside for such inner use.
_RAISED, _LOWERED, _NOTE, _END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_INNER = f"[^{_RAISED}-{_END}]*"
_MARK = re.compile(f"([{_RAISED}-{_NOTE}])({_INNER}){_END}")
_LEADING = re.compile(rf"^\s*[{_RAISED}{_NOTE}]({_INNER}){_END}", re.MULTILINE)
# A note whose figure stands on the line: "1 after probation", "[2] unless agreed", "注3：".
_ON_THE_LINE = re.compile(
    r"^\s*[\[(（【]?(?:(?:foot)?note\s?|注)?(\d{1,2})(?![.,]?\d)[\])）】.、:：]{0,2}\s*(?=[^\W\d_])",
    re.MULTILINE | re.IGNORECASE,
)
_LEFT_OVER = re.compile(f"[{_RAISED}-{_END}]")
_TOUCHING = re.compile(rf"([{_RAISED}{_LOWERED}])({_INNER}(?:{_END}\1{_INNER})+){_END}")
# What is raised behind the number that a cell is.
_BEHIND_NUMBER = re.compile(
    rf"\W{{0,3}}\d[\d.,]*(?<!\b10)\s?[^\W\d]{{0,4}}[%‰€$£¥]?\s?{_RAISED}({_INNER}){_END}\s*"
)
_NO_NOTES = frozenset("eo")  # 2e and 1o only count
_CLOSING = tuple(")]）］〕】")
_BRACKETS = " \t()[]（）［］〔〕【】"
_LABEL = re.compile(r"(?:\w{1,3}|[*†‡§¶#]{1,3})")
_SIMPLE = re.compile(r"[-+−]?\w+[-+−]?")
_BASE_CHARS = 12  # before a mark: enough for a unit or a figure
# A power stands on ten, on a variable of one letter, or on a unit of length or mass.
_POWER_BASE = re.compile(
    r"(?<![\d.,])10$|(?<![^\W\d_])(?:[a-zA-Zα-ωΑ-Ω]|[kcdmµμn]m|in|ft|yd|mi|kg)$|[)）米]$"
)
_VARIABLE = re.compile(r"(?<![^\W\d_])[a-zA-Zα-ωΑ-Ω]$")
# In a formula letters stand alone or in pairs: E = mc, E = ½mv.
_FORMULA = re.compile(r"=(?:[a-zA-Zα-ωΑ-Ω]{0,2}[\W\d])*[a-zA-Zα-ωΑ-Ω]{1,2}$")
_STOPS = re.compile(r"[.,;:!?。，；：！？、]+$")
_COUNTED = re.compile(r"\s?(?:[^\W\d_]+|[%‰€$£])")
_NUMBER = re.compile(r"\d[\d.,]*$")
_CENTS = re.compile(r"([.,]?)(\d\d)")
_WHOLE = re.compile(r"\d+|\d{1,3}(?:(?P<mark>[.,])\d{3})+")
_MOST_POWER_OF_TEN = 24
_LONGEST = 24  # characters; what is longer is a style and no mark


def mark_raised(text: str) -> str:
    """Mark `text` as standing raised: an exponent, or a reference to a note."""
    return _mark(_RAISED, text)


def mark_lowered(text: str) -> str:
    """Mark `text` as standing lowered."""
    return _mark(_LOWERED, text)


def note(text: str) -> str:
    """Mark `text` as the label of a note, where it is referred to or before the note's own words."""
    return _mark(_NOTE, text)


def write_raised(blocks: Iterable[Block]) -> list[Block]:
    """Write out what was marked: `10^6`, `H2O`, `25 days [note 1]`.

    A raised figure is a reference where a block of the same page (or of the document, if it has no pages) begins
    with the same figure raised, or where it stands between a number and what that counts and any block begins with
    that figure (or it is a one, which is no power); so is a letter, or a figure from one on, behind the number that a
    cell is. Two figures behind an amount of money are its cents; any other is written behind a `^`, so that it never
    melts into a number.
    """
    read = list(blocks)
    marked = [index for index, block in enumerate(read) if _is_marked(block)]
    notes = defaultdict[int | None, set[str]](set)
    for index in marked:
        for text in _texts(read[index]):
            notes[read[index].page].update(
                label for found in _LEADING.findall(text) for label in _labels(found)
            )
    anywhere = frozenset[str]().union(*notes.values(), _find_on_the_line(read) if marked else ())
    for index in marked:
        block = read[index]
        raised = notes[block.page] | (_find_marks(block) if isinstance(block, Table) else set())
        read[index] = _rewritten(block, _Notes(raised, anywhere))
    return read


@dataclass(frozen=True, slots=True)
class _Notes:
    """The labels of the notes: those that stand raised on the page of a block, and all of the document."""

    raised: Set[str]
    anywhere: Set[str]


def _find_marks(table: Table) -> set[str]:
    """Return the marks of notes behind the numbers of a table, wherever the notes stand: letters, and figures from one on."""
    cells = filter(None, (_BEHIND_NUMBER.fullmatch(cell) for row in table.rows for cell in row))
    marks = {mark for cell in cells for mark in _labels(cell[1])}
    letters = {mark for mark in marks if len(mark) == 1 and mark.islower()}
    figures = {mark for mark in marks if mark.isdigit()} if "1" in marks else set[str]()
    return figures | (set() if letters <= _NO_NOTES else letters)


def _find_on_the_line(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Paragraph | Caption):
            yield from _ON_THE_LINE.findall(block.text)


def _mark(kind: str, text: str) -> str:
    """Return blanks around the text stay outside, so that they go on parting words."""
    inner = _LEFT_OVER.sub("", text).strip()
    return text.replace(text.strip(), f"{kind}{inner}{_END}", 1) if inner else text


def _is_marked(block: Block) -> bool:
    return any(_END in text for text in _texts(block))


def _texts(block: Block) -> Iterator[str]:
    match block:
        case HeadingBlock() | Paragraph() | Caption():
            yield block.text
        case Table():
            for row in block.rows:
                yield from row
        case Image():
            yield block.alt


def _rewritten(block: Block, notes: _Notes) -> Block:
    match block:
        case HeadingBlock() | Paragraph() | Caption():
            return replace(block, text=_write(block.text, notes))
        case Table():
            rows = [
                [_write(cell, notes) if _END in cell else cell for cell in row]
                for row in block.rows
            ]
            return replace(block, rows=rows)
        case Image():
            return replace(block, alt=_write(block.alt, notes))


def _labels(text: str) -> Sequence[str]:
    """Return the labels of the notes that a mark may refer to: 1 and 2 of "[1], 2"; none where it holds anything else."""
    parts = [part.strip(_BRACKETS) for part in re.split(r"[,，、;\s]+|(?<=\])(?=\[)", text)]
    return parts if all(map(_LABEL.fullmatch, parts)) else ()


def _write(text: str, notes: _Notes) -> str:
    text = _TOUCHING.sub(_join_touching, text)
    word = "注" if has_cjk(text) else "note "
    written, rest = "", text
    while found := _MARK.search(rest):
        kind, inner = found.groups()
        written, rest = written + rest[: found.start()], rest[found.end() :]
        labels = _labels(inner)
        if kind == _RAISED and (cents := _find_cents(written, rest, inner, notes)):
            written += cents
        elif kind == _NOTE or (
            kind == _RAISED
            and (_is_bracketed(written, inner) or _is_reference(written, rest, labels, notes))
        ):
            label = f"[{word}{', '.join(labels) or inner}]"
            written, rest = _with_note(written, rest, label)
        elif kind == _RAISED:
            written += _power(written[-_BASE_CHARS:], inner)
        else:
            written += _index(written[-1:], inner)
        if kind != _NOTE and inner[-1:].isdigit() and rest[:1].isdigit():
            written += " "
    return _LEFT_OVER.sub("", written + rest)


def _join_touching(found: re.Match[str]) -> str:
    """Return one mark of several that touch: a minus sign and its figure may be drawn apart."""
    return f"{found[1]}{_LEFT_OVER.sub('', found[2])}{_END}"


def _is_bracketed(before: str, raised: str) -> bool:
    """Return whether a mark is the label of a note by its bracket: "1)", "[2]"; a variable has derivatives, f^(2)."""
    is_label = raised[-1:] in _CLOSING and bool(_labels(raised))
    return is_label and not _VARIABLE.search(before[-_BASE_CHARS:])


def _is_reference(before: str, after: str, labels: Sequence[str], notes: _Notes) -> bool:
    base = before[-_BASE_CHARS:]
    if not (labels and set(labels) <= notes.raised):
        # A one is no power: its note is known by nothing but the mark.
        is_known = labels == ["1"] or set(labels) <= notes.anywhere
        return is_known and _parts_from_unit(base, after, labels)
    could_be_power = labels != ["1"] and labels[0].isdigit()
    return not (could_be_power and (_POWER_BASE.search(base) or _FORMULA.search(base)))


def _find_cents(before: str, after: str, raised: str, notes: _Notes) -> str:
    """Return raised cents with the mark ahead of them (".99" of "4⁹⁹ EUR"); "" for what is none."""
    cents, number = _CENTS.fullmatch(raised), _NUMBER.search(before)
    if not (cents and number) or raised in notes.raised:
        return ""
    mark, digits = cents.groups()
    whole = _WHOLE.fullmatch(number[0].rstrip(".,"))
    if not whole or (number[0] == "10" and int(digits) <= _MOST_POWER_OF_TEN):
        return ""
    counted = _COUNTED.match(after)
    amount = f"{before[: number.start()][-_BASE_CHARS:]}{whole[0].replace('.', ',')}.{digits}{counted[0] if counted else ''}"
    units = {one.value.unit.lower() for one in normalise_values(amount)[-1:]}
    if CURRENCIES.isdisjoint({*units, counted[0].strip().lower() if counted else ""}):
        return ""
    if number[0] != whole[0]:  # the mark stands on the line
        return digits
    return f"{mark or (',' if whole['mark'] == '.' else '.')}{digits}"


def _parts_from_unit(before: str, after: str, labels: Sequence[str]) -> bool:
    """Return whether a mark stands between a number and its unit ("25¹ days"), where nobody writes a power."""
    number, counted = _NUMBER.search(before), _COUNTED.match(after)
    if not (labels and labels[0].isdigit() and number and counted) or _POWER_BASE.search(before):
        return False
    # No number is raised to the power of one.
    is_power = labels != ["1"] or len(number[0]) == 1
    found = normalise_values(number[0] + counted[0])
    return not is_power or any(one.value.unit for one in found)


def _with_note(before: str, after: str, label: str) -> tuple[str, str]:
    """Place a note's label: in front of a stop, and behind the word that a figure counts ("25 days [note 1]")."""
    if before.endswith("\n"):  # the note's own text, on a line below another
        return before + label, (" " if after[:1].isalnum() else "") + after
    stops = _STOPS.search(before[-_BASE_CHARS:])
    end = stops[0] if stops else ""
    before = before.removesuffix(end).rstrip()
    number = _NUMBER.search(before)
    is_counting = (
        number and not before[: number.start()][-1:].isalpha()
    )  # that of BM25 counts nothing
    if not end and is_counting and (counted := _COUNTED.match(after)):
        before, after = before + counted[0], after[counted.end() :]
    space = " " if before else ""
    gap = " " if not end and after[:1].isalnum() else ""
    return f"{before}{space}{label}{end}", gap + after


def _power(base: str, text: str) -> str:
    is_mark = not any(map(str.isalnum, text)) or len(text) > _LONGEST
    if is_mark or not base[-1:].strip():
        return text
    if not _SIMPLE.fullmatch(text):
        return f"^({text})"
    is_exponent = any(map(str.isdigit, text)) or (len(text) == 1 and _POWER_BASE.search(base))
    return f"^{text}" if is_exponent else text


def _index(base: str, text: str) -> str:
    return f"_{text}" if base.isdigit() and text[0].isdigit() else text
