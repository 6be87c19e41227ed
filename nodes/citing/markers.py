"""The grammar of markers: how a model's text, and an answer, points at what a statement rests on.

`[2]`, `[2, 4]`, `[2-4]`, `【2】` and `[^2]` name passages by number; `[I1]` an image that came with the
question, `[T1]` a table, `[T1:r3c2]` a cell of it and `[T1:c2]` a column. This file alone knows the
shapes; what a number or label means is the business of `nodes.citing.cited_text`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

_LISTED = re.compile(r"\s*[,，、;；]\s*")
_RANGE = re.compile(r"\s*[–-]\s*")
_LABEL = r"[IT]\d{1,2}(?::(?:r\d{1,6})?(?:c\d{1,5})?)?"
_LABELS = rf"{_LABEL}(?:\s*[,，、;；]\s*{_LABEL})*"
_NUMBERS = r"\d{1,3}(?:\s*[,，、;；–-]\s*\d{1,3})*"
# Passages that one marker may name: more is a slip of the model, or an attack.
_MOST_NAMED = 50

OPENING = re.compile(r"[\[【]")
"""Where a marker may begin."""
MARKER = re.compile(rf"[\[【]\s*\^?({_NUMBERS}|{_LABELS})\s*[\]】]")
"""A whole marker; its first group is for `places`."""
PART = re.compile(r"[\[【]\s*\^?(?:[\d\s,，、;；–-]{0,32}|[IT][\dIT:rc\s,，、;；]{0,64})")
"""What may still become a marker when more text comes."""

_WITH_GAP = re.compile(rf"[ \t]*{MARKER.pattern}")
# A document's own reference numbers would look like our markers.
_LIKE_A_MARKER = re.compile(rf"[\[【](\d+|{_LABEL})[\]】]")


def places(named: str, labels: Mapping[str, int]) -> list[tuple[int, str]]:
    """What a marker names, each once: passages from 0, and the part of a table or "".

    `1, 3` names two passages, `2-4` three; `T1:r3c2` the part `r3c2` of what `labels` calls T1.
    """
    return list(dict.fromkeys(_named(named, labels)))[:_MOST_NAMED]


def is_label(named: str) -> bool:
    """Whether a marker names attachments instead of numbers."""
    return not named[0].isdigit()


def _named(named: str, labels: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    for part in _LISTED.split(named):
        if is_label(part):
            label, _, place = part.partition(":")
            if label in labels:
                yield labels[label], place
            continue
        first, _, last = _RANGE.sub("-", part).partition("-")
        for index in range(int(first) - 1, int(last.rpartition("-")[2] or first)):
            yield index, ""


def written(number: int) -> str:
    """The marker of a number, as answers have it."""
    return f"[{number}]"


def stripped(text: str) -> str:
    """Return `text` without its markers and the gaps before them."""
    return _WITH_GAP.sub("", text)


def labelled(label: str, place: str = "") -> str:
    """The marker of an attachment, or of a part of it."""
    return f"[{label}:{place}]" if place else f"[{label}]"


def unmarked(text: str) -> str:
    """Return `text` with what looks like one of our markers in round brackets."""
    return _LIKE_A_MARKER.sub(r"(\1)", text)
