"""The chat model: any LangChain chat model, with retries, typed errors and token accounting."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import (
    MessageLikeRepresentation,
    convert_to_messages,
)
from langchain_core.runnables import RunnableConfig

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelOutputInvalid, ModelUnavailable, OptionInvalid
from sextant.domain.telemetry import EventOutcome, ModelCalled, emit
from sextant.models import wordings
from sextant.models.chat.call_limits import AdaptiveLimit, another_may_be_made
from sextant.models.chat.calls import NO_ANSWER, Attempts, stream_on_loop
from sextant.models.chat.dialect import Dialect, ModelRequest, SentRequest
from sextant.models.chat.endpoint_memory import ContextLimit, EndpointSpeed
from sextant.models.chat.replies import Echoes
from sextant.models.chat.structured import (
    DoesNotFit,
    ModelReply,
    collect_enums,
    instruction,
    json_schema,
    read_structured,
    repair_request,
)
from sextant.models.chat.tally import Tally
from sextant.models.failures import Service, as_sextant_error, is_silence
from sextant.models.retries import Retries
from sextant.text.characters import language_of

_log = logging.getLogger(__name__)

T = TypeVar("T", bound=ModelReply)
Messages = Sequence[MessageLikeRepresentation]

# Keeps a call's tokens out of LangGraph's `messages` stream.
_CONFIG: RunnableConfig = {"tags": ["nostream"]}
# No language of ours needs as many characters for a token, so an endpoint that says more than
# this times the limit ignores the limit.
_CHARS_PER_TOKEN = 8
# How much longer than its speed lets expect the first words of an answer are waited for.
_SLACK = 1.5
# Seconds that an endpoint gets to close its stream, having said that the answer ended.
_AFTER_END = 2.0


@dataclass(frozen=True, slots=True)
class Restart:
    """In a stream: the text so far was a thought, and the answer begins after this."""


@dataclass(frozen=True, slots=True)
class ModelCompletion:
    """A whole answer and what it cost."""

    text: str
    usage: Usage


class ChatModel:
    """A LangChain chat model as the rest of Sextant uses it.

    Transient failures (429, 5xx, no connection, silence) are tried again, never after the first
    streamed token; every other failure is raised at once as a typed error.

    Args:
        llm: the model.
        retries: how often and how patiently a failed call is repeated.
        timeout: seconds for one whole call, and for each silence within a stream.
        patience: seconds that the first words of an endpoint are waited for which is known to be slow; None: no longer.
        answer_tokens: the limit of one answer; one far longer is cut off: its endpoint ignores limits.
        json_only: only calls for JSON tell the endpoint of that limit.
        concurrency: how many answers it is asked for at a time, at most.
        service: how errors speak of the endpoint.
        on_close: called by `close`.

    Attributes:
        dialect: what its endpoint takes, and what was learnt of it.
        parallel: how many answers it is asked for at a time.
    """

    def __init__(
        self,
        llm: BaseChatModel,
        *,
        retries: Retries | None = None,
        timeout: float = 60.0,
        patience: float | None = None,
        answer_tokens: int = 2000,
        json_only: bool = False,
        concurrency: int = 8,
        service: Service | None = None,
        on_close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._llm = llm
        self._retries = retries or Retries()
        self._timeout, self._patience = timeout, patience or timeout
        self._answer_tokens = answer_tokens
        self._service = service or Service(
            f"chat model {self.name}", label_zh=f"聊天模型 {self.name}"
        )
        self.dialect = Dialect(llm, answer_tokens, json_only=json_only)
        self._on_close = on_close
        self.parallel = AdaptiveLimit(concurrency)

    @property
    def llm(self) -> BaseChatModel:
        """Return the LangChain model that is asked."""
        return self._llm

    @property
    def name(self) -> str:
        """Return the model's name as its provider knows it."""
        named = getattr(self._llm, "model_name", None) or getattr(self._llm, "model", None)
        return str(named or type(self._llm).__name__)

    @property
    def speed(self) -> EndpointSpeed:
        """Return how fast the model reads and writes, as far as this process has measured it."""
        return self.dialect.known.speed

    @property
    def context(self) -> ContextLimit | None:
        """Return how much the model takes, as far as it was measured or has said so."""
        return self.dialect.known.context

    async def complete(
        self, messages: Messages, *, answer_tokens: int | None = None
    ) -> ModelCompletion:
        """Return the model's whole answer to `messages`, of so many tokens or the usual limit.

        Raises:
            ModelUnavailable: no answer came (`ModelRejected`: none will come for this request).
            ModelOutputInvalid: the model declined, or answered nothing.
        """
        prompt = convert_to_messages(messages)
        tally = await self._whole(ModelRequest(prompt, self.dialect, answer_tokens))
        self._require_text(tally)
        return ModelCompletion(tally.text, self._report_usage(tally))

    async def structured(
        self,
        messages: Messages,
        schema: type[T],
        *,
        repair: bool = True,
        patient: bool = True,
        answer_tokens: int | None = None,
    ) -> tuple[T, Usage]:
        """Return the model's answer as an object of `schema`, read tolerantly and repaired at most once.

        The schema goes with the request where the endpoint understands that, else into the last message. Texts of
        the reply that only repeat the prompt's instructions are empty. The tokens stay out of LangGraph's message
        stream.

        Args:
            messages: the prompt.
            schema: of the reply.
            repair: whether a reply that does not fit is asked for once more, if another call is allowed.
            patient: whether a call that met with silence is repeated.
            answer_tokens: a lower limit than the usual one. A reply that it cuts off before it said anything, as of a
                model that thinks first, is asked for once more with the usual limit, which holds from then on.

        Raises:
            ModelUnavailable: as for `complete`.
            ModelOutputInvalid: the answer does not fit the schema, nor does the repaired one.
        """
        prompt = convert_to_messages(messages)
        # The first message is ours, whatever the documents speak.
        language = language_of(prompt[0].text)
        echoes = Echoes(prompt, instruction(schema, language), collect_enums(json_schema(schema)))
        limit = self.dialect.lower_limit(answer_tokens)
        asking = ModelRequest(prompt, self.dialect, limit, schema, language)
        spent, is_cut = Usage(), False
        while True:
            try:
                answer = await self._whole(asking, patient=patient)
            except ModelUnavailable as error:
                if spent.calls:
                    error.usage = spent + (error.usage or Usage())
                raise
            is_last, usage = spent.calls > 0, self._report_usage(answer)
            spent += usage
            try:
                read = read_structured(answer.text, schema, echoes.includes)
            except DoesNotFit as problem:
                is_cut = limit is not None and usage.truncated
                if is_last or not ((repair or is_cut) and another_may_be_made()):
                    raise self._unfit(problem, spent) from problem
                if is_cut:
                    asking = replace(asking, answer_tokens=None)
                    continue
                _log.info("%s: asked to repair its output: %s", self._service.label, problem)
                asking = replace(asking, repair=repair_request(answer.text, problem, language))
            else:
                self.dialect.known.needs_room |= is_cut
                return read, replace(spent, truncated=usage.truncated) if is_cut else spent

    def _unfit(self, problem: DoesNotFit, usage: Usage) -> ModelOutputInvalid:
        wording = wordings.UNFIT_TRUNCATED if usage.truncated else wordings.UNFIT
        error = self._service.error(ModelOutputInvalid, wording, problem=problem)
        error.usage = usage
        return error

    async def stream(
        self, messages: Messages, *, is_answer: Callable[[str], bool] | None = None
    ) -> AsyncIterator[str | Restart | Usage]:
        """Yield the answer's text as it comes, then its `Usage` as the last item.

        Some models begin with a thought that ends in a tag but that no tag opens. Text is held back until such a thought
        ends, or `is_answer` says of the text so far that it is no thought. Where it was one after all, a `Restart`
        withdraws the pieces so far.

        The tokens stay out of LangGraph's message stream, since nobody has checked them. Closing the iterator, or
        cancelling its task, closes the connection to the endpoint.

        Args:
            messages: the prompt.
            is_answer: tells an answer from a thought; None: once some answers of the model came without a thought.

        Raises:
            ModelUnavailable: as for `complete`; also when the answer breaks off in the middle.
            ModelOutputInvalid: the model declined, or answered nothing.
        """
        request = ModelRequest(convert_to_messages(messages), self.dialect)
        is_answer = is_answer or (lambda _: self.dialect.known.answers_plainly)
        async with aclosing(self._answer(request, is_answer, is_shown=True)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Tally):
                    self._require_text(piece)
                    yield self._report_usage(piece)
                else:
                    yield piece

    async def close(self) -> None:
        """Close the connections that `build_chat_model` opened."""
        if self._on_close is not None:
            await self._on_close()

    async def _whole(self, request: ModelRequest, *, patient: bool = True) -> Tally:
        """Return a whole answer; it may take the time of one silence."""
        answer = self._answer(request, lambda _: True, is_shown=False, patient=patient)
        async with aclosing(answer) as pieces:
            async for piece in pieces:
                last = piece
        return cast("Tally", last)

    async def _answer(
        self,
        request: ModelRequest,
        is_answer: Callable[[str], bool],
        *,
        is_shown: bool,
        patient: bool = True,
    ) -> AsyncGenerator[str | Restart | Tally]:
        """Yield the text of an answer as it comes, then its tally; once something was shown, the call is not repeated."""
        attempts = Attempts(self.dialect, self._retries, self._service)
        known = self.dialect.known
        most_chars = _CHARS_PER_TOKEN * (request.answer_tokens or self._answer_tokens)
        while True:
            sent = request.send(attempts.form)
            tally = Tally(sent.messages, most_chars, thinks_unopened=known.thinks_unopened)
            waits = [0.0, 0.0]
            attempts.begin(tally)
            try:
                pieces = self._pieces(tally, sent, waits, is_answer, is_shown=is_shown)
                async with aclosing(pieces) as open_pieces:
                    async for piece in open_pieces:
                        yield piece
                break
            except Exception as error:
                if is_shown and (tally.text or tally.restarts):
                    emit(NO_ANSWER)
                    raise as_sextant_error(error, self._service) from error
                await attempts.fail(error, sent, tally.prompt_tokens, patient=patient)
        await attempts.learn(tally, waits, sent)
        yield tally

    async def _pieces(
        self,
        tally: Tally,
        sent: SentRequest,
        waits: list[float],
        is_answer: Callable[[str], bool],
        *,
        is_shown: bool,
    ) -> AsyncGenerator[str | Restart]:
        """Yield the text of one stream; `waits` adds up the seconds before its first words, and those of the rest."""
        after_end, first = min(_AFTER_END, self._timeout), self._wait_for_first(tally)
        clock = asyncio.get_running_loop().time
        until = math.inf if is_shown else clock() + self._timeout
        async with aclosing(stream_on_loop(self._llm, sent, _CONFIG)) as open_chunks:
            while not tally.overrun:
                # A limit per chunk holds no timer across a yield; `asyncio.wait_for` would swallow
                # a cancellation that arrives with a chunk on Python 3.11.
                started, begun = clock(), bool(tally.text or tally.undecided)
                silence = self._timeout if begun else first
                try:
                    async with asyncio.timeout(
                        after_end if tally.ended else min(silence, until - started)
                    ):
                        chunk = await anext(open_chunks, None)
                except Exception as error:
                    if not tally.ended:
                        if is_silence(error) and not begun:
                            self.speed.observe_silence(tally.prompt_tokens, clock() - started)
                        raise
                    chunk = None  # the answer is whole; what it has cost will not be told
                waits[begun] += clock() - started
                before = tally.restarts
                piece = tally.finish(is_answer) if chunk is None else tally.add(chunk)
                if tally.has_failed:
                    raise self._service.error(ModelUnavailable, wordings.BROKE_OFF)
                if (undecided := tally.undecided) and is_answer(undecided):
                    piece = tally.release()
                if tally.restarts > before:
                    yield Restart()
                if piece:
                    yield piece
                if chunk is None or tally.is_over:
                    return

    def _wait_for_first(self, tally: Tally) -> float:
        """Return how long the first words are waited for: `timeout`, longer at an endpoint that is known to be slow."""
        expected = _SLACK * self.speed.seconds(tally.prompt_tokens, 0)
        return min(max(self._timeout, expected), max(self._timeout, self._patience))

    def _report_usage(self, tally: Tally) -> Usage:
        """Return what an answer cost, and emit it as telemetry."""
        usage = tally.usage()
        emit(ModelCalled(usage.prompt_tokens, usage.completion_tokens, EventOutcome.OK))
        return usage.of_model(self.name)

    def _require_text(self, tally: Tally) -> None:
        if tally.is_withheld:
            wording = wordings.WITHHELD
        elif tally.text.strip():
            return
        else:
            wording = wordings.USED_UP if tally.truncated else wordings.EMPTY
        error = self._service.error(ModelOutputInvalid, wording)
        error.usage = self._report_usage(tally)
        raise error


def as_chat_model(llm: BaseChatModel | ChatModel) -> ChatModel:
    """Return `llm` itself, or any LangChain chat model wrapped.

    A LangChain model that already retries (`max_retries` > 0) keeps doing so and is not retried
    here as well, since the two would multiply.

    Raises:
        OptionInvalid: it cannot be asked as a LangChain model is.
    """
    if isinstance(llm, ChatModel):
        return llm
    if not (hasattr(llm, "ainvoke") and hasattr(llm, "astream")):
        raise OptionInvalid(
            f"{type(llm).__name__} is not a chat model.",
            next_step="Give a LangChain chat model, such as ChatOpenAI(model=…).",
            field="llm",
        )
    retries = getattr(llm, "max_retries", None)
    retrying = Retries(limit=0) if retries else Retries()
    return ChatModel(stop_between_chunks(llm), retries=retrying, json_only=True)


def stop_between_chunks(llm: BaseChatModel) -> BaseChatModel:
    """Return the model without LangChain's own wait, which keeps a reader who leaves from stopping it on Python 3.11."""
    if getattr(llm, "stream_chunk_timeout", None):
        return llm.model_copy(update={"stream_chunk_timeout": 0})
    return llm
