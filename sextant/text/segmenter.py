"""Cut Chinese text into words by jieba's dictionary and model (`rjieba`); into pairs of ideographs where that cannot be loaded."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, Protocol

from sextant.text.characters import IDEOGRAPHS

_log = logging.getLogger(__name__)

UNSEGMENTED = (
    "分词库 rjieba 不可用，中文按相邻两字切分，检索效果会下降"
    " (rjieba cannot be loaded, so Chinese is cut into pairs of characters and found less well;"
    " `pip install rjieba` in the environment of Sextant)"
)

# What the model joins with the word behind it: 能装, 要交; and verbs of any object: 还书, 退证.
_PREFIXES = frozenset("能要会會可应應该該想须須得还還退办辦交订訂换換修借买買租领領填没")
_HAN_RUN = re.compile(f"[{IDEOGRAPHS}]+")
_PIECE = re.compile(f"[{IDEOGRAPHS}]{{1,2}}|[^{IDEOGRAPHS}]+")
_UNKNOWN = "x"
_PERSON, _MORPHEME = "nr", "g"  # jieba's tags


class _Segmenter(Protocol):
    """A library that cuts Chinese into words."""

    def cut(self, text: str) -> Sequence[str]: ...

    def tag(self, text: str) -> Sequence[tuple[str, str]]: ...

    def has_word(self, word: str) -> bool: ...


class _Pairs:
    """Cuts Chinese into pairs of ideographs, and what stands between them, where no library is installed."""

    def cut(self, text: str) -> list[str]:
        return _PIECE.findall(text)

    def tag(self, text: str) -> list[tuple[str, str]]:
        return [(piece, _UNKNOWN) for piece in self.cut(text)]

    def has_word(self, _: str) -> bool:
        return True  # it knows none, and takes none apart


def _segmenter() -> _Segmenter:
    # Imported with the first Chinese text, since it builds its dictionary then: 0.15 s of CPU.
    try:
        found: Any = import_module("rjieba")
    except ImportError:  # no wheel for this platform
        return _pairs_alone()
    library: _Segmenter = found
    return library


@cache
def _pairs_alone() -> _Segmenter:
    _log.warning(UNSEGMENTED)
    return _Pairs()


def is_segmented() -> bool:
    """Return whether Chinese is cut into words, and not into pairs."""
    return not isinstance(_segmenter(), _Pairs)


def cut_known_words(text: str) -> list[str]:
    """Return the words of `text`; one that the dictionary lacks and that begins with a verb of any word is two."""
    found: list[str] = []
    for word in words_of(text):
        joined = len(word) > 1 and word[0] in _PREFIXES and not _segmenter().has_word(word)
        found += [word[0], word[1:]] if joined else [word]
    return found


def words_of(text: str) -> list[str]:
    """Return the words of `text`, which make it up together."""
    return list(_segmenter().cut(text))


def search_words_of(text: str) -> Iterable[str]:
    """Return the words of `text` for an index; without a dictionary all pairs, so that question and text share some."""
    if is_segmented():
        return words_of(text)
    return [pair for run in _HAN_RUN.findall(text) for pair in _pairs(run)]


def cut_tagged_words(text: str) -> Sequence[tuple[str, str]]:
    """Return the words of `text`, which make it up together, with jieba's tags of their parts of speech.

    A character that is no word by itself ends the name before it: 何静 + 姝.
    """
    words: list[tuple[str, str]] = []
    for word, tag in _segmenter().tag(text):
        if tag == _MORPHEME and len(word) == 1 and words and words[-1][1] == _PERSON:
            words[-1] = (words[-1][0] + word, _PERSON)
        else:
            words.append((word, tag))
    return words


def is_known_word(word: str) -> bool:
    """Return whether the dictionary has `word`; without a dictionary every one counts as known."""
    return _segmenter().has_word(word)


def _pairs(run: str) -> list[str]:
    return ["".join(pair) for pair in pairwise(run)] or [run]
