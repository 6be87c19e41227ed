"""How fast a simulated endpoint answers, and how much it reads: for tests and reports on what slow models do.

    pace = EndpointPace(prompt_rate=80, answer_rate=8)
    async with ScriptedOpenAI(chat=answer, pace=pace) as server: ...

A prompt's beginning that it has read before costs nothing, as with the prompt caches of real endpoints.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from itertools import takewhile
from weakref import WeakKeyDictionary

from sextant.testing.replies import Reply, failing, tokens_of

Sleep = Callable[[float], Awaitable[None]]

# Times that the event loop turns for each step, so that whoever waits with a limit has it before the next one.
_TURNS = 20
_STEPS = 200
_LONGEST_STEP = 0.5


@dataclass(slots=True)
class VirtualClock:
    """The clock of an event loop, which may be set forward; it may stand in for the modules `time` and `asyncio`.

    Attributes:
        passed: seconds by which it was.
    """

    passed: float = 0.0

    @classmethod
    def of_running_loop(cls) -> VirtualClock:
        """Return the clock of the running loop, which goes by it from now on."""
        loop = asyncio.get_running_loop()
        if (known := _clocks.get(loop)) is not None:
            return known
        clock, real_time = cls(), loop.time
        # It never goes back: a timer that was set by it would be late.
        loop.time = lambda: real_time() + clock.passed  # type: ignore[method-assign]
        _clocks[loop] = clock
        return clock

    def time(self) -> float:
        """Return seconds since the epoch."""
        return time.time() + self.passed

    def monotonic(self) -> float:
        """Return seconds that never go back."""
        return time.monotonic() + self.passed

    async def sleep(self, seconds: float) -> None:
        """Let time pass, in steps between which others see that it does."""
        left = seconds
        while left > 0:
            step = min(left, max(_LONGEST_STEP, seconds / _STEPS))
            self.passed += step
            left -= step
            for _ in range(_TURNS):
                await asyncio.sleep(0)
        await asyncio.sleep(0)


_clocks: WeakKeyDictionary[asyncio.AbstractEventLoop, VirtualClock] = WeakKeyDictionary()


@dataclass(slots=True)
class EndpointPace:
    """One simulated model.

    Attributes:
        prompt_rate: tokens read a second.
        answer_rate: tokens written a second.
        thinking: tokens that it thinks before each answer, which are not shown.
        slots: prompts that it reads at a time.
        context: tokens of the longest prompt; None: no limit.
        cuts: whether a longer prompt loses its beginning without a word; else it is refused.
    """

    prompt_rate: float
    answer_rate: float
    thinking: int = 0
    slots: int = 1
    context: int | None = None
    cuts: bool = False
    _read: list[list[str]] = field(default_factory=list[list[str]], init=False)
    _gate: asyncio.Semaphore | None = field(default=None, init=False)

    def limited(self, prompt: str) -> tuple[str, Reply | None]:
        """Return what of a prompt is read, and the refusal of one that is too long."""
        tokens = tokens_of(prompt)
        if self.context is None or len(tokens) <= self.context:
            return prompt, None
        if self.cuts:
            return "".join(tokens[-self.context :]), None
        message = f"This model's maximum context length is {self.context} tokens."
        return prompt, failing(400, message, code="context_length_exceeded")

    async def paced(
        self, prompt: str, reply: Reply, *, streamed: bool, sleep: Sleep = asyncio.sleep
    ) -> Reply:
        """Wait as long as the model reads and thinks, and return its reply, which is written at its pace."""
        tokens = tokens_of(prompt)
        cached = max((_common(tokens, before) for before in self._read), default=0)
        self._gate = self._gate or asyncio.Semaphore(self.slots)
        seconds = (len(tokens) - cached) / self.prompt_rate + self.thinking / self.answer_rate
        if not streamed:
            seconds += len(reply.pieces) / self.answer_rate
        async with self._gate:
            await sleep(seconds)
            self._read.append(tokens)
        delay = 1 / self.answer_rate if streamed else 0.0
        return replace(reply, delay=delay, cached=cached, hidden=self.thinking)


def _common(tokens: list[str], before: list[str]) -> int:
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(tokens, before, strict=False))
    )
