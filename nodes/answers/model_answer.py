"""One answer of the chat model, from its first token to the checked whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from sextant.domain.answers import Done, Reset, Sources, Usage
from sextant.domain.errors import ModelUnavailable, describe_reason
from sextant.domain.warnings import CodedWarning, WarningCode, distinct
from sextant.models.chat.chat_model import ChatModel, Restart
from sextant.nodes.answers.quotations import AnswerEvent
from sextant.nodes.answers.revision import CheckedDraft, Review, Reviser
from sextant.nodes.answers.sanitizer import OutputSanitizer
from sextant.nodes.budget import AnswerBudget, prompt_size, usage_of_failure
from sextant.nodes.citing.checker import Checking
from sextant.nodes.citing.citations import ending
from sextant.nodes.citing.cited_text import CitedText
from sextant.nodes.citing.evidence_index import Support
from sextant.nodes.citing.markers import MarkerReader, statement_text
from sextant.nodes.citing.terms import terms_of
from sextant.nodes.citing.wrappers import Unrepeated, Unwrapped
from sextant.nodes.judgements import LATE
from sextant.prompts import Messages
from sextant.text.characters import estimate_tokens
from sextant.text.sentences import sentence_end
from sextant.text.statements import states

UNBOUNDED = AnswerBudget(calls=4, prompt_tokens=1_000_000, seconds=3600.0)
"""For callers that set no limits: enough for the answer, its repair, and one more try each."""


# A sentence with this many words of the passages beyond the question's is known for an answer before it ends.
_TELLING = 3
# An answer ends where the model repeats this many of its sentences in a row.
_MOST_CIRCLES = 3


@dataclass(frozen=True, slots=True)
class Writing:
    """One call of the chat model for an answer.

    Attributes:
        chat: the model.
        messages: the prompt.
        prompt: the name and version of its wording.
        budget: what the whole answer may cost.
    """

    chat: ChatModel
    messages: Messages
    prompt: str
    budget: AnswerBudget = UNBOUNDED


async def write_answer(writing: Writing, review: Review) -> AsyncGenerator[AnswerEvent]:
    """Yield what the model writes as an answer whose citations hold, up to and with `Done`.

    Where the model breaks off, the text so far is the answer, with a warning, if it has a whole sentence.

    Raises:
        ModelUnavailable, ModelOutputInvalid: the model gave no answer, or one that cannot be used.
    """
    now = asyncio.get_running_loop().time
    until = now() + writing.budget.seconds
    review = replace(review, checks=replace(review.checks, until=until))
    draft = _ModelText(await _begin_draft(review), review.language)
    try:
        async with aclosing(_first(writing, review, draft)) as events:
            async for event in events:
                yield event
    finally:
        await draft.draft.checking.close()
    left = replace(
        writing.budget,
        calls=writing.budget.calls - draft.usage.calls,
        prompt_tokens=writing.budget.prompt_tokens - draft.usage.prompt_tokens,
        seconds=until - now(),
    )
    # A model that has just failed is not asked to revise its text.
    review = replace(review, repair=review.repair and draft.failure is None)
    reviser = Reviser(writing.chat, review, draft.draft, left)
    for event in await reviser.review():
        yield event
    for last in _ending(writing, reviser, draft):
        yield last


async def _begin_draft(review: Review) -> CheckedDraft:
    """Return a draft of which nothing is written yet, its passages cut into parts beside the event loop."""
    text = CitedText(review.passages, language=review.language, question=review.question)
    await asyncio.to_thread(lambda: text.evidence.parts)
    return CheckedDraft(text, Checking(review.checks, text, review.passages))


@dataclass(slots=True)
class _ModelText:
    """The model's text, its language, what it has cost, and how it ended: `failure` is what broke it off."""

    draft: CheckedDraft
    language: str
    usage: Usage = field(default_factory=Usage)
    out_of_time: bool = False
    failure: ModelUnavailable | None = None

    @property
    def warnings(self) -> list[CodedWarning]:
        if self.failure is not None:
            reason = {"reason": describe_reason(self.failure)}
            return [CodedWarning(WarningCode.ANSWER_BROKEN_OFF, reason)]
        if self.out_of_time:
            return [CodedWarning(WarningCode.ANSWER_OUT_OF_TIME)]
        return [CodedWarning(WarningCode.ANSWER_CUT_OFF)] if self.usage.truncated else []

    def leave(self, writing: Writing) -> None:
        """Add the estimated cost of a text that is not read to its end."""
        written = estimate_tokens(self.draft.text.given.text)
        left = Usage(1, prompt_size(writing.messages), written, estimated=True)
        self.usage += left.of_model(writing.chat.name)

    def cut_off(self, writing: Writing, texts: Sequence[str]) -> None:
        """Add the estimated cost of a text that the model did not finish."""
        prompt_tokens, answer_tokens = (
            prompt_size(writing.messages),
            estimate_tokens("".join(texts)),
        )
        cut = Usage(1, prompt_tokens, answer_tokens, estimated=True, truncated=True)
        self.usage += cut.of_model(writing.chat.name)


class _Cleaner:
    """Cleans a model's text piece by piece: no wrapping, our markers, nothing harmful."""

    def __init__(self, passages: Sequence[str], language: str) -> None:
        self._wrapped = Unwrapped(keeps_courtesies=not passages)
        self._markers = MarkerReader(passages)
        self._unrepeated = Unrepeated()
        self._guard = OutputSanitizer(passages, language)

    @property
    def turns_in_circles(self) -> bool:
        """Return whether the model only repeats itself."""
        return self._unrepeated.circles >= _MOST_CIRCLES

    def feed(self, piece: str) -> str:
        new = self._unrepeated.feed(self._markers.feed(self._wrapped.feed(piece)))
        return self._guard.feed(new)

    def finish(self) -> str:
        rest = self._markers.feed(self._wrapped.finish()) + self._markers.finish()
        new = self._unrepeated.feed(rest) + self._unrepeated.finish()
        return self._guard.feed(new) + self._guard.finish()


class _Beginning:
    """Tells whether a text begins as an answer does: with a sentence that the passages support.

    A thought begins with what the user wants or with what to look at, which no passage says.
    """

    def __init__(self, text: CitedText, cleaner: _Cleaner) -> None:
        self._evidence = text.evidence
        self._cleaner = cleaner
        self._seen = 0
        self._cleaned = ""
        self._known: bool | None = None

    def is_answer(self, text: str) -> bool:
        """Return whether `text`, which is longer with each call, is an answer for certain."""
        piece, self._seen = text[self._seen :], len(text)
        if self._known is None:
            self._cleaned += self._cleaner.feed(piece)
            self._known = self._judge()
        return self._known is True

    def _judge(self) -> bool | None:
        """Return what the first sentence that states something tells; None: it has not ended."""
        while (end := sentence_end(self._cleaned)) is not None and self._cleaned[end:].strip():
            sentence = statement_text(self._cleaned[:end])
            if states(sentence):
                return self._evidence.assess(sentence).support is Support.SUPPORTED
            if not all(map(self._is_known, terms_of(sentence))):
                return False
            self._cleaned = self._cleaned[end:]
        # A sentence that goes on may have words of the passages alone, not only those of the question.
        *whole, _ = [*terms_of(statement_text(self._cleaned)), ""]  # the last may be half a word
        told = sum(1 for term in whole if not self._evidence.is_asked(term))
        return True if told >= _TELLING and all(map(self._is_known, whole)) else None

    def _is_known(self, term: str) -> bool:
        return self._evidence.is_asked(term) or self._evidence.is_known(term)


async def _first(
    writing: Writing, review: Review, draft: _ModelText
) -> AsyncGenerator[AnswerEvent]:
    """Yield the model's text as it comes, checked sentence by sentence; begun anew where it was a thought so far."""
    texts = [item.text for item in review.passages]
    cleaner = _Cleaner(texts, review.language)
    # Without passages no sentence tells an answer from a thought.
    begins = _Beginning(draft.draft.text, _Cleaner(texts, review.language)) if texts else None
    is_answer = begins.is_answer if begins else None
    async with aclosing(_pieces(writing, draft, is_answer)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Restart):
                await draft.draft.checking.close()
                draft.draft, cleaner = await _begin_draft(review), _Cleaner(texts, review.language)
                withdrawn = CodedWarning(WarningCode.THOUGHT_WITHDRAWN)
                yield Reset(withdrawn.in_language(review.language))
                continue
            fed = draft.draft.text.feed(cleaner.feed(piece))
            async for event in draft.draft.checking.through(fed):
                yield event
            if cleaner.turns_in_circles:
                draft.leave(writing)
                break
    text, checking = draft.draft.text, draft.draft.checking
    if draft.failure is not None and review.passages and not text.has_statement:
        raise draft.failure  # a stump of a sentence is no answer, and there is something to quote
    for rest in (text.feed(cleaner.finish()), text.finish()):
        async for event in checking.through(rest):
            yield event
    async for cited in checking.rest():
        yield cited


async def _pieces(
    writing: Writing, draft: _ModelText, is_answer: Callable[[str], bool] | None
) -> AsyncGenerator[str | Restart]:
    """Yield the model's text until it ends, breaks off or the time is up; `draft` gets the rest."""
    deadline = asyncio.get_running_loop().time() + writing.budget.seconds
    texts = list[str]()
    answer = writing.chat.stream(writing.messages, is_answer=is_answer)
    stream = cast("AsyncGenerator[str | Restart | Usage]", answer)
    async with aclosing(stream) as pieces:
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    piece = await anext(pieces, None)
            except TimeoutError:
                if not texts:
                    size = prompt_size(writing.messages)
                    writing.chat.speed.observe_missed_answer(size, writing.budget.seconds)
                    late = ModelUnavailable.worded(LATE)
                    late.usage = usage_of_failure(late, writing.messages, writing.chat.name)
                    raise late from None
                draft.out_of_time = True
                draft.cut_off(writing, texts)
                return
            except ModelUnavailable as error:
                if not "".join(texts).strip():
                    error.usage = error.usage or usage_of_failure(
                        error, writing.messages, writing.chat.name
                    )
                    raise
                draft.failure = error
                draft.cut_off(writing, texts)
                return
            if piece is None:
                return
            if isinstance(piece, Usage):
                draft.usage += piece
                continue
            if isinstance(piece, Restart):
                texts.clear()
            else:
                texts.append(piece)
            yield piece


def _ending(writing: Writing, reviser: Reviser, draft: _ModelText) -> Iterator[Sources | Done]:
    usage = draft.usage + reviser.usage
    of_revision = reviser.warnings
    if draft.out_of_time:  # which says already what nothing was left for
        is_late = WarningCode.REVISION_OVER_LIMIT
        of_revision = [warning for warning in of_revision if warning.code != is_late]
    warnings = [*draft.warnings, *of_revision]
    limit = writing.chat.context
    if limit and limit.is_cut and prompt_size(writing.messages) > limit.tokens:
        warnings.append(CodedWarning(WarningCode.CONTEXT_CUT, {"tokens": limit.tokens}))
    if (replacement := reviser.replacement) is not None:
        yield Sources(replacement.sources)
        yield Done(
            replace(
                replacement,
                usage=usage,
                coded_warnings=tuple(distinct(warnings)),
                prompt=writing.prompt,
                language=draft.language,
            )
        )
        return
    given = reviser.draft.text.given
    yield from ending(
        given,
        writing.chat.name,
        trust=reviser.trust,
        declined=reviser.declined,
        usage=usage,
        prompt=writing.prompt,
        warnings=warnings,
        language=draft.language,
    )
