"""Which sentences of some passages answer a question, by the words they share.

The constants were set on the public halves of cmrc2018, drcd, xquad and prqa_zh (a thousand
questions): the answer stands in the first sentence for 81 % of them and in the first three for
92 %, and no constant moves that by more than a point when halved or doubled. See
docs/evaluation.md.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import compress

from domain.language.adjuncts import asked_settings, opening_adjunct
from domain.language.definitions import definition_asked
from domain.language.designators import marks_in
from domain.language.disclaimers import disclaimed_in
from domain.language.identifiers import unmentioned
from domain.language.number_words import in_digits
from domain.language.other_words import listed_compounds, told_otherwise
from domain.language.reasons import asks_why, gives_reason, is_of_reasons
from domain.language.sentences import code_spans
from domain.language.stopwords import ENGLISH_STOP_WORDS
from domain.retrieval import RetrievedItem
from domain.tables.question.wording import find_whole
from domain.text import has_cjk, language_of, normalise
from models.offline.asked_kind import asked_kind
from models.offline.listings import first_step, listings
from models.offline.passages import (
    heading_over,
    item_titles,
    names_of_document,
    quotable_spans,
    table_heads,
    titles_above,
    told_by,
    told_by_documents,
)
from models.offline.scenarios import given_in
from models.offline.sentence_form import SentenceForm, is_for_all_others, points_to_table
from models.offline.wording import (
    IDENTIFIER,
    asked_instead,
    asked_things,
    asks_for_number,
    asks_for_several,
    broken_words,
    compounds,
    holds_number,
    identifiers,
    is_question,
    lacking,
    owner_asked,
    steps_asked,
    terms,
    without_asking_for_news,
)

_HEADING_WEIGHT = 0.5
# A row says nothing without the head of its table.
_TABLE_HEAD_WEIGHT = 1.0
_PASSAGE_WEIGHT = 0.5
_NEIGHBOUR_WEIGHT = 0.2
_RANK_COST = 0.04
_NUMBER_BONUS = 0.1
_REASON_BONUS = 0.1
# Who asks why is told what stands under "Root cause", whatever its words are.
_OF_REASONS_BONUS = 0.5
_LANGUAGE_BONUS = 0.1
# A sentence with a list below it, for who asks which there are.
_LIST_BONUS = 0.2
# The first step of several, for who asks how something is done that the heading speaks of.
_STEPS_BONUS = 0.5
# A sentence that points to a table at hand; less than a question, for it may say something itself.
_POINTER_COST = 0.5
# The title of an item says no more than a question does, what a scenario presupposes neither.
_TITLE_COST = 1.0
# A passage that orders how to answer was put there for that; what else it says gives way to what others say.
_BESIDE_ORDER_COST = 0.5
# Of what a sentence has only in "During the probation period …", so much does not count.
_SETTING_COST = 0.5
# Names in code are words without a sentence: of a passage's code and prose that say as much, the prose.
_CODE_COST = 0.3
# But who asks how to do it is answered by what to type.
_CODE_BONUS = 0.1
_ASKS_HOW = re.compile(
    r"\bhow (?:(?:do|can|could|should|would) (?:i|we|you|one|they)|to)\b|\bcommands?\b|如何|怎么|怎麼|怎样|怎樣|命令|指令",
    re.IGNORECASE,
)
# A row that has the asked BM-40 as a cell is about it, in whatever language its table is.
_ROW_BONUS = 0.4
_CELLS = " | "
# So is one with a cell that the question names in words, beside one that mentions it.
_NAMED_ROW_BONUS = 0.1
# Of sentences about what is asked of, the one that says what it is.
_DEFINITION_BONUS = 0.3
_ASKS_FOR_MORE = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b|什么|什麼|哪|谁|誰|几|幾|多少|何|怎",
    re.IGNORECASE,
)
_MOSTLY_NAME = 0.8
_IDENTIFIER_FACTOR = 3.0
# Of a follow-up's information, what it asks instead of something else has this share.
_INSTEAD_SHARE = 2 / 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence or clause: `passages[source].text[start:end] == text`.

    `covered` is the share of the question's information that it and its headings speak of, 0..1;
    `score` adds what speaks for it besides. `things` is how many the question asks about, `missing` the
    share of them that no passage of its document holds, `torn` the share of the question's compounds of which it has the
    head alone. `unowned`: its passage has no word of
    what a property is asked of, nor have most of its document's. `unreasoned`: a reason is asked for, and neither it nor a
    neighbour gives one. `meaning` is the text to compare by meaning: a table's
    row under its head.
    """

    source: int
    start: int
    end: int
    text: str
    terms: frozenset[str]
    covered: float
    score: float
    things: int
    missing: float
    torn: float
    unowned: bool
    unreasoned: bool
    meaning: str


def rank_sentences(
    question: str, passages: Sequence[RetrievedItem], language: str
) -> list[Candidate]:
    """Return every sentence of `passages` that says more than its heading and the question, best first.

    A term of the question weighs its inverse document frequency over the sentences at hand
    (`log(1 + n ÷ df)`), so a name that few sentences mention counts more than a word in all.
    """
    ranking = _Ranking(question, passages, language)
    return sorted(ranking.candidates(), key=lambda candidate: -candidate.score)


def about_what_is_named(question: str, passages: Sequence[RetrievedItem]) -> frozenset[int]:
    """The passages whose documents have most of the things that `question` names by E47, Heron 3.

    None, where one of these is in no passage at all; all, where nothing is named so.
    """
    disclaimed = disclaimed_in(question)
    told = [_undisclaimed(text, disclaimed) for text in told_by_documents(passages)]
    if unmentioned(question, told):
        return frozenset()
    missed = [len(unmentioned(question, [text])) for text in told]
    return frozenset(place for place, count in enumerate(missed) if count == min(missed))


class _Ranking:
    """One question against the sentences of its passages."""

    def __init__(self, question: str, passages: Sequence[RetrievedItem], language: str) -> None:
        self._language = language
        self._wants_number = asks_for_number(question)
        self._for_several = _LIST_BONUS if asks_for_several(question) else 0.0
        self._form = SentenceForm(question)
        self._orders = [self._form.orders(passage.text) for passage in passages]
        self._asked = normalise(question)
        self._asked_codes = marks_in(normalise(question)).union(identifiers(question))
        self._spans = [
            (source, start, end)
            for source, passage in enumerate(passages)
            for start, end in quotable_spans(passage.text)
        ]
        self._texts = [passages[source].text[start:end] for source, start, end in self._spans]
        titles = [item_titles(passage.text) for passage in passages]
        self._is_title = [
            any(title.has(start) for title in titles[source]) for source, start, _ in self._spans
        ]
        for source, passage in enumerate(passages):
            for span in given_in(passage.text):
                for place in self._within(source, span):
                    self._is_title[place] = True
        self._titled = [
            "".join(title.text for title in titles[source] if title.stands_over(start))
            for source, start, _ in self._spans
        ]
        # Where sentences end that introduce a list.
        self._introductions = set[tuple[int, int]]()
        for source, passage in enumerate(passages):
            self._title_lists(source, passage.text)
        self._otherwise = told_otherwise(question)
        self._disclaimed = disclaimed_in(question)
        self._broken = broken_words(question)
        self._terms = [self._said(text) for text in self._texts]
        asked = frozenset(terms(without_asking_for_news(question))).union(self._broken)
        # Who asks for more is not answered by the words of the question.
        self._repeated = asked if _ASKS_FOR_MORE.search(question) else frozenset[str]()
        kind = asked_kind(question)
        self._told_above = [bool(kind.heading_of(passage)) for passage in passages]
        self._definition = definition_asked(question)
        self._asks_why = asks_why(question)
        self._of_reasons = [self._asks_why and self._is_of_reasons(item) for item in passages]
        self._reasons = [
            self._of_reasons[source] or (self._asks_why and gives_reason(text))
            for (source, *_), text in zip(self._spans, self._texts, strict=True)
        ]
        self._settings = frozenset(terms(asked_settings(question)))
        self._weights = _weights(asked, asked_instead(question), self._terms)
        self._table_heads = [table_heads(passage) for passage in passages]
        self._sections = [
            (passage.document_id or passage.id, *(passage.metadata.get("section_path") or ()))
            for passage in passages
        ]
        self._headings = [
            self._said(f"{titles_above(passage)}{' '.join(heads)}")
            for passage, heads in zip(passages, self._table_heads, strict=True)
        ]
        steps = steps_asked(question)
        self._first_steps = [first_step(passage, steps) for passage in passages]
        self._captions = self._pointing()
        self._code = [code_spans(passage.text) for passage in passages]
        self._of_code = _CODE_BONUS if _ASKS_HOW.search(question) else -_CODE_COST
        self._heading_weights = [
            _TABLE_HEAD_WEIGHT if heads else _HEADING_WEIGHT for heads in self._table_heads
        ]
        self._things = asked_things(question, [*listed_compounds(question), *self._called()])
        self._compounds = compounds(question)
        self._missing = self._missed(told_by_documents(passages), self._things)
        self._unowned = self._of_others(owner_asked(question), passages)
        self._bodies = [self._said(passage.text) for passage in passages]
        named = [asked & frozenset(terms(names_of_document(passage))) for passage in passages]
        self._known = [frozenset(term for term in name if IDENTIFIER.match(term)) for name in named]
        # A question that is little more than a document's name asks for what bears that name.
        self._names = [
            name - known if self._share(name) <= _MOSTLY_NAME else frozenset[str]()
            for name, known in zip(named, self._known, strict=True)
        ]

    def candidates(self) -> Iterator[Candidate]:
        """Every sentence with its score, but for those that only repeat their heading or the question."""
        for place, (source, start, end) in enumerate(self._spans):
            held = self._terms[place]
            repeated = frozenset[str]() if self._told_above[source] else self._repeated
            if held <= self._headings[source] or _without_pairs(held) <= repeated:
                continue
            titled = self._titled[place]
            above = self._headings[source] | self._asked_before(place) | self._said(titled)
            if self._table_heads[source]:
                above |= self._captions[self._sections[source]]
            over = above - held
            text = self._texts[place]
            covered = (
                self._beyond_name(source, held)
                + self._heading_weights[source] * self._beyond_name(source, over)
                - _SETTING_COST * self._only_set_in(text, held)
            )
            score = covered + self._surroundings(place) + self._manner(text)
            score += _REASON_BONUS * self._reasons[place]
            score += _OF_REASONS_BONUS * self._of_reasons[source]
            score += self._for_several * ((source, end) in self._introductions)
            score += _STEPS_BONUS * (self._first_steps[source] == start)
            score -= _POINTER_COST * self._only_points(place)
            score -= _TITLE_COST * self._is_title[place]
            score -= _BESIDE_ORDER_COST * self._orders[source]
            score += self._of_code * any(
                begin <= start < close for begin, close in self._code[source]
            )
            meaning = "\n".join([*self._table_heads[source], *filter(None, [titled]), text])
            missing = self._missing[source]
            torn = self._torn(held | self._headings[source])
            things = len(self._things)
            yield Candidate(
                source=source,
                start=start,
                end=end,
                text=text,
                terms=held,
                covered=covered,
                score=score,
                things=things,
                missing=missing,
                torn=torn,
                unowned=self._unowned[source],
                unreasoned=self._asks_why
                and not any(self._reasons[other] for other in self._beside(place)),
                meaning=meaning,
            )

    def _is_of_reasons(self, passage: RetrievedItem) -> bool:
        """Whether a passage in the question's language stands under a heading that promises reasons."""
        own = language_of(passage.text) == self._language
        return own and is_of_reasons(heading_over(passage))

    def _title_lists(self, source: int, text: str) -> None:
        """The sentence that introduces a list stands over its items like a title."""
        for listing in listings(text):
            if listing.introduction:
                start, end = listing.introduction
                self._introductions.add((source, end))
                for item in listing.items:
                    for place in self._within(source, item):
                        self._titled[place] = f"{text[start:end]} {self._titled[place]}".strip()

    def _within(self, source: int, span: tuple[int, int]) -> range:
        """The places of the sentences that begin within a part of a passage."""
        first, behind = (bisect_left(self._spans, (source, at)) for at in span)
        return range(first, behind)

    def _torn(self, held: frozenset[str]) -> float:
        """The share of the question's compounds of which it has the head alone: of sick leave "leave"."""
        torn = sum(head in held and kind not in held for kind, head in self._compounds)
        return torn / (len(self._compounds) or 1)

    def _pointing(self) -> dict[tuple[str, ...], frozenset[str]]:
        """What each section says where it points to a table, over which this stands like a title."""
        found = defaultdict[tuple[str, ...], frozenset[str]](frozenset)
        for place, text in enumerate(self._texts):
            if points_to_table(text):
                found[self._sections[self._spans[place][0]]] |= self._terms[place]
        return found

    def _only_points(self, place: int) -> bool:
        """Whether a sentence points to a table that is at hand."""
        section = self._sections[self._spans[place][0]]
        at_hand = any(
            heads and other == section
            for heads, other in zip(self._table_heads, self._sections, strict=True)
        )
        return at_hand and points_to_table(self._texts[place])

    def _asked_before(self, place: int) -> frozenset[str]:
        """The terms of a question right before this sentence, which stands over it like a title."""
        before = place - 1
        same = before >= 0 and self._spans[before][0] == self._spans[place][0]
        return self._terms[before] if same and is_question(self._texts[before]) else frozenset()

    def _only_set_in(self, text: str, held: frozenset[str]) -> float:
        """How much of the question a sentence has only in its opening adjunct, 0..1.

        It is set in that and not about it, unless the question asks of the setting, too.
        """
        end = opening_adjunct(text)
        only = held - self._said(text[end:]) - self._settings if end else frozenset[str]()
        return self._share(only)

    def _surroundings(self, place: int) -> float:
        """What passage and neighbours add: sentences lean on what was said around them."""
        source = self._spans[place][0]
        # The head of a table stands over all its rows, not only beside the first.
        head = self._headings[source] if self._table_heads[source] else frozenset[str]()
        beside = [
            self._beyond_name(source, self._terms[other] - self._terms[place] - head)
            for other in self._beside(place)
        ]
        passage = self._beyond_name(source, self._bodies[source] | self._headings[source])
        return _NEIGHBOUR_WEIGHT * max(beside) + _PASSAGE_WEIGHT * passage - _RANK_COST * source

    def _beside(self, place: int) -> list[int]:
        """The places of a sentence and its neighbours in the passage."""
        around = range(max(0, place - 1), min(len(self._spans), place + 2))
        return [other for other in around if self._spans[other][0] == self._spans[place][0]]

    def _manner(self, text: str) -> float:
        """What the sentence's form adds or costs."""
        cells = normalise(text).split(_CELLS)
        named = len(cells) > 1 and any(self._names_row(cell) for cell in cells)
        wanted_number = self._wants_number and holds_number(text)
        defines = self._definition is not None and self._definition.search(normalise(text))
        return (
            (_DEFINITION_BONUS if defines else 0.0)
            + _NUMBER_BONUS * wanted_number
            + _LANGUAGE_BONUS * (language_of(text) == self._language)
            + _ROW_BONUS * (not self._asked_codes.isdisjoint(cells))
            + _NAMED_ROW_BONUS * named
            - self._form.cost(text)
        )

    def _names_row(self, cell: str) -> bool:
        """Whether the question has the words of a cell; 3, "no" or 是 are in questions of something else."""
        telling = len(cell) > 1 and not cell.isdigit() and cell not in ENGLISH_STOP_WORDS
        return telling and find_whole(self._asked, cell) is not None

    def _beyond_name(self, source: int, held: frozenset[str]) -> float:
        """How much of what the question asks beyond its document's name `held` has, 0..1.

        Words of the name choose the document; a sentence that repeats them answers no better.
        """
        name = self._names[source]
        return self._share((held | self._known[source]) - name) / (1 - self._share(name))

    def _said(self, text: str) -> frozenset[str]:
        """The terms of `text`, and those of the question that it has in other words."""
        said = _undisclaimed(text, self._disclaimed)
        whole = [word for word in self._broken if word in said]
        return frozenset(terms(said)).union(whole, *map(terms, self._meant(text)))

    def _meant(self, text: str) -> list[str]:
        """The question's words that `text` has in other words, or as a number with its unit."""
        if not self._otherwise:
            return []
        plain = normalise(text)
        return [word for word, pattern in self._otherwise if pattern.search(plain)]

    def _called(self) -> set[str]:
        """The cells that the question has, those of heads apart: "meals per day" is what is asked of a row."""
        rows = [
            normalise(text).split(_CELLS)
            for (source, *_), text in zip(self._spans, self._texts, strict=True)
            if "|" in text and not any(text in head for head in self._table_heads[source])
        ]
        return {cell for cells in rows for cell in cells if self._names_row(cell)}

    def _missed(self, told: Sequence[str], things: Sequence[Sequence[str]]) -> list[float]:
        """For each text, the share of the things that it does not hold."""
        return [lacking(things, " ".join([in_digits(text), *self._meant(text)])) for text in told]

    def _of_others(self, owner: Sequence[str], passages: Sequence[RetrievedItem]) -> list[bool]:
        """For each passage, whether it has no word of what a property is asked of, nor have most of its document.

        Nor is it a table with a row for all others.
        """
        if not owner:
            return [False] * len(passages)
        for_others = {
            source
            for (source, *_), text in zip(self._spans, self._texts, strict=True)
            if "|" in text and is_for_all_others(text)
        }
        missed = self._missed(
            [told_by(passage) for passage in passages], [[word] for word in owner]
        )
        lacks = [share == 1 for share in missed]
        documents = [passage.document_id or passage.id for passage in passages]
        lacking_all = Counter(compress(documents, lacks))
        every = Counter(documents)
        return [
            lacks[place] and lacking_all[document] > every[document] / 2 and place not in for_others
            for place, document in enumerate(documents)
        ]

    def _share(self, held: frozenset[str]) -> float:
        """How much of the question's information `held` has, 0..1."""
        return sum(weight for term, weight in self._weights.items() if term in held)


def _without_pairs(held: frozenset[str]) -> frozenset[str]:
    """Terms without pairs of ideographs: what has the words of another text in another order says no more than it."""
    return frozenset(term for term in held if len(term) == 1 or not has_cjk(term))


def _undisclaimed(text: str, disclaimed: re.Pattern[str] | None) -> str:
    """`text` without the mentions that only say that it is about something else."""
    return text if disclaimed is None else disclaimed.sub(" ", normalise(text))


def _weights(
    asked: frozenset[str], instead: frozenset[str], sentences: Sequence[frozenset[str]]
) -> dict[str, float]:
    """The share of the question's information that each of its terms carries; they sum to 1."""
    frequency = Counter(term for held in sentences for term in asked & held)
    rarity = {
        term: math.log(1 + (len(sentences) + 1) / (frequency[term] + 0.5))
        * (_IDENTIFIER_FACTOR if IDENTIFIER.match(term) and frequency[term] else 1.0)
        for term in asked
    }
    own = sum(rarity[term] for term in asked & instead)
    if rest := sum(rarity.values()) - own:
        rarity |= {
            term: rarity[term] / own * rest * _INSTEAD_SHARE / (1 - _INSTEAD_SHARE)
            for term in asked & instead
        }
    return {term: value / sum(rarity.values()) for term, value in rarity.items()}
