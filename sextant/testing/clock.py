"""Time that passes as simulated endpoints say, for tests and reports that shall not wait, whatever the machine does.

    clock = VirtualClock.of_running_loop()
    async with ScriptedOpenAI(answer, pace=pace, clock=clock): ...
    assert clock.passed < 60

What the program itself takes passes beside it, at its own pace.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

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
