"""generate: write the answer, and stream it sentence by sentence with its citations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from math import ceil
from typing import Any

from langgraph.runtime import Runtime

from sextant import prompts
from sextant.domain.answers import Answer, Done, Reset, Usage, as_values
from sextant.domain.errors import (
    DependencyError,
    ModelOutputInvalid,
    ModelUnavailable,
    describe_reason,
)
from sextant.domain.retrieval import Mode, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, word_warnings
from sextant.models.chat.chat_model import ChatModel
from sextant.nodes.answers.answer_generator import AnswerGenerator
from sextant.nodes.answers.computed import (
    ComputedTable,
    compute_query,
    compute_tables,
    names_column_of,
    read_tables,
    with_computed,
)
from sextant.nodes.answers.model_answer import Writing, write_answer
from sextant.nodes.answers.passages import lay_out_passages
from sextant.nodes.answers.quotations import AnswerEvent, introduction, yield_fixed_answer
from sextant.nodes.answers.report_answers import ReportReader, map_reports
from sextant.nodes.answers.revision import Review
from sextant.nodes.answers.without_model import WithoutModel, asks_of_whole, read_openings
from sextant.nodes.budget import (
    LEAST_CONTEXT,
    SLOWED,
    AnswerBudget,
    budget_of,
    judging_budget,
    limit_warning,
    merge_warnings,
    passage_tokens,
    seconds_too_slow,
    tokens_in_context,
    tokens_in_time,
    tokens_until_end,
    usage_of,
    wanted_passage_tokens,
)
from sextant.nodes.citing.attached import attachment_items
from sextant.nodes.citing.checker import checks_of
from sextant.nodes.citing.support import headings
from sextant.nodes.context import RunContext, scope_of, wait_for_reader
from sextant.nodes.decisions import settle_before_answer
from sextant.nodes.judgements import failure_reason, judged_by_rule
from sextant.nodes.multimodal.attachments import attachments_of
from sextant.nodes.question.conversation import AnswerMessages, closing
from sextant.nodes.state import State, reports_of
from sextant.nodes.table_query import ask_for_query
from sextant.tables.query.parsing import asks_computation
from sextant.text.characters import estimate_tokens

NO_MODEL_NAME = "none"

_OF_WHOLE_TABLES = frozenset({"documentIds", "document_ids", "sectionId", "section_id"})
# Images and tables of a question get at most half of the context.
_ATTACHED_SHARE = 1 / 2


async def generate(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the answer, and stream its tokens, citations and sources.

    Raises:
        GraphInterrupt: a person is to approve sources or cost, before anything is written.
        ModelUnavailable, ModelOutputInvalid: the chat model failed, and there are no documents to quote instead.
    """
    run, scope, decided = runtime.context, scope_of(state, runtime), list[CodedWarning]()
    if state.may_ask:
        state, run, decided = settle_before_answer(state, run)
    writer = await open_writer(state, run, scope, decided)
    state = writer.state
    answer, messages = Answer("", mode=state.strategy), AnswerMessages(state)
    async with aclosing(writer.events()) as events:
        async for event in events:
            if isinstance(event, Done):
                answer = event.answer
            else:
                await wait_for_reader()
                runtime.stream_writer(as_values(event))
                messages.add(event)
    before = (warning for warning in state.coded_warnings if warning not in writer.implied)
    coded_warnings = merge_warnings(before, *writer.warnings, *answer.coded_warnings)
    usage = asdict(usage_of(state) + answer.usage + writer.lost)
    return finish_turn(state, run, answer, coded_warnings, messages) | {"usage": usage}


def finish_turn(
    state: State,
    run: RunContext,
    answer: Answer,
    coded_warnings: list[dict[str, Any]],
    messages: AnswerMessages,
) -> dict[str, Any]:
    """Return the state update that ends a turn: the answer, without the passages that it was made from."""
    known = map(CodedWarning.from_json, coded_warnings)
    warnings = word_warnings(known, state.language, effort=state.chosen_effort)
    most = run.deps.settings.conversations.turns
    return {
        "answer": answer.answer,
        "messages": closing(state, answer, warnings, most, messages),
        "mode": state.strategy,
        "effort": state.chosen_effort,
        "citations": [asdict(citation) for citation in answer.citations],
        "sources": [asdict(source) for source in answer.sources],
        "trust": answer.trust.value,
        "grounded": answer.grounded,
        "declined": answer.declined,
        "model": answer.model,
        "prompt": answer.prompt,
        "warnings": list(warnings),
        "coded_warnings": coded_warnings,
        # A checkpoint of a finished turn holds no texts of documents, which may be deleted.
        "before": [],
        "attachments": [],
        "items": [],
        "graph_items": [],
        "set_aside": [],
    }


async def open_writer(
    state: State, run: RunContext, scope: Scope, warnings: Sequence[CodedWarning] = ()
) -> AnswerWriter:
    """Prepare the answer: read attachments, compute over tables, open documents that are asked about as a whole.

    Returns:
        The writer of the answer; its state holds what the preparation cost.
    """
    attached = await _read_attachments(state, run)
    tables, unread, costs = await _compute_found_tables(state, run, scope)
    state = replace(state, **costs)
    if state.strategy != Mode.BYPASS and not (attached or tables) and asks_of_whole(state.question):
        state = await _with_openings(state, run, scope)
    return AnswerWriter(state, run, scope, attached, tables, [*warnings, *unread])


async def _with_openings(state: State, run: RunContext, scope: Scope) -> State:
    """Return the state with the opening passages of the documents before the others, where there are few documents."""
    try:
        openings = await read_openings(state, run.deps, scope)
    except DependencyError:  # the passages found are enough
        return state
    known = {item.id for item in openings}
    others = [item for item in state.items if item.id not in known]
    return replace(state, items=[*openings, *others])


async def _read_attachments(state: State, run: RunContext) -> list[RetrievedItem]:
    """Return attachments as passages; in a thread, since a large table takes a while."""
    if not state.attachments:
        return []
    tokens = int(run.deps.settings.limits.context_tokens * _ATTACHED_SHARE)
    return await asyncio.to_thread(attachment_items, attachments_of(state), state.language, tokens)


async def _compute_found_tables(
    state: State, run: RunContext, scope: Scope
) -> tuple[list[ComputedTable], list[CodedWarning], dict[str, Any]]:
    """Compute what the question asks of tables that were found.

    Where the grammars do not understand the computation, the chat model may. Tables are left alone under filters other
    than those of documents and sections, since such filters may hide some of their rows.

    Returns:
        The results, warnings about tables that could not be read, and the state update with the model's costs.
    """
    tables = run.deps.tables
    bounded = not _OF_WHOLE_TABLES.issuperset(state.filters or ())
    has_rows = any(item.is_table for item in state.items)
    if tables is None or bounded or state.strategy == Mode.BYPASS or not has_rows:
        return [], [], {}
    parts = partial(tables.parts, scope)
    try:
        found = await read_tables(state.question, state.items, parts)
    except DependencyError as error:
        reason = {"reason": describe_reason(error)}
        return [], [CodedWarning(WarningCode.TABLES_NOT_COMPUTED, reason)], {}
    computed = await asyncio.to_thread(compute_tables, state.question, found, state.language)
    may_ask = found and asks_computation(state.question)
    if computed or not may_ask or not names_column_of(state.question, found[0]):
        return computed, [], {}
    item, stored = found[0]
    query, costs = await ask_for_query(state, run, stored.table, headings(item))
    if query is not None:
        computed = await asyncio.to_thread(compute_query, query, found[0], state.language)
    return computed, [], costs


def _quoted(reason: dict[str, Any]) -> CodedWarning:
    """Return the warning that documents are quoted because the chat model failed."""
    return CodedWarning(WarningCode.QUOTED_WITHOUT_MODEL, {"reason": reason})


@dataclass(slots=True)
class AnswerWriter:
    """Writes the answer to one question: by the chat model, or by quotations where that is not possible.

    Attributes:
        state: the question and the passages.
        run: the choices of this run, and the dependencies.
        scope: whose knowledge base.
        attached: attachments of the question, as passages.
        tables: what was computed over tables.
        warnings: warnings beside those of the answer itself.
        lost: the cost of a call that gave no answer.
        implied: earlier warnings that `warnings` make superfluous.
        prompt: the task of the chat model.
        failure: why the chat model need not be asked again; empty: it may be.
    """

    state: State
    run: RunContext
    scope: Scope
    attached: list[RetrievedItem]
    tables: list[ComputedTable]
    warnings: list[CodedWarning]
    lost: Usage = field(default_factory=Usage)
    implied: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    prompt: prompts.Prompt = prompts.GENERATE
    failure: dict[str, Any] = field(default_factory=dict[str, Any])

    def events(self) -> AsyncGenerator[AnswerEvent]:
        """Yield the events of the answer; the last is `Done`."""
        if self.state.strategy == Mode.BYPASS and not self.attached:
            return self._directly()
        if self.run.deps.chat is None or not (self.state.items or self.attached):
            return self._without_model.events()
        if self.state.unreachable:
            return self._instead_of_model(self.state.unreachable)
        if lacking := self._budget.lacks():
            limits = self.run.deps.settings.limits
            self.warnings.append(limit_warning(lacking, limits))
            return self._without_model.events()
        if seconds := seconds_too_slow(self.state, self.run):
            slow = CodedWarning(WarningCode.TOO_SLOW_TO_ANSWER, {"seconds": ceil(seconds)})
            self.warnings.append(slow)
            self._imply(failure_reason(TimeoutError()))
            return self._without_model.events()
        return self._written(self.run.deps.chat)

    @property
    def _budget(self) -> AnswerBudget:
        return budget_of(self.state, self.run)

    @property
    def _without_model(self) -> WithoutModel:
        return WithoutModel(
            self.state, self.run.deps, self.scope, self.attached, self.tables, self.warnings
        )

    async def _directly(self) -> AsyncGenerator[AnswerEvent]:
        """Answer without documents: by the chat model, or by a fixed sentence where there is none."""
        chat, state = self.run.deps.chat, self.state
        if chat is None:
            introduction_text = await introduction(
                state.language, self.scope, self.run.deps.documents
            )
            for event in yield_fixed_answer(introduction_text, NO_MODEL_NAME):
                yield event
            return
        self.warnings.append(CodedWarning(WarningCode.NO_DOCUMENTS_USED))
        if state.strategy == Mode.BYPASS and state.chosen_effort == "high":
            self.warnings.append(CodedWarning(WarningCode.EFFORT_UNUSED))
        messages = prompts.BYPASS.messages(
            state.language,
            question=prompts.as_data(state.question),
            history=prompts.format_turns(state.before),
        )
        prompt = prompts.BYPASS.version(state.language)
        writing = Writing(chat, messages, prompt, self._budget)
        async with aclosing(
            write_answer(writing, Review(state.question, [], state.language))
        ) as events:
            async for event in events:
                yield event

    async def _written(self, chat: ChatModel) -> AsyncGenerator[AnswerEvent]:
        """Answer by the chat model; quote the documents when it fails."""
        begun = False
        try:
            async with aclosing(self._writing(chat)) as events:
                async for event in events:
                    begun = not isinstance(event, Reset)
                    yield event
        except (ModelUnavailable, ModelOutputInvalid) as error:
            reason = failure_reason(error)
            if begun:
                yield Reset(_quoted(reason).in_language(self.state.language))
            self.lost = error.usage or Usage(calls=1)
            self.failure = reason if isinstance(error, ModelUnavailable) else {}
            async for event in self._instead_of_model(reason):
                yield event

    async def _instead_of_model(self, reason: dict[str, Any]) -> AsyncGenerator[AnswerEvent]:
        """Quote the documents because the model failed."""
        self.warnings.append(_quoted(reason))
        self._imply(reason)
        async for event in self._without_model.events():
            yield event

    def _imply(self, reason: dict[str, Any]) -> None:
        """Mark the warnings that say the same of judgements as the quotation says of the answer."""
        self.implied = [judged_by_rule(reason).to_json()]
        if reason == failure_reason(TimeoutError()):
            fewer = WarningCode.CONTEXT_SHORTENED_FOR_TIME
            self.warnings[:] = [warning for warning in self.warnings if warning.code != fewer]
            too_slow = WarningCode.TOO_SLOW_TO_JUDGE
            known = self.state.coded_warnings
            self.implied += [warning for warning in known if warning["code"] == too_slow]

    def _warn_of_less_context(self, tokens: int, brought: int) -> None:
        """Warn where passages are left out because they exceed the model's context, or its time."""
        state, run = self.state, self.run
        wanted = brought + wanted_passage_tokens(state, run)
        there = brought + sum(estimate_tokens(item.text) for item in state.items)
        if tokens >= min(wanted, there):
            return
        chat, in_time = run.deps.chat, tokens_in_time(state, run, wanted)
        if chat is not None and chat.context and tokens_in_context(state, run) <= tokens:
            code = WarningCode.CONTEXT_CUT if chat.context.is_cut else WarningCode.CONTEXT_SHORTENED
            known = {"tokens": chat.context.tokens} if chat.context.is_cut else {}
            self.warnings.append(CodedWarning(code, known))
        elif chat is not None and in_time < int(SLOWED * wanted):
            ends_late = tokens_until_end(state, run, chat.speed) <= in_time
            limit = "ANSWER_SECONDS" if ends_late else "FIRST_WORDS_SECONDS"
            params = {"rate": round(chat.speed.prompt), "limit": limit}
            self.warnings.append(CodedWarning(WarningCode.CONTEXT_SHORTENED_FOR_TIME, params))

    def _writing(self, chat: ChatModel) -> AsyncGenerator[AnswerEvent]:
        """Write from all passages at once; where reports are answered from, calls of their own note points first."""
        state, limits, budget = self.state, self.run.deps.settings.limits, self._budget
        calls = min(limits.report_calls, budget.calls - 1)
        seconds = 0.0 if state.by_rule else judging_budget(state, self.run).seconds
        reports = reports_of(state)
        reads = bool(reports) and calls > 0 and seconds > 0
        # A prompt to read reports by, one to write by, one to repair by.
        share = budget.prompt_tokens // (3 if reads else 2)
        items = with_computed(state.items, self.tables)
        brought = lay_out_passages(state.question, self.attached, limits.context_tokens).tokens
        needed = brought + passage_tokens(state, self.run)
        in_context = tokens_in_context(state, self.run)
        tokens = max(LEAST_CONTEXT, min(limits.context_tokens, share, needed, in_context))
        found = [*self.attached, *items, *state.graph_items]
        self._warn_of_less_context(tokens, brought)

        def writer(usage: Usage) -> AnswerGenerator:
            return AnswerGenerator(
                chat,
                context_tokens=tokens,
                checks=checks_of(self.run.deps, self.scope),
                instead=self._without_model.answer,
                repair=self.run.deps.settings.answers.repair and self.run.choices.repair,
                budget=self._budget.after(usage),
                prompt=self.prompt,
            )

        if reads:
            reading = ReportReader(chat, calls, seconds, tokens, state.language)
            return map_reports(writer, state.question, found, reading, self.warnings)
        return writer(Usage()).astream(
            state.question, found, language=state.language, history=state.before
        )
