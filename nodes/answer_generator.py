"""Writes an answer from passages with a chat model, and cites them (seed 002, 答案生成)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import cast

from langchain_core.language_models import BaseChatModel

import prompts
from domain.answers import Answer, Usage
from domain.events import Cited, Done, Sources, Token
from domain.text import clean_text, language_of
from models.chat import ChatModel, as_chat_model
from nodes.citations import Citations
from nodes.citing import CitedText
from nodes.passages import ContextLike, Layout, as_items, laid_out, numbered
from prompts import Messages
from retrievers.sync import run_sync

AnswerEvent = Token | Cited | Sources | Done

NOTHING_FOUND = {
    "en": "The documents do not say.",
    "zh": "文档中没有提到。",
}


class AnswerGenerator:
    """Answers questions from given passages, in the question's language, with citations.

    Args:
        llm: a LangChain chat model, or a `ChatModel`.
        context_tokens: how much of passages and graph goes into the prompt (estimated tokens).
    """

    def __init__(self, llm: BaseChatModel | ChatModel, *, context_tokens: int = 6000) -> None:
        self._chat = as_chat_model(llm)
        self._context_tokens = context_tokens

    def generate(self, query: str, context: ContextLike) -> Answer:
        """Answer `query` from `context`; blocks, and works inside a running event loop too.

        Raises:
            ModelUnavailable, ModelOutputInvalid: the model gave no answer.
        """
        return run_sync(lambda: self.agenerate(query, context))

    async def agenerate(self, query: str, context: ContextLike) -> Answer:
        """Answer `query` from `context`, as `generate` does, without blocking the event loop."""
        async for event in self.astream(query, context):
            if isinstance(event, Done):
                return event.answer
        raise AssertionError("a stream of answer events ends with Done")

    async def astream(
        self,
        query: str,
        context: ContextLike,
        *,
        language: str | None = None,
        history: str = "",
    ) -> AsyncGenerator[AnswerEvent]:
        """Answer `query` from `context` while the model writes.

        Yields:
            `Token` pieces of the answer, `Cited` after each finished sentence, then `Sources`, and
            `Done` with the whole answer, which is the same text.

        Raises:
            ModelUnavailable, ModelOutputInvalid: the model gave no answer, or broke off.
        """
        language = language or language_of(query)
        layout = laid_out(as_items(context), self._context_tokens)
        if not layout.passages:
            for event in said(NOTHING_FOUND[language], self._chat.name):
                yield event
            return
        async with aclosing(self.laid_out(query, layout, language, history)) as events:
            async for event in events:
                yield event

    def laid_out(
        self, query: str, layout: Layout, language: str, history: str = "", knowledge: str = ""
    ) -> AsyncGenerator[AnswerEvent]:
        """Answer from what is laid out already; `knowledge` stands in for the layout's own."""
        messages = prompts.GENERATE.messages(
            language,
            question=clean_text(query),
            passages=numbered(layout.passages),
            knowledge=knowledge or layout.knowledge,
            history=history,
        )
        return written(self._chat, messages, CitedText(layout.passages))


async def written(
    chat: ChatModel, messages: Messages, answer: CitedText
) -> AsyncGenerator[AnswerEvent]:
    """Yield what `chat` writes as `answer` makes it, up to and with `Done`."""
    usage = Usage()
    stream = cast("AsyncGenerator[str | Usage]", chat.stream(messages))
    async with aclosing(stream) as pieces:
        async for piece in pieces:
            if isinstance(piece, Usage):
                usage += piece
            else:
                for event in answer.feed(piece):
                    yield event
    for event in answer.finish():
        yield event
    for last in ending(answer.given, chat.name, grounded=answer.grounded, usage=usage):
        yield last


def ending(
    given: Citations, model: str, *, grounded: bool, usage: Usage | None = None
) -> Iterator[Sources | Done]:
    """Yield the sources of what was given out, then the whole of it."""
    whole = Answer(
        answer=given.text,
        mode="",
        citations=tuple(given.citations),
        sources=given.sources,
        grounded=grounded,
        model=model,
        usage=usage or Usage(),
    )
    yield Sources(whole.sources)
    yield Done(whole)


def said(sentence: str, model: str) -> Iterator[AnswerEvent]:
    """Yield a fixed sentence as an answer."""
    yield Token(sentence)
    yield Sources(())
    yield Done(Answer(sentence, mode="", model=model))
