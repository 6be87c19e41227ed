"""Measure how much of a file's text is stored, and warn where it is too little.

The text that is stored is compared with a second count of the file (`recount`), letter by letter and digit by digit:
order, line breaks, hyphens and spaces, which a parser changes with reason, make no difference.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain

from sextant.domain.documents import Coverage
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.parsing.blocks import Blocks, HeadingBlock, Paragraph, Table, texts_of
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.recount import SourcePart, recount
from sextant.ingestion.parsing.structure import Omissions, count_characters, name_some
from sextant.text.characters import normalise

_TOLERATED = 0.04  # of the text: spelling of numbers, marks of lists, names of columns
_LEAST_MISSING = 40  # letters and digits
_LOST = 0.5  # of the words of a part
_NUMBER = re.compile(r"[^\s|]*\d[^\s|]*")
_WORD = re.compile(r"[^\W_]{2,}")


def measure_coverage(
    blocks: Blocks, text: str, content: bytes, file_type: FileType
) -> tuple[Coverage, tuple[CodedWarning, ...]]:
    """Count what is stored of a file, with warnings where more than a few per cent are missing.

    Args:
        blocks: what the parser made of it.
        text: what is stored of that.
        content: the file, for a second count.
        file_type: its format.
    """
    omissions = blocks.omissions or Omissions()
    left_out = omissions.left_out
    pages = [SourcePart(number, text) for number, text in blocks.page_texts.items()]
    parts = pages or recount(content, file_type)
    found, missing = None, 0
    if parts is not None:
        count_letters = partial(_tally, numbers=file_type is not FileType.XLSX)
        source = count_letters(part.text for part in parts)
        here = count_letters([text])
        if any(isinstance(block, Table) and block.repeated for block in blocks.blocks):
            # What merged cells repeat would hide what is lost.
            own = (one for block in blocks.blocks for one in texts_of(block, once=True))
            here &= count_letters(own)
        found, lost = source.total(), (source - here).total()
        if numbers := sum(part.numbers for part in parts):
            found, lost = found + numbers, lost + max(numbers - len(_NUMBER.findall(text)), 0)
        missing = max(lost - sum(left_out.values()), 0)
    stored, warnings = _stored(blocks, omissions), list[CodedWarning]()
    if found and missing >= _LEAST_MISSING and missing > _TOLERATED * found:
        gone = _lost_parts(parts or (), text)
        shares = {"percent": _percent(missing, found), "number": missing, "parts": name_some(gone)}
        code = WarningCode.PARTS_MISSING if gone else WarningCode.TEXT_MISSING
        warnings.append(CodedWarning(code, shares))
    furniture = omissions.furniture.total()
    whole = sum(stored.values()) + sum(left_out.values())
    if furniture >= _LEAST_MISSING and furniture > _TOLERATED * whole:
        reasons = [
            count(number, reason) for reason, number in omissions.furniture.items() if number
        ]
        params = {"percent": _percent(furniture, whole), "characters": reasons}
        warnings.append(CodedWarning(WarningCode.FURNITURE_LEFT_OUT, params))
    coverage = Coverage(stored, left_out, omissions.not_read, found, missing)
    return coverage, tuple(warnings)


def _stored(blocks: Blocks, omissions: Omissions) -> dict[str, int]:
    """Return the characters of all blocks by kind."""
    stored = Counter[str]()
    for block in blocks.blocks:
        match block:
            case HeadingBlock():
                kind = "heading"
            case Table():
                kind = "table"
            case Paragraph():
                kind = str(block.kind)
            case _:
                kind = "caption"
        stored[kind] += sum(map(count_characters, texts_of(block, once=True)))
    for kind, number in omissions.inline.items():
        around = "text" if stored["text"] >= number else "table"
        moved = min(number, stored[around])
        stored[around] -= moved
        stored[str(kind)] += moved
    return dict(+stored)


def _tally(texts: Iterable[str], *, numbers: bool) -> Counter[str]:
    """Return how often each letter stands in the texts, and each digit if `numbers`; however it is written."""
    is_counted = str.isalnum if numbers else str.isalpha
    tally = Counter[str]()
    for char, number in Counter(chain.from_iterable(texts)).items():
        for plain in filter(is_counted, normalise(char)):
            tally[plain] += number
    return tally


def _lost_parts(parts: Sequence[SourcePart], text: str) -> list[str | int]:
    """Return the names of parts that are mostly missing, judged by the words that no other part has."""
    words = [set(_WORD.findall(normalise(part.text))) for part in parts]
    parts_of = Counter(chain.from_iterable(words))
    stored, lost = set(_WORD.findall(normalise(text))), list[str | int]()
    for part, each in zip(parts, words, strict=True):
        special = [word for word in each if parts_of[word] == 1]
        if part.name and sum(word not in stored for word in special) > _LOST * len(special):
            lost.append(part.name)
    return lost


def _percent(part: int, whole: int) -> int:
    return max(round(100 * part / whole), 1)
