"""The fitted weights of the features: how well a sentence answers, and whether the best of them does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Self

import numpy as np

from sextant.models.offline.features import ANSWER_FEATURES, SENTENCE_FEATURES, Numbers


@dataclass(frozen=True, slots=True)
class AnswerWeights:
    """What each feature counts.

    Attributes:
        sentence: for each of `SENTENCE_FEATURES`, what it adds to a sentence's score.
        answer: for each of `ANSWER_FEATURES`, what it adds to the log odds that the best sentence answers.
        intercept: the log odds where all of these are 0.
        answer_by_words: likewise, where meanings are not compared, or by a model whose scale is not known.
        intercept_by_words: likewise.
        bar: the least probability that is shown as an answer.
        same_passage: how far behind the best a further sentence of its passage may be.
        other_passage: how far one of another passage may be.
        cosines: for an embedding model and the languages of question and sentence ("zh-en"), mean and
            standard deviation of their cosines.
    """

    sentence: Numbers
    answer: Numbers
    intercept: float
    answer_by_words: Numbers
    intercept_by_words: float
    bar: float
    same_passage: float
    other_passage: float
    cosines: Mapping[str, Mapping[str, tuple[float, float]]]

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Self:
        """Return the weights that a JSON object holds; a feature that it does not name counts nothing."""
        return cls(
            sentence=_order(values["sentence"], SENTENCE_FEATURES),
            answer=_order(values["answer"], ANSWER_FEATURES),
            intercept=values["intercept"],
            answer_by_words=_order(values["answer_by_words"], ANSWER_FEATURES),
            intercept_by_words=values["intercept_by_words"],
            bar=values["bar"],
            same_passage=values["same_passage"],
            other_passage=values["other_passage"],
            cosines=values["cosines"],
        )

    def score(self, features: Numbers) -> Numbers:
        """Return the score of each sentence, shape (sentences,), from shape (sentences, features)."""
        scores: Numbers = features @ self.sentence
        return scores

    def estimate(self, measures: Mapping[str, float], *, by_words: bool = False) -> float:
        """Return the probability that the best sentence answers, 0..1, from the features of the answer."""
        values = np.asarray([measures[name] for name in ANSWER_FEATURES])
        weights = self.answer_by_words if by_words else self.answer
        intercept = self.intercept_by_words if by_words else self.intercept
        return float(1 / (1 + np.exp(-(values @ weights + intercept))))

    def knows(self, model: str) -> bool:
        """Return whether the scale of a model's cosines is known."""
        return model in self.cosines

    def standardise(
        self, cosines: Numbers, languages: Sequence[tuple[str, str]], model: str
    ) -> Numbers:
        """Return how many standard deviations cosines are from what is usual, shape (sentences,).

        Args:
            cosines: of a question and sentences, shape (sentences,).
            languages: of the question and of each sentence.
            model: the embedding model's name; of an unknown one these sentences themselves are what is usual.
        """
        if (scale := self.cosines.get(model)) is None:
            scaled: Numbers = (cosines - cosines.mean()) / (float(cosines.std()) or 1.0)
            return scaled
        usual = np.asarray([scale["-".join(pair)] for pair in languages])
        deviations: Numbers = (cosines - usual[:, 0]) / usual[:, 1]
        return deviations


def _order(named: Mapping[str, float], names: Sequence[str]) -> Numbers:
    return np.asarray([named.get(name, 0.0) for name in names], dtype=np.float64)


@cache
def load_weights() -> AnswerWeights:
    """Return the weights that come with the package."""
    text = (files("sextant.models.offline") / "weights.json").read_text(encoding="utf-8")
    return AnswerWeights.parse(json.loads(text))
