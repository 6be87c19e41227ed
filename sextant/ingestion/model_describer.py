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
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from sextant.domain.answers import Usage
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, Warned, WarningCode, count
from sextant.ingestion.description_prompts import (
    TOGETHER,
    Call,
    call_about,
    copy_only_part,
    groups_of,
    has_description,
    need_of,
    prompt_of,
    schema_of,
    tokens_of,
)
from sextant.ingestion.graph.extraction.cost import CostBudget, CostEstimate
from sextant.ingestion.model_calls import CallOutcome, CallRun, ModelCall, Pace
from sextant.ingestion.progress import OnStage, runs_of, silent
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
        for some in groups_of(found):
            usage += call_about(DescribedKind.PASSAGES, some, settings).need
    sections = [
        (level, parts) for level, parts in await stored.list_upcoming_sections() if parts > 1
    ]
    usage = sum(_of_sections(sections, settings), usage)
    return DescriptionEstimate(
        passages,
        usage.prompt_tokens,
        usage.completion_tokens,
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
            # 20 tokens of a section's titles; 50 of a part: a sentence of 30 words and its title.
            answer_tokens = 20 * len(some) + 50 * sum(some)
            yield need_of(frame + answer_tokens, len(some), settings)


log = logging.getLogger(__name__)


TRIES = 3  # for each chunk or section
_BY_MODEL_PAGE = 32  # chunks or sections read at a time


@dataclass(frozen=True, slots=True)
class DescribedByModel(Warned):
    """The numbers of passages and sections that a run described, of failures, and of those beyond the budget (`left`)."""

    passages: int = 0
    sections: int = 0
    failed: int = 0
    left: int = 0
    usage: Usage = field(default_factory=Usage)

    @property
    def asked(self) -> int:
        """Return the number of items that were described or failed."""
        return self.passages + self.sections + self.failed

    @property
    def summary(self) -> str:
        """Return the numbers in words."""
        return f"{count_noun(self.passages, 'passage')} and {count_noun(self.sections, 'section')} described by the chat model"


_Outcome = CallOutcome[UndescribedItem, ModelDescription]


@dataclass(slots=True)
class _DescribingRun:
    stored: ModelDescriptions
    calls: CallRun[UndescribedItem, ModelDescription]
    on_progress: OnStage
    described: Counter[DescribedKind] = field(default_factory=Counter[DescribedKind])
    failed: int = 0


class ModelDescriber:
    """Describe chunks and sections with a chat model.

    Args:
        database: the database of the chunks.
        chat: the model.
        settings: `extraction` has the budget of a run.
    """

    def __init__(self, database: Database, chat: ChatModel, settings: Settings) -> None:
        self._database = database
        self._chat = chat
        self._settings = settings
        self._pace = Pace.of(settings)
        self.budget = CostBudget(settings.extraction.budget_tokens)

    async def describe(self, scope: Scope, on_progress: OnStage | None = None) -> DescribedByModel:
        """Describe all items without a description by a model, with at most three tries each over all runs.

        Args:
            scope: the knowledge base.
            on_progress: called with ("passages" or "sections", done, total).

        Raises:
            ModelUnavailable: the endpoint does not answer (`ModelRejected`: it refuses all calls).
            DatabaseUnavailable: what was stored stays.
        """
        calls = CallRun[UndescribedItem, ModelDescription](self._pace, self.budget)
        stored = ModelDescriptions(self._database, scope)
        run = _DescribingRun(stored, calls, on_progress or silent)
        for kind in DescribedKind:
            await self._all(run, kind)
        left = 0
        if self.budget.exhausted:
            left = sum([await run.stored.count_undescribed(kind, TRIES) for kind in DescribedKind])
        warnings = list[CodedWarning]()
        if run.failed:
            params = {"descriptions": count(run.failed, "description")}
            warnings.append(CodedWarning(WarningCode.DESCRIPTIONS_FAILED, params))
        if left:
            warnings.append(CodedWarning(WarningCode.DESCRIPTIONS_OVER_BUDGET, {"left": left}))
        return DescribedByModel(
            run.described[DescribedKind.PASSAGES],
            run.described[DescribedKind.SECTIONS],
            run.failed,
            left,
            self.budget.spent,
            coded_warnings=tuple(warnings),
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
        waiting = [
            one
            for one in wave
            if one.id not in known and (kind is DescribedKind.PASSAGES or has_description(one))
        ]
        groups = groups_of(waiting, max(1, int(TOGETHER * self._pace.share)))
        asked = await asyncio.gather(*(self._ask(run, kind, some) for some in groups))
        outcomes = [one for several in asked for one in several]
        descriptions += [one for outcome in outcomes for one in outcome.found.values()]
        failed = [
            (outcome.items[at], error)
            for outcome in outcomes
            for at, error in outcome.errors.items()
        ]
        gone = run.calls.stopped
        if failed and not run.calls.answered:
            gone = failed[0][1]
        counted = [one.id for one, _ in failed if one.tries or gone is None]
        await run.stored.write(kind, descriptions, counted)
        run.described[kind] += len(descriptions)
        run.failed += len(failed)
        if gone is not None:
            raise gone

    async def _ask(
        self, run: _DescribingRun, kind: DescribedKind, items: Sequence[UndescribedItem]
    ) -> list[_Outcome]:
        outcomes = list[_Outcome]()
        async for outcome in run.calls.ask(items, partial(self._call_about, kind)):
            for error in outcome.errors.values():
                log.warning("described by extraction alone: %s", error)
            outcomes.append(outcome)
        return outcomes

    def _call_about(
        self, kind: DescribedKind, items: Sequence[UndescribedItem]
    ) -> ModelCall[ModelDescription]:
        call = call_about(kind, items, self._settings)
        return ModelCall(call.need, partial(self._send, kind, call))

    async def _send(
        self, kind: DescribedKind, call: Call
    ) -> tuple[Mapping[int, ModelDescription], Usage]:
        replies, usage = await self._chat.structured(
            call.prompt,
            schema_of(kind, len(call.asked)),
            repair=len(call.asked) == 1,
            patient=False,
            answer_tokens=call.answer_tokens,
        )
        return call.said(replies), usage
