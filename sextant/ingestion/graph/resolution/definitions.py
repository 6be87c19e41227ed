"""Abbreviations that a text defines: "World Health Organization (WHO)", 世界卫生组织（世卫组织）.

Only what can be checked counts. In Latin script the abbreviation must be the initials of the words
before the bracket (stricter than Schwartz and Hearst 2003, whose rule takes letters from anywhere);
in Chinese its characters must stand in the words before it, in order, from the first on, with others
between them: "新加坡金曲奖（新加坡）" says where, not what.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sextant.text.characters import IDEOGRAPHS
from sextant.text.segmenting import words_of

_LATIN = re.compile(r"[(（]\s*([A-Z][A-Z&]{1,7}[A-Z])s?\s*[)）]")
_CHINESE = re.compile(
    rf"([{IDEOGRAPHS}]{{3,20}})[(（]\s*(?:(?:以下)?[简簡][称稱]|[缩縮][写寫]|又[称稱])?[为為:：]?\s*"
    rf"[“\"「『]?([{IDEOGRAPHS}]{{2,8}})[”\"」』]?\s*[)）]"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_POSSESSIVE = re.compile(r"['’]s?$")
_SKIPPED = frozenset({"of", "the", "and", "for", "in", "on", "to", "at", "by", "de", "la", "du"})
_MOST_SKIPPED = 3  # of these in one name
_FARTHEST = 200  # characters before the bracket


class Definition(NamedTuple):
    """An abbreviation and what it stands for, each with its place in the text."""

    short: str
    short_start: int
    full: str
    full_start: int


def definitions(text: str) -> Iterator[Definition]:
    """Yield what a text defines, in order of the kind and then of the place."""
    for match in _LATIN.finditer(text):
        start = _find_initials(text[: match.start()], match.group(1).replace("&", ""))
        if start is not None:
            full = _POSSESSIVE.sub("", text[start : match.start()].rstrip())
            yield Definition(match.group(1), match.start(1), full, start)
    if text.isascii():  # trying every letter as an ideograph took most of the time
        return
    for match in _CHINESE.finditer(text):
        offset = _find_short_form(match.group(1), match.group(2))
        if offset is not None:
            start = match.start(1) + offset
            yield Definition(match.group(2), match.start(2), match.group(1)[offset:], start)


def _find_initials(before: str, letters: str) -> int | None:
    """Return where the words begin whose initials, up to the end of `before`, are these letters."""
    words = []
    end = len(before.rstrip())
    for word in reversed(list(_WORD.finditer(before, max(0, len(before) - _FARTHEST)))):
        gap = before[word.end() : end]
        if gap.strip(" -–") or "\n" in gap:
            break
        words.append(word)
        end = word.start()
    place = _match_letters([word.group() for word in words], letters.casefold(), _MOST_SKIPPED)
    return None if place is None else words[place].start()


def _match_letters(words: Sequence[str], letters: str, skips: int, place: int = 0) -> int | None:
    """Return the place of the word (from the last on) that has the first letter; "of" may be left out."""
    if place == len(words):
        return None
    word = words[place]
    if skips and word in _SKIPPED:
        found = _match_letters(words, letters, skips - 1, place + 1)
        if found is not None:
            return found
    if word[0].casefold() != letters[-1]:
        return None
    if len(letters) == 1:
        return None if word in _SKIPPED else place
    return _match_letters(words, letters[:-1], skips, place + 1)


def _find_short_form(full: str, short: str) -> int | None:
    """Return where in `full`, at the beginning of a word, the name begins that `short` is short for."""
    starts, at = [], 0
    for word in words_of(full):
        starts.append(at)
        at += len(word)
    for start in reversed(starts):
        name = full[start:]
        if name[0] == short[0] and short not in name and _is_subsequence(short, name):
            return start
    return None


def _is_subsequence(short: str, name: str) -> bool:
    rest = iter(name)
    return all(char in rest for char in short)
