"""The words of a question, and which of them a text has: as they are, in other words, as a number with its unit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.models.offline.wording import broken_words, lacking, terms, without_asking_for_news
from sextant.text.characters import normalise
from sextant.text.disclaimers import disclaimer_pattern
from sextant.text.number_words import in_digits
from sextant.text.other_words import statement_synonyms
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.whole_words import find_whole

_BETWEEN_CELLS = " | "


class QuestionWords:
    """The words of one question.

    Attributes:
        asked: its terms, without those that only ask what is new.
    """

    def __init__(self, question: str) -> None:
        self._question = normalise(question)
        self._otherwise = statement_synonyms(question)
        self._disclaimed = disclaimer_pattern(question)
        self._broken = broken_words(question)
        self.asked = frozenset(terms(without_asking_for_news(question))).union(self._broken)

    def said_by(self, text: str) -> frozenset[str]:
        """Return the terms of `text`, and those of the question that it has in other words."""
        said = undisclaimed(text, self._disclaimed)
        whole = [word for word in self._broken if word in said]
        return frozenset(terms(said)).union(whole, *map(terms, self._meant_by(text)))

    def missing_of(self, things: Sequence[Sequence[str]], text: str) -> float:
        """Return the share of `things`, each some words of the question, that a normalised text does not hold."""
        return lacking(things, " ".join([in_digits(text), *self._meant_by(text)]))

    def name(self, cell: str) -> bool:
        """Return whether the question has the words of a cell; 3, "no" or 是 are in questions of something else."""
        telling = len(cell) > 1 and not cell.isdigit() and cell not in ENGLISH_STOP_WORDS
        return telling and find_whole(self._question, cell) is not None

    def _meant_by(self, text: str) -> list[str]:
        """Return the question's words that `text` has in other words, or as a number with its unit."""
        if not self._otherwise:
            return []
        plain = normalise(text)
        return [word for word, pattern in self._otherwise if pattern.search(plain)]


def cells_of(row: str) -> list[str]:
    """Return the cells of a row, normalised; of any other text one."""
    return normalise(row).split(_BETWEEN_CELLS)


def undisclaimed(text: str, disclaimed: re.Pattern[str] | None) -> str:
    """Return `text` without the mentions that only say that it is about something else."""
    return text if disclaimed is None else disclaimed.sub(" ", normalise(text))
