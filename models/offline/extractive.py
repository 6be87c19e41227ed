"""Answers without a chat model: the best sentences of what was retrieved, quoted and cited."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from domain.errors import SextantError
from domain.language.designators import marks_in
from domain.language.identifiers import codes_in, without_codes
from domain.language.other_words import named_otherwise
from domain.language.particles import with_joined
from domain.language.simplified import simplified
from domain.language.spelling import respelled
from domain.retrieval import RetrievedItem
from domain.tables.question.by_place import asks_by_place
from domain.text import has_cjk, language_of, normalise
from models.offline.asked_kind import asked_kind, speaks_of_counted
from models.offline.asked_rows import (
    asked_themselves,
    is_beside_computed,
    only_another_field,
    only_beside,
    rows_instead,
    rows_together,
)
from models.offline.candidate import Candidate
from models.offline.captions import with_rows_told
from models.offline.listings import with_lists_told
from models.offline.openings import with_opening_told
from models.offline.other_language import (
    Foreign,
    Told,
    answering,
    foreign_sentences,
    without_identifiers,
)
from models.offline.passages import names_above
from models.offline.restated import newest_first, restates
from models.offline.rows_by_place import asked_place, row_at
from models.offline.sentence_ranking import about_what_is_named, rank_sentences
from models.offline.simplified_items import in_simplified
from models.offline.summary import summary_of_named
from models.offline.wording import (
    asked_instead,
    content_words,
    identifiers,
    terms,
    without_empty_words,
)
from models.protocols import Embedder

logger = logging.getLogger(__name__)

# Sentences whose meaning is compared; the words alone put the answer among them for 99 %.
_COMPARED = 20
_QUOTES = 3
# Weight of a standard deviation of cosine against the score by words: lifts the answers that stand in
# the first sentence from 82 % to 85 % (zh and en), across languages from 46 % to 75 %.
_MEANING_WEIGHT = 0.15
# What is quoted besides the best, by its share of the best's score: from a passage that is quoted
# already; from another one; from another one that speaks of something in the question that nothing
# quoted so far does, as the second hop of a question. With 0.7 for all more answers have a quotation
# from a passage that has nothing to say to the question.
_SAME_PASSAGE, _OTHER_PASSAGE, _SOMETHING_NEW = 0.7, 0.9, 0.7
_SAME = 0.7

# Weak evidence. The best sentence convinces when its score by words, plus eight times what its cosine
# has over the usual one, less half the share of the question's words that its document's passages
# lack, reaches 0.66; without a known scale of cosines that part counts 0.15. Languages share no words:
# across them the cosine decides.
# Half the words of a short question missing means that it asks of something else ("who is X's uncle?"
# where only X's wife is named; a full name, or that of a row, is one word here). What this lets through and keeps out: docs/evaluation.md.
_EVIDENCE = 0.66
_SIMILARITY_WEIGHT = 8.0
_UNKNOWN_SIMILARITY = 0.15
_MISSING_WEIGHT = 0.5
# Who asks of parental leave is not told of leave: hotpotqa, lihua and xquad decline 1 to 2 % more of what they lack,
# lihua two answers. 0.35 costs more than it gains.
_TORN_WEIGHT = 0.2
_SHORT, _HALF = 3, 0.5
_LETTER = re.compile(r"[^\W\d_]")
_USUAL_SIMILARITY = {
    "intfloat/multilingual-e5-small": {
        ("zh", "zh"): 0.88,
        ("en", "en"): 0.82,
        ("zh", "en"): 0.79,
        ("en", "zh"): 0.762,
    },
}


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

    Words decide first (`models.offline.sentence_ranking`); among the best by words, meaning decides. Where
    that answers nothing, meaning alone chooses among sentences in the other language
    (`models.offline.other_language`). Words that are misspelt are read as the passages have them.

    Args:
        embedder: compares meanings; None, or one that fails: by words alone.
    """

    name = "extractive"

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder

    async def extract(
        self, question: str, items: Sequence[RetrievedItem], *, language: str
    ) -> Extraction:
        """Choose the sentences that answer `question`.

        Args:
            question: the question.
            items: what was retrieved, best first.
            language: `zh` or `en`; sentences in it are preferred.
        """
        written = _Written(question, items)
        read = [in_simplified(item) for item in items]
        if summary := summary_of_named(question, items):
            return Extraction(
                tuple(Quotation(items[at].text[a:b], at, a, b) for at, a, b in summary), None
            )
        found = await self._extract(simplified(question), read, language, written)
        spans = [(one.source, one.start, one.end) for one in found.quotations]
        spans = with_rows_told(items, spans)
        for whole in (with_lists_told, with_opening_told):
            spans = whole(simplified(question), read, spans)
        kind = asked_kind(question)
        quoted = [
            Quotation(
                text := items[source].text[a:b], source, a, b, kind.only_under(text, items[source])
            )
            for source, a, b in spans
        ]
        return replace(found, quotations=tuple(quoted))

    async def _extract(
        self, question: str, items: Sequence[RetrievedItem], language: str, written: _Written
    ) -> Extraction:
        spelled = await asyncio.to_thread(_as_spelled, question, items)
        question = without_empty_words(spelled)
        ranked = await asyncio.to_thread(rank_sentences, question, items, language)
        if not ranked:
            return Extraction((), 0 if items else None)
        if (place := asked_place(question)) is not None and "|" in ranked[0].text:
            row = row_at(place, ranked, items)
            return Extraction((_quotation(row),), None) if row else Extraction((), ranked[0].source)
        ranked = asked_themselves(ranked, question) or ranked
        about = await asyncio.to_thread(about_what_is_named, spelled, items)
        # Rows of a table that is not at hand have no numbers.
        if not about or asks_by_place(question):
            return Extraction((), ranked[0].source)
        return await self._chosen(question, ranked, items, about, written)

    async def _chosen(
        self,
        question: str,
        ranked: Sequence[Candidate],
        items: Sequence[RetrievedItem],
        about: Collection[int],
        written: _Written,
    ) -> Extraction:
        """What answers of the ranked sentences, or of those in the other language."""
        named = [one for one in ranked if one.source in about]
        compared = await self._compared((named or ranked)[:_COMPARED], written)
        kind = asked_kind(question)
        compared = sorted(
            compared,
            key=lambda one: (
                not kind.tells(one.candidate.meaning, items[one.candidate.source]),
                _gives_no_reason(one.candidate),
            ),
        )
        best = compared[0]
        telling = kind.tells(best.candidate.meaning, items[best.candidate.source])
        telling = telling and speaks_of_counted(question, items)
        convincing = bool(named) and telling and self._convinces(best, question)
        within: list[Candidate] = []
        if convincing:
            within = rows_together(best.candidate, ranked, items, question)
            convincing = bool(within) or not is_beside_computed(best.candidate, question)
        if convincing and (within or _in_language_of(question, best.candidate)):
            chosen = within or newest_first(_distinct(compared, question), items, question)
            return Extraction(tuple(map(_quotation, chosen)), None)
        known = _known_at_home(ranked, question)
        if foreign := await self._in_other_language(question, items, about, written, known):
            return Extraction(tuple(map(_quotation, foreign[:_QUOTES])), None)
        if convincing and Told(question).by(best.candidate.meaning):
            alike = [one for one in compared if _are_alike(one.candidate, best.candidate)]
            return Extraction(tuple(map(_quotation, _distinct(alike, question))), None)
        return Extraction((), best.candidate.source)

    async def _in_other_language(
        self,
        question: str,
        items: Sequence[RetrievedItem],
        about: Collection[int],
        written: _Written,
        known: float,
    ) -> list[Foreign]:
        """The sentences in the other language that answer; none without a known scale of cosines.

        `known`: the share of the question's words that a document in its own language has.
        """
        found = await asyncio.to_thread(foreign_sentences, question, items)
        found = asked_themselves(found, question)
        kind = asked_kind(question)
        offered = [
            one
            for one in found
            if one.source in about
            and not is_beside_computed(one, question)
            and kind.tells(one.meaning, items[one.source])
        ]
        usual = _USUAL_SIMILARITY.get(self._embedder.name if self._embedder else "")
        if self._embedder is None or not offered or usual is None:
            return []
        texts = [written.meaning_of(one) for one in offered]
        try:
            asked, said = await asyncio.gather(
                self._embedder.embed_query(without_identifiers(written.question)),
                self._embedder.embed_passages(texts),
            )
        except SextantError as error:
            logger.warning("sentences in the other language are not compared: %s", error)
            return []
        own = language_of(question)
        other = usual[own, "en" if own == "zh" else "zh"]
        beside = any(language_of(item.text) == own for item in items)
        return answering(
            offered, (said @ asked).tolist(), other, known_beside=known if beside else None
        )

    async def _compared(
        self, candidates: Sequence[Candidate], written: _Written
    ) -> list[_Compared]:
        """The candidates by words and meaning, best first; by words alone if the embedder fails."""
        if self._embedder is None:
            return [_Compared(candidate, candidate.score, None) for candidate in candidates]
        # Codes are compared letter by letter, and whole documents are about one: "it" means the same.
        question = written.question
        codes = codes_in(question)
        texts = [written.meaning_of(candidate) for candidate in candidates]
        if codes:
            question, *texts = (without_codes(text, codes) for text in (question, *texts))
        try:
            asked, offered = await asyncio.gather(
                self._embedder.embed_query(question), self._embedder.embed_passages(texts)
            )
        except SextantError as error:
            logger.warning("sentences are compared by words alone: %s", error)
            return [_Compared(candidate, candidate.score, None) for candidate in candidates]
        similar = offered @ asked
        spread = float(similar.std()) or 1.0
        compared = [
            _Compared(
                candidate,
                candidate.score + _MEANING_WEIGHT * float(near - similar.mean()) / spread,
                float(near),
            )
            for candidate, near in zip(candidates, similar, strict=True)
        ]
        return sorted(compared, key=lambda found: -found.score)

    def _convinces(self, best: _Compared, question: str) -> bool:
        """Whether the best sentence is evidence enough to be shown as an answer."""
        asked, said = language_of(question), language_of(best.candidate.meaning)
        usual = _USUAL_SIMILARITY.get(self._embedder.name if self._embedder else "")
        near = _UNKNOWN_SIMILARITY
        if usual is not None and best.similarity is not None:
            near = _SIMILARITY_WEIGHT * (best.similarity - usual[asked, said])
        # Without its code nothing is left of "what does E47 mean?" or "what is new in 3.2?" that could be near to anything.
        if not any(map(_LETTER.search, content_words(without_identifiers(question)))):
            near = max(near, _UNKNOWN_SIMILARITY)
        comparable = _in_language_of(question, best.candidate)
        is_short = best.candidate.things <= _SHORT
        if comparable and not best.candidate.things:  # "How tall is he?"
            return False
        # Who asks for the speed of light is not told of belts.
        # Of 26 public questions why of at most three things the passage gives a reason with a usual word for 24.
        beside_it = best.candidate.unowned or _gives_no_reason(best.candidate)
        astray = best.candidate.missing >= _HALF or beside_it
        if comparable and astray and is_short:
            return False
        if asked != said:
            return best.similarity is not None and near >= 0 and not best.candidate.unowned
        evidence = (
            best.candidate.score
            + near
            - _MISSING_WEIGHT * best.candidate.missing
            - _TORN_WEIGHT * best.candidate.torn
        )
        return evidence >= _EVIDENCE


@dataclass(frozen=True, slots=True)
class _Written:
    """A question and passages in their own characters.

    Words are compared in simplified ones, meanings as they are written: vectors of simplified sentences lie nearer to
    all questions, so that of drcd, which is traditional, half of what is not answered was declined instead of 70 %.
    """

    question: str
    items: Sequence[RetrievedItem]

    def meaning_of(self, found: Candidate | Foreign) -> str:
        """What stands for the sentence where meanings are compared."""
        own = self.items[found.source].text[found.start : found.end]
        return found.meaning.replace(found.text, own)


@dataclass(frozen=True, slots=True)
class _Compared:
    """A candidate with its score by words and meaning, and its cosine to the question."""

    candidate: Candidate
    score: float
    similarity: float | None


def _gives_no_reason(candidate: Candidate) -> bool:
    """Whether a short question why is not answered by it; longer ones may be, by what says so in other words."""
    return candidate.unreasoned and candidate.things <= _SHORT


def _distinct(compared: Sequence[_Compared], question: str) -> list[Candidate]:
    """The best, then those nearly as good that say something else."""
    asked = frozenset(terms(question))
    words = [*content_words(question), *marks_in(normalise(question))]
    instead = asked_instead(question) & compared[0].candidate.terms
    beyond = instead or asked - frozenset(identifiers(question)) or asked
    ranked = [found.candidate for found in compared]
    if rows := rows_instead(ranked, words, named_otherwise(question)):
        return rows
    chosen = [compared[0].candidate]
    for found in compared[1:]:
        if only_beside(found.candidate, chosen, words) or not _speaks_of(beyond, found.candidate):
            continue
        if only_another_field(found.candidate, chosen, words):
            continue
        good = found.score >= _bar(found.candidate, chosen, asked) * compared[0].score
        if good and all(_says_other(found.candidate, other, asked) for other in chosen):
            chosen.append(found.candidate)
        if len(chosen) == _QUOTES:
            break
    return [chosen[0], *_as_written(chosen[1:])]


def _as_written(chosen: Sequence[Candidate]) -> list[Candidate]:
    """With those of one passage in its order: the second row of a table does not come before the first."""
    places = list(dict.fromkeys(one.source for one in chosen))
    return sorted(chosen, key=lambda one: (places.index(one.source), one.start))


def _speaks_of(asked: frozenset[str], candidate: Candidate) -> bool:
    """Whether it has a word of the question besides names, which all sentences of a document share."""
    return not asked or not asked.isdisjoint(candidate.terms.union(terms(candidate.meaning)))


def _bar(candidate: Candidate, chosen: Sequence[Candidate], asked: frozenset[str]) -> float:
    """The share of the best score that `candidate` needs to stand beside those chosen."""
    told = frozenset[str]().union(*(other.terms for other in chosen))
    if (candidate.terms & asked) - told:
        return _SOMETHING_NEW
    quoted = any(candidate.source == other.source for other in chosen)
    return _SAME_PASSAGE if quoted else _OTHER_PASSAGE


def _says_other(one: Candidate, other: Candidate, asked: frozenset[str]) -> bool:
    """Whether it says something else than `other`: in other words, of another thing that is asked for, or of other values."""
    alike = len(one.terms & other.terms) / (len(one.terms | other.terms) or 1)
    return alike < _SAME or bool(one.terms & asked - other.terms) or restates(one, other)


def _known_at_home(ranked: Sequence[Candidate], question: str) -> float:
    """The share of the question's words that one document in its own language has."""
    return max((1 - one.missing for one in ranked if _in_language_of(question, one)), default=0.0)


def _in_language_of(question: str, candidate: Candidate) -> bool:
    """Whether words can compare the two: a row of a table may be in both languages."""
    if language_of(question) == language_of(candidate.meaning):
        return True
    return has_cjk(question) and has_cjk(candidate.text)


def _are_alike(one: Candidate, other: Candidate) -> bool:
    """Whether two are in one language, so that their scores tell which answers better."""
    return language_of(one.meaning) == language_of(other.meaning)


def _as_spelled(question: str, items: Sequence[RetrievedItem]) -> str:
    """The question with words as the passages spell them."""
    texts = [f"{names_above(item)} {item.text}" for item in items]
    return with_joined(respelled(question, [item.text for item in items]), texts)


def _quotation(found: Candidate | Foreign) -> Quotation:
    return Quotation(found.text, found.source, found.start, found.end)
