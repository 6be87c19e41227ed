"""Find known names in texts: titles, aliases and entities, in any script, without a model.

A name and a text are cut into the same tokens (a CJK ideograph, or a word of another script), folded
so that case, width and accents do not matter, and a trie of tokens finds the longest names in one
pass. Chinese needs no word boundaries this way, and Latin names match whole words only.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Generic, TypeVar

from sextant.text.analysis import NAMES, TermToken
from sextant.text.characters import clean_text, has_cjk, remember_short
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS

T = TypeVar("T", bound=Hashable)

_BRACKETED = re.compile(r"[(（][^()（）]*[)）]\s*$")
_NUMBERING = re.compile(
    r"""^\s*(?:
    第\s*[0-9一二三四五六七八九十百零〇两]+\s*[章节節篇部分条條卷编編回]+分?\s*[:：、.．]?
    |(?:chapter|section|part|appendix|figure|table)\s+(?:[0-9]+(?:\.[0-9]+)*|[ivxlc]+|[a-z])(?!\w)\s*[:.、-]?
    |附?[图圖表]\s*(?:[0-9]+(?:[-–.．][0-9]+)*|[一二三四五六七八九十]+(?![^\s:：、.．]))\s*[:：、.．]?
    |附[录錄]\s*[0-9A-Za-z一二三四五六七八九十]*\s*[:：、.．]?
    |[（(]\s*[0-9一二三四五六七八九十]+\s*[)）]
    |[0-9]+(?:[.．][0-9]+)+[.．、)）:：]?(?![0-9])
    |[0-9]{1,3}(?:\s*[.．、)）:：]|\s(?!(?-i:[a-z])))(?![0-9])
    |[一二三四五六七八九十]+\s*[、.．]
    |[ivx]+\s*[.)]
    )\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_ABBREVIATION_LETTERS = 4
_SHORTEST_WORD = 3
_SHORTEST_CJK = 2
# Characters; a longer "name" is a sentence, and a text that is much like it would be read from each place on to
# its end: one of 5,000 ideographs took 13 s in a passage that held it.
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class NameMatch(Generic[T]):
    """A name found in a text: its span, and everything that bears the name."""

    start: int
    end: int
    bearers: tuple[T, ...]


class _Case(IntEnum):
    """How a name must be written in a text to count as the name."""

    ANY = 0
    CAPITAL = 1  # "Turkey" is not "turkey"
    UPPER = 2  # "WHO" is not "who"


@remember_short(65_536)
def _keys(name: str) -> tuple[str, ...]:
    """Return a name's tokens; kept, for building an index asks five times for each name."""
    return tuple(NAMES.terms(name))


def name_key(name: str) -> str:
    """Return one form for all spellings of a name: "《红楼梦》" and "红楼梦", "U.S." and "u s"."""
    return " ".join(_keys(name))


def names_of_title(title: str) -> tuple[str, ...]:
    """Return the names in a title: the title, and the title without a bracketed addition at its end.

    "Mercury (planet)" is also called "Mercury", "胜利（中国小说）" also "胜利".
    """
    plain = _BRACKETED.sub("", title).strip()
    return tuple(name for name in dict.fromkeys((title.strip(), plain)) if is_linkable(name))


def bare_title(title: str) -> str:
    """Return a heading without its numbering: "第3章 治疗原则" → "治疗原则", "Table 3" → ""."""
    line = " ".join(clean_text(title).split())
    bare = _NUMBERING.sub("", line, count=1)
    while bare != line and bare:
        line, bare = bare, _NUMBERING.sub("", bare, count=1)
    return bare


def is_linkable(name: str) -> bool:
    """Return whether a name is special enough to be searched for in texts.

    Stop words, numbers, single ideographs and words of one or two letters are not, except
    abbreviations written in capitals ("UK").
    """
    key = name_key(name)
    if not any(char.isalpha() for char in key):
        return False
    if key in ENGLISH_STOP_WORDS or key.replace(" ", "") in CHINESE_STOP_WORDS:
        return _case_of(name) is _Case.UPPER
    if has_cjk(key):
        return len(key.replace(" ", "")) >= _SHORTEST_CJK
    return len(key) >= _SHORTEST_WORD or (len(key) > 1 and _case_of(name) is _Case.UPPER)


@dataclass(slots=True)
class _Node(Generic[T]):
    children: dict[str, _Node[T]] = field(default_factory=dict)
    bearers: dict[T, _Case] = field(default_factory=dict)


class NameTrie(Generic[T]):
    """Known names and their bearers; finds all of them in a text in time linear in its length.

    Names of more than 200 characters are left out.

    Args:
        names: name → bearers. Names that are not `is_linkable` are left out. Names that fold to one
            key share their bearers.
    """

    def __init__(self, names: Mapping[str, Iterable[T]]) -> None:
        self._root: _Node[T] = _Node()
        for name, entities in names.items():
            if is_linkable(name):
                self.add(name, entities)

    def add(self, name: str, entities: Iterable[T]) -> None:
        """Add one name; of several spellings the least demanding decides how it must be written."""
        if len(name) > _LONGEST:
            return
        node = self._root
        for key in _keys(name):
            node = node.children.get(key) or node.children.setdefault(key, _Node())
        case = _case_of(name)
        for bearer in entities:
            node.bearers[bearer] = min(case, node.bearers.get(bearer, case))

    def find(self, text: str) -> list[NameMatch[T]]:
        """Find the names in a text, leftmost and longest first, without overlaps.

        A single Latin word that is written with a capital as a name must have one in the text too,
        and must not be a part of a longer capitalised name ("John" in "John Knox" names nobody); an
        abbreviation must be in capitals. A text without any capitals, such as a question typed in
        haste, is not held to this.
        """
        cut = NAMES.tokens(text)
        cased = any(char.isupper() for char in text[1:])
        found: list[NameMatch[T]] = []
        position = 0
        while position < len(cut):
            *_, (longest, end) = [(None, position), *self._all(text, cut, position, cased=cased)]
            if longest is not None:
                found.append(longest)
            position = end + 1
        return found

    def occurrences(self, text: str) -> list[NameMatch[T]]:
        """Find every name at every place, also inside longer names and across them.

        Whether a text contains a name then depends on no other name, so links that are kept as
        evidence do not depend on the order in which names came. Capitals count as in `find`.
        """
        if self._root.children.keys().isdisjoint(NAMES.terms(text)):
            return []
        cut = NAMES.tokens(text)
        cased = any(char.isupper() for char in text[1:])
        return [
            match
            for start, token in enumerate(cut)
            if token.term in self._root.children
            for match, _ in self._all(text, cut, start, cased=cased)
        ]

    def _all(
        self, text: str, cut: list[TermToken], start: int, *, cased: bool
    ) -> Iterator[tuple[NameMatch[T], int]]:
        """Yield the names that begin at a token, the shortest first, each with its last token."""
        node = self._root
        for end in range(start, len(cut)):
            step = node.children.get(cut[end].term)
            if step is None:
                return
            node = step
            bearers = tuple(
                bearer
                for bearer, case in node.bearers.items()
                if not cased or _is_written_as_name(text, cut, start, end, case)
            )
            if bearers:
                yield NameMatch(cut[start].start, cut[end].end, bearers), end


def _case_of(name: str) -> _Case:
    letters = [char for char in name if char.isalpha()]
    if not letters or has_cjk(name):
        return _Case.ANY
    if len(letters) <= _ABBREVIATION_LETTERS and all(char.isupper() for char in letters):
        return _Case.UPPER
    one_word = len(_keys(name)) == 1
    return _Case.CAPITAL if one_word and any(char.isupper() for char in letters) else _Case.ANY


def _is_written_as_name(text: str, cut: list[TermToken], start: int, end: int, case: _Case) -> bool:
    surface = text[cut[start].start : cut[end].end]
    if case is _Case.UPPER:
        return surface == surface.upper()
    if case is _Case.CAPITAL:
        has_capital = any(char.isupper() for char in surface)
        return has_capital and not _is_part_of_longer_name(text, cut, start)
    return True


def _is_part_of_longer_name(text: str, cut: list[TermToken], index: int) -> bool:
    """Return whether a capitalised word stands directly before or after the word at `index`."""
    before = cut[index - 1] if index else None
    after = cut[index + 1] if index + 1 < len(cut) else None
    word = cut[index]
    if after and text[word.end : after.start] == " " and text[after.start].isupper():
        return True
    return (
        before is not None
        and text[before.end : word.start] == " "
        and text[before.start].isupper()
        and before.term not in ENGLISH_STOP_WORDS
    )
