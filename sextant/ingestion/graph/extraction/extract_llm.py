"""Extract entities and relations with a chat model, several passages in a call.

Adjacent passages of a document are read in one call (and `gleaning` further ones), which saves instructions and lets
pronouns refer to other passages. Results are stored together with the note that the passages are done, so a killed
process repeats only the running calls. A passage that fails alone is stored with the reason, and tried again by the
next run. The evidence found without a model is stored before, and stays.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from sextant.domain.answers import Usage
from sextant.domain.concurrency import run_together
from sextant.domain.errors import (
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
    describe_reason,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, Warned, WarningCode, count
from sextant.ingestion.graph.extraction.cost import (
    CostBudget,
    CostEstimate,
    answer_limit,
    most_of_passage,
)
from sextant.ingestion.graph.extraction.extraction_prompts import (
    ModelExtraction,
    ModelExtractions,
    Shown,
    assign_extractions,
    entity_types,
    estimate_extraction_call,
    extraction_prompt,
    extractions_of,
    gleaning_prompt,
    join_small,
    spread_found,
    text_of,
)
from sextant.ingestion.graph.extraction.model_evidence import ReadPassage, model_evidence
from sextant.ingestion.model_calls import CallOutcome, CallRun, ModelCall, Pace
from sextant.ingestion.progress import OnCount, silent
from sextant.prompts import EXTRACT, Messages
from sextant.stores.graph.extraction import ExtractionStore, PendingChunk, note_read
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.text.characters import estimate_tokens

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel  # brings LangChain, half a second


PROMPT_VERSION = EXTRACT.wordings["en"].version
_MANY_ATTEMPTS = 1000  # an estimate counts all passages that are not done
# Tokens of the passages in a call; in longer ones the model finds fewer relations of each passage.
_CALL_TOKENS = 1200


@dataclass(frozen=True, slots=True)
class ExtractionReport(Warned):
    """The numbers of passages that a run has read, that failed, and that are left; `warnings` say why."""

    done: int
    failed: int
    left: int
    usage: Usage


@dataclass(slots=True)
class _Passages:
    """The waiting passages of a run, in groups for one call each."""

    waiting: AsyncGenerator[PendingChunk]
    _next: PendingChunk | None = None
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self, tokens: float) -> Sequence[PendingChunk]:
        """Return the next passages of a document, up to `tokens` together but at least one; () at the end.

        A passage that failed before comes alone.
        """
        async with self._taking:
            group, size = list[PendingChunk](), 0
            while (passage := self._next or await anext(self.waiting, None)) is not None:
                self._next = passage
                size += estimate_tokens(passage.text)
                if group and not (size <= tokens and _goes_with(group, passage)):
                    break
                group.append(passage)
                self._next = None
            return group


def _goes_with(group: Sequence[PendingChunk], passage: PendingChunk) -> bool:
    first = group[0]
    return first.document_id == passage.document_id and not (first.attempts or passage.attempts)


@dataclass(slots=True)
class _ExtractionRun:
    scope: Scope
    calls: CallRun[PendingChunk, ModelExtraction]
    passages: _Passages
    total: int
    on_progress: OnCount
    done: int = 0
    failed: int = 0
    reasons: dict[str, SextantError] = field(default_factory=dict)
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)  # so that one connection is used


class ModelExtractor:
    """Extract from the passages of knowledge bases with a chat model.

    Args:
        database: the database of passages and evidence.
        chat: the model.
        settings: `extraction` applies.
        renewed: each run has its own budget, as in a worker; otherwise all runs share one.
    """

    def __init__(
        self,
        database: Database,
        chat: ChatModel,
        settings: Settings,
        *,
        renewed: bool = False,
    ) -> None:
        self._record = GraphRecord(database)
        self._store = ExtractionStore(database)
        self._chat = chat
        self._settings = settings
        self._types = entity_types(settings.extraction.entity_types)
        self._pace = Pace.of(settings)
        self.budget = CostBudget(settings.extraction.budget_tokens)
        self._renewed = renewed

    async def extract(
        self,
        scope: Scope,
        *,
        document_id: UUID | None = None,
        on_progress: OnCount | None = None,
    ) -> ExtractionReport:
        """Read the waiting passages; those that failed too often are skipped.

        Args:
            scope: the knowledge base.
            document_id: restricts the passages to a document.
            on_progress: called with (passages done or failed, all passages to read).

        Raises:
            DatabaseUnavailable: what was stored stays; a later call continues.
        """
        before = await self._store.counts(scope, document_id)
        total = before.waiting + before.failed
        budget = (
            CostBudget(self._settings.extraction.budget_tokens) if self._renewed else self.budget
        )
        usage_before = budget.spent
        attempts = self._settings.extraction.attempts
        async with aclosing(
            self._store.waiting(scope, document_id=document_id, attempts=attempts)
        ) as waiting:
            calls = CallRun[PendingChunk, ModelExtraction](self._pace, budget)
            run = _ExtractionRun(scope, calls, _Passages(waiting), total, on_progress or silent)
            await self._read_all(run)
        after = await self._store.counts(scope, document_id)
        usage = budget.spent - usage_before
        return ExtractionReport(
            run.done,
            run.failed,
            after.waiting,
            usage,
            coded_warnings=tuple(self._warnings(run, after.waiting + after.failed)),
        )

    async def remarks(self, scope: Scope, document_id: UUID) -> tuple[CodedWarning, ...]:
        """Return a warning if not all passages of a document were read."""
        counts = await self._store.counts(scope, document_id)
        missing = counts.waiting + counts.failed
        if not missing:
            return ()
        failures = await self._store.failures(scope, document_id)
        params = {
            "missing": missing,
            "passages": count(missing + counts.done, "passage"),
            "why": failures[0].error if failures else "",
        }
        return (CodedWarning(WarningCode.PASSAGES_NOT_READ, params),)

    async def _read_all(self, run: _ExtractionRun) -> None:
        async def read() -> None:
            while not run.calls.is_over:
                passages = await run.passages.take(_CALL_TOKENS * self._pace.share)
                if not passages:
                    return
                async for outcome in run.calls.ask(passages, self._call_about):
                    await self._store_outcome(run, outcome)

        await run_together(read() for _ in range(self._settings.model_concurrency))
        if (error := run.calls.stopped) is not None:
            run.reasons.setdefault(error.code, error)

    def _call_about(self, passages: Sequence[PendingChunk]) -> ModelCall[ModelExtraction]:
        shown = join_small(passages)
        prompt = extraction_prompt(shown, self._types)
        need = estimate_extraction_call(shown, prompt, self._settings)
        return ModelCall(need, partial(self._find, shown, prompt))

    async def _find(
        self, shown: Sequence[Shown], prompt: Messages
    ) -> tuple[Mapping[int, ModelExtraction], Usage]:
        """Return the extractions by the index of the passage; passages that the model leaves out are absent."""
        reply, usage = await self._ask(shown, prompt)
        found = assign_extractions(reply, len(shown), is_cut=usage.truncated)
        for _ in range(self._settings.extraction.gleaning if found else 0):
            read = [shown[at] for at in found]
            try:
                reply, cost = await self._ask(
                    read, gleaning_prompt(read, self._types, found.values())
                )
            except ModelOutputInvalid as error:  # keep the first extraction
                usage = _plus(usage, error.usage)
                break
            except ModelUnavailable as error:
                error.usage = _plus(usage, error.usage)
                raise
            usage = _plus(usage, cost)
            more = assign_extractions(reply, len(read))
            if not any(one.entities or one.relations for one in more.values()):
                break
            found = {
                at: one + more[index] if index in more else one
                for index, (at, one) in enumerate(found.items())
            }
        return spread_found(found, shown), usage

    async def _ask(
        self, shown: Sequence[Shown], prompt: Messages
    ) -> tuple[ModelExtractions, Usage]:
        """Return the answer to a prompt; an invalid answer is repaired only for a single passage."""
        tokens = sum(estimate_tokens(text_of(one)) for one in shown)
        number = len(shown)
        return await self._chat.structured(
            prompt,
            extractions_of(self._types, number, most_of_passage(tokens, number)),
            repair=number == 1,
            patient=False,
            answer_tokens=answer_limit(tokens, number, self._settings),
        )

    async def _store_outcome(
        self, run: _ExtractionRun, outcome: CallOutcome[PendingChunk, ModelExtraction]
    ) -> None:
        """Store the extractions, and that the passages are done or failed."""
        usage = outcome.usage  # stored with the first passage, since only the sum is read
        async with run.storing, self._record.writing(run.scope, bare=False) as writer:
            read = [_read_passage(passage) for passage in outcome.items]
            await writer.add(model_evidence(run.scope, read, outcome.found, self._types))
            for at in (*outcome.found, *outcome.errors):
                chunk_id, error = outcome.items[at].id, outcome.errors.get(at)
                if error is not None:
                    run.reasons.setdefault(error.code, error)
                await note_read(writer, chunk_id, usage, PROMPT_VERSION, error)
                usage = Usage()
        run.failed += len(outcome.errors)
        run.done += len(outcome.found)
        run.on_progress(run.done + run.failed, run.total)

    def _warnings(self, run: _ExtractionRun, left: int) -> list[CodedWarning]:
        reasons = map(describe_reason, run.reasons.values())
        warnings = [CodedWarning(WarningCode.CAUSE, {"reason": reason}) for reason in reasons]
        passages = {"passages": count(left, "passage")}
        if run.calls.budget.exhausted and left:
            warnings.append(CodedWarning(WarningCode.EXTRACTION_OVER_BUDGET, passages))
        elif run.calls.stopped is not None:
            warnings.append(CodedWarning(WarningCode.EXTRACTION_STOPPED, passages))
        return warnings


async def estimate_extraction(database: Database, scope: Scope, settings: Settings) -> CostEstimate:
    """Estimate the cost of `ModelExtractor.extract`, failed passages included; nothing is sent."""
    types = entity_types(settings.extraction.entity_types)
    number, usage = 0, Usage()
    waiting = ExtractionStore(database).waiting(scope, attempts=_MANY_ATTEMPTS)
    async with aclosing(waiting) as found:
        queue = _Passages(found)
        while passages := await queue.take(_CALL_TOKENS):
            number += len(passages)
            shown = join_small(passages)
            usage += estimate_extraction_call(shown, extraction_prompt(shown, types), settings)
    return CostEstimate(
        number,
        usage.prompt_tokens,
        usage.completion_tokens,
    )


def _read_passage(passage: PendingChunk) -> ReadPassage:
    heading = "\n".join([passage.document_title, *passage.section_path])
    return ReadPassage(passage.id, passage.text, heading)


def _plus(usage: Usage, more: Usage | None) -> Usage:
    """Return the sum of two usages, with `truncated` of the first."""
    return replace(usage + (more or Usage()), truncated=usage.truncated)
