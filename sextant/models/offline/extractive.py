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
    complete_labels,
    complete_lists,
    complete_notes,
    read_sentences,
)
from sextant.models.offline.distractors import Siblings, find_namesakes, find_opposites
from sextant.models.offline.features import (
    SENTENCE_FEATURES,
    AnswerWeights,
    Evidence,
    Numbers,
    load_weights,
)
from sextant.models.offline.passages import (
    Span,
    document_of,
    is_row,
    quotable_spans,
    read_document_texts,
    read_full_text,
    section_of,
    table_heads,
    titles_above,
)
from sextant.models.offline.summary import read_named_section, summary_of_named
from sextant.models.offline.wording import Paraphrases, is_question, respell, terms_of_question
from sextant.models.protocols import Embedder
from sextant.text.analysis import find_unmentioned, names_code
from sextant.text.characters import plain_of
from sextant.text.orders import asks_of_orders, orders_answerer
from sextant.text.statements import AnswerType

SIMILARITY = SENTENCE_FEATURES.index("similarity")
OTHER_LANGUAGE = SENTENCE_FEATURES.index("other_language")
NOTHING_NEW = SENTENCE_FEATURES.index("says_nothing_new")


logger = logging.getLogger(__name__)

MOST_QUOTES = 3
# How many sentences are compared by meaning: the best by words, and more in the other language.
_BY_WORDS, _IN_OTHER_LANGUAGE = 20, 15
# How many sentences are quoted behind one that only repeats the question.
_BEHIND = 3
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
        sentences = ranking.evidence.sentences
        section = (
            [] if ranking.evidence.asks_of_kind else read_named_section(question, items, sentences)
        )
        if section and not opposites:
            return Extraction(
                _quote(items, complete_notes(items, [one.span for one in section])), None
            )
        title = find_title_that_answers(question, items[ranking.best.source])
        if not title and self._estimate(ranking) < self._weights.bar:
            return Extraction((), _quote(items, [ranking.best.span])[0])
        chosen = complete_lists(question, items, self._choose(ranking, opposites))
        chosen[1:1] = [span for span in _read_behind(ranking) if span not in chosen]
        completed = _quote(items, complete_labels(question, items, complete_notes(items, chosen)))
        if not title and _lacks_value(question, items, completed):
            return Extraction((), completed[0])
        return Extraction(completed, None)

    def _estimate(self, ranking: Ranking) -> float:
        """Return the probability that the best sentence answers.

        Where meanings are not compared, it is at most the share of the question's words that the passage has, for a
        sentence in another language or a passage that has none of them. A row in another language that shares no word
        does not answer: the meaning of a few cells tells too little.
        """
        measures, shared = ranking.measures, ranking.measures["passage_overlap"]
        estimate = self._weights.estimate(measures, by_words=ranking.by_words)
        is_foreign, is_unrelated = bool(measures["other_language"]), not shared
        if is_foreign and is_unrelated and is_row(ranking.best.text):
            return 0.0
        is_blind = ranking.by_words and (is_foreign or is_unrelated)
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
    paraphrases = Paraphrases(question)
    asked = terms_of_question(plain_of(question))
    spans = list[Span]()
    for source, item in enumerate(items):
        heads = table_heads(item)
        for start, end in quotable_spans(item.text):
            text = item.text[start:end]
            if not (is_question(text) or any(text in head for head in heads)):
                spans.append((source, start, end))
    spans = spans or [(source, 0, len(item.text)) for source, item in enumerate(items)]
    texts = [items[source].text[start:end] for source, start, end in spans]
    shared = [len(asked & paraphrases.read_terms(text)) for text in texts]
    best = spans[shared.index(max(shared))] if spans else None
    return next(iter(_quote(items, [best] if best else [])), None)


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
    about -= _find_other_sections(question, items) | find_namesakes(question, items)
    spelled = respell(question, [item.text for item in items])
    sentences = [one for one in read_sentences(spelled, items) if one.source in about]
    return Evidence(spelled, items, sentences, language) if sentences else None


def _find_other_sections(question: str, items: Sequence[RetrievedItem]) -> set[int]:
    """Return the places of passages without the question's code, in a document that has a section titled by it.

    Where the question names version 2.5.0 and a section is titled "2.5.0 (2024-11-18)", the passages of 2.4.0.
    """
    if not names_code(question):
        return set()
    titled = {
        document_of(item) for item in items if not find_unmentioned(question, [titles_above(item)])
    }
    return {
        at
        for at, item in enumerate(items)
        if document_of(item) in titled and find_unmentioned(question, [read_full_text(item)])
    }


def find_title_that_answers(question: str, item: RetrievedItem) -> str:
    """Return the title of a passage's section where it answers: "2.5.0 (2024-11-18)" says when version 2.5.0 came out.

    "" where it does not have the code or version of the question, or no date or number where one is asked for.
    """
    title, asked = section_of(item), AnswerType(question)
    names_it = names_code(question) and not find_unmentioned(question, [title])
    return title if names_it and asked.is_quantity and asked.is_in(title) else ""


def _lacks_value(
    question: str, items: Sequence[RetrievedItem], quotations: Sequence[Quotation]
) -> bool:
    """Return whether the quotations have no value such as `question` asks for, nor all that it speaks of.

    "The fee is on request" answers what the fee is, in whatever form.
    """
    heads = (head for one in quotations for head in table_heads(items[one.source]))
    said = "\n".join([*dict.fromkeys(heads), *(one.sentence for one in quotations)])
    is_told = terms_of_question(plain_of(question)) <= Paraphrases(question).read_terms(said)
    return not is_told and AnswerType(question).misses_value(said)


def _read_behind(ranking: Ranking) -> list[Span]:
    """Return the sentences behind the best one where that only repeats the question: the price below an article's name."""
    best = ranking.best
    if not ranking.features[int(ranking.scores.argmax()), NOTHING_NEW]:
        return []
    sentences = ranking.evidence.sentences
    behind = [one.span for one in sentences if one.source == best.source and one.start >= best.end]
    return behind[:_BEHIND]


def _quote(items: Sequence[RetrievedItem], spans: Sequence[Span]) -> tuple[Quotation, ...]:
    return tuple(
        Quotation(items[source].text[start:end], source, start, end) for source, start, end in spans
    )
