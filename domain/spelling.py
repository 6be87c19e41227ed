"""Words of a question that are misspelt, told by the words of the passages it found.

A word that no passage holds is taken for one they do hold, one edit away (Damerau 1964,
doi:10.1145/363958.363994: four fifths of misspellings are one letter too many, too few, another, or
two swapped). First letters are hardly ever wrong, short words have too many neighbours, and one letter
for another turns a word into a different one more often than one left out (bread, break): it counts in
long words only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from domain.stopwords import ENGLISH_STOP_WORDS
from domain.text import normalise

_WORD = re.compile(r"(?<![\w-])[A-Za-z]{5,}(?![\w-])")
_REPLACED_FROM = 7
# A word and its plain inflections are one; longer families are left to whoever compares meanings.
_ENDING = re.compile(r"(?:ing|ed|es|s|e)$")


def respelled(question: str, texts: Iterable[str]) -> str:
    """Return `question` with each word that no text holds as the one they hold it may stand for.

    Args:
        question: as it was typed.
        texts: what was found for it.
    """
    asked = [word for word in _WORD.findall(question) if word.lower() not in ENGLISH_STOP_WORDS]
    if not asked:
        return question
    known = {word for text in texts for word in _WORD.findall(normalise(text))}
    stems = {_ENDING.sub("", word) for word in known}
    for word in asked:
        plain = word.lower()
        if _ENDING.sub("", plain) in stems:
            continue
        meant = sorted(one for one in known if _one_edit_apart(plain, one))
        if meant:
            question = question.replace(word, meant[0])
    return question


def _one_edit_apart(typed: str, word: str) -> bool:
    """Whether one letter too many, too few, swapped or, in long words, another makes the difference."""
    if typed[0] != word[0] or abs(len(typed) - len(word)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(typed, word, strict=False)) if a != b), None)
    if at is None:
        return len(typed) != len(word)
    if len(typed) > len(word):
        return typed[at + 1 :] == word[at:]
    if len(typed) < len(word):
        return typed[at:] == word[at + 1 :]
    if typed[at + 1 :] == word[at + 1 :]:
        return len(typed) >= _REPLACED_FROM
    return typed[at : at + 2] == word[at : at + 2][::-1] and typed[at + 2 :] == word[at + 2 :]
