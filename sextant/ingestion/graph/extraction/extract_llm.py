"""Entities and relations by a chat model, passage by passage.

Each passage is one call (and `gleaning` more), many side by side. What comes back is stored together
with the note that the passage is done, so a process that is killed repeats only the calls under way;
a passage that fails keeps the reason and is tried again by the next run. The offline evidence of a
document is in the graph before this begins, and stays whatever happens here.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
    describe_reason,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, Warned, WarningCode, count
from sextant.ingestion.graph.extraction.cost import CostBudget, CostEstimate, cost_of, estimate_call
from sextant.ingestion.graph.extraction.model_evidence import (
    ModelExtraction,
    entity_types,
    extraction_of,
    model_evidence,
)
from sextant.ingestion.progress import OnCount, silent
from sextant.models.chat.structured import instruction
from sextant.prompts import EXTRACT, GLEAN, Messages, as_data
from sextant.stores.graph.extraction import ExtractionStore, PendingChunk, note_done, note_failed
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.text.characters import language_of

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel  # brings LangChain, half a second


PROMPT_VERSION = EXTRACT.wordings["en"].version
# So many calls in a row that get no answer at all: the endpoint is gone, and others wait for it.
_GONE_AFTER = 3
_MANY_ATTEMPTS = 1000


@dataclass(frozen=True, slots=True)
class ExtractionReport(Warned):
    """What one run did: passages read, failed and left; `warnings` say why and what to do."""

    done: int
    failed: int
    left: int
    usage: Usage
    cost: float | None


@dataclass(frozen=True, slots=True)
class _ChunkOutcome:
    passage: PendingChunk
    usage: Usage
    found: ModelExtraction | None = None
    error: SextantError | None = None


@dataclass(slots=True)
class _ExtractionRun:
    """One run: once `stopped` is set, calls under way end and no new one begins."""

    scope: Scope
    budget: CostBudget
    total: int
    on_progress: OnCount
    outcomes: asyncio.Queue[_ChunkOutcome | None] = field(default_factory=asyncio.Queue)
    done: int = 0
    failed: int = 0
    unanswered: int = 0
    stopped: SextantError | None = None
    reasons: dict[str, SextantError] = field(default_factory=dict)


class ModelExtractor:
    """Reads the passages of knowledge bases with a chat model.

    Args:
        database: where passages come from and evidence goes.
        chat: the model.
        settings: `extraction` applies.
        renewed: each run has a budget of its own, not one for all together, as in a worker, whose runs
            never end.
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
        self._schema = extraction_of(self._types)
        self.budget = CostBudget.of(settings.extraction)
        self._renewed = renewed

    async def extract(
        self,
        scope: Scope,
        *,
        document_id: UUID | None = None,
        on_progress: OnCount | None = None,
    ) -> ExtractionReport:
        """Read the passages that wait, each once; those that failed too often stay as they are.

        Args:
            scope: the knowledge base.
            document_id: only passages of this document.
            on_progress: called with (passages tried, passages to try).

        Raises:
            DatabaseUnavailable: what was stored stays; the same call later goes on from there.
        """
        before = await self._store.counts(scope, document_id)
        total = before.waiting + before.failed
        budget = CostBudget.of(self._settings.extraction) if self._renewed else self.budget
        run = _ExtractionRun(scope, budget, total, on_progress or silent)
        usage_before = budget.spent
        attempts = self._settings.extraction.attempts
        async with aclosing(
            self._store.waiting(scope, document_id=document_id, attempts=attempts)
        ) as passages:
            await self._together(run, passages)
        after = await self._store.counts(scope, document_id)
        usage = _difference(budget.spent, usage_before)
        return ExtractionReport(
            run.done,
            run.failed,
            after.waiting,
            usage,
            cost_of(usage, self._settings.extraction),
            coded_warnings=tuple(self._warnings(run, after.waiting + after.failed)),
        )

    async def remarks(self, scope: Scope, document_id: UUID) -> tuple[CodedWarning, ...]:
        """Return what a user should know of a document whose passages were not all read; () when all were."""
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

    async def _together(self, run: _ExtractionRun, passages: AsyncGenerator[PendingChunk]) -> None:
        taking = asyncio.Lock()

        async def read() -> None:
            while run.stopped is None:
                async with taking:
                    passage = await anext(passages, None)
                if passage is None or not await self._read(run, passage):
                    return

        async def readers() -> None:
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(self._settings.extraction.concurrency):
                        group.create_task(read())
            finally:
                run.outcomes.put_nowait(None)

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(readers())
                group.create_task(self._keep(run))
        except BaseExceptionGroup as errors:
            raise _first(errors) from None

    async def _read(self, run: _ExtractionRun, passage: PendingChunk) -> bool:
        """Read a passage and hand the outcome on; False when the budget does not allow it."""
        prompt = _prompt(passage, self._types)
        need = _estimate(passage, prompt, self._settings)
        if not run.budget.reserve(need):
            return False
        usage = Usage()
        try:
            found, usage = await self._found(passage, prompt)
            outcome = _ChunkOutcome(passage, usage, found)
        except SextantError as error:
            # Answers that did not fit are paid for all the same, refusals are not. Where nobody can
            # tell, the prompt was sent at least.
            used = error.usage if isinstance(error, ModelOutputInvalid | ModelUnavailable) else None
            usage = used or Usage(1, need.prompt_tokens, 0, estimated=True)
            outcome = _ChunkOutcome(passage, usage, error=error)
        finally:
            run.budget.settle(need, usage)
        self._follow(run, outcome.error)
        run.outcomes.put_nowait(outcome)
        return True

    async def _found(
        self, passage: PendingChunk, prompt: Messages
    ) -> tuple[ModelExtraction, Usage]:
        found, usage = await self._chat.structured(prompt, self._schema)
        for _ in range(self._settings.extraction.gleaning):
            prompt = _gleaning(passage, self._types, found)
            try:
                more, cost = await self._chat.structured(prompt, self._schema)
            except ModelOutputInvalid as error:  # what was found before stands
                return found, usage + (error.usage or Usage())
            except ModelUnavailable as error:
                error.usage = usage + (error.usage or Usage())
                raise
            usage += cost
            if not more.entities and not more.relations:
                break
            found += more
        return found, usage

    def _follow(self, run: _ExtractionRun, error: SextantError | None) -> None:
        """Stop the run when the endpoint gives no answers any more."""
        run.unanswered = run.unanswered + 1 if isinstance(error, ModelUnavailable) else 0
        if run.unanswered >= _GONE_AFTER:
            run.stopped = error

    async def _keep(self, run: _ExtractionRun) -> None:
        """Store outcomes as they come, all that have come in one transaction."""
        while (outcome := await run.outcomes.get()) is not None:
            batch, last = [outcome], False
            while not run.outcomes.empty() and not last:
                more = run.outcomes.get_nowait()
                last = more is None
                batch += [more] if more is not None else []
            await self._store_outcomes(run, batch)
            if last:
                return

    async def _store_outcomes(self, run: _ExtractionRun, batch: list[_ChunkOutcome]) -> None:
        async with self._record.writing(run.scope, bare=False) as writer:
            for outcome in batch:
                passage, error = outcome.passage, outcome.error
                if outcome.found is not None:
                    evidence = model_evidence(
                        run.scope, passage.id, passage.text, outcome.found, self._types
                    )
                    await writer.add(evidence)
                    await note_done(writer, passage.id, outcome.usage, PROMPT_VERSION)
                elif error is not None:
                    run.reasons.setdefault(error.code, error)
                    await note_failed(writer, passage.id, outcome.usage, PROMPT_VERSION, error)
        run.failed += sum(outcome.error is not None for outcome in batch)
        run.done += sum(outcome.error is None for outcome in batch)
        run.on_progress(run.done + run.failed, run.total)

    def _warnings(self, run: _ExtractionRun, left: int) -> list[CodedWarning]:
        reasons = map(describe_reason, run.reasons.values())
        warnings = [CodedWarning(WarningCode.CAUSE, {"reason": reason}) for reason in reasons]
        passages = {"passages": count(left, "passage")}
        if run.budget.exhausted and left:
            warnings.append(CodedWarning(WarningCode.EXTRACTION_OVER_BUDGET, passages))
        elif run.stopped is not None:
            warnings.append(CodedWarning(WarningCode.EXTRACTION_STOPPED, passages))
        return warnings


async def estimate_extraction(database: Database, scope: Scope, settings: Settings) -> CostEstimate:
    """About what `ModelExtractor.extract` will take after a retry of all; nothing is sent."""
    types = entity_types(settings.extraction.entity_types)
    passages, usage = 0, Usage()
    waiting = ExtractionStore(database).waiting(scope, attempts=_MANY_ATTEMPTS)
    async with aclosing(waiting) as found:
        async for passage in found:
            passages += 1
            usage += _estimate(passage, _prompt(passage, types), settings)
    return CostEstimate(
        passages,
        usage.prompt_tokens,
        usage.completion_tokens,
        cost_of(usage, settings.extraction),
    )


def _estimate(passage: PendingChunk, prompt: Messages, settings: Settings) -> Usage:
    sent = "\n".join(
        [*(text for _, text in prompt), instruction(ModelExtraction, with_schema=False)]
    )
    return estimate_call(sent, passage.text, settings)


def _prompt(passage: PendingChunk, types: Sequence[str]) -> Messages:
    return EXTRACT.messages(language_of(passage.text), **_values(passage, types))


def _gleaning(passage: PendingChunk, types: Sequence[str], found: ModelExtraction) -> Messages:
    values = _values(passage, types) | {"found": as_data(found.model_dump_json())}
    return GLEAN.messages(language_of(passage.text), **values)


def _values(passage: PendingChunk, types: Sequence[str]) -> dict[str, str]:
    path = dict.fromkeys((passage.document_title, *passage.section_path))
    texts = {"title": as_data(" > ".join(path)), "passage": as_data(passage.text)}
    return {"types": ", ".join(types), **texts}


def _difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.calls - before.calls,
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
        after.estimated,
    )


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the error that a person should see of those that ended a group of tasks."""
    inner = errors.exceptions[0]
    return _first(inner) if isinstance(inner, BaseExceptionGroup) else inner
