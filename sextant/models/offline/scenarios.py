"""Scenarios as Gherkin writes them: given something, when something happens, then something is so.

Keywords of both languages are those of https://cucumber.io/docs/gherkin/languages, and 给定.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sextant.models.offline.lines import Line, Listing, items_of, lines_of

_KEYWORD = re.compile(
    r"[*_]{0,2}(?:(?P<given>GIVEN|Given|给定|假如|假设|假定)|(?P<when>WHEN|When|当)|(?P<then>THEN|Then|那么)"
    r"|(?P<more>AND|And|BUT|But|而且|并且|同时|但是))[*_]{0,2}(?:[:：][*_]{0,2}|\s|$)\s*"
)
# Between what happens and what is so then stand few lines.
_BETWEEN = 6


def scenarios(lines: Sequence[Line]) -> list[Listing]:
    """Return what is so in each scenario, introduced by what happens in it; of passages that have both."""
    keys = [_key(line) for line in lines]
    found: list[Listing] = []
    for at, key in enumerate(keys):
        if key == "when" and (then := _then(keys, at)) is not None:
            items = items_of(list(_outcome(lines, keys, then)))
            if items:
                found.append(Listing((lines[at].begins, lines[at].end), items))
    return found


def given_in(text: str) -> list[tuple[int, int]]:
    """Start and end of what scenarios presuppose: it says nothing by itself."""
    lines = lines_of(text)
    keys = [_key(line) for line in lines]
    found: list[tuple[int, int]] = []
    within = False
    for line, key in zip(lines, keys, strict=True):
        within = key == "given" or (within and _goes_on(line, key))
        if within:
            found.append((line.start, line.end))
    return found if {"when", "then"} <= set(keys) else []


def is_label(line: Line) -> bool:
    """Return whether a line has a keyword and nothing else."""
    match = _KEYWORD.match(line.said)
    return match is not None and match.end() == len(line.said)


def _key(line: Line) -> str:
    """Return which keyword a line begins with; "" with none."""
    match = _KEYWORD.match(line.said)
    return (match.lastgroup or "") if match else ""


def _goes_on(line: Line, key: str) -> bool:
    """Return whether a line adds to what the keyword before it says."""
    return key == "more" or (not key and line.is_marked)


def _then(keys: Sequence[str], at: int) -> int | None:
    """Return where it is said what is so when that line is."""
    for place in range(at + 1, min(at + 1 + _BETWEEN, len(keys))):
        if keys[place] == "then":
            return place
        if keys[place] in {"given", "when"}:
            return None
    return None


def _outcome(lines: Sequence[Line], keys: Sequence[str], then: int) -> Iterator[tuple[Line, int]]:
    """Yield the lines that say what is so, and their ends."""
    for place in range(then, len(lines)):
        line, key = lines[place], keys[place]
        if place > then and not _goes_on(line, key):
            return
        if not is_label(line):
            yield line, line.end
