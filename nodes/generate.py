"""generate: the answer, streamed sentence by sentence with its citations."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import asdict
from typing import Any

from langgraph.runtime import Runtime

import prompts
from domain.answers import Answer
from domain.errors import ModelOutputInvalid, ModelUnavailable
from domain.events import Done
from domain.retrieval import ItemKind, Mode, RetrievedItem
from models.chat import ChatModel
from nodes.answer_generator import AnswerEvent, AnswerGenerator, said, written
from nodes.asking import conversation
from nodes.citing import CitedText
from nodes.context import RunContext
from nodes.quoting import quoted
from nodes.reporting import Reading, mapped, reported
from nodes.spending import usage_of
from nodes.state import State

NO_MODEL = {
    "en": "No chat model is configured, so I can only answer from your documents. Ask about them, or "
    "set SEXTANT_CHAT_MODEL and OPENAI_BASE_URL or OPENAI_API_KEY to get direct answers.",
    "zh": "没有配置聊天模型，因此我只能根据你的文档回答。请就文档内容提问；如需直接回答，请设置 "
    "SEXTANT_CHAT_MODEL 以及 OPENAI_BASE_URL 或 OPENAI_API_KEY。",
}
WITHOUT_DOCUMENTS = "Answered without looking at any document."
MODEL_FAILED = "The chat model failed, so the answer is quoted from the documents: {reason}"
CUT_OFF = "The answer was cut off at its token limit (limits.answer_tokens)."
NO_MODEL_NAME = "none"


async def generate(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Write the answer and stream its events: tokens, citations, sources.

    Raises:
        ModelUnavailable, ModelOutputInvalid: the chat model failed, in the middle of its answer or
            where there are no documents to quote instead.
    """
    warnings = list(state.warnings)
    answer = Answer("", mode=state.strategy)
    async with aclosing(_events(state, runtime.context, warnings)) as events:
        async for event in events:
            if isinstance(event, Done):
                answer = event.answer
            else:
                runtime.stream_writer(asdict(event))
    if answer.usage.truncated:
        warnings.append(CUT_OFF)
    return {
        "answer": answer.answer,
        "mode": state.strategy,
        "citations": [asdict(citation) for citation in answer.citations],
        "sources": [asdict(source) for source in answer.sources],
        "grounded": answer.grounded,
        "model": answer.model,
        "usage": asdict(usage_of(state) + answer.usage),
        "warnings": warnings,
    }


def _events(state: State, run: RunContext, warnings: list[str]) -> AsyncGenerator[AnswerEvent]:
    if state.strategy == Mode.BYPASS:
        return _directly(state, run, warnings)
    if run.deps.chat is None or not state.items:
        return _quoted(state, run)
    return _written(state, run, run.deps.chat, warnings)


async def _quoted(state: State, run: RunContext) -> AsyncGenerator[AnswerEvent]:
    """Without a chat model: findings of reports where they were asked for, else quoted sentences."""
    answerer, items, language = run.deps.answerer, state.items, state.language
    begun = False
    if state.strategy == Mode.GLOBAL:
        async for event in reported(
            state.question, _reports(state), items, language, answerer.name
        ):
            begun = True
            yield event
    if not begun:
        async for event in quoted(answerer, state.question, items, language):
            yield event


def _reports(state: State) -> list[RetrievedItem]:
    return [item for item in state.around if item.kind is ItemKind.COMMUNITY]


async def _directly(
    state: State, run: RunContext, warnings: list[str]
) -> AsyncGenerator[AnswerEvent]:
    """Without any document: by the chat model, or a sentence that says why not."""
    chat = run.deps.chat
    if chat is None:
        for event in said(NO_MODEL[state.language], NO_MODEL_NAME):
            yield event
        return
    warnings.append(WITHOUT_DOCUMENTS)
    history = conversation(state.history, run.deps.settings.limits.history_turns)
    messages = prompts.BYPASS.messages(state.language, question=state.question, history=history)
    async with aclosing(written(chat, messages, CitedText([]))) as events:
        async for event in events:
            yield event


async def _written(
    state: State, run: RunContext, chat: ChatModel, warnings: list[str]
) -> AsyncGenerator[AnswerEvent]:
    """By the chat model; quoted from the documents when it fails before its first word."""
    begun = False
    try:
        async with aclosing(_writing(state, run, chat, warnings)) as events:
            async for event in events:
                begun = True
                yield event
    except (ModelUnavailable, ModelOutputInvalid) as error:
        if begun:
            raise
        warnings.append(MODEL_FAILED.format(reason=error.message))
        async for event in _quoted(state, run):
            yield event


def _writing(
    state: State, run: RunContext, chat: ChatModel, warnings: list[str]
) -> AsyncGenerator[AnswerEvent]:
    """From all that was found at once; in `global` from points that calls of their own took down."""
    limits, found = run.deps.settings.limits, [*state.items, *state.around]
    calls = min(limits.report_calls, limits.model_calls - usage_of(state).calls - 1)
    if state.strategy == Mode.GLOBAL and _reports(state) and calls > 0:
        reading = Reading(calls, limits.context_tokens, state.language)
        return mapped(chat, state.question, found, reading, warnings)
    writer = AnswerGenerator(chat, context_tokens=limits.context_tokens)
    history = conversation(state.history, limits.history_turns)
    return writer.astream(state.question, found, language=state.language, history=history)
