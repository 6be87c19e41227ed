"""How far a passage carries a statement, by the words they share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from domain.retrieval import RetrievedItem
from domain.sentences import sentence_spans
from domain.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from domain.text import has_cjk, normalise

_HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
# A number with its fraction, a run of ideographs, or a word of another script.
_TERM = re.compile(rf"\d+(?:[.,]\d+)*|[{_HAN}]+|(?:(?![{_HAN}\d])\w)+")
# A second sentence must add this much support to be worth quoting.
_LONGER_QUOTE = 0.15


@dataclass(frozen=True, slots=True)
class Quote:
    """A span of a passage: `text == document.text[start:end]`, carrying `support` (0..1) of a claim."""

    text: str
    start: int
    end: int
    support: float


def terms(text: str) -> frozenset[str]:
    """Return what `text` speaks of: numbers, words without plural s, and bigrams of ideographs.

    Stop words are left out, so that two unrelated sentences share (almost) nothing.
    """
    found = set[str]()
    for run in _TERM.findall(normalise(text)):
        if has_cjk(run):
            found.update(_bigrams(run))
        elif run not in ENGLISH_STOP_WORDS:
            found.add(run.removesuffix("s") if len(run) > 3 else run)
    return frozenset(found)


def _bigrams(run: str) -> list[str]:
    if len(run) == 1:
        return [] if run in CHINESE_STOP_WORDS else [run]
    grams = ["".join(pair) for pair in pairwise(run)]
    return [gram for gram in grams if CHINESE_STOP_WORDS.isdisjoint((gram, *gram))]


def coverage(claim: frozenset[str], text: frozenset[str]) -> float:
    """Share of the claim's terms that are in the text; 0 for a claim without terms."""
    return len(claim & text) / len(claim) if claim else 0.0


class QuotedPassage:
    """A passage in which the sentences that carry a claim are looked up."""

    def __init__(self, item: RetrievedItem) -> None:
        self._text = item.text
        self._offset = int(item.metadata.get("start") or 0)
        self._spans = sentence_spans(item.text)
        self._terms = [terms(item.text[start:end]) for start, end in self._spans]

    def best_quote(self, claim: frozenset[str]) -> Quote | None:
        """Return the one or two adjacent sentences that carry most of `claim`; None if none does."""
        last = len(self._spans) - 1
        windows = [(first, first) for first in range(last + 1)]
        windows += [(first, first + 1) for first in range(last)]
        scored = [(self._support(claim, window), window) for window in windows]
        carrying = [(support, window) for support, window in scored if support > 0]
        if not carrying:
            return None
        support, (first, second) = max(
            carrying, key=lambda found: found[0] - _LONGER_QUOTE * (found[1][1] - found[1][0])
        )
        start, end = self._spans[first][0], self._spans[second][1]
        return Quote(self._text[start:end], self._offset + start, self._offset + end, support)

    def _support(self, claim: frozenset[str], window: tuple[int, int]) -> float:
        first, second = window
        return coverage(claim, self._terms[first] | self._terms[second])
