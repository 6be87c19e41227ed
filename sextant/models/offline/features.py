"""Measure sentences as answers to a question by named features, and score them with fitted weights.

Each feature is one number. `benchmarks.quality.fit_answerer` fits what each counts and writes `weights.json`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidates import Sentence
from sextant.models.offline.passages import (
    is_row,
    names_above,
    table_heads,
    titles_above,
)
from sextant.models.offline.wording import (
    Paraphrases,
    content_words,
    is_question,
    split_borrowed,
    terms,
    terms_of_question,
)
from sextant.text.analysis import language_of_question
from sextant.text.characters import normalise, plain_of, simplify
from sextant.text.statements import AnswerType, definition_pattern

Numbers = npt.NDArray[np.float64]

SENTENCE_FEATURES = (
    "overlap",  # share of the question's information in the sentence and in what stands over it
    "heading_overlap",  # what titles and heads of tables have of the rest
    "passage_overlap",  # share of the question's information in the whole passage
    "neighbour_overlap",  # what the sentence before or behind has of the rest
    "missing",  # share of the question's words that the passage lacks
    "passage_rank",  # log of the passage's place in the search
    "answer_type",  # 1 with the kind of thing that is asked for (number, date, name, reason), -1 without
    "is_question",  # ends with a question mark
    "says_nothing_new",  # only repeats the question or the title, and introduces nothing
    "other_language",  # in another language than the answer
    "similarity",  # standardised cosine of question and sentence
)
ANSWER_FEATURES = (
    # Of the best sentence, as above:
    "passage_overlap",
    "missing",
    "rarest_missing",  # weight of the most telling word that the passage lacks
    "passage_rank",
    "length",  # log of the number of terms
    "other_language",
    "nearest_similarity",  # the highest similarity of all sentences
    "similarity_lead",  # how far the passage's highest similarity is before that of other passages
    "near_but_missing",  # missing words, the more the closer the meaning
    "usual_similarity",  # mean similarity of all sentences
    "usual_passage_overlap",  # mean overlap of the other passages
    "passages_alike",  # share of other passages that have about as much of the question
    "late_lead",  # how far the score is before that of other passages, for a passage far behind in the search
    "shortness",  # near 1 / (2 + terms): a very short sentence says more than its length tells
)

OF_SIMILARITY = ("nearest_similarity", "similarity_lead", "near_but_missing", "usual_similarity")
_SIMILARITY = SENTENCE_FEATURES.index("similarity")
# The weight of a follow-up's own words; what it borrowed from the conversation has the rest.
_OWN_SHARE = 2 / 3
# A passage with this part of the best one's overlap is like it.
_ALIKE = 0.8
# A larger lead says no more.
_MOST_LEAD = 1.5

_LONGEST_LABEL = 40


class Evidence:
    """One question against the sentences of its passages.

    Args:
        question: as it was asked, behind it in brackets what a follow-up borrowed.
        items: the passages, best first.
        sentences: what can be quoted of them.
        language: `zh` or `en`; sentences in it are preferred.
    """

    def __init__(
        self,
        question: str,
        items: Sequence[RetrievedItem],
        sentences: Sequence[Sentence],
        language: str,
    ) -> None:
        self.sentences = sentences
        self.language_of_question = language_of_question(question)
        self._language = language
        self._weights = _weigh_terms(question, sentences)
        paraphrases = Paraphrases(question)
        words = content_words(simplify(split_borrowed(question)[0]))
        self._headings = [
            paraphrases.read_terms(" ".join([titles_above(item), *table_heads(item)]))
            for item in items
        ]
        heads = {text: paraphrases.read_terms(text) for text in {one.heading for one in sentences}}
        self._heads = [heads[one.heading] for one in sentences]
        texts = [paraphrases.read(f"{names_above(item)} {item.text}") for item in items]
        self._terms = [
            heading.union(terms(text)) for heading, text in zip(self._headings, texts, strict=True)
        ]
        self._passages = [self._cover(present) for present in self._terms]
        # Passages without a sentence to quote do not count.
        self._sources = sorted({one.source for one in sentences})
        self._missing = [
            sum(word not in text for word in words) / (len(words) or 1) for text in texts
        ]
        self._type = AnswerType(question)
        self._definition = definition_pattern(question)

    @property
    def asks_of_kind(self) -> bool:
        """Whether the question asks for a number, a date, a name or a reason."""
        return bool(self._type.kind)

    def measure_sentences(self) -> Numbers:
        """Return the features of each sentence but its similarity, shape (sentences, features)."""
        rows = [list(self._measure(index).values()) for index in range(len(self.sentences))]
        return np.asarray(rows, dtype=np.float64).reshape(len(rows), len(SENTENCE_FEATURES))

    def measure_answer(
        self, sentences: Sequence[Sentence], features: Numbers, scores: Numbers
    ) -> dict[str, float]:
        """Return the features that tell whether the best sentence answers.

        Args:
            sentences: those that were compared.
            features: of these, similarities included, shape (sentences, features).
            scores: of these, shape (sentences,).
        """
        best = int(scores.argmax())
        source = sentences[best].source
        elsewhere = np.asarray([one.source != source for one in sentences])
        similarities = features[:, _SIMILARITY]
        present = self._terms[source]
        overlaps = np.asarray([self._passages[one] for one in self._sources])
        others = np.delete(overlaps, self._sources.index(source))
        measures = dict(zip(SENTENCE_FEATURES, features[best], strict=True))
        length = len(sentences[best].terms)
        measures |= {
            "length": math.log(1 + length),
            "rarest_missing": max(
                (self._weights[term] for term in self._weights.keys() - present), default=0.0
            ),
            "nearest_similarity": similarities.max(),
            "similarity_lead": _measure_lead(similarities, elsewhere),
            "near_but_missing": measures["missing"] * measures["similarity"],
            "usual_similarity": similarities.mean(),
            "usual_passage_overlap": others.mean() if len(others) else 0.0,
            "passages_alike": (others > _ALIKE * overlaps.max()).mean() if len(others) else 0.0,
            "late_lead": measures["passage_rank"] * _measure_lead(scores, elsewhere),
            "shortness": 1 / (2 + length),
        }
        return {name: float(measures[name]) for name in ANSWER_FEATURES}

    def _measure(self, index: int) -> Mapping[str, float]:
        sentence = self.sentences[index]
        source, heading = sentence.source, self._headings[sentence.source]
        heading |= self._find_question_above(index)
        # A row says nothing without the head of its table.
        present = sentence.terms
        if is_row(sentence.text):
            present |= self._heads[index]
        else:
            heading |= self._heads[index]
        said = _read_value(sentence.text) or sentence.terms
        around = (self._neighbour(index, index + step) for step in (-1, 1))
        return {
            "overlap": self._cover(present),
            "heading_overlap": self._cover(heading - present),
            "passage_overlap": self._passages[source],
            "neighbour_overlap": max(
                (self._cover(one.terms - sentence.terms) for one in around if one), default=0.0
            ),
            "missing": self._missing[source],
            "passage_rank": math.log(1 + self._sources.index(source)),
            "answer_type": self._match_type(sentence),
            "is_question": float(is_question(sentence.text)),
            "says_nothing_new": float(
                (said <= heading or said <= self._weights.keys()) and not sentence.introduces
            ),
            "other_language": float(sentence.language != self._language),
            "similarity": 0.0,
        }

    def _find_question_above(self, index: int) -> frozenset[str]:
        """Return the terms of the passage's last question before a sentence, which stands over it like a title."""
        while (above := self._neighbour(index, index - 1)) is not None:
            if is_question(above.text):
                return above.terms
            index -= 1
        return frozenset()

    def _cover(self, present: frozenset[str]) -> float:
        """Return the share of the question's information that some terms hold, 0..1."""
        return sum(self._weights[term] for term in present & self._weights.keys())

    def _neighbour(self, index: int, other: int) -> Sentence | None:
        if not 0 <= other < len(self.sentences):
            return None
        one = self.sentences[other]
        return one if one.source == self.sentences[index].source else None

    def _match_type(self, sentence: Sentence) -> float:
        """Return 1 where a sentence holds the kind of thing that is asked for, or defines it, -1 where not, 0 for no kind."""
        found = self._type.is_in(sentence.meaning)
        if found is None:
            pattern = self._definition
            return float(bool(pattern and pattern.search(normalise(sentence.text))))
        return 1.0 if found else -1.0


def _read_value(text: str) -> frozenset[str]:
    """Return the terms behind a field's label; none without one. "Employee: Cid Law" is nothing new about Cid Law."""
    label, _, value = plain_of(text).partition(":")
    return frozenset(terms(value)) if len(label) <= _LONGEST_LABEL else frozenset()


def _measure_lead(values: Numbers, elsewhere: npt.NDArray[np.bool_]) -> float:
    """Return how far the best value is before the best of other passages, at most `_MOST_LEAD`; 1 where there are none."""
    if not elsewhere.any():
        return 1.0
    return float(min(values[~elsewhere].max() - values[elsewhere].max(), _MOST_LEAD))


def _weigh_terms(question: str, sentences: Sequence[Sentence]) -> dict[str, float]:
    """Return the share of the question's information that each of its terms carries; they sum to 1.

    A term weighs its inverse document frequency over the sentences at hand: `log(1 + (n + 1) / (df + 0.5))`.
    """
    stated_part, borrowed_part = map(simplify, split_borrowed(question))
    stated = terms_of_question(stated_part)
    borrowed = terms_of_question(borrowed_part) - stated
    frequency = Counter(
        term for sentence in sentences for term in sentence.terms & (stated | borrowed)
    )

    def weigh(some: frozenset[str], share: float) -> dict[str, float]:
        rarity = {
            term: math.log(1 + (len(sentences) + 1) / (frequency[term] + 0.5)) for term in some
        }
        total = sum(rarity.values())
        return {term: share * value / total for term, value in rarity.items()}

    share = _OWN_SHARE if stated and borrowed else 1.0
    return weigh(stated, share) | weigh(borrowed, 1 - share if stated else 1.0)


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
        named = {
            "sentence": SENTENCE_FEATURES,
            "answer": ANSWER_FEATURES,
            "answer_by_words": ANSWER_FEATURES,
        }
        arrays = {
            field: np.asarray([values[field].get(name, 0.0) for name in names], dtype=np.float64)
            for field, names in named.items()
        }
        return cls(**{**values, **arrays})

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


@cache
def load_weights() -> AnswerWeights:
    """Return the weights that come with the package."""
    text = (files("sextant.models.offline") / "weights.json").read_text(encoding="utf-8")
    return AnswerWeights.parse(json.loads(text))
