"""Which sentences of some passages answer a question, by the words they share.

The constants were set on the public halves of cmrc2018, drcd, xquad and prqa_zh (a thousand
questions): the answer stands in the first sentence for 81 % of them and in the first three for
92 %, and no constant moves that by more than a point when halved or doubled. See
docs/evaluation.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.asked_kind import asked_kind
from sextant.models.offline.candidate import Candidate
from sextant.models.offline.gaps import Gaps
from sextant.models.offline.information import Information
from sextant.models.offline.listings import first_step
from sextant.models.offline.openings import is_name_of_asked
from sextant.models.offline.passages import heading_over, titles_above, told_by_documents
from sextant.models.offline.question_words import QuestionWords, cells_of, undisclaimed
from sextant.models.offline.sentence_form import SentenceForm, points_to_table
from sextant.models.offline.standing import Standing
from sextant.models.offline.wording import (
    asked_instead,
    asks_for_number,
    asks_for_several,
    holds_number,
    identifiers,
    is_question,
    steps_asked,
    terms,
)
from sextant.text.adjuncts import find_conditions, opening_adjunct
from sextant.text.characters import has_cjk, language_of, normalise
from sextant.text.definitions import definition_pattern
from sextant.text.designators import marks_in
from sextant.text.disclaimers import disclaimer_pattern
from sextant.text.identifiers import find_unmentioned
from sextant.text.reasons import asks_why, gives_reason, is_of_reasons

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
# What stands under a heading that is all that is asked about: "What happens in week 3?" and "Week 3".
_CALLED_BONUS = 0.4
# "Employee: Cid Law" says no more to who asks of Cid Law's pay than a heading does.
_FIELD = re.compile(r"(?P<label>[^:：|]{1,30})[:：]\s*(?P<value>[^:：|]+)")
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
    r"\bhow (?:(?:do|can|could|should|would) (?:i|we|you|one|they)|to)\b|\bcommands?\b"
    r"|如何|怎么|怎麼|怎样|怎樣|命令|指令",
    re.IGNORECASE,
)
# A row that has the asked BM-40 as a cell is about it, in whatever language its table is.
_ROW_BONUS = 0.4
# So is one with a cell that the question names in words, beside one that mentions it.
_NAMED_ROW_BONUS = 0.1
# Of sentences about what is asked of, the one that says what it is.
_DEFINITION_BONUS = 0.3
_ASKS_FOR_MORE = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how)\b|什么|什麼|哪|谁|誰|几|幾|多少|何|怎",
    re.IGNORECASE,
)


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
    """Return the passages whose documents have most of the things that `question` names by E47, Heron 3.

    None, where one of these is in no passage at all; all, where nothing is named so.
    """
    disclaimed = disclaimer_pattern(question)
    told = [undisclaimed(text, disclaimed) for text in told_by_documents(passages)]
    if find_unmentioned(question, told):
        return frozenset()
    missed = [len(find_unmentioned(question, [text])) for text in told]
    return frozenset(place for place, count in enumerate(missed) if count == min(missed))


class _Ranking:
    """One question against the sentences of its passages."""

    def __init__(self, question: str, passages: Sequence[RetrievedItem], language: str) -> None:
        self._language = language
        self._wants_number = asks_for_number(question)
        self._for_several = _LIST_BONUS if asks_for_several(question) else 0.0
        self._of_code = _CODE_BONUS if _ASKS_HOW.search(question) else -_CODE_COST
        self._definition = definition_pattern(question)
        self._asked_codes = marks_in(normalise(question)).union(identifiers(question))
        self._form = SentenceForm(question)
        self._called = [is_name_of_asked(heading_over(passage), question) for passage in passages]
        self._orders = [self._form.orders(passage.text) for passage in passages]
        self._words = QuestionWords(question)
        # Who asks for more is not answered by the words of the question.
        self._repeated = self._words.asked if _ASKS_FOR_MORE.search(question) else frozenset[str]()
        self._settings = frozenset(terms(find_conditions(question)))
        kind = asked_kind(question)
        self._told_above = [bool(kind.heading_of(passage)) for passage in passages]
        steps = steps_asked(question)
        self._first_steps = [first_step(passage, steps) for passage in passages]
        self._require_progress = Standing(passages)
        self._terms = [
            self._words.said_by(f"{noted} {text}")
            for noted, text in zip(
                self._require_progress.noted, self._require_progress.texts, strict=True
            )
        ]
        self._headings = [
            self._words.said_by(f"{titles_above(passage)}{' '.join(heads)}")
            for passage, heads in zip(passages, self._require_progress.table_heads, strict=True)
        ]
        self._bodies = [self._words.said_by(passage.text) for passage in passages]
        for (source, *_), noted in zip(
            self._require_progress.spans, self._require_progress.noted, strict=True
        ):
            if noted:
                self._bodies[source] |= self._words.said_by(noted)
        self._captions = self._pointing()
        self._asks_why = asks_why(question)
        self._of_reasons = [self._asks_why and self._is_of_reasons(item) for item in passages]
        self._reasons = [
            self._of_reasons[source] or (self._asks_why and gives_reason(text))
            for (source, *_), text in zip(
                self._require_progress.spans, self._require_progress.texts, strict=True
            )
        ]
        self._information = Information(
            self._words.asked, asked_instead(question), self._terms, passages
        )
        self._gaps = Gaps(question, self._words, self._require_progress, passages)

    def candidates(self) -> Iterator[Candidate]:
        """Yield every sentence with its score, but for those that only repeat their heading or the question."""
        for place, (source, start, end) in enumerate(self._require_progress.spans):
            held, text = self._terms[place], self._require_progress.texts[place]
            if self._repeats(place, source, held):
                continue
            covered = self._covered(place)
            yield Candidate(
                source=source,
                start=start,
                end=end,
                text=text,
                terms=held,
                covered=covered,
                score=self._score(place, covered),
                things=self._gaps.things,
                missing=self._gaps.missing[source],
                torn=self._gaps.torn(held | self._headings[source]),
                unowned=self._gaps.unowned[source],
                unreasoned=self._asks_why and not self._is_reasoned(place),
                meaning="\n".join(
                    filter(
                        None,
                        (
                            *self._require_progress.table_heads[source],
                            self._require_progress.titled[place],
                            self._require_progress.noted[place],
                            text,
                        ),
                    )
                ),
            )

    def _repeats(self, place: int, source: int, held: frozenset[str]) -> bool:
        """Return whether a sentence has only the words of its heading or, where that does not tell, of the question."""
        repeated = frozenset[str]() if self._told_above[source] else self._repeated
        field = _FIELD.fullmatch(self._require_progress.texts[place])
        if field and not (repeated <= held or repeated & frozenset(terms(field["label"]))):
            held = frozenset(terms(field["value"]))
        return held <= self._headings[source] or _without_pairs(held) <= repeated

    def _covered(self, place: int) -> float:
        """Return how much of the question a sentence speaks of with what stands over it."""
        source, held = self._require_progress.spans[place][0], self._terms[place]
        tabled = bool(self._require_progress.table_heads[source])
        titled = self._words.said_by(self._require_progress.titled[place])
        above = self._headings[source] | self._asked_before(place) | titled
        if tabled:
            above |= self._captions[self._require_progress.sections[source]]
        weight = _TABLE_HEAD_WEIGHT if tabled else _HEADING_WEIGHT
        return (
            self._information.beyond_name(source, held)
            + weight * self._information.beyond_name(source, above - held)
            - _SETTING_COST * self._only_set_in(self._require_progress.texts[place], held)
        )

    def _score(self, place: int, covered: float) -> float:
        """Return what a sentence covers, with all that speaks for and against it."""
        source, start, _ = self._require_progress.spans[place]
        standing = self._require_progress
        return (
            covered
            + self._surroundings(place)
            + self._manner(standing.texts[place])
            + _REASON_BONUS * self._reasons[place]
            + _OF_REASONS_BONUS * self._of_reasons[source]
            + self._for_several * standing.introduces_list(place)
            + _CALLED_BONUS * self._called[source]
            + _STEPS_BONUS * (self._first_steps[source] == start)
            - _POINTER_COST * standing.points_to_table(place)
            - _TITLE_COST * standing.is_title[place]
            - _BESIDE_ORDER_COST * self._orders[source]
            + self._of_code * standing.is_code(place)
        )

    def _is_of_reasons(self, passage: RetrievedItem) -> bool:
        """Return whether a passage in the question's language stands under a heading that promises reasons."""
        own = language_of(passage.text) == self._language
        return own and is_of_reasons(heading_over(passage))

    def _is_reasoned(self, place: int) -> bool:
        """Return whether a sentence or a neighbour gives a reason."""
        return any(self._reasons[other] for other in self._require_progress.beside(place))

    def _pointing(self) -> dict[tuple[str, ...], frozenset[str]]:
        """Return what each section says where it points to a table, over which this stands like a title."""
        found = defaultdict[tuple[str, ...], frozenset[str]](frozenset)
        for (source, *_), text, held in zip(
            self._require_progress.spans, self._require_progress.texts, self._terms, strict=True
        ):
            if points_to_table(text):
                found[self._require_progress.sections[source]] |= held
        return found

    def _asked_before(self, place: int) -> frozenset[str]:
        """Return the terms of a question right before this sentence, which stands over it like a title."""
        before = place - 1
        beside = before in self._require_progress.beside(place)
        is_asked = beside and is_question(self._require_progress.texts[before])
        return self._terms[before] if is_asked else frozenset()

    def _only_set_in(self, text: str, held: frozenset[str]) -> float:
        """Return how much of the question a sentence has only in its opening adjunct, 0..1.

        It is set in that and not about it, unless the question asks of the setting, too.
        """
        end = opening_adjunct(text)
        only = held - self._words.said_by(text[end:]) - self._settings if end else frozenset[str]()
        return self._information.share(only)

    def _surroundings(self, place: int) -> float:
        """Return what passage and neighbours add: sentences lean on what was said around them."""
        source = self._require_progress.spans[place][0]
        # The head of a table stands over all its rows, not only beside the first.
        tabled = self._require_progress.table_heads[source]
        head = self._headings[source] if tabled else frozenset[str]()
        beside = [
            self._information.beyond_name(source, self._terms[other] - self._terms[place] - head)
            for other in self._require_progress.beside(place)
        ]
        said = self._bodies[source] | self._headings[source]
        passage = self._information.beyond_name(source, said)
        return _NEIGHBOUR_WEIGHT * max(beside) + _PASSAGE_WEIGHT * passage - _RANK_COST * source

    def _manner(self, text: str) -> float:
        """Return what the sentence's form adds or costs."""
        cells = cells_of(text)
        named = len(cells) > 1 and any(map(self._words.name, cells))
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


def _without_pairs(held: frozenset[str]) -> frozenset[str]:
    """Return terms without pairs of ideographs: what has the words of another text in another order says no more than it."""
    return frozenset(term for term in held if len(term) == 1 or not has_cjk(term))
