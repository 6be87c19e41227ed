"""Describe chunks and sections with a chat model; where it fails, the extracted descriptions stay.

Chunks come first, then sections from the deepest to the whole document. A section is described from the descriptions
of its chunks and subsections; one with a single part takes over that description. Each outcome is stored, with the
number of failures, so that an interrupted run continues and nothing is tried forever. A section is described again
when more of its parts are described.

Also here: estimate the cost before anything is sent.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ContextTooLong,
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, Warned, WarningCode, count
from sextant.ingestion.graph.extraction.cost import CostBudget, CostEstimate, cost_of
from sextant.ingestion.metadata.description_prompts import (
    TOGETHER,
    Call,
    calls_of,
    copy_only_part,
    has_description,
    need_of,
    prompt_of,
    schema_of,
    tokens_of,
)
from sextant.ingestion.progress import OnStage, runs_of, silent
from sextant.models.chat.call_limits import AdaptiveLimit
from sextant.stores.documents.model_descriptions import (
    DescribedKind,
    ModelDescription,
    ModelDescriptions,
    UndescribedItem,
)
from sextant.stores.postgresql.database import Database
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel


_MANY_TRIES = 1000  # an estimate counts all failed items
_PAGE = 320  # chunks read at a time for an estimate
_PART_TOKENS = 50  # of the description of a part: a sentence of 30 words and its title
_TITLE_TOKENS = 20  # of a section's titles


@dataclass(frozen=True, slots=True)
class DescriptionEstimate(CostEstimate):
    """The estimated cost of describing `passages` and `sections`; a section with a single part needs no call."""

    sections: int = 0


async def estimate_descriptions(
    database: Database, scope: Scope, settings: Settings
) -> DescriptionEstimate:
    """Estimate the cost of `ModelDescriber.describe`, failed items included; nothing is sent."""
    stored = ModelDescriptions(database, scope)
    passages, usage, after = 0, Usage(), None
    while found := await stored.list_undescribed(DescribedKind.PASSAGES, after, _MANY_TRIES, _PAGE):
        after = found[-1].order
        passages += len(found)
        for call in calls_of(DescribedKind.PASSAGES, found, settings):
            usage += call.need
    sections = [
        (level, parts) for level, parts in await stored.list_upcoming_sections() if parts > 1
    ]
    usage = sum(_of_sections(sections, settings), usage)
    return DescriptionEstimate(
        passages,
        usage.prompt_tokens,
        usage.completion_tokens,
        cost_of(usage, settings.extraction),
        len(sections),
    )


def _of_sections(sections: Iterable[tuple[int, int]], settings: Settings) -> Iterator[Usage]:
    """Yield the usage of the calls about sections of one level, given as (level, number of parts)."""
    frame = tokens_of(prompt_of(DescribedKind.SECTIONS, "en", (), ()))
    levels = defaultdict[int, list[int]](list)
    for level, parts in sections:
        levels[level].append(parts)
    for parts_of_level in levels.values():
        for some in runs_of(parts_of_level, lambda _: 1, TOGETHER):
            answer_tokens = _TITLE_TOKENS * len(some) + _PART_TOKENS * sum(some)
            yield need_of(frame + answer_tokens, len(some), settings)


log = logging.getLogger(__name__)


TRIES = 3  # for each chunk or section
_BY_MODEL_PAGE = 32  # chunks or sections read at a time
_GONE_AFTER = 3  # calls in a row without an answer: the endpoint is gone


@dataclass(frozen=True, slots=True)
class DescribedByModel(Warned):
    """The numbers of passages and sections that a run described, of failures, and of those beyond the budget (`left`)."""

    passages: int = 0
    sections: int = 0
    failed: int = 0
    left: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None

    @property
    def asked(self) -> int:
        """Return the number of items that were described or failed."""
        return self.passages + self.sections + self.failed

    @property
    def summary(self) -> str:
        """Return the numbers in words."""
        return f"{count_noun(self.passages, 'passage')} and {count_noun(self.sections, 'section')} described by the chat model"


@dataclass(frozen=True, slots=True)
class _Answer:
    """The outcome of a call; `is_cut`: the answer was cut off."""

    call: Call
    said: Sequence[ModelDescription] = ()
    error: SextantError | None = None
    is_cut: bool = False

    @property
    def came(self) -> bool:
        """Return whether the endpoint answered, if only that the prompt is too long."""
        return not isinstance(self.error, ModelUnavailable) or isinstance(
            self.error, ContextTooLong
        )

    @property
    def was_too_much(self) -> bool:
        """Return whether the endpoint may answer a call about fewer items."""
        error = self.error
        is_silent = (
            isinstance(error, ModelUnavailable) and error.usage is None and not error.unreachable
        )
        return len(self.call.asked) > 1 and (is_silent or isinstance(error, ContextTooLong))

    @property
    def missing(self) -> list[UndescribedItem]:
        """Return the items without a description that are worth another call."""
        if not (self.was_too_much or (self.is_cut and self.said)):
            return []
        known = {one.id for one in self.said}
        return [one for one in self.call.asked if one.id not in known]


@dataclass(slots=True)
class _DescribingRun:
    """One run: the numbers of described items, and the state of the endpoint."""

    stored: ModelDescriptions
    on_progress: OnStage
    described: Counter[DescribedKind] = field(default_factory=Counter[DescribedKind])
    failed: int = 0
    answered: bool = False
    is_absent: bool = False  # the first call got no answer
    unanswered: int = 0

    def gone(self, answers: Sequence[_Answer]) -> bool:
        """Return whether the endpoint is gone: no answer to the first calls, or to several in a row."""
        if any(answer.came for answer in answers):
            self.answered, self.unanswered = True, 0
        else:
            self.unanswered += len(answers)
        return self.unanswered >= (_GONE_AFTER if self.answered else 1)


class ModelDescriber:
    """Describe chunks and sections with a chat model.

    Args:
        database: the database of the chunks.
        chat: the model.
        settings: `extraction` has prices and the budget of a run.
    """

    def __init__(self, database: Database, chat: ChatModel, settings: Settings) -> None:
        self._database = database
        self._chat = chat
        self._settings = settings
        self._limit = AdaptiveLimit(settings.extraction.concurrency)
        self._together = TOGETHER
        self.budget = CostBudget.of(settings.extraction)

    async def describe(self, scope: Scope, on_progress: OnStage | None = None) -> DescribedByModel:
        """Describe all items without a description by a model, with at most three tries each over all runs.

        Args:
            scope: the knowledge base.
            on_progress: called with ("passages" or "sections", done, total).

        Raises:
            ModelUnavailable: the endpoint does not answer (`ModelRejected`: it refuses all calls).
            DatabaseUnavailable: what was stored stays.
        """
        run = _DescribingRun(ModelDescriptions(self._database, scope), on_progress or silent)
        for kind in DescribedKind:
            await self._all(run, kind)
        left = 0
        if self.budget.exhausted:
            left = sum([await run.stored.count_undescribed(kind, TRIES) for kind in DescribedKind])
        usage_before = self.budget.spent
        return DescribedByModel(
            run.described[DescribedKind.PASSAGES],
            run.described[DescribedKind.SECTIONS],
            run.failed,
            left,
            usage_before,
            cost_of(usage_before, self._settings.extraction),
            coded_warnings=tuple(_warnings(run.failed, left)),
        )

    async def _all(self, run: _DescribingRun, kind: DescribedKind) -> None:
        calls, after, total = 0, None, 0
        while not self.budget.exhausted:
            found = await run.stored.list_undescribed(kind, after, TRIES, _BY_MODEL_PAGE)
            if not found:
                return
            if not total:
                total = len(found)
                if total == _BY_MODEL_PAGE:  # counting reads the whole knowledge base
                    total = await run.stored.count_undescribed(kind, TRIES)
            # Sections of one level at a time, since those above are described from them.
            wave = [one for one in found if one.order.rank == found[0].order.rank]
            after, calls = wave[-1].order, calls + len(wave)
            await self._describe(run, kind, wave)
            run.on_progress(kind.name.lower(), calls, max(calls, total))

    async def _describe(
        self, run: _DescribingRun, kind: DescribedKind, wave: Sequence[UndescribedItem]
    ) -> None:
        """Describe some items and store the outcome; a first failure does not count if the endpoint is gone."""
        descriptions = [one for one in map(copy_only_part, wave) if one is not None]
        known = {one.id for one in descriptions}
        waiting = [one for one in wave if one.id not in known and _worth_asking(kind, one)]
        calls = calls_of(kind, waiting, self._settings, self._together)
        answers = await asyncio.gather(*(self._ask(run, kind, call) for call in calls))
        sent = [one for several in answers for one in several]
        descriptions += [one for answer in sent for one in answer.said]
        known = {one.id for one in descriptions}
        failed = [one for answer in sent for one in answer.call.asked if one.id not in known]
        gone = run.gone(sent)
        await run.stored.write(
            kind, descriptions, [one.id for one in failed if one.tries or not gone]
        )
        run.described[kind] += len(descriptions)
        run.failed += len(failed)
        if gone and (error := sent[0].error) is not None:
            raise error

    async def _ask(self, run: _DescribingRun, kind: DescribedKind, call: Call) -> list[_Answer]:
        """Return the answer to a call, and those of smaller calls about what is missing."""
        answer = await self._send(run, kind, call)
        if answer is None:
            return []
        missing = answer.missing
        if not missing:
            return [answer]
        if answer.was_too_much:
            self._together = max(1, min(self._together, len(missing) // 2))
        known = {one.id for one in answer.said}
        read = replace(call, asked=[one for one in call.asked if one.id in known])
        answers = [_Answer(read, answer.said)] if known else []
        for further in calls_of(kind, missing, self._settings, self._together):
            answers += await self._ask(run, kind, further)
        return answers

    async def _send(self, run: _DescribingRun, kind: DescribedKind, call: Call) -> _Answer | None:
        """Return the outcome of a call; None if it is not made, since the budget or the endpoint is gone."""
        async with self._limit.slot() as slot:
            if run.is_absent or not self.budget.reserve(call.need):
                return None
            used, began = Usage(), time.monotonic()
            try:
                replies, used = await self._chat.structured(
                    call.prompt,
                    schema_of(kind, len(call.asked)),
                    patient=False,
                    answer_tokens=call.answer_tokens,
                )
                slot.note_answer(time.monotonic() - began, used)
                answer = _Answer(call, call.said(replies), is_cut=used.truncated)
            except SextantError as error:
                number = count_noun(len(call.asked), kind.name.lower().removesuffix("s"))
                log.warning("%s: described by extraction alone: %s", number, error)
                used = _paid(error) or Usage(1, call.need.prompt_tokens, 0, estimated=True)
                answer = _Answer(call, error=error)
                if answer.was_too_much:
                    slot.note_overload()
            finally:
                self.budget.settle(call.need, used)
            run.answered |= answer.came
            run.is_absent |= not (run.answered or answer.was_too_much)
            return answer


def _worth_asking(kind: DescribedKind, one: UndescribedItem) -> bool:
    return kind is DescribedKind.PASSAGES or has_description(one)


def _paid(error: SextantError) -> Usage | None:
    """Return the usage of a failed call, if known."""
    return error.usage if isinstance(error, ModelOutputInvalid | ModelUnavailable) else None


def _warnings(failed: int, left: int) -> Iterator[CodedWarning]:
    if failed:
        params = {"descriptions": count(failed, "description")}
        yield CodedWarning(WarningCode.DESCRIPTIONS_FAILED, params)
    if left:
        yield CodedWarning(WarningCode.DESCRIPTIONS_OVER_BUDGET, {"left": left})
