"""Compare names: keys that spellings of one name share, marks that must not differ, and n-gram similarity.

Precision comes first. A key ignores hyphens, apostrophes, dots of initials, invisible characters, an article, accents
of longer Latin names, the plural of a lower-case term, and "&" for "and". Numbers, signs (C++, C#), single letters
(vitamin B) and counting characters (一型, 二型) always count. Simplified and traditional forms have different keys.

Also here: abbreviations that a text defines.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

from sextant.text.characters import (
    CJK_LETTERS,
    IDEOGRAPHS,
    MARKS,
    has_cjk,
    normalise_name,
    remember_short,
)
from sextant.text.number_words import CARDINALS, ORDINALS
from sextant.text.segmenter import words_of

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
    """An abbreviation and its full form, each with its start in the text."""

    short: str
    short_start: int
    full: str
    full_start: int


def definitions(text: str) -> Iterator[Definition]:
    """Yield the abbreviations that a text defines: Latin ones, then Chinese ones."""
    for match in _LATIN.finditer(text):
        start = _find_initials(text[: match.start()], match.group(1).replace("&", ""))
        if start is not None:
            full = _POSSESSIVE.sub("", text[start : match.start()].rstrip())
            yield Definition(match.group(1), match.start(1), full, start)
    if text.isascii():  # skips a slow search
        return
    for match in _CHINESE.finditer(text):
        offset = _find_short_form(match.group(1), match.group(2))
        if offset is not None:
            start = match.start(1) + offset
            yield Definition(match.group(2), match.start(2), match.group(1)[offset:], start)


def _find_initials(before: str, letters: str) -> int | None:
    """Return the start of the last words of `before` whose initials are these letters."""
    words = []
    end = len(before.rstrip())
    for word in reversed(list(_WORD.finditer(before, max(0, len(before) - _FARTHEST)))):
        gap = before[word.end() : end]
        if gap.strip(" -–") or "\n" in gap:
            break
        words.append(word)
        end = word.start()
    position = _match_letters([word.group() for word in words], letters.casefold(), _MOST_SKIPPED)
    return None if position is None else words[position].start()


def _match_letters(words: Sequence[str], letters: str, skips: int, position: int = 0) -> int | None:
    """Return the index of the word with the first letter, counted from the last word; "of" may be skipped."""
    if position == len(words):
        return None
    word = words[position]
    if skips and word in _SKIPPED:
        found = _match_letters(words, letters, skips - 1, position + 1)
        if found is not None:
            return found
    if word[0].casefold() != letters[-1]:
        return None
    if len(letters) == 1:
        return None if word in _SKIPPED else position
    return _match_letters(words, letters[:-1], skips, position + 1)


def _find_short_form(full: str, short: str) -> int | None:
    """Return the offset in `full`, at the beginning of a word, of the name that `short` abbreviates."""
    starts, at = [], 0
    for word in words_of(full):
        starts.append(at)
        at += len(word)
    for start in reversed(starts):
        name, rest = full[start:], iter(full[start:])
        if name[0] == short[0] and short not in name and all(char in rest for char in short):
            return start
    return None


# A word with a leading dot (.NET), a character of Chinese or Japanese, a run of letters with their marks, a number
# with its points, or a sign.
_PIECES = re.compile(
    rf"(?<!\S)\.[^\W\d_{CJK_LETTERS}]+|[{CJK_LETTERS}]|\d+(?:[.,:/-]\d+)*|(?:(?![{CJK_LETTERS}])[^\W\d_]|[{MARKS}])+|[^\w\s]"
)
_INITIALS = re.compile(r"(?<![^\W\d_])((?:[^\W\d_]\.)+[^\W\d_]?)(?![^\W\d_])")
# Soft hyphens, spaces and joiners without width, marks of direction, as in text copied from pages and PDFs.
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
_APOSTROPHES = re.compile(r"['’‘`´]")
_SEPARATORS = frozenset('-‐‑‒–—―_·・•,，、.;；"“”«»《》〈〉「」『』()（）[]')
_LEAST_LETTERS = 6  # of a single word whose accents are ignored
_SHORTEST_CJK, _SHORTEST_LATIN = 4, 6  # characters, letters (docs/graph.md, Candidates)
_COMMON = 100  # an n-gram of more names is not used to find candidates
_NUMBERS = frozenset((*ORDINALS[:10], *CARDINALS[1:11]))
_ROMAN = re.compile(r"(?=[ivxl])x{0,3}(?:ix|iv|v?i{0,3})|xl")
# Characters that count or oppose; names that differ in one are different.
_COUNTING = frozenset(
    "零〇一二三四五六七八九十百千万两首次末甲乙丙丁戊己庚辛壬癸上下左右东東西南北前后後内內外大小高低男女新旧舊正反阴陰阳陽长長短多少初中"
)


@remember_short(262_144)
def spelling_key(name: str) -> str:
    """Return the key of a name, which its spellings share; empty for names without letters."""
    norm = _plainly(name)
    norm = _INITIALS.sub(lambda match: match.group().replace(".", ""), norm)
    pieces = ["and" if piece == "&" else piece for piece in _PIECES.findall(norm)]
    pieces = [piece for piece in pieces if piece not in _SEPARATORS]
    if pieces[0:1] == ["the"] and len(pieces) > 2:
        pieces = pieces[1:]
    if not any(map(str.isalpha, "".join(pieces))):
        return ""
    if len(pieces) > 1 or len(norm) >= _LEAST_LETTERS:
        pieces = [_plain(piece) for piece in pieces]
    if len(pieces) > 1 and name == name.lower():
        pieces[-1] = _singular(pieces[-1])
    return " ".join(pieces)


def marks(name: str) -> tuple[str, ...]:
    """Return the sorted pieces of a name that must be the same in all its spellings."""
    found = _PIECES.findall(_plainly(name))
    return tuple(sorted(piece for piece in found if _is_distinguishing(piece)))


def _plainly(name: str) -> str:
    """Return a normalised name without apostrophes and invisible characters."""
    seen = name if name.isascii() else _INVISIBLE.sub("", name)
    return _APOSTROPHES.sub("", normalise_name(seen))


def is_comparable(name: str) -> bool:
    """Return whether a name is long enough to be compared by n-grams."""
    norm = normalise_name(name)
    letters = sum(char.isalnum() for char in norm)
    return letters >= (_SHORTEST_CJK if has_cjk(norm) else _SHORTEST_LATIN)


def grams(name: str) -> frozenset[str]:
    """Return pairs of CJK characters and triples of others, with a space at both ends."""
    padded = f" {normalise_name(name)} "
    width = [2 if has_cjk(char) else 3 for char in padded]
    return frozenset(
        padded[at : at + size]
        for at, size in enumerate(width)
        if at + size <= len(padded) - (size == 2)
    )


class LikePair(NamedTuple):
    """The indices of two names, the smaller first, and the Jaccard index of their n-grams."""

    likeness: float
    one: int
    other: int


def find_like_names(names: Sequence[str], least: float) -> Iterator[LikePair]:
    """Yield the pairs of names with the same marks and at least this Jaccard index, each once.

    Such names share one of their rarest n-grams, so only these are looked up (prefix filtering: Chaudhuri, Ganti and
    Kaushik 2006), without very common ones.
    """
    found = [grams(name) if is_comparable(name) else frozenset() for name in names]
    frequency = Counter(gram for one in found for gram in one)
    names_with: dict[tuple[tuple[str, ...], str], list[int]] = defaultdict(list)
    for index, own in enumerate(found):
        rarest = sorted(own, key=lambda gram: (frequency[gram], gram))
        kept = rarest[: len(own) - ceil(least * len(own)) + 1]
        same = [
            names_with[marks(names[index]), gram] for gram in kept if frequency[gram] <= _COMMON
        ]
        for other in sorted({one for some in same for one in some}):
            shared = len(own & found[other])
            likeness = shared / (len(own) + len(found[other]) - shared)
            if likeness >= least:
                yield LikePair(likeness, other, index)
        for some in same:
            some.append(index)


def initials(name: str) -> str:
    """Return the first letters of a name's words, in capitals: "World Health Organization" → "WHO".

    Empty unless at least three words begin with a capital and hold no ideograph. Words that are not
    capitalised, like "of", count for nothing.
    """
    words = re.findall(r"[^\W\d_]+", name)
    letters = [word[0] for word in words if word[0].isupper()]
    return "".join(letters) if len(letters) > 2 and not has_cjk(name) else ""


def _is_distinguishing(piece: str) -> bool:
    if len(piece) == 1:
        return piece in _COUNTING or (piece not in _SEPARATORS and not has_cjk(piece))
    return piece[0].isdigit() or piece in _NUMBERS or bool(_ROMAN.fullmatch(piece))


def _plain(piece: str) -> str:
    """Return a Latin word without accents; other scripts' marks make other letters (か, が)."""
    decomposed = unicodedata.normalize("NFKD", piece)
    if not decomposed[0].isascii():
        return piece
    return "".join(char for char in decomposed if not unicodedata.combining(char))


def _singular(word: str) -> str:
    ends = word.endswith("s") and not word.endswith(("ss", "us", "is", "ics", "ies"))
    return word[:-1] if len(word) > 3 and word.isascii() and ends else word
