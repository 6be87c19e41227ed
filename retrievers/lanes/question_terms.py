"""The keywords of a question, which lanes search by besides the question itself."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import chain, groupby, zip_longest

from sextant.text.analysis import Tokenizer
from sextant.text.characters import lowercase, normalise
from sextant.text.segmenter import words_of
from sextant.text.stopwords import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, is_stop_word

_TOKENIZER = Tokenizer(words_of, joiners="-.'’&_")
_POSSESSIVE = re.compile(r"['’]s$")
_SHORTEST, _LONGEST = 2, 4


def extract_keywords(query: str, limit: int = 10) -> list[str]:
    """Return at most `limit` distinct keywords of `query`, most telling first.

    Chinese gives grams of 2 to 4 characters, other scripts give words; stop words of both languages
    are left out, everything is NFKC-normalised and casefolded. A word that this writes in other letters
    (straße, ＧＰＵ) is looked for as it stands as well, for ILIKE compares letters. When a question
    mixes scripts, the lists take turns.

    Which ten are taken decides what the lane can find: words of the segmenter first, then joined neighbours,
    then bigrams, then longer grams (docs/experiments/lanes.md).

    Args:
        query: the question, any script.
        limit: most keywords returned.
    """
    text = unicodedata.normalize("NFKC", query)
    words = map(normalise, _words(text))
    lists = zip_longest(words, _as_written(query), _chinese_grams(text))
    taking_turns = chain.from_iterable(lists)
    found: dict[str, None] = {}
    for keyword in taking_turns:
        if len(found) == limit:  # what comes after it is not looked for
            break
        if keyword:
            found[keyword] = None
    return list(found)


def _words(text: str) -> list[str]:
    """Return words of scripts other than Chinese: names and numbers first, then the longer ones."""
    found = [_POSSESSIVE.sub("", word) for word in _TOKENIZER.words(text)]
    telling = [
        word for word in found if len(word) > 1 and normalise(word) not in ENGLISH_STOP_WORDS
    ]
    telling.sort(key=lambda word: (not (word[0].isupper() or word[0].isdigit()), -len(word)))
    return telling


def _as_written(query: str) -> list[str]:
    """Return words that are not their normalised form, letter case aside."""
    if lowercase(query) == normalise(query):
        return []
    return [lowercase(word) for word in _words(query) if lowercase(word) != normalise(word)]


def _chinese_grams(text: str) -> Iterator[str]:
    """Yield grams of 2 to 4 Chinese characters, those with a meaning of their own before the others."""
    phrases = [phrase for run, _ in _TOKENIZER.runs(text) for phrase in _phrases(words_of(run))]
    for gather in (_cut_to_size, _join_neighbours):
        yield from sorted(chain.from_iterable(map(gather, phrases)), key=len, reverse=True)
    for size in (2, 3, 4):
        for phrase in phrases:
            yield from _telling_grams("".join(phrase), size)


def _phrases(words: list[str]) -> Iterator[list[str]]:
    """Yield the words between stop words: no gram reaches across one."""
    for is_stop, phrase in groupby(words, key=is_stop_word):
        if not is_stop:
            yield list(phrase)


def _cut_to_size(words: list[str]) -> Iterator[str]:
    for word in words:
        if len(word) >= _SHORTEST:
            yield from _grams(word, min(len(word), _LONGEST))


def _join_neighbours(words: list[str]) -> Iterator[str]:
    """Yield two to four adjacent words that fit one gram together: 付款 + 节点."""
    for first in range(len(words)):
        for count in range(2, _LONGEST + 1):
            joined = words[first : first + count]
            gram = "".join(joined)
            if len(joined) == count and len(gram) <= _LONGEST:
                yield gram


def _telling_grams(phrase: str, size: int) -> list[str]:
    """Return grams that neither are a stop word nor hold a one-character one."""
    return [
        gram
        for gram in _grams(phrase, size)
        if not is_stop_word(gram) and CHINESE_STOP_WORDS.isdisjoint(gram)
    ]


def _grams(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(len(text) - size + 1)]
