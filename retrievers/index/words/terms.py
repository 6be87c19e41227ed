"""The terms of a text, as BM25 counts them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from operator import add

from sextant.text.characters import IDEOGRAPHS, MARKS
from sextant.text.linking import fold
from sextant.text.simplified import simplify
from sextant.text.stems import american
from sextant.text.stopwords import ENGLISH_STOP_WORDS

RUN = re.compile(rf"([{IDEOGRAPHS}]+)|((?:[^\W_{IDEOGRAPHS}][{MARKS}]*)+)")
"""What a text is made of: runs of ideographs (the first group), and words of other scripts (the second)."""
_NOT_PLAIN = re.compile(f"[{IDEOGRAPHS}{MARKS}]")
_PLAIN_WORD = re.compile(r"[^\W_]+")
_PAIR = re.compile(f"[{IDEOGRAPHS}]{{2}}")
_SUFFIXES = ("ing", "edly", "ed", "es", "s", "ly")
_SHORTEST_STEM = 4


def pairs(ideographs: str) -> Iterable[str]:
    """Return pairs of adjacent ideographs, simplified; one alone is a term.

    They need no word segmentation, whose errors differ between question and passage; on cmrc2018
    and drcd they find the paragraph of 99 % of the questions among the first five.
    """
    plain = simplify(ideographs)
    return map(add, plain, plain[1:]) if len(plain) > 1 else [plain]


def terms(text: str, cut: Callable[[str], Iterable[str]] = pairs) -> list[str]:
    """Return the text's terms in order: what `cut` makes of runs of ideographs, and stemmed other words.

    Latin is split here and not by a segmenter, which keeps `e.g` and `as_comb` whole
    (anchors: performance §3).
    """
    if not _NOT_PLAIN.search(text):  # the same words, in half the time
        return list(filter(None, map(_term, _PLAIN_WORD.findall(text))))
    found: list[str] = []
    for ideographs, word in RUN.findall(text):
        if ideographs:
            found += cut(ideographs)
        elif term := _term(word):
            found.append(term)
    return found


@lru_cache(maxsize=16)
def question_terms(question: str) -> tuple[str, ...]:
    """Return the terms of a question, which several ask for while it is being searched."""
    return tuple(terms(question))


def is_pair(term: str) -> bool:
    """Return whether a term is a pair of ideographs, and so one wherever these two stand side by side, simplified."""
    return _PAIR.fullmatch(term) is not None


@lru_cache(maxsize=65_536)
def _term(word: str) -> str:
    """Return the word folded and stemmed; nothing of a stop word."""
    folded = fold(word)
    return "" if folded in ENGLISH_STOP_WORDS else _stem(american(folded))


def _stem(word: str) -> str:
    """Cut one inflection of English off a word that stays at least four letters long."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _SHORTEST_STEM:
            return word[: -len(suffix)]
    return word
