"""Answers without a chat model: the best sentences of what was retrieved, quoted and cited."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.asked_kind import asked_kind, speaks_of_counted
from sextant.models.offline.asked_rows import asked_themselves, is_beside_computed, rows_together
from sextant.models.offline.candidate import Candidate
from sextant.models.offline.captions import with_rows_told
from sextant.models.offline.distinct import MOST_QUOTES, distinct
from sextant.models.offline.evidence import convinces, gives_no_reason, in_language_of
from sextant.models.offline.listings import with_lists_told
from sextant.models.offline.meanings import Compared, Meanings, Written
from sextant.models.offline.openings import with_opening_told
from sextant.models.offline.other_language import (
    Foreign,
    TranslatedWords,
    answering,
    foreign_sentences,
    without_identifiers,
)
from sextant.models.offline.passages import is_row, names_above
from sextant.models.offline.restated import newest_first
from sextant.models.offline.rows_by_place import asked_place, row_at
from sextant.models.offline.sentence_ranking import about_what_is_named, rank_sentences
from sextant.models.offline.siblings import Siblings, passages_of_namesakes
from sextant.models.offline.simplified_items import in_simplified
from sextant.models.offline.standing import without_note_mark
from sextant.models.offline.summary import summary_of_named
from sextant.models.offline.wording import terms, without_empty_words
from sextant.models.protocols import Embedder
from sextant.tables.query.places import names_row_number
from sextant.text.characters import language_of
from sextant.text.particles import with_joined
from sextant.text.simplified import simplify
from sextant.text.spelling import respell

# Sentences whose meaning is compared; the words alone put the answer among them for 99 %.
_COMPARED = 20


@dataclass(frozen=True, slots=True)
class Quotation:
    """A quoted sentence: `items[source].text[start:end] == sentence`.

    `under`: the heading over it, where that tells what is asked for and the sentence does not.
    """

    sentence: str
    source: int
    start: int
    end: int
    under: str = ""


@dataclass(frozen=True, slots=True)
class Extraction:
    """The quotations that answer a question, best first; none: the evidence is weak.

    `nearest` is the index of the passage that comes closest, None without any passage.
    """

    quotations: tuple[Quotation, ...]
    nearest: int | None


class ExtractiveAnswerer:
    """Quotes the best sentences of the retrieved passages, verbatim.

    Words decide first (`sextant.models.offline.sentence_ranking`); among the best by words, meaning decides. Where
    that answers nothing, meaning alone chooses among sentences in the other language
    (`sextant.models.offline.other_language`). Words that are misspelt are read as the passages have them.

    Args:
        embedder: compares meanings; None, or one that fails: by words alone.
    """

    name = "extractive"

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._meanings = Meanings(embedder)

    async def extract(
        self, question: str, items: Sequence[RetrievedItem], *, language: str
    ) -> Extraction:
        """Choose the sentences that answer `question`.

        Args:
            question: the question.
            items: what was retrieved, best first.
            language: `zh` or `en`; sentences in it are preferred.
        """
        written = Written(question, items)
        read = [in_simplified(item) for item in items]
        if summary := summary_of_named(question, items):
            return Extraction(
                tuple(Quotation(items[at].text[a:b], at, a, b) for at, a, b in summary), None
            )
        found = await self._extract(simplify(question), read, language, written)
        spans = [(one.source, one.start, one.end) for one in found.quotations]
        spans = with_rows_told(items, spans)
        for whole in (with_lists_told, with_opening_told):
            spans = whole(simplify(question), read, spans)
        kind = asked_kind(question)
        quoted = [
            Quotation(
                text := items[source].text[a:b], source, a, b, kind.only_under(text, items[source])
            )
            for source, a, b in spans
        ]
        return replace(found, quotations=tuple(quoted))

    async def _extract(
        self, question: str, items: Sequence[RetrievedItem], language: str, written: Written
    ) -> Extraction:
        spelled = await asyncio.to_thread(_as_spelled, question, items)
        question = without_empty_words(spelled)
        ranked = await asyncio.to_thread(rank_sentences, question, items, language)
        nearest = ranked[0].source if ranked else 0
        siblings = await asyncio.to_thread(Siblings, question, items)
        ranked = await asyncio.to_thread(siblings.without, ranked)
        if siblings.alone or not ranked:
            return Extraction((), nearest if items else None)
        if (place := asked_place(question)) is not None and is_row(ranked[0].text):
            row = row_at(place, ranked, items)
            return Extraction((_quotation(row),), None) if row else Extraction((), ranked[0].source)
        ranked = asked_themselves(ranked, question) or ranked
        about = await asyncio.to_thread(about_what_is_named, spelled, items)
        # Rows of a table that is not at hand have no numbers.
        if not about or names_row_number(question):
            return Extraction((), ranked[0].source)
        return await self._chosen(question, ranked, items, about, written)

    async def _chosen(
        self,
        question: str,
        ranked: Sequence[Candidate],
        items: Sequence[RetrievedItem],
        about: Collection[int],
        written: Written,
    ) -> Extraction:
        """Return what answers of the ranked sentences, or of those in the other language."""
        named = [one for one in ranked if one.source in about]
        compared = await self._meanings.compared((named or ranked)[:_COMPARED], written)
        of_others = await asyncio.to_thread(passages_of_namesakes, question, items)
        own = [one for one in compared if one.candidate.source not in of_others]
        others = [one for one in compared if one.candidate.source in of_others]
        told_of_own = bool(own) and _tell_as_much(own, others, question)
        compared = own or compared
        kind = asked_kind(question)
        compared = sorted(
            compared,
            key=lambda one: (
                not kind.tells(one.candidate.meaning, items[one.candidate.source]),
                not kind.told_by(without_note_mark(one.candidate.text) or one.candidate.meaning),
                gives_no_reason(one.candidate),
            ),
        )
        best = compared[0]
        telling = kind.tells(best.candidate.meaning, items[best.candidate.source])
        telling = telling and speaks_of_counted(question, items)
        convincing = bool(named and told_of_own) and telling and self._convinces(best, question)
        within: list[Candidate] = []
        if convincing:
            within = rows_together(best.candidate, ranked, items, question)
            convincing = bool(within) or not is_beside_computed(best.candidate, question)
        if convincing and (within or in_language_of(question, best.candidate)):
            chosen = within or newest_first(distinct(compared, question), items, question)
            return Extraction(tuple(map(_quotation, chosen)), None)
        known = _known_at_home(ranked, question)
        if foreign := await self._in_other_language(question, items, about, written, known):
            return Extraction(tuple(map(_quotation, foreign[:MOST_QUOTES])), None)
        if convincing and TranslatedWords(question).by(best.candidate.meaning):
            alike = [one for one in compared if _are_alike(one.candidate, best.candidate)]
            return Extraction(tuple(map(_quotation, distinct(alike, question))), None)
        return Extraction((), best.candidate.source)

    def _convinces(self, best: Compared, question: str) -> bool:
        usual = self._meanings.usual(language_of(question), language_of(best.candidate.meaning))
        return convinces(best, question, usual)

    async def _in_other_language(
        self,
        question: str,
        items: Sequence[RetrievedItem],
        about: Collection[int],
        written: Written,
        known: float,
    ) -> list[Foreign]:
        """Return the sentences in the other language that answer; none without a known scale of cosines.

        `known`: the share of the question's words that a document in its own language has.
        """
        found = await asyncio.to_thread(foreign_sentences, question, items)
        found = Siblings(question, items).without(asked_themselves(found, question))
        kind = asked_kind(question)
        offered = [
            one
            for one in found
            if one.source in about
            and not is_beside_computed(one, question)
            and kind.tells(one.meaning, items[one.source])
        ]
        own = language_of(question)
        usual = self._meanings.usual(own, "en" if own == "zh" else "zh")
        if not offered or usual is None:
            return []
        texts = [written.meaning_of(one) for one in offered]
        cosines = await self._meanings.cosines(without_identifiers(written.question), texts)
        if cosines is None:
            return []
        beside = any(language_of(item.text) == own for item in items)
        return answering(offered, cosines.tolist(), usual, known_beside=known if beside else None)


def _tell_as_much(own: Sequence[Compared], others: Sequence[Compared], question: str) -> bool:
    """Return whether what is said of the one who is asked about has all that the best of a namesake has of the question."""
    asked = frozenset(terms(question)) & (others[0].candidate.terms if others else frozenset())
    return asked <= frozenset[str]().union(*(one.candidate.terms for one in own))


def _known_at_home(ranked: Sequence[Candidate], question: str) -> float:
    """Return the share of the question's words that one document in its own language has."""
    return max((1 - one.missing for one in ranked if in_language_of(question, one)), default=0.0)


def _are_alike(one: Candidate, other: Candidate) -> bool:
    """Return whether two are in one language, so that their scores tell which answers better."""
    return language_of(one.meaning) == language_of(other.meaning)


def _as_spelled(question: str, items: Sequence[RetrievedItem]) -> str:
    """Return the question with words as the passages spell them."""
    texts = [f"{names_above(item)} {item.text}" for item in items]
    return with_joined(respell(question, [item.text for item in items]), texts)


def _quotation(found: Candidate | Foreign) -> Quotation:
    return Quotation(found.text, found.source, found.start, found.end)
