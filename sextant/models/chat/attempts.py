"""The tries of one call to a chat model: with less where something was refused, after a wait where that may help.

Also here: what each answer tells of its endpoint.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sextant.domain.telemetry import EventOutcome, ModelCalled, emit
from sextant.models.chat.allowance import SPENT, another_may_be_made, count_request
from sextant.models.chat.concurrency import note_overload
from sextant.models.chat.dialect import Dialect
from sextant.models.chat.tally import Tally
from sextant.models.failures import Retries, Service, as_sextant_error, is_silence, is_transient

NO_ANSWER = ModelCalled(0, 0, EventOutcome.FAILED)


class Attempts:
    """The tries of one call.

    Attributes:
        form: in which the next one is made.
    """

    def __init__(self, dialect: Dialect, retries: Retries, service: Service) -> None:
        self.form = self._begun = dialect.form
        self._dialect, self._retries, self._service = dialect, retries, service
        self._made = self._repeated = 0
        self._started = 0.0

    def begin(self, tally: Tally) -> None:
        """Note that a call is about to be made, of which this will be the answer.

        Raises:
            ModelRejected: none may be made.
        """
        count_request()
        self._made += 1
        tally.requests = self._made
        self._started = asyncio.get_running_loop().time()

    @property
    def _seconds(self) -> float:
        return asyncio.get_running_loop().time() - self._started

    async def fail(
        self,
        error: Exception,
        options: dict[str, Any],
        prompt_tokens: int,
        *,
        is_bound: bool = False,
        patient: bool = True,
    ) -> None:
        """Prepare the next try after `error`: with less than `options` or a bound schema, or after a wait.

        Raises:
            SextantError: there is none; whoever is not `patient` repeats no call that met with silence.
        """
        dialect = self._dialect
        await dialect.learn_refused_length(error, prompt_tokens)
        lesser = (
            dialect.lesser_than_bound(error, self.form)
            if is_bound
            else dialect.lesser(error, options, self.form)
        )
        if lesser is not None:
            if not another_may_be_made():  # the next answer begins with it
                dialect.worked(lesser, self.form)
            self.form = lesser
            return
        emit(NO_ANSWER)
        if not patient and is_silence(error):
            dialect.known.speed.observe_silence(prompt_tokens, self._seconds)
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

    async def learn(self, tally: Tally, waits: Sequence[float] | None = None) -> None:
        """Learn from an answer, of whose stream the first words and the rest were waited for so long; None: it came whole."""
        known, usage = self._dialect.known, tally.usage()
        self._dialect.worked(self.form, self._begun)
        read, shown = usage.prompt_tokens - tally.cached_tokens, tally.shown_tokens
        if waits is None:
            known.speed.observe_whole(read, shown, usage.completion_tokens, self._seconds)
        else:
            known.speed.observe_stream(read, shown, usage.completion_tokens, *waits)
            known.plain_answers += not tally.thought_unopened
        if not (usage.estimated or tally.has_pictures):
            self._dialect.learn_read(usage.prompt_tokens, tally.prompt_tokens)
        if tally.thought_unopened:
            known.thinks_unopened = True
        await self._dialect.save_news()
