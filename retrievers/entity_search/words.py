"""The words of a question that full text is asked for."""

from __future__ import annotations

from collections.abc import Iterator

from sextant.retrievers.index.words.terms import RUN
from sextant.text.characters import normalise
from sextant.text.segmenting import search_words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word

_MOST = 64


def words_of(question: str) -> list[str]:
    """Return the words that say something, in order, each once, at most 64.

    Chinese is cut into words by jieba's dictionary; stop words of both languages are left out. A
    single ideograph is a word only where nothing else is left: full text knows pairs. Code points
    that stand for nothing are no words.
    """
    found = list(dict.fromkeys(_words(normalise(question))))
    longer = [word for word in found if len(word) > 1 or word.isascii()]
    return (longer or found)[:_MOST]


def _words(question: str) -> Iterator[str]:
    for ideographs, word in RUN.findall(question):
        if word and word not in ENGLISH_STOP_WORDS:
            yield word
        elif ideographs:
            cut = search_words_of(ideographs)
            yield from (own for own in cut if own.isalnum() and not is_stop_word(own))
