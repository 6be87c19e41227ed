"""Words that texts have: what a model names is looked for in them, and what is misspelt is read as one of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from sextant.text.analysis import Tokenizer
from sextant.text.characters import normalise, plain_of
from sextant.text.segmenter import words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word
from sextant.text.word_forms import stem

_WORD = re.compile(r"(?<![\w-])[A-Za-z]{5,}(?![\w-])")
# A word and its plain inflections are one; longer families are left to whoever compares meanings.
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")


def respell(question: str, texts: Iterable[str]) -> str:
    """Return `question` with each word that no text holds as the one they hold it may stand for.

    Args:
        question: as it was typed.
        texts: what was found for it.
    """
    words = [word for word in _WORD.findall(question) if word.lower() not in ENGLISH_STOP_WORDS]
    if not words:
        return question
    known = {word for text in texts for word in _WORD.findall(normalise(text))}
    stems = {_ENDING.sub("", word) for word in known}
    for word in words:
        plain = word.lower()
        if _ENDING.sub("", plain) in stems:
            continue
        meant = sorted(one for one in known if _differs_by_one_edit(plain, one))
        if meant:
            question = question.replace(word, meant[0])
    return question


def _differs_by_one_edit(typed: str, word: str) -> bool:
    """Return whether one letter too many, too few or two swapped make the difference."""
    if typed[0] != word[0] or abs(len(typed) - len(word)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), None)
    if at is None:
        return len(typed) != len(word)
    if len(typed) > len(word):
        return typed[at + 1 :] == word[at:]
    if len(typed) < len(word):
        return typed[at:] == word[at + 1 :]
    return typed[at : at + 2] == word[at : at + 2][::-1] and typed[at + 2 :] == word[at + 2 :]


_TOKENIZER = Tokenizer(words_of)
# A phrase is taken from a text that has as much of it; a part of a question may word the rest anew.
_LEAST_SHARE = 1 / 3


class Vocabulary:
    """The words of some texts.

    Args:
        texts: what the model was given to read.
    """

    def __init__(self, *texts: str) -> None:
        self._text = plain_of("\n".join(texts))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(stem, _TOKENIZER.words(self._text)))

    def share(self, phrase: str) -> float:
        """Return how much of a phrase's telling words the texts have (0..1); 0 for a phrase without any."""
        plain = plain_of(phrase)
        words = set(filter(_is_telling, _TOKENIZER.words(plain)))
        known = [stem(word) in self._stems for word in words]
        known += [word in self._text for word in _chinese_words(plain)]
        return sum(known) / len(known) if known else 0.0

    def has(self, phrase: str) -> bool:
        """Return whether the texts have every telling word of a phrase."""
        return self.share(phrase) == 1

    def gives(self, phrase: str) -> bool:
        """Return whether a phrase may be taken from the texts: at least a third of it, and every name in it."""
        names = (word for word in _TOKENIZER.words(phrase)[1:] if _is_name(word))
        return self.share(phrase) >= _LEAST_SHARE and all(
            stem(plain_of(name)) in self._stems for name in names
        )


def _chinese_words(plain: str) -> set[str]:
    words = (word for run, _ in _TOKENIZER.runs(plain) for word in words_of(run))
    return {word for word in words if not is_stop_word(word)}


def _is_telling(word: str) -> bool:
    """Return whether a word is no function word, and no letter alone."""
    return (len(word) > 1 or word.isdigit()) and word not in ENGLISH_STOP_WORDS


def _is_name(word: str) -> bool:
    """Return whether a word within a phrase is written as a name or a code, or is a number."""
    return word[0].isupper() or any(map(str.isdigit, word))
