"""generate: the answer, streamed sentence by sentence with its citations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

import prompts
from domain.answers import Answer, Usage
from domain.errors import DependencyError, ModelOutputInvalid, ModelUnavailable
from domain.events import Done, as_values
from domain.retrieval import ItemKind, Mode, Retrieval, RetrievedItem
from domain.text import counted
from models.chat.chat_model import ChatModel
from nodes.answers.answer_generator import AnswerGenerator
from nodes.answers.answering import AnswerEvent, said
from nodes.answers.computed import ComputedTable, computed_tables, with_computed
from nodes.answers.introducing import introduction
from nodes.answers.quoting import quoted
from nodes.answers.reporting import Reading, mapped, reported
from nodes.answers.revising import Review
from nodes.answers.summing import MOST_PASSAGES, with_whole_of_named
from nodes.answers.writing import Writing, written
from nodes.asking import BY_RULE, conversation
from nodes.citing.attached import attached_items, is_answered
from nodes.citing.checking import UNCHECKED, Checks, still_stored
from nodes.context import RunContext, scope_of
from nodes.multimodal.looking import attachments_of
from nodes.pacing import paced
from nodes.question.conversing import closing
from nodes.spending import Budget, budget_of, judging_budget, noted, reached, usage_of
from nodes.state import State

WITHOUT_DOCUMENTS = "Answered without looking at any document."
MODEL_FAILED = "The chat model failed, so the answer is quoted from the documents: {reason}"
OUTDATED = "Changed or removed after the search, and so not quoted: {passages}."
NOT_COMPUTED = "Nothing was computed over tables of the documents: {reason}"
NO_MODEL_NAME = "none"

_OF_WHOLE_TABLES = frozenset({"documentIds", "document_ids", "sectionId", "section_id"})
# However little may still be spent, an answer needs something to rest on.
_LEAST_CONTEXT = 200
# Images and tables of a question get at most a half of the context.
_ATTACHED_SHARE = 2


async def generate(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the answer and stream its events: tokens, citations, sources.

    Raises:
        ModelUnavailable, ModelOutputInvalid: the chat model failed, in the middle of its answer or
            where there are no documents to quote instead.
    """
    writer = _Writer(state, runtime, await _attached(state, runtime.context))
    await writer.compute()
    answer = Answer("", mode=state.strategy)
    async with aclosing(writer.events()) as events:
        async for event in events:
            if isinstance(event, Done):
                answer = event.answer
            else:
                await paced()
                runtime.stream_writer(as_values(event))
    before = (warning for warning in state.warnings if warning != writer.implied)
    warnings = noted(before, *writer.warnings, *answer.warnings)
    most = runtime.context.deps.settings.conversations.turns
    return {
        "answer": answer.answer,
        "messages": closing(state, answer, warnings, most),
        "mode": state.strategy,
        "citations": [asdict(citation) for citation in answer.citations],
        "sources": [asdict(source) for source in answer.sources],
        "grounded": answer.grounded,
        "declined": answer.declined,
        "model": answer.model,
        "prompt": answer.prompt,
        "usage": asdict(usage_of(state) + answer.usage + writer.lost),
        "warnings": warnings,
        # No checkpoint of a finished turn holds the texts of passages: documents may be deleted.
        "items": [],
        "around": [],
        "found_for": {},
    }


async def _attached(state: State, run: RunContext) -> list[RetrievedItem]:
    """What came with the question, where it says anything; a large table takes a while to write."""
    if not state.attachments:
        return []
    tokens = run.deps.settings.limits.context_tokens // _ATTACHED_SHARE
    return await asyncio.to_thread(attached_items, attachments_of(state), state.language, tokens)


class _Writer:
    """The way in which one question is answered.

    Attributes:
        warnings: what was not as it should be, beside those of the answer itself.
        lost: what a call that gave no answer has cost.
        implied: the earlier warning that these make superfluous.
    """

    def __init__(
        self, state: State, runtime: Runtime[RunContext], attached: list[RetrievedItem]
    ) -> None:
        self._state = state
        self._attached = attached
        self._run = runtime.context
        self._deps = runtime.context.deps
        self._scope = scope_of(state, runtime)
        self._tables = list[ComputedTable]()
        self.warnings = list[str]()
        self.lost = Usage()
        self.implied = ""

    async def compute(self) -> None:
        """Compute what the question asks of tables that were found, where all their rows may be read.

        Filters bound the passages that an answer may rest on: only those of documents and sections let
        a table through whole.
        """
        state, tables = self._state, self._deps.tables
        bounded = not _OF_WHOLE_TABLES.issuperset(state.filters or ())
        if tables is None or bounded or state.strategy == Mode.BYPASS:
            return
        try:
            self._tables = await computed_tables(
                state.question, state.items, state.language, partial(tables.parts, self._scope)
            )
        except DependencyError as error:
            self.warnings.append(NOT_COMPUTED.format(reason=error.message))

    def events(self) -> AsyncGenerator[AnswerEvent]:
        """Yield the answer, up to and with `Done`."""
        if self._state.strategy == Mode.BYPASS and not self._attached:
            return self._directly()
        if self._deps.chat is None or not (self._state.items or self._attached):
            return self._quoted()
        if self._state.unreachable:
            return self._instead_of_model(self._state.unreachable)
        if lacking := self._budget.lacks():
            self.warnings.append(reached(lacking, self._deps.settings.limits))
            return self._quoted()
        return self._written(self._deps.chat)

    @property
    def _budget(self) -> Budget:
        return budget_of(self._state, self._run)

    @property
    def _history(self) -> str:
        return conversation(self._state.history)

    @property
    def _reports(self) -> list[RetrievedItem]:
        return [item for item in self._state.around if item.kind is ItemKind.COMMUNITY]

    async def _quoted(self) -> AsyncGenerator[AnswerEvent]:
        """Without a chat model: findings of reports where they were asked for and nothing was computed, else quotations."""
        state, items = self._state, await self._current()
        async for event in self._without_model(state.question, items, state.language):
            yield event

    async def _without_model(
        self, question: str, items: Sequence[RetrievedItem], language: str
    ) -> AsyncGenerator[AnswerEvent]:
        answerer, known = self._deps.answerer, {item.id for item in items}
        tables = [table for table in self._tables if known & table.passages]
        begun = False
        computed = bool(tables) or any(map(is_answered, self._attached))
        if self._state.strategy == Mode.GLOBAL and not computed:
            async for event in reported(question, self._reports, items, language, answerer.name):
                begun = True
                yield event
        if not begun:
            async for event in quoted(answerer, question, items, language, tables):
                yield event

    async def _current(self) -> list[RetrievedItem]:
        """The passages that the stored documents still have as they were found."""
        items = await self._read()
        try:
            kept = await still_stored(self._checks.still_there, items)
        except DependencyError as error:
            self.warnings.append(UNCHECKED.format(reason=error.message))
            return [*self._attached, *items]
        if len(kept) < len(items):
            self.warnings.append(
                OUTDATED.format(passages=counted(len(items) - len(kept), "passage"))
            )
        return [*self._attached, *kept]

    async def _read(self) -> list[RetrievedItem]:
        """What was found, with the whole of a document that is to be summed up."""
        state = self._state
        try:
            return await with_whole_of_named(state.question, state.items, self._search_in)
        except DependencyError:  # what was found is enough to answer from
            return state.items

    async def _search_in(self, document: str) -> Retrieval:
        return await self._deps.retriever.search(
            self._scope,
            self._state.question,
            mode=Mode.NAIVE,
            top_k=MOST_PASSAGES,
            filters={**(self._state.filters or {}), "documentIds": [document]},
        )

    async def _directly(self) -> AsyncGenerator[AnswerEvent]:
        """Without any document: by the chat model, or a sentence that says why not."""
        chat, state = self._deps.chat, self._state
        if chat is None:
            told = await introduction(
                state.question, state.language, self._scope, self._deps.documents
            )
            for event in said(told, NO_MODEL_NAME):
                yield event
            return
        self.warnings.append(WITHOUT_DOCUMENTS)
        messages = prompts.BYPASS.messages(
            state.language,
            question=prompts.as_data(state.question),
            history=prompts.as_data(self._history),
        )
        prompt = prompts.BYPASS.version(state.language)
        writing = Writing(chat, messages, prompt, self._budget)
        async with aclosing(written(writing, Review(state.question, [], state.language))) as events:
            async for event in events:
                yield event

    async def _written(self, chat: ChatModel) -> AsyncGenerator[AnswerEvent]:
        """By the chat model; quoted from the documents when it fails before its first word."""
        begun = False
        try:
            async with aclosing(self._writing(chat)) as events:
                async for event in events:
                    begun = True
                    yield event
        except (ModelUnavailable, ModelOutputInvalid) as error:
            if begun:
                raise
            self.lost = Usage(calls=1)
            async for event in self._instead_of_model(error.message):
                yield event

    async def _instead_of_model(self, reason: str) -> AsyncGenerator[AnswerEvent]:
        """Quoted, since the model failed for this reason; which also goes for what was judged by rule."""
        self.warnings.append(MODEL_FAILED.format(reason=reason))
        self.implied = BY_RULE.format(reason=reason)
        async for event in self._quoted():
            yield event

    def _writing(self, chat: ChatModel) -> AsyncGenerator[AnswerEvent]:
        """From all that was found at once; in `global` from points that calls of their own took down."""
        state, limits, budget = self._state, self._deps.settings.limits, self._budget
        tokens = max(_LEAST_CONTEXT, min(limits.context_tokens, budget.prompt_tokens // 2))
        items = with_computed(state.items, self._tables)
        found = [*self._attached, *items, *state.around]

        def writer() -> AnswerGenerator:
            return AnswerGenerator(
                chat,
                context_tokens=tokens,
                checks=self._checks,
                instead=self._without_model,
                repair=self._deps.settings.answers.repair and self._run.choices.repair,
                budget=self._budget,
            )

        calls = min(limits.report_calls, budget.calls - 1)
        seconds = 0.0 if state.by_rule else judging_budget(state, self._run).seconds
        if state.strategy == Mode.GLOBAL and self._reports and calls > 0 and seconds > 0:
            reading = Reading(chat, calls, seconds, tokens, state.language)
            return mapped(writer, state.question, found, reading, self.warnings)
        return writer().astream(
            state.question, found, language=state.language, history=self._history
        )

    @property
    def _checks(self) -> Checks:
        quotes = self._deps.quotes
        return Checks(
            partial(quotes.still_there, self._scope) if quotes else None,
            self._deps.judge,
            self._deps.settings.answers.judge_threshold,
        )
