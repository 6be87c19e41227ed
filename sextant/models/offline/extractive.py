"""Answers without a chat model: the best sentences of what was retrieved, quoted and cited.

A scorer ranks the sentences by named features, and a probability says whether the best of them answers
(`sextant.models.offline.features`). Both have weights fitted on public question sets (`benchmarks.quality.fit_answerer`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from sextant.domain.errors import SextantError
from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.candidates import (
    Sentence,
    complete_quotations,
    read_sentences,
    read_statements,
)
from sextant.models.offline.distractors import Siblings, find_namesakes, find_opposites
from sextant.models.offline.features import (
    SENTENCE_FEATURES,
    AnswerWeights,
    Evidence,
    Numbers,
    load_weights,
)
from sextant.models.offline.passages import Span, is_row, read_document_texts
from sextant.models.offline.summary import read_named_section, summary_of_named
from sextant.models.offline.wording import Paraphrases, is_question, respell
from sextant.models.protocols import Embedder
from sextant.text.analysis import find_unmentioned
from sextant.text.orders import asks_of_orders, orders_answerer
from sextant.text.statements import AnswerType

SIMILARITY = SENTENCE_FEATURES.index("similarity")
OTHER_LANGUAGE = SENTENCE_FEATURES.index("other_language")

logger = logging.getLogger(__name__)

MOST_QUOTES = 3
# How many sentences are compared by meaning: the best by words, and more in the other language.
_BY_WORDS, _IN_OTHER_LANGUAGE = 20, 15
# Two sentences that share this part of their words say the same.
_SAME_WORDS = 0.7


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted sentence: `items[source].text[start:end] == sentence`."""

    sentence: str
    source: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Extraction:
    """The quotations that answer a question, best first; none: the evidence is weak.

    `nearest` is the sentence that comes closest where none answers, None without any passage.
    """

    quotations: tuple[Quotation, ...]
    nearest: Quotation | None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The sentences that may answer, scored.

    Attributes:
        evidence: the question against all sentences.
        sentences: those that were compared.
        features: of these, shape (sentences, features).
        scores: of these, shape (sentences,).
        measures: the features of the best as an answer.
        by_words: whether meanings were not compared, or by a model whose scale is not known.
    """

    evidence: Evidence
    sentences: Sequence[Sentence]
    features: Numbers
    scores: Numbers
    measures: dict[str, float]
    by_words: bool

    @property
    def best(self) -> Sentence:
        """The sentence with the highest score."""
        return self.sentences[int(self.scores.argmax())]


class ExtractiveAnswerer:
    """Quotes the best sentences of the retrieved passages, verbatim.

    Args:
        embedder: compares meanings; None, or one that fails: words alone decide.
        weights: of the features; None: those that come with the package.
    """

    name = "extractive"

    def __init__(
        self, embedder: Embedder | None = None, weights: AnswerWeights | None = None
    ) -> None:
        self._embedder = embedder
        self._weights = weights or load_weights()

    async def extract(
        self, question: str, items: Sequence[RetrievedItem], *, language: str
    ) -> Extraction:
        """Choose the sentences that answer `question`.

        Args:
            question: the question.
            items: what was retrieved, best first.
            language: `zh` or `en`; sentences in it are preferred.
        """
        if summary := summary_of_named(question, items):
            return Extraction(_quote(items, summary), None)
        # A passage with orders to whoever answers is read only where no other answers.
        trusted = [replace(item, text="") if orders_answerer(item.text) else item for item in items]
        if trusted != list(items) and not asks_of_orders(question):
            found = await self._extract(question, trusted, language)
            if found.quotations:
                return found
        return await self._extract(question, items, language)

    async def _extract(
        self, question: str, items: Sequence[RetrievedItem], language: str
    ) -> Extraction:
        ranking = await self.rank(question, items, language=language)
        if ranking is None:
            return Extraction((), quote_nearest(question, items))
        opposites = find_opposites(question, ranking.sentences)
        is_narrow = opposites or ranking.evidence.asks_of_kind
        sentences = ranking.evidence.sentences
        section = [] if is_narrow else read_named_section(question, items, sentences)
        if not section and self._estimate(ranking) < self._weights.bar:
            return Extraction((), _quote(items, [ranking.best.span])[0])
        chosen = section or self._choose(ranking, opposites)
        quotations = _quote(items, complete_quotations(question, items, chosen))
        if not section and _lacks_value(question, quotations):
            return Extraction((), quotations[0])
        return Extraction(quotations, None)

    def _estimate(self, ranking: Ranking) -> float:
        """Return the probability that the best sentence answers.

        Where meanings are not compared, it is at most the share of the question's words that the passage has, for a
        sentence in another language or a passage that has none of them.
        """
        measures, shared = ranking.measures, ranking.measures["passage_overlap"]
        estimate = self._weights.estimate(measures, by_words=ranking.by_words)
        is_blind = ranking.by_words and (measures["other_language"] or not shared)
        return min(estimate, shared) if is_blind else estimate

    async def rank(
        self, question: str, items: Sequence[RetrievedItem], *, language: str
    ) -> Ranking | None:
        """Score the sentences that may answer; None where no passage has a code or number that the question names."""
        evidence = await asyncio.to_thread(_read_evidence, question, items, language)
        if evidence is None:
            return None
        features = await asyncio.to_thread(evidence.measure_sentences)
        order = np.argsort(-self._weights.score(features), kind="stable")
        foreign = [at for at in order[_BY_WORDS:] if features[at, OTHER_LANGUAGE]]
        compared = [*order[:_BY_WORDS], *foreign[:_IN_OTHER_LANGUAGE]]
        sentences = [evidence.sentences[index] for index in compared]
        features = features[compared]
        cosines = await self._compare(question, sentences)
        name = self._embedder.name if self._embedder else ""
        if cosines is not None:
            features[:, SIMILARITY] = self._weights.standardise(
                cosines, [(evidence.language_of_question, one.language) for one in sentences], name
            )
        by_words = cosines is None or not self._weights.knows(name)
        scores = self._weights.score(features)
        measures = evidence.measure_answer(sentences, features, scores)
        return Ranking(evidence, sentences, features, scores, measures, by_words)

    async def _compare(self, question: str, sentences: Sequence[Sentence]) -> Numbers | None:
        """Return the cosine of each sentence to the question, shape (sentences,); None without a model."""
        if self._embedder is None:
            return None
        try:
            query, passages = await asyncio.gather(
                self._embedder.embed_query(question),
                self._embedder.embed_passages([one.meaning for one in sentences]),
            )
        except SextantError as error:
            logger.warning("sentences are compared by words alone: %s", error)
            return None
        return np.asarray(passages @ query, dtype=np.float64)

    def _choose(self, ranking: Ranking, left_out: Set[int]) -> list[Span]:
        """Return the best sentence, then those nearly as good that say something else, in the order of their passages."""
        ranked = np.argsort(-ranking.scores, kind="stable")
        order = [int(index) for index in ranked if int(index) not in left_out]
        best, *others = (ranking.sentences[index] for index in order)
        chosen = [best]
        for behind, one in zip(
            ranking.scores[order[0]] - ranking.scores[order[1:]], others, strict=True
        ):
            # Another row is about something else.
            near = not is_row(one.text) and any(one.source == other.source for other in chosen)
            most = self._weights.same_passage if near else self._weights.other_passage
            same = (
                len(one.terms & other.terms) / (len(one.terms | other.terms) or 1)
                for other in chosen
            )
            if behind <= most and max(same) < _SAME_WORDS:
                chosen.append(one)
            if len(chosen) == MOST_QUOTES:
                break
        sources = list(dict.fromkeys(one.source for one in chosen))
        behind_best = sorted(chosen[1:], key=lambda one: (sources.index(one.source), one.start))
        return [one.span for one in (best, *behind_best)]


def quote_nearest(question: str, items: Sequence[RetrievedItem]) -> Quotation | None:
    """Return the statement or row with most of a question's words, the first of several; None without any passage."""
    asked = Paraphrases(question).terms
    statements = (one for one in read_statements(question, items) if not is_question(one.text))
    best = max(statements, key=lambda one: len(asked & one.terms), default=None)
    whole = [(0, 0, len(item.text)) for item in items[:1]]
    return next(iter(_quote(items, [best.span] if best else whole)), None)


def lacks_named(question: str, items: Sequence[RetrievedItem]) -> bool:
    """Return whether no passage has what the question names by a code or a number ("E47", "Heron 3")."""
    documents = read_document_texts(items)
    return bool(find_unmentioned(question, documents)) or Siblings(question, items).stand_alone()


def _read_evidence(question: str, items: Sequence[RetrievedItem], language: str) -> Evidence | None:
    """Return the evidence of the passages that have the codes and models of the question ("E47", "Heron 3").

    None where no passage has them. Misspelt words of the question are read as the passages spell them.
    """
    if lacks_named(question, items):
        return None
    documents = read_document_texts(items)
    lacking = [len(find_unmentioned(question, [text])) for text in documents]
    about = {index for index, count in enumerate(lacking) if count == min(lacking, default=0)}
    about -= find_namesakes(question, items)
    spelled = respell(question, [item.text for item in items])
    sentences = [one for one in read_sentences(spelled, items) if one.source in about]
    return Evidence(spelled, items, sentences, language) if sentences else None


def _lacks_value(question: str, quotations: Sequence[Quotation]) -> bool:
    """Return whether the quotations have no value such as `question` asks for, nor all that it speaks of.

    "The fee is on request" answers what the fee is, in whatever form.
    """
    said, paraphrases = "\n".join(one.sentence for one in quotations), Paraphrases(question)
    is_told = paraphrases.terms <= paraphrases.read_terms(said)
    return not is_told and AnswerType(question).misses_value(said)


def _quote(items: Sequence[RetrievedItem], spans: Sequence[Span]) -> tuple[Quotation, ...]:
    return tuple(
        Quotation(items[source].text[start:end], source, start, end) for source, start, end in spans
    )
