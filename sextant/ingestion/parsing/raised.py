"""Keep raised and lowered figures apart from what they stand on, in the same way for every format.

A format marks them while it reads (`mark_raised`, `mark_lowered`, `note`), with characters that no text holds and no text
function touches, and writes them out at its end (`write_raised`), when all notes are known.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from functools import partial

from sextant.ingestion.parsing.blocks import Block, texts_of, with_texts
from sextant.text.characters import has_cjk
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.values import normalise_values

# Noncharacters of Unicode, which it sets aside for such inner use.
_RAISED, _LOWERED, _NOTE, _END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
_INNER = f"[^{_RAISED}-{_END}]*"
_MARK = re.compile(f"([{_RAISED}-{_NOTE}])({_INNER}){_END}")
_LEADING = re.compile(rf"^\s*[{_RAISED}{_NOTE}]({_INNER}){_END}", re.MULTILINE)
_WITHOUT_MARKS = dict.fromkeys(map(ord, (_RAISED, _LOWERED, _NOTE, _END)))
_TOUCHING = re.compile(rf"([{_RAISED}{_LOWERED}])({_INNER}(?:{_END}\1{_INNER})+){_END}")
_CLOSING = tuple(")]）］〕】")
_BRACKETS = " \t()[]（）［］〔〕【】"
_LABEL = re.compile(r"(?:\w{1,3}|\d{1,3}[-–]\d{1,3}|[*†‡§¶#]{1,3})")
_NAMED = re.compile(r"\W*(?:[^\W\d_]+\s+|[注註])\d+\W*")  # one label with a name: [nb 2], [注 1]
_SIMPLE = re.compile(r"[-+−]?\w+[-+−]?")
_BASE_CHARS = 12  # before a mark: enough for a unit or a figure
# A power stands on ten, on a variable of one letter, or on a unit of length or mass.
_POWER_BASE = re.compile(
    r"(?<![\d.,])10$|(?<![^\W\d_])(?:[a-zA-Zα-ωΑ-Ω]|[kcdmµμn]m|in|ft|yd|mi|kg)$|[)）米]$"
)
# In a formula letters stand alone or in pairs: E = mc, E = ½mv.
_FORMULA = re.compile(r"=(?:[a-zA-Zα-ωΑ-Ω]{0,2}[\W\d])*[a-zA-Zα-ωΑ-Ω]{1,2}$")
# No power stands behind the mark that ends a clause; the dot of a unit, as in 12 in.², ends none.
_CLAUSE_END = re.compile(
    r"(?<![^\W\d_])(?!(?:[cdk]?m|in|ft|yd|mi|sec)\.$)[^\W\d_]{2,}[\"'”’)）]?[.,;:!?。，；：！？、][\"'”’]?$"
)
_STOPS = ".,;:!?。，；：！？、"
_COUNTED = re.compile(r"\s?(?:[^\W\d_]+|[%‰€$£])")
_NUMBER = re.compile(r"\d[\d.,]*$")
_LONGEST = 24  # characters; what is longer is a style and no mark


def mark_raised(text: str) -> str:
    """Mark `text` as standing raised: an exponent, or a reference to a note."""
    return _mark(_RAISED, text)


def mark_lowered(text: str) -> str:
    """Mark `text` as standing lowered."""
    return _mark(_LOWERED, text)


def begins_shifted(text: str) -> bool:
    """Return whether a text begins with what stands raised or lowered."""
    return text.startswith((_RAISED, _LOWERED))


def note(text: str) -> str:
    """Mark `text` as the label of a note, where it is referred to or before the note's own words."""
    return _mark(_NOTE, text)


def write_raised(blocks: Iterable[Block]) -> list[Block]:
    """Write out what was marked: `10^6`, `H2O`, `25 days [note 1]`.

    A raised figure is a reference where a block of the same page (or of the document, if it has no pages) begins
    with the same figure raised, or behind the end of a clause; a one, which is no power, also between a number and what
    that counts. Any other is written behind a `^`, so that it never melts into a number.
    """
    read = list(blocks)
    marked = [at for at, block in enumerate(read) if any(_END in text for text in texts_of(block))]
    notes = defaultdict[int | None, set[str]](set)
    for index in marked:
        for text in texts_of(read[index]):
            notes[read[index].page].update(
                label for found in _LEADING.findall(text) for label in _labels(found)
            )
    for index in marked:
        write = partial(_write, notes=notes[read[index].page])
        read[index] = with_texts(read[index], write)
    return read


def _mark(kind: str, text: str) -> str:
    """Mark a text; blanks around it stay outside of the mark, so that they still separate words."""
    inner = text.translate(_WITHOUT_MARKS).strip()
    return text.replace(text.strip(), f"{kind}{inner}{_END}", 1) if inner else text


def _labels(text: str) -> Sequence[str]:
    """Return the labels of the notes that a mark may refer to: 1 and 2 of "[1], 2"; none where it holds anything else."""
    split = re.split(r"[,，、;\s]+|(?<=\])(?=\[)", text)
    parts = [part.strip(_BRACKETS) for part in split if part]
    is_list = all(map(_LABEL.fullmatch, parts)) and not _NAMED.fullmatch(text)
    return parts if is_list else ()


def _write(text: str, notes: Set[str]) -> str:
    if _END not in text:
        return text
    # A minus sign and its figure may be drawn apart.
    text = _TOUCHING.sub(
        lambda found: f"{found[1]}{found[2].translate(_WITHOUT_MARKS)}{_END}", text
    )
    word = "注" if has_cjk(text) else "note "
    written, rest = "", text
    while found := _MARK.search(rest):
        kind, inner = found.groups()
        written, rest = written + rest[: found.start()], rest[found.end() :]
        labels = _labels(inner)
        is_label = labels and inner.endswith(_CLOSING)  # by its bracket: "1)", "[2]"
        if kind == _NOTE or (
            kind == _RAISED and (is_label or _is_reference(written, rest, labels, notes))
        ):
            label = f"[{word}{', '.join(labels) or inner}]"
            if _NAMED.fullmatch(inner):
                label = f"[{inner.strip(_BRACKETS)}]"
            written, rest = _with_note(written, rest, label)
        elif kind == _RAISED:
            written += _power(written[-_BASE_CHARS:], inner)
        else:
            is_figure = written[-1:].isdigit() and inner[0].isdigit()
            written += f"_{inner}" if is_figure else inner
        if kind != _NOTE and inner[-1:].isdigit() and rest[:1].isdigit():
            written += " "
    return (written + rest).translate(_WITHOUT_MARKS)


def _is_reference(before: str, after: str, labels: Sequence[str], notes: Set[str]) -> bool:
    base = before[-_BASE_CHARS:]
    if not (labels and set(labels) <= notes):
        goes_on = after[:1].isalpha() and not has_cjk(after[:1])  # the mark is of what follows
        is_figure = bool(labels) and labels[0][0].isdigit()
        if is_figure and _CLAUSE_END.search(base) and not goes_on:
            return True
        # A one is no power: its note is known by nothing but the mark.
        return labels == ["1"] and _parts_from_unit(base, after)
    could_be_power = labels != ["1"] and labels[0].isdigit()
    return not (could_be_power and (_POWER_BASE.search(base) or _FORMULA.search(base)))


def _parts_from_unit(before: str, after: str) -> bool:
    """Return whether a mark stands between a number and its unit ("25¹ days"), or ends a cell that is a number."""
    number, counted = _NUMBER.search(before), _COUNTED.match(after)
    is_cell = number is not None and number[0] == before and not after
    if not (number and (counted or is_cell)) or _POWER_BASE.search(before):
        return False
    found = normalise_values(number[0] + (counted[0] if counted else ""))
    return len(number[0]) > 1 or any(one.value.unit for one in found)


def _with_note(before: str, after: str, label: str) -> tuple[str, str]:
    """Insert a note's label: before a final stop, and behind the unit of a number ("25 days [note 1]")."""
    if before.endswith("\n"):  # the note's own text, on a line below another
        return before + label, (" " if after[:1].isalnum() else "") + after
    end = before[len(before.rstrip(_STOPS)) :]
    before = before.removesuffix(end).rstrip()
    base = before[-_BASE_CHARS:]
    number = _NUMBER.search(base)
    is_counting = (
        number and not base[: number.start()][-1:].isalpha()
    )  # that of BM25 counts nothing
    counted = None if end or not is_counting else _COUNTED.match(after)
    if counted and counted[0].strip().lower() not in ENGLISH_STOP_WORDS:
        before, after = before + counted[0], after[counted.end() :]
    space = " " if before else ""
    gap = " " if not end and after[:1].isalnum() else ""
    return f"{before}{space}{label}{end}", gap + after


def _power(base: str, text: str) -> str:
    is_remark = text.startswith("[") and " " in text
    is_mark = is_remark or not any(map(str.isalnum, text)) or len(text) > _LONGEST
    if is_mark or not base[-1:].strip():
        return text
    if not _SIMPLE.fullmatch(text):
        return f"^({text})"
    is_exponent = any(map(str.isdigit, text)) or (len(text) == 1 and _POWER_BASE.search(base))
    return f"^{text}" if is_exponent else text
