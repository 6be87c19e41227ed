"""Review a written answer: revise, shorten, complete or replace it where its sentences are not supported.

The chat model revises all unsupported sentences in one call, and the result is checked like the first text. Where
that helps, a cited document has changed, or a judge refused a sentence, the answer is sent again behind a `Reset`.
An answer that the passages neither support nor deny stays, marked, with quotations below it. One that they deny or
that has nothing to do with them is replaced by quotations, or by a sentence that the documents do not say.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field

from sextant import prompts
from sextant.domain.answers import Answer, Cited, Done, Reset, Token, Trust, Usage
from sextant.domain.errors import DependencyError, ModelOutputInvalid, ModelUnavailable
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.replies import Number, Text
from sextant.models.chat.structured import AtMost, ModelReply
from sextant.nodes.answers.passages import number_passages
from sextant.nodes.answers.quotations import AnswerEvent, Instead, quotations, with_nearest
from sextant.nodes.answers.sanitizer import sanitize_output
from sextant.nodes.budget import AnswerBudget, Limit, prompt_size, usage_of_failure
from sextant.nodes.citing import markers
from sextant.nodes.citing.checker import Checking, Checks, plain
from sextant.nodes.citing.citations import Finished, Verdict, label_of, still_stored
from sextant.nodes.citing.cited_text import CitedText
from sextant.nodes.citing.markers import read_markers
from sextant.nodes.judgements import failure_error, failure_reason
from sextant.text.characters import IDEOGRAPHS, estimate_tokens, language_of
from sextant.text.stopwords import is_of_others

_log = logging.getLogger(__name__)

# Of the time that is left: the answer stands there already, and what is written anew is checked after this.
_SHARE = 0.5
# Sentences that one call may rewrite; an answer seldom has as many.
_MOST_MENDED = 40
_ITEM = re.compile(r"\s*(?:[-*+•]\s+|\d{1,2}(?:[)、]|\.(?!\d))\s*)?")


class RevisedSentence(ModelReply):
    """A sentence as the passages have it; no text: they do not have it."""

    number: Number = None
    text: Text = ""


class Repairs(ModelReply):
    """The chat model's revisions of the sentences that no passage supports."""

    sentences: Annotated[list[RevisedSentence], AtMost(_MOST_MENDED)] = Field(
        default_factory=list[RevisedSentence]
    )


@dataclass(frozen=True, slots=True)
class Review:
    """How a written answer is reviewed.

    Attributes:
        question: what was asked.
        passages: what may be cited, as numbered in the prompt.
        language: of the question, `zh` or `en`.
        checks: of citations, beyond shared words.
        instead: answers where no sentence is supported.
        repair: whether the chat model may revise sentences.
    """

    question: str
    passages: Sequence[RetrievedItem]
    language: str
    checks: Checks = field(default_factory=Checks)
    instead: Instead = quotations
    repair: bool = True


@dataclass(frozen=True, slots=True)
class CheckedDraft:
    """A finished text with its checks, and the events that were sent for it."""

    text: CitedText
    checking: Checking
    told: Sequence[Token | Cited] = ()

    @property
    def holds(self) -> bool:
        """Return whether a passage supports one of its sentences, or it says that the documents do not say."""
        good = {Verdict.SUPPORTED, Verdict.FOREIGN, Verdict.SILENT}
        stated = [one.verdict for one in self.text.finished]
        if any(verdict in good for verdict in stated):
            return True
        return bool(self.text.given.citations) and Verdict.CONTRADICTED not in stated

    @property
    def may_be_so(self) -> bool:
        """Return whether passages support it in part and deny none of it."""
        stated = {one.verdict for one in self.text.finished}
        return (
            Verdict.PARTIAL in stated
            and Verdict.CONTRADICTED not in stated
            and not self.checking.gone
        )

    @property
    def has_foreign_numbers(self) -> bool:
        """Return whether each statement has numbers, which stand in a passage that it cites in another language."""
        evidence = self.text.evidence
        stated = [one for one in self.text.finished if one.verdict is not Verdict.STATES_NOTHING]
        return all(
            one.passages and evidence.has_numbers_abroad(plain(one.text), one.passages)
            for one in stated
        )


class Reviser:
    """Reviews one finished answer.

    Attributes:
        draft: the text that counts.
        trust: how well its sentences are supported.
        declined: whether it says only that the documents do not say.
        replacement: the answer given instead, where no sentence is supported.
        usage: what revising has cost.
        warnings: what was changed, and what could not be.
    """

    def __init__(
        self, chat: ChatModel, review: Review, draft: CheckedDraft, budget: AnswerBudget
    ) -> None:
        self._chat = chat
        self._review = review
        self._budget = budget
        self.draft = draft
        self.trust = draft.text.trust
        self.declined = False
        self.replacement: Answer | None = None
        self.usage = Usage()
        self.warnings = list[CodedWarning]()

    async def review(self) -> list[AnswerEvent]:
        """Return the events that replace or complete the answer, if any."""
        events = await self._review_draft() if self._review.passages else []
        if self.replacement is None and language_differs(
            self.draft.text.given.text, self._review.language, self._review.question
        ):
            self._warn(WarningCode.ANSWER_IN_OTHER_LANGUAGE)
        return events

    async def _review_draft(self) -> list[AnswerEvent]:
        second = await self._second()
        final = second or self.draft
        self.warnings += final.checking.warnings
        if not final.holds:
            # Where the model would rather say nothing, what it said first may stand.
            first = self.draft if not final.text.given.text.strip() else final
            completing = first.may_be_so and not (final.checking.gone or final.checking.rejected)
            return await (self._complete(first) if completing else self._replace_draft(final))
        self.draft = final
        self.trust = final.text.trust
        if final.checking.unchecked and self.trust is Trust.SUPPORTED:
            self.trust = Trust.PARTIAL
        events = self._send_again(second) if second else []
        self.declined = not final.text.given.citations
        if self.declined:
            review = self._review
            events += with_nearest(
                final.text.given, review.question, review.passages, review.language
            )
            # Of an answer that says only that the documents do not say, the nearest passage is all that is cited.
            self.trust = Trust.QUOTED if final.text.given.citations else Trust.UNSUPPORTED
        return events

    def _send_again(self, draft: CheckedDraft) -> list[AnswerEvent]:
        """Return the events of a text that takes the place of the one that was sent."""
        return [Reset(self.warnings[0].in_language(self._review.language)), *draft.told]

    async def _replace_draft(self, draft: CheckedDraft) -> list[AnswerEvent]:
        """Answer without the chat model, from passages that are still stored."""
        gone = draft.checking.gone
        left = [item for index, item in enumerate(self._review.passages) if index not in gone]
        if gone:  # others of the same document may be gone with them
            with suppress(DependencyError):
                left = await still_stored(self._review.checks.check_quotes, left)
        return self._replace_by(*await self._quote(left))

    async def _quote(self, passages: Sequence[RetrievedItem]) -> tuple[Answer, list[Token | Cited]]:
        """Return the answer without the chat model, and the events of its text."""
        instead = self._review.instead(self._review.question, passages, self._review.language)
        events = [event async for event in instead]
        [answer] = [event.answer for event in events if isinstance(event, Done)]
        return answer, [event for event in events if isinstance(event, Token | Cited)]

    def _replace_by(self, answer: Answer, events: Sequence[Token | Cited]) -> list[AnswerEvent]:
        self.replacement = answer
        self._warn(WarningCode.ANSWER_REPLACED)
        return [Reset(self.warnings[-1].in_language(self._review.language)), *events]

    async def _complete(self, draft: CheckedDraft) -> list[AnswerEvent]:
        """Return the text, marked, and below it quotations of what the documents do say, if any."""
        answer, quoted = await self._quote(self._review.passages)
        has_quotes = bool(answer.citations) and not answer.declined
        if not (has_quotes or draft.has_foreign_numbers):
            return self._replace_by(answer, quoted)
        events = self._send_again(draft) if draft is not self.draft else []
        if not has_quotes:
            self.draft, self.trust = draft, draft.text.trust
            return events
        self._warn(WarningCode.ANSWER_NOT_CONFIRMED)
        self.replacement = replace(
            answer,
            answer=f"{draft.text.given.text}\n\n{answer.answer}",
            trust=Trust.PARTIAL,
            model=self._chat.name,
        )
        return [*events, Token("\n\n"), *quoted]

    async def _second(self) -> CheckedDraft | None:
        """Return the revised answer, where it is better."""
        draft = self.draft
        gone, refused = bool(draft.checking.gone), bool(draft.checking.rejected)
        weak = self._find_unsupported(draft)
        repaired = await self._repair([draft.text.finished[index].text for index in weak])
        changes = {weak[number]: text for number, text in repaired.items()}
        if not (changes or gone or refused):
            return None
        second = await self._again(draft, changes)
        if second.checking.gone != draft.checking.gone or len(second.checking.rejected) > len(
            draft.checking.rejected
        ):
            second = await self._again(second, {})
        if not (gone or refused) and len(self._find_unsupported(second)) >= len(weak):
            return None
        if gone:
            self._warn(WarningCode.CITED_DOCUMENT_CHANGED)
        if refused:
            self._warn(WarningCode.CITATIONS_REMOVED)
        if changes:
            self._warn(WarningCode.SENTENCES_REVISED, number=len(changes))
        return second

    def _warn(self, code: WarningCode, **params: object) -> None:
        self.warnings.append(CodedWarning(code, params))

    def _find_unsupported(self, draft: CheckedDraft) -> list[int]:
        """Return the places of the sentences to revise."""
        bad = {Verdict.UNSUPPORTED, Verdict.PARTIAL, Verdict.CONTRADICTED}
        written = "".join(one.text for one in draft.text.finished)
        if language_differs(written, self._review.language, self._review.question):
            bad |= {Verdict.FOREIGN, Verdict.SUPPORTED}
        return [
            index
            for index, one in enumerate(draft.text.finished)
            if one.verdict in bad or draft.checking.gone.intersection(one.passages)
        ]

    async def _repair(self, sentences: Sequence[str]) -> Mapping[int, str]:
        """Return the chat model's revisions of sentences by their places; none where it cannot be asked."""
        if not sentences or not self._review.repair:
            return {}
        messages = self._repair_prompt(sentences)
        written = estimate_tokens("".join(sentences))
        # The passages are read already, where the endpoint keeps what it has read.
        is_late = self._chat.speed.seconds(written, 2 * written) > _SHARE * self._budget.seconds
        lacking = self._budget.lacks(prompt_size(messages)) or (Limit.TIME if is_late else None)
        if lacking:
            limit = {"limit": str(lacking), "setting": lacking.upper()}
            self._warn(WarningCode.REVISION_OVER_LIMIT, **limit)
            return {}
        again = self._budget.lacks(calls=2) is None
        try:
            async with asyncio.timeout(_SHARE * self._budget.seconds):
                reply, self.usage = await self._chat.structured(messages, Repairs, repair=again)
        except (ModelUnavailable, ModelOutputInvalid, TimeoutError) as error:
            _log.warning("chat model revised nothing (%s)", failure_error(error))
            tried_again = again and isinstance(error, ModelOutputInvalid)
            self.usage = usage_of_failure(error, messages, self._chat.name, 2 if tried_again else 1)
            self._warn(WarningCode.REVISION_FAILED, reason=failure_reason(error))
            return {}
        known = range(1, len(sentences) + 1)
        return {
            number - 1: one.text
            for one in reply.sentences
            if (number := one.number) in known and number
        }

    def _repair_prompt(self, sentences: Sequence[str]) -> prompts.Messages:
        """Return the prompt, with the passages that still hold, by the numbers that they have in the answer."""
        review, gone = self._review, self.draft.checking.gone
        left = [at for at in range(len(review.passages)) if at not in gone]
        listed = (f"{number}. {plain(text)}" for number, text in enumerate(sentences, start=1))
        return prompts.REPAIR.messages(
            review.language,
            has={"attached"} if any(map(label_of, review.passages)) else (),
            question=prompts.as_data(review.question),
            passages=number_passages(
                [review.passages[index] for index in left], [at + 1 for at in left]
            ),
            sentences=prompts.as_data("\n".join(listed)),
        )

    async def _again(self, draft: CheckedDraft, changes: Mapping[int, str]) -> CheckedDraft:
        """Return `draft` with sentences changed, and without what no longer holds; checked like the first."""
        review, gone, rejected = self._review, draft.checking.gone, draft.checking.rejected
        text = CitedText(
            review.passages,
            language=review.language,
            question=review.question,
            withheld=gone,
            rejected=rejected,
        )
        checking = Checking(review.checks, text, review.passages)
        written = "".join(
            self._change_sentence(one, changes[index])
            if index in changes
            else _without(one, gone, rejected)
            for index, one in enumerate(draft.text.finished)
        )
        # As a whole: code that a sentence began may end with another one.
        texts = [item.text for item in review.passages]
        safe = sanitize_output(read_markers(written, texts), texts, review.language)
        events = [event async for event in checking.through(text.feed(safe))]
        events += [event async for event in checking.through(text.finish())]
        events += [event async for event in checking.rest()]
        checking.gone |= gone
        checking.rejected |= rejected
        return CheckedDraft(text, checking, events)

    @staticmethod
    def _change_sentence(sentence: Finished, text: str) -> str:
        """Return `text` in the place of a sentence: as its item, with the white space around it."""
        body = _ITEM.sub("", " ".join(text.split()), count=1)
        if not body:
            return ""
        lead = _ITEM.match(sentence.text)
        before = lead[0] if lead else ""
        return before + body + sentence.text[len(sentence.text.rstrip()) :]


def _without(sentence: Finished, gone: set[int], rejected: set[str]) -> str:
    """Return a sentence without the markers that do not hold; nothing, if it rests on what is gone."""
    if sentence.passages and gone.issuperset(sentence.passages):
        return ""
    return (
        markers.strip_markers(sentence.text) if plain(sentence.text) in rejected else sentence.text
    )


_LATIN_WORD, _HAN_RUN = re.compile(r"[A-Za-z]{2,}"), re.compile(f"[{IDEOGRAPHS}]+")
_FEW_WORDS, _SENTENCE_WORDS = 3, 6


def language_differs(text: str, language: str, question: str) -> bool:
    """Return whether an answer is in another language than its question, as far as that is told.

    A few words of another script or language are a name or a term. A question in neither Chinese nor English may be
    answered in its own language or in English.
    """
    latin = len(_LATIN_WORD.findall(text))
    # One Chinese name in an English sentence makes it no Chinese one.
    has_name = latin >= _FEW_WORDS and len(_HAN_RUN.findall(text)) == 1
    said = "en" if has_name else language_of(text)
    if said != language:
        return said == "zh" or latin >= _SENTENCE_WORDS
    few = 0 < latin < _SENTENCE_WORDS
    return said == "en" and not few and is_of_others(text) and not is_of_others(question)
