"""The grammar of markers: how a model's text, and an answer, points at what a statement rests on.

`[2]`, `[2, 4]`, `[2-4]`, `【2】` and `[^2]` name passages by number. This file alone knows the shapes;
what a number means is the business of `nodes.citing`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_LISTED = re.compile(r"\s*[,，、;；]\s*")
_RANGE = re.compile(r"\s*[–-]\s*")
_NUMBERS = r"\d{1,3}(?:\s*[,，、;；–-]\s*\d{1,3})*"
# Passages that one marker may name: more is a slip of the model, or an attack.
_MOST_NAMED = 50

OPENING = re.compile(r"[\[【]")
"""Where a marker may begin."""
MARKER = re.compile(rf"[\[【]\s*\^?({_NUMBERS})\s*[\]】]")
"""A whole marker; its first group is for `indices`."""
PART = re.compile(r"[\[【]\s*\^?[\d\s,，、;；–-]{0,32}")
"""What may still become a marker when more text comes."""

# A document's own reference numbers would look like our markers.
_LIKE_A_MARKER = re.compile(r"[\[【](\d+)[\]】]")


def indices(named: str) -> list[int]:
    """The passages that a marker names, from 0, each once: `1, 3` lists two, `2-4` three."""
    return list(dict.fromkeys(_named(named)))[:_MOST_NAMED]


def _named(named: str) -> Iterator[int]:
    for part in _LISTED.split(named):
        first, _, last = _RANGE.sub("-", part).partition("-")
        yield from range(int(first) - 1, int(last.rpartition("-")[2] or first))


def written(number: int) -> str:
    """The marker of a number, as answers have it."""
    return f"[{number}]"


def unmarked(text: str) -> str:
    """Return `text` with what looks like one of our markers in round brackets."""
    return _LIKE_A_MARKER.sub(r"(\1)", text)
