"""Entities and relations by a chat model, several passages at a time.

Passages of a document that follow each other are read in one call (and `gleaning` more): the instructions are paid
for once, and "it" in one passage may be what another names. As many calls are under way as the endpoint takes. What
comes back is stored together with the note that the passages are done, so a process that is killed repeats only
the calls under way. What an answer leaves out is asked for again. Where a call fails, its passages are asked about
in two halves; a passage that fails alone keeps the reason and is tried again by the next run. The offline evidence
of a document is in the graph before this begins, and stays whatever happens here.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
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
from sextant.domain.warnings import CodedWarning, Warned, WarningCode, count
from sextant.ingestion.graph.extraction.cost import (
    CostBudget,
    CostEstimate,
    answer_limit,
    cost_of,
    estimate_call,
    most_found,
    most_of_passage,
)
from sextant.ingestion.graph.extraction.model_evidence import (
    TOGETHER,
    ModelExtraction,
    ModelExtractions,
    ReadPassage,
    assign_extractions,
    entity_types,
    extractions_of,
    model_evidence,
)
from sextant.ingestion.progress import OnCount, silent
from sextant.models.chat.concurrency import AdaptiveLimit, Slot
from sextant.models.chat.structured import instruction
from sextant.prompts import EXTRACT, GLEAN, Messages, as_data, number_texts
from sextant.stores.graph.extraction import ExtractionStore, PendingChunk, note_done, note_failed
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.text.characters import estimate_tokens, language_of

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel  # brings LangChain, half a second


PROMPT_VERSION = EXTRACT.wordings["en"].version
# So many calls in a row that get no answer at all: the endpoint is gone, and others wait for it.
_GONE_AFTER = 3
_MANY_ATTEMPTS = 1000
# Of the passages in one call. Longer ones are read less closely: fewer relations of each passage are found.
CALL_TOKENS = 1200
_LEAST_TOKENS = 150  # of a call to an endpoint that is too slow for more


@dataclass(frozen=True, slots=True)
class ExtractionReport(Warned):
    """What one run did: passages read, failed and left; `warnings` say why and what to do."""

    done: int
    failed: int
    left: int
    usage: Usage
    cost: float | None


@dataclass(slots=True)
class _PassageQueue:
    """The passages of a run, some at a time: first those that wait, then those that are asked about again."""

    waiting: AsyncGenerator[PendingChunk]
    again: deque[Sequence[PendingChunk]] = field(default_factory=deque[Sequence[PendingChunk]])
    _next: PendingChunk | None = None
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self, tokens: int) -> Sequence[PendingChunk]:
        """Return passages of one document in their order, of so many tokens together, or one; () for none.

        One that failed before is alone, so that nothing else fails with it.
        """
        async with self._taking:
            group, size = list[PendingChunk](), 0
            while (passage := self._next or await anext(self.waiting, None)) is not None:
                self._next = passage
                size += estimate_tokens(passage.text)
                if group and not (size <= tokens and _goes_with(group, passage)):
                    return group
                group.append(passage)
                self._next = None
            return group or (self.again.popleft() if self.again else ())

    def ask_again(self, passages: Sequence[PendingChunk], parts: int = 1) -> None:
        """Put passages at the end, in so many calls."""
        size = -(-len(passages) // parts)
        self.again.extend(passages[at : at + size] for at in range(0, len(passages), size))


def _goes_with(group: Sequence[PendingChunk], passage: PendingChunk) -> bool:
    first = group[0]
    is_near = first.document_id == passage.document_id and len(group) < TOGETHER
    return is_near and not (first.attempts or passage.attempts)


@dataclass(frozen=True, slots=True)
class _PassagesOutcome:
    """What came of passages that were read together: by their index what was found, or why nothing was."""

    passages: Sequence[PendingChunk]
    usage: Usage
    found: Mapping[int, ModelExtraction] = field(default_factory=dict[int, ModelExtraction])
    errors: Mapping[int, SextantError] = field(default_factory=dict[int, SextantError])


@dataclass(slots=True)
class _ExtractionRun:
    """One run: once `stopped` is set, calls under way end and no new one begins."""

    scope: Scope
    budget: CostBudget
    total: int
    on_progress: OnCount
    queue: _PassageQueue
    outcomes: asyncio.Queue[_PassagesOutcome | None] = field(default_factory=asyncio.Queue)
    done: int = 0
    failed: int = 0
    unanswered: int = 0
    stopped: SextantError | None = None
    reasons: dict[str, SextantError] = field(default_factory=dict)
    repeated: set[UUID] = field(default_factory=set[UUID])  # passages that get no further chance
    unnoted: Usage = field(default_factory=Usage)  # of calls that no passage stands for

    def may_repeat(self, passages: Sequence[PendingChunk]) -> bool:
        """Return whether passages may be asked about once more, the first time they are."""
        is_new = self.repeated.isdisjoint(passage.id for passage in passages)
        self.repeated.update(passage.id for passage in passages)
        return is_new


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
        usage_before = budget.spent
        attempts = self._settings.extraction.attempts
        async with aclosing(
            self._store.waiting(scope, document_id=document_id, attempts=attempts)
        ) as passages:
            run = _ExtractionRun(
                scope, budget, total, on_progress or silent, _PassageQueue(passages)
            )
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

    async def _read_all(self, run: _ExtractionRun) -> None:
        async def read() -> None:
            while run.stopped is None:
                async with self._limit.slot() as slot:
                    passages = await run.queue.take(self._call_tokens)
                    if not passages or not await self._read(run, slot, passages):
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

    async def _read(
        self, run: _ExtractionRun, slot: Slot, passages: Sequence[PendingChunk]
    ) -> bool:
        """Read passages and hand the outcome on; False when the budget does not allow it."""
        prompt = _prompt(passages, self._types)
        need = _estimate(passages, prompt, self._settings)
        if not run.budget.reserve(need):
            return False
        usage, began = Usage(), time.monotonic()
        found: dict[int, ModelExtraction] = {}
        error: SextantError | None = None
        try:
            found, usage = await self._found(passages, prompt)
        except SextantError as failed:
            # Answers that did not fit are paid for all the same, refusals are not. Where nobody can
            # tell, the prompt was sent at least.
            error = failed
            used = error.usage if isinstance(error, ModelOutputInvalid | ModelUnavailable) else None
            usage = used or Usage(1, need.prompt_tokens, 0, estimated=True)
        finally:
            run.budget.settle(need, usage)
        if error is None:
            slot.note_answer(time.monotonic() - began, usage)
            self._adapt_size(time.monotonic() - began)
            self._take_found(run, passages, found, usage)
        else:
            self._take_error(run, slot, passages, error, usage)
        return True

    def _adapt_size(self, seconds: float) -> None:
        """Let calls become longer again, up to the usual length, where there is time for it."""
        if seconds < self._settings.model_timeout / 4:
            self._call_tokens = min(CALL_TOKENS, 2 * self._call_tokens)

    def _take_found(
        self,
        run: _ExtractionRun,
        passages: Sequence[PendingChunk],
        found: Mapping[int, ModelExtraction],
        usage: Usage,
    ) -> None:
        """Hand on what was found; what an answer leaves out is asked for again, once where it was not cut off."""
        run.unanswered = 0
        missing = {at: one for at, one in enumerate(passages) if at not in found}
        left_out = list(missing.values())
        errors: dict[int, SextantError] = {}
        if missing and ((found and usage.truncated) or run.may_repeat(left_out)):
            run.queue.ask_again(left_out)
        elif missing:
            errors = dict.fromkeys(missing, _left_out(usage))
        self._hand_on(run, _PassagesOutcome(passages, usage, found, errors))

    def _take_error(
        self,
        run: _ExtractionRun,
        slot: Slot,
        passages: Sequence[PendingChunk],
        error: SextantError,
        usage: Usage,
    ) -> None:
        """Ask again about half as many, for one may be at fault or they are too long; one alone has failed."""
        is_silent = (
            isinstance(error, ModelUnavailable) and error.usage is None and not error.unreachable
        )
        is_too_much = is_silent or isinstance(error, ContextTooLong)
        if is_too_much:
            self._call_tokens = max(_LEAST_TOKENS, self._call_tokens // 2)
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
        if not is_single:
            run.queue.ask_again(passages, parts=2)
            self._hand_on(run, _PassagesOutcome(passages, usage))
        elif was_crowded and run.may_repeat(passages):
            run.queue.ask_again(passages)
            self._hand_on(run, _PassagesOutcome(passages, usage))
        else:
            self._hand_on(run, _PassagesOutcome(passages, usage, errors={0: error}))
        if run.stopped is not None:
            run.reasons.setdefault(error.code, error)

    def _hand_on(self, run: _ExtractionRun, outcome: _PassagesOutcome) -> None:
        """Have the outcome stored; of a call that nothing came of, what it took is noted with the next."""
        if outcome.found or outcome.errors:
            outcome = replace(outcome, usage=outcome.usage + run.unnoted)
            run.unnoted = Usage()
            run.outcomes.put_nowait(outcome)
        else:
            run.unnoted += outcome.usage

    async def _found(
        self, passages: Sequence[PendingChunk], prompt: Messages
    ) -> tuple[dict[int, ModelExtraction], Usage]:
        """Return what the model finds in passages, by their index; those that it leaves out are absent."""
        reply, usage = await self._ask(passages, prompt)
        found = assign_extractions(reply, len(passages), is_cut=usage.truncated)
        for _ in range(self._settings.extraction.gleaning if found else 0):
            read = [passages[at] for at in found]
            try:
                reply, cost = await self._ask(read, _gleaning(read, self._types, found.values()))
            except ModelOutputInvalid as error:  # what was found before stands
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
        self, passages: Sequence[PendingChunk], prompt: Messages
    ) -> tuple[ModelExtractions, Usage]:
        """Return the answer to a prompt; several passages are halved instead of repaired, which costs less."""
        tokens = sum(estimate_tokens(passage.text) for passage in passages)
        number = len(passages)
        return await self._chat.structured(
            prompt,
            extractions_of(self._types, number, most_of_passage(tokens, number)),
            repair=number == 1,
            patient=False,
            answer_tokens=answer_limit(tokens, number, self._settings),
        )

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

    async def _store_outcomes(self, run: _ExtractionRun, batch: list[_PassagesOutcome]) -> None:
        async with self._record.writing(run.scope, bare=False) as writer:
            for outcome in batch:
                read = [_read_passage(passage) for passage in outcome.passages]
                await writer.add(model_evidence(run.scope, read, outcome.found, self._types))
                noted = [*outcome.found, *outcome.errors]
                for at, usage in zip(noted, _shares(outcome.usage, len(noted)), strict=True):
                    chunk_id, error = outcome.passages[at].id, outcome.errors.get(at)
                    if error is None:
                        await note_done(writer, chunk_id, usage, PROMPT_VERSION)
                    else:
                        run.reasons.setdefault(error.code, error)
                        await note_failed(writer, chunk_id, usage, PROMPT_VERSION, error)
        run.failed += sum(len(outcome.errors) for outcome in batch)
        run.done += sum(len(outcome.found) for outcome in batch)
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
    number, usage = 0, Usage()
    waiting = ExtractionStore(database).waiting(scope, attempts=_MANY_ATTEMPTS)
    async with aclosing(waiting) as found:
        queue = _PassageQueue(found)
        while passages := await queue.take(CALL_TOKENS):
            number += len(passages)
            usage += _estimate(passages, _prompt(passages, types), settings)
    return CostEstimate(
        number,
        usage.prompt_tokens,
        usage.completion_tokens,
        cost_of(usage, settings.extraction),
    )


def _estimate(passages: Sequence[PendingChunk], prompt: Messages, settings: Settings) -> Usage:
    sent = "\n".join(
        [*(text for _, text in prompt), instruction(ModelExtractions, with_schema=False)]
    )
    return estimate_call(sent, [passage.text for passage in passages], settings)


def _prompt(passages: Sequence[PendingChunk], types: Sequence[str]) -> Messages:
    tokens = sum(estimate_tokens(passage.text) for passage in passages)
    values = _values(passages, types) | {"most": str(most_found(tokens))}
    for example in ("person", "organization"):
        # Of the types that the example would have, those that are not asked for.
        values[example] = next((one for one in types if one.casefold() == example), "…")
    return EXTRACT.messages(_language(passages), **values)


def _gleaning(
    passages: Sequence[PendingChunk], types: Sequence[str], found: Iterable[ModelExtraction]
) -> Messages:
    names = "\n".join(f"[{number}] {_items_of(one)}" for number, one in enumerate(found, 1))
    values = _values(passages, types) | {"found": names}
    return GLEAN.messages(_language(passages), **values)


def _items_of(found: ModelExtraction) -> str:
    entities = [[one.name, one.type] for one in found.entities]
    relations = [[one.source, one.type, one.target] for one in found.relations]
    return as_data(json.dumps([*entities, *relations], ensure_ascii=False))


def _language(passages: Sequence[PendingChunk]) -> str:
    return language_of("\n".join(passage.text for passage in passages))


def _values(passages: Sequence[PendingChunk], types: Sequence[str]) -> dict[str, str]:
    """Return what the prompts show of passages; titles stand above the first of those that share them."""
    texts = list[str]()
    before: tuple[str, ...] = ()
    for passage in passages:
        path = passage.section_path
        title = " > ".join(path) if path and path != before else ""
        texts.append(f"{title}\n{passage.text}" if title else passage.text)
        before = path
    return {
        "types": ", ".join(types),
        "title": as_data(passages[0].document_title),
        "passages": number_texts(texts),
    }


def _read_passage(passage: PendingChunk) -> ReadPassage:
    heading = "\n".join([passage.document_title, *passage.section_path])
    return ReadPassage(passage.id, passage.text, heading)


def _left_out(usage: Usage) -> ModelOutputInvalid:
    error = ModelOutputInvalid(
        "The chat model left a passage out of its answer twice.",
        next_step="Run `sextant entities extract` to ask again, or choose another SEXTANT_CHAT_MODEL.",
    )
    error.usage = usage
    return error


def _plus(usage: Usage, more: Usage | None) -> Usage:
    """Return what a call and a further one have used; whether the first was cut off."""
    return replace(usage + (more or Usage()), truncated=usage.truncated)


def _shares(usage: Usage, number: int) -> Iterator[Usage]:
    """Yield what each of the passages read together has used."""
    for at in range(number):
        prompt, answer = (
            total * (at + 1) // number - total * at // number
            for total in (usage.prompt_tokens, usage.completion_tokens)
        )
        yield Usage(1, prompt, answer)


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
