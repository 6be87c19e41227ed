"""Extract entities and relations with a chat model, several passages in a call.

Adjacent passages of a document are read in one call (and `gleaning` further ones), which saves instructions and lets
pronouns refer to other passages. Results are stored together with the note that the passages are done, so a killed
process repeats only the running calls. Passages that an answer leaves out are asked about again. The passages of a
failed call are asked about in two halves; a passage that fails alone is stored with the reason, and tried again by
the next run. The evidence found without a model is stored before, and stays.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ContextTooLong,
    ModelOutputInvalid,
    ModelUnavailable,
    SextantError,
    describe_reason,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.tasks import run_together
from sextant.domain.warnings import CodedWarning, Warned, WarningCode, count
from sextant.ingestion.graph.extraction.cost import (
    CostBudget,
    CostEstimate,
    answer_limit,
    cost_of,
    most_of_passage,
)
from sextant.ingestion.graph.extraction.extraction_run import (
    CALL_TOKENS,
    LEAST_TOKENS,
    ExtractionRun,
    PassageQueue,
    PassagesOutcome,
    Shown,
    estimate_extraction_call,
    extraction_prompt,
    gleaning_prompt,
    join_small,
    spread_found,
    text_of,
)
from sextant.ingestion.graph.extraction.model_evidence import (
    ModelExtraction,
    ModelExtractions,
    ReadPassage,
    assign_extractions,
    entity_types,
    extractions_of,
    model_evidence,
)
from sextant.ingestion.progress import OnCount, silent
from sextant.models.chat.call_limits import AdaptiveLimit, Slot
from sextant.prompts import EXTRACT, Messages
from sextant.stores.graph.extraction import ExtractionStore, PendingChunk, note_done, note_failed
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.text.characters import estimate_tokens

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel  # brings LangChain, half a second


PROMPT_VERSION = EXTRACT.wordings["en"].version
_GONE_AFTER = 3  # calls in a row without an answer: the endpoint is gone
_MANY_ATTEMPTS = 1000  # an estimate counts all passages that are not done


@dataclass(frozen=True, slots=True)
class ExtractionReport(Warned):
    """The numbers of passages that a run has read, that failed, and that are left; `warnings` say why."""

    done: int
    failed: int
    left: int
    usage: Usage
    cost: float | None


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
        self._limit = AdaptiveLimit(settings.extraction.concurrency)
        self._call_tokens = CALL_TOKENS
        self.budget = CostBudget.of(settings.extraction)
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
        budget = CostBudget.of(self._settings.extraction) if self._renewed else self.budget
        usage_before = budget.spent
        attempts = self._settings.extraction.attempts
        async with aclosing(
            self._store.waiting(scope, document_id=document_id, attempts=attempts)
        ) as passages:
            run = ExtractionRun(scope, budget, total, on_progress or silent, PassageQueue(passages))
            await self._read_all(run)
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

    async def _read_all(self, run: ExtractionRun) -> None:
        async def read() -> None:
            while run.stopped is None:
                async with self._limit.slot() as slot:
                    passages = await run.queue.take(self._call_tokens)
                    outcome = await self._read(run, slot, passages) if passages else None
                if outcome is None:
                    return
                if outcome.found or outcome.errors:
                    await self._store_outcome(run, outcome)

        await run_together(read() for _ in range(self._settings.extraction.concurrency))

    async def _read(
        self, run: ExtractionRun, slot: Slot, passages: Sequence[PendingChunk]
    ) -> PassagesOutcome | None:
        """Read passages and return the outcome; None if the budget does not allow it."""
        shown = join_small(passages)
        prompt = extraction_prompt(shown, self._types)
        need = estimate_extraction_call(shown, prompt, self._settings)
        if not run.budget.reserve(need):
            return None
        usage, began = Usage(), time.monotonic()
        found: dict[int, ModelExtraction] = {}
        error: SextantError | None = None
        try:
            found, usage = await self._find(shown, prompt)
        except SextantError as failed:
            # Invalid answers cost tokens, refusals do not. If the usage is unknown, the prompt was sent at least.
            error = failed
            used = error.usage if isinstance(error, ModelOutputInvalid | ModelUnavailable) else None
            usage = used or Usage(1, need.prompt_tokens, 0, estimated=True)
        finally:
            run.budget.settle(need, usage)
        if error is None:
            slot.note_answer(time.monotonic() - began, usage)
            self._adapt_size(time.monotonic() - began)
            return run.take_found(passages, spread_found(found, shown), usage)
        return self._take_error(run, slot, passages, error, usage)

    def _adapt_size(self, seconds: float) -> None:
        """Double the size of calls, up to the usual one, if the endpoint is fast enough."""
        if seconds < self._settings.model_timeout / 4:
            self._call_tokens = min(CALL_TOKENS, 2 * self._call_tokens)

    def _take_error(
        self,
        run: ExtractionRun,
        slot: Slot,
        passages: Sequence[PendingChunk],
        error: SextantError,
        usage: Usage,
    ) -> PassagesOutcome:
        """Ask again about each half of the passages; a single one has failed."""
        is_silent = (
            isinstance(error, ModelUnavailable) and error.usage is None and not error.unreachable
        )
        is_too_much = is_silent or isinstance(error, ContextTooLong)
        if is_too_much:
            self._call_tokens = max(LEAST_TOKENS, self._call_tokens // 2)
        was_crowded = is_silent and slot.limit.busy > 1
        if is_silent:
            slot.note_overload()
        is_single = len(passages) == 1
        if isinstance(error, ModelUnavailable) and (is_single or not is_too_much):
            run.unanswered += 1
        elif not isinstance(error, ModelUnavailable):
            run.unanswered = 0
        if run.unanswered >= _GONE_AFTER:
            run.stopped = error
            run.reasons.setdefault(error.code, error)
        errors = dict[int, SextantError]()
        if not is_single:
            run.queue.ask_again(passages, parts=2)
        elif was_crowded and run.may_repeat(passages):
            run.queue.ask_again(passages)
        else:
            errors[0] = error
        return run.end_call(PassagesOutcome(passages, usage, errors=errors))

    async def _find(
        self, shown: Sequence[Shown], prompt: Messages
    ) -> tuple[dict[int, ModelExtraction], Usage]:
        """Return the extractions by the index of the passage shown; passages that the model leaves out are absent."""
        reply, usage = await self._ask(shown, prompt)
        found = assign_extractions(reply, len(shown), is_cut=usage.truncated)
        for _ in range(self._settings.extraction.gleaning if found else 0):
            read = [shown[at] for at in found]
            try:
                reply, cost = await self._ask(
                    read, gleaning_prompt(read, self._types, found.values())
                )
            except ModelOutputInvalid as error:  # keep the first extraction
                return found, _plus(usage, error.usage)
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
        return found, usage

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

    async def _store_outcome(self, run: ExtractionRun, outcome: PassagesOutcome) -> None:
        """Store the extractions, and that the passages are done or failed."""
        usage = outcome.usage  # stored with the first passage, since only the sum is read
        async with run.storing, self._record.writing(run.scope, bare=False) as writer:
            read = [_read_passage(passage) for passage in outcome.passages]
            await writer.add(model_evidence(run.scope, read, outcome.found, self._types))
            for at in (*outcome.found, *outcome.errors):
                chunk_id, error = outcome.passages[at].id, outcome.errors.get(at)
                if error is None:
                    await note_done(writer, chunk_id, usage, PROMPT_VERSION)
                else:
                    run.reasons.setdefault(error.code, error)
                    await note_failed(writer, chunk_id, usage, PROMPT_VERSION, error)
                usage = Usage()
        run.failed += len(outcome.errors)
        run.done += len(outcome.found)
        run.on_progress(run.done + run.failed, run.total)

    def _warnings(self, run: ExtractionRun, left: int) -> list[CodedWarning]:
        reasons = map(describe_reason, run.reasons.values())
        warnings = [CodedWarning(WarningCode.CAUSE, {"reason": reason}) for reason in reasons]
        passages = {"passages": count(left, "passage")}
        if run.budget.exhausted and left:
            warnings.append(CodedWarning(WarningCode.EXTRACTION_OVER_BUDGET, passages))
        elif run.stopped is not None:
            warnings.append(CodedWarning(WarningCode.EXTRACTION_STOPPED, passages))
        return warnings


async def estimate_extraction(database: Database, scope: Scope, settings: Settings) -> CostEstimate:
    """Estimate the cost of `ModelExtractor.extract`, failed passages included; nothing is sent."""
    types = entity_types(settings.extraction.entity_types)
    number, usage = 0, Usage()
    waiting = ExtractionStore(database).waiting(scope, attempts=_MANY_ATTEMPTS)
    async with aclosing(waiting) as found:
        queue = PassageQueue(found)
        while passages := await queue.take(CALL_TOKENS):
            number += len(passages)
            shown = join_small(passages)
            usage += estimate_extraction_call(shown, extraction_prompt(shown, types), settings)
    return CostEstimate(
        number,
        usage.prompt_tokens,
        usage.completion_tokens,
        cost_of(usage, settings.extraction),
    )


def _read_passage(passage: PendingChunk) -> ReadPassage:
    heading = "\n".join([passage.document_title, *passage.section_path])
    return ReadPassage(passage.id, passage.text, heading)


def _plus(usage: Usage, more: Usage | None) -> Usage:
    """Return the sum of two usages, with `truncated` of the first."""
    return replace(usage + (more or Usage()), truncated=usage.truncated)


def _difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.calls - before.calls,
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
        after.estimated,
    )
