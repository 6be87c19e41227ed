"""One call of a chat model: its tries, what it tells of its endpoint, and its stream in whichever event loop.

A call is tried with less where something was refused, after a wait where that may help.

LangChain keeps one HTTP client for all models of an endpoint, in whatever loop they are asked: in turns by
`generate` and `agenerate`, say, or by two `asyncio.run`. Of the connections that it keeps open those of
another loop fail when they are next used, and are gone then.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig

from sextant.domain.telemetry import EventOutcome, ModelCalled, emit
from sextant.models.chat.call_limits import SPENT, another_may_be_made, count_request, note_overload
from sextant.models.chat.dialect import Dialect, SentRequest
from sextant.models.chat.tally import Tally
from sextant.models.failures import Service, as_sextant_error, is_silence, is_transient
from sextant.models.retries import Retries

NO_ANSWER = ModelCalled(0, 0, EventOutcome.FAILED)

_MOST_IDLE = 100  # connections that clients of all loops keep
# Its client keeps an open response in a cycle of references, so that nothing else closes the connection.
_HOLDS_RESPONSES, _UNWOUND = "langchain_google_genai", 0.5  # seconds until nobody uses it any more


class Attempts:
    """The tries of one call.

    Attributes:
        form: in which the next one is made.
    """

    def __init__(self, dialect: Dialect, retries: Retries, service: Service) -> None:
        self.form = self._begun = dialect.form
        self._dialect, self._retries, self._service = dialect, retries, service
        self._made = self._repeated = 0

    def begin(self, tally: Tally) -> None:
        """Note that a call is about to be made, of which this will be the answer.

        Raises:
            ModelRejected: none may be made.
        """
        count_request()
        self._made += 1
        tally.requests = self._made

    async def fail(
        self,
        error: Exception,
        sent: SentRequest,
        prompt_tokens: int,
        *,
        patient: bool = True,
    ) -> None:
        """Prepare the next try after `error`: with less than was sent, or after a wait.

        Raises:
            SextantError: there is none; whoever is not `patient` repeats no call that met with silence.
        """
        dialect = self._dialect
        await dialect.learn_refused_length(error, prompt_tokens)
        lesser = (
            dialect.lesser_than_bound(error, self.form)
            if sent.bound is not None
            else dialect.lesser(error, sent.options, self.form)
        )
        if lesser is not None:
            if not another_may_be_made():  # the next answer begins with it
                dialect.worked(lesser, self.form)
            self.form = lesser
            return
        emit(NO_ANSWER)
        if not patient and is_silence(error):
            raise as_sextant_error(error, self._service) from error
        await self._pause(error)

    async def _pause(self, error: Exception) -> None:
        """Wait before a failed call is repeated; raise where it is not, be it for want of calls."""
        if not another_may_be_made():
            typed = as_sextant_error(error, self._service)
            typed.message += f" {SPENT['en'].message}"
            typed.translations = {
                language: text._replace(message=text.message + SPENT[language].message)
                for language, text in typed.translations.items()
            }
            raise typed from error
        if is_transient(error):
            note_overload()
        await self._retries.pause(error, self._repeated, self._service)
        self._repeated += 1

    async def learn(self, tally: Tally, waits: Sequence[float], sent: SentRequest) -> None:
        """Learn from an answer whose first words, and the rest, were waited for so long."""
        known, usage = self._dialect.known, tally.usage()
        self._dialect.worked(self.form, self._begun)
        if sent.bound is None:
            # Prompts are planned by estimated tokens, so rates are of those, too.
            unread = 1 - tally.cached_tokens / max(1, usage.prompt_tokens)
            read, shown = round(unread * tally.prompt_tokens), tally.shown_tokens
            known.speed.observe_stream(read, shown, usage.completion_tokens, *waits)
        if not sent.is_json:
            known.plain_answers += not tally.thought_unopened
        if not (usage.estimated or tally.has_pictures):
            self._dialect.learn_read(usage.prompt_tokens, tally.prompt_tokens)
        if tally.thought_unopened:
            known.thinks_unopened = True
        await self._dialect.save_news()


async def stream_on_loop(
    llm: BaseChatModel, sent: SentRequest, config: RunnableConfig
) -> AsyncGenerator[AIMessage]:
    """Yield an answer chunk by chunk, whole where the model streams none; closing the generator closes the model's."""
    left, begun = _MOST_IDLE, False
    while True:
        try:
            async with aclosing(_ask(llm, sent, config)) as chunks:
                async for chunk in chunks:
                    begun = True
                    yield chunk
        except NotImplementedError:
            if begun or llm.disable_streaming is True:
                raise
            llm = llm.model_copy(update={"disable_streaming": True})
        except GeneratorExit:
            if type(llm).__module__.startswith(_HOLDS_RESPONSES):
                asyncio.get_running_loop().call_later(_UNWOUND, gc.collect)
            raise
        except RuntimeError as error:
            if begun or not left or not _is_of_another_loop(error):
                raise
            left -= 1
        else:
            return


async def _ask(
    llm: BaseChatModel, sent: SentRequest, config: RunnableConfig
) -> AsyncGenerator[AIMessage]:
    if sent.bound is not None:
        yield (await sent.bound.ainvoke(sent.messages, config, **sent.options))["raw"]
        return
    answer = llm.astream(sent.messages, config, **sent.options)
    async with aclosing(cast("AsyncGenerator[AIMessage]", answer)) as chunks:
        async for chunk in chunks:
            yield chunk


def _is_of_another_loop(error: RuntimeError) -> bool:
    """Return whether asyncio says so; it has neither a class nor a code for that."""
    message = str(error)
    return (
        "different event loop" in message
        or "different loop" in message
        or message == "Event loop is closed"
    )
