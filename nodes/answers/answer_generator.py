"""Writes an answer from passages with a chat model, and cites them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing

from langchain_core.language_models import BaseChatModel

from sextant import prompts
from sextant.domain.answers import Answer, Done
from sextant.domain.concurrency import run_sync
from sextant.domain.errors import ContextTooLong
from sextant.domain.questions import check_question
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.chat_model import ChatModel, as_chat_model
from sextant.models.chat.endpoint_memory import INSTRUCTION_TOKENS
from sextant.nodes.answers.context_items import ContextLike, as_items
from sextant.nodes.answers.model_answer import UNBOUNDED, Writing, write_answer
from sextant.nodes.answers.passages import Layout, lay_out_passages, number_passages
from sextant.nodes.answers.quotations import (
    NOTHING_FOUND,
    AnswerEvent,
    Instead,
    add_warning,
    quotations,
    yield_fixed_answer,
)
from sextant.nodes.answers.revision import Review
from sextant.nodes.budget import AnswerBudget
from sextant.nodes.citing.checker import Checks
from sextant.nodes.citing.citations import label_of
from sextant.text.analysis import language_of_question
from sextant.text.characters import clean_text

_SHORTENED = CodedWarning(WarningCode.CONTEXT_SHORTENED)


class AnswerGenerator:
    """Answers questions from given passages, in the question's language, with citations.

    Each citation is checked once its sentence is finished, and sentences that none supports are revised
    once (docs/answers.md).

    Args:
        llm: a LangChain chat model, or a `ChatModel`.
        context_tokens: how much of passages and graph goes into the prompt (estimated tokens).
        checks: checks of citations beyond the words that they share with their sentence.
        instead: answers from the passages where nothing that the model writes holds.
        repair: whether the model may revise sentences; if not, they stay and are marked.
        budget: what the answer may still cost.
        prompt: what the model is told to write, with the variables of `prompts.GENERATE`.
    """

    def __init__(
        self,
        llm: BaseChatModel | ChatModel,
        *,
        context_tokens: int = 6000,
        checks: Checks | None = None,
        instead: Instead = quotations,
        repair: bool = True,
        budget: AnswerBudget = UNBOUNDED,
        prompt: prompts.Prompt = prompts.GENERATE,
    ) -> None:
        self.chat = as_chat_model(llm)
        self._context_tokens = context_tokens
        self._checks = checks or Checks()
        self._instead = instead
        self._repair = repair
        self._budget = budget
        self._prompt = prompt

    def generate(self, query: str, context: ContextLike) -> Answer:
        """Answer `query` from `context`; blocks, and works inside a running event loop too.

        Raises:
            QuestionInvalid, OptionInvalid: the question is empty, or the context is none.
            ModelUnavailable, ModelOutputInvalid: the model gave no answer.
        """
        return run_sync(lambda: self.agenerate(query, context))

    async def agenerate(self, query: str, context: ContextLike) -> Answer:
        """Answer `query` from `context` without blocking the event loop; raises as `generate` does."""
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
        history: Sequence[Mapping[str, str]] = (),
    ) -> AsyncGenerator[AnswerEvent]:
        """Answer `query` from `context` while the model writes.

        Args:
            query: the question.
            context: passages, of which the answer may cite.
            language: of the answer; that of the question by default.
            history: turns of the conversation before it, oldest first, as `{"role", "content"}`.

        Yields:
            `Token` pieces of the answer, `Cited` after each finished sentence; where a check mended
            the text, `Reset` and the text anew; then `Sources`, and `Done` with the whole answer,
            which is the same text.

        Raises:
            QuestionInvalid, OptionInvalid: the question is empty, or the context is none.
            ModelUnavailable, ModelOutputInvalid: the model gave no answer, or one that cannot be used.
        """
        query = check_question(query)
        language = language or language_of_question(query)
        items = [item for item in as_items(context) if item.text.strip()]
        layout = lay_out_passages(query, items, self._context_tokens)
        if not layout.passages:
            for event in yield_fixed_answer(NOTHING_FOUND[language], self.chat.name, declined=True):
                yield event
            return
        shortened = False
        while True:
            try:
                async with aclosing(self.answer_layout(query, layout, language, history)) as events:
                    async for event in events:
                        yield add_warning(event, _SHORTENED, language) if shortened else event
            except ContextTooLong:  # the endpoint says so before its first word
                less = lay_out_passages(query, items, self._shorter(layout.tokens))
                if less.tokens >= layout.tokens and not history:
                    raise
                history = history[(len(history) + 1) // 2 :]
                layout, shortened = less, True
            else:
                return

    def _shorter(self, tokens: int) -> int:
        """Return the tokens to show where so many were too long: what the refusal said, else the half; tokenizers differ."""
        known = self.chat.context
        room = known.for_prompt - INSTRUCTION_TOKENS if known else 0
        return room if 0 < room < tokens else tokens // 2

    def answer_layout(
        self, query: str, layout: Layout, language: str, history: Sequence[Mapping[str, str]] = ()
    ) -> AsyncGenerator[AnswerEvent]:
        """Answer from what is laid out already."""
        question = clean_text(query)
        attached = any(map(label_of, layout.passages))
        messages = self._prompt.messages(
            language,
            has={"attached"} if attached else (),
            question=prompts.as_data(question),
            passages=number_passages(layout.passages),
            knowledge=layout.knowledge,
            history=prompts.format_turns(history),
        )
        review = Review(
            question, layout.passages, language, self._checks, self._instead, repair=self._repair
        )
        prompt = self._prompt.version(language)
        return write_answer(Writing(self.chat, messages, prompt, self._budget), review)
