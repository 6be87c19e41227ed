"""How fast a model of an endpoint reads and writes, measured as it answers."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, fields

# What one more answer counts against all before it: endpoints are busy and idle by turns.
_NEWEST = 0.5
# Answers that are shorter or quicker than this tell nothing of a rate.
_LEAST_TOKENS, _LEAST_SECONDS = 8, 0.05
READ_PER_WRITTEN = 15
"""How many tokens are read in the time of one that is written, by a first guess: 10 on a processor, 20 on a GPU."""

# Seconds after which an endpoint that was too slow is tried again.
_NEWS = 600.0


@dataclass(slots=True)
class EndpointSpeed:
    """Tokens a second; 0: not known yet.

    Attributes:
        prompt: that are read of a prompt, those apart that a cache has.
        answer: that are written.
        thinking: tokens of an answer that are not shown.
        shown: tokens of an answer that are.
        is_guess: whether the rates are but guessed, of answers that came in one piece.
        missed: when the last answer did not come in time, in seconds since the epoch; 0: it did.
    """

    prompt: float = 0.0
    answer: float = 0.0
    thinking: float = 0.0
    shown: float = 0.0
    is_guess: bool = False
    missed: float = 0.0

    def forget(self) -> None:
        """Know nothing again."""
        for one in fields(self):
            setattr(self, one.name, one.default)

    def observe_stream(
        self, prompt: int, shown: int, written: int, first: float, rest: float
    ) -> None:
        """Note an answer whose first piece came after `first` seconds and whose others took `rest`.

        Where most of what was written is not shown, the model thought before the first piece.
        """
        if self.is_guess:
            self.prompt, self.answer, self.thinking, self.is_guess = 0.0, 0.0, 0.0, False
        self.missed = 0.0
        hidden = max(0, written - shown)
        self.thinking = _blend(self.thinking, hidden) if self.answer else hidden
        self.shown = _blend(self.shown, shown)
        if rest >= _LEAST_SECONDS and shown >= _LEAST_TOKENS:
            self.answer = _blend(self.answer, shown / rest)
        reading = first - (hidden / self.answer if hidden > shown and self.answer else 0.0)
        if reading >= _LEAST_SECONDS and prompt >= _LEAST_TOKENS:
            self.prompt = _blend(self.prompt, prompt / reading)

    def observe_whole(self, prompt: int, shown: int, written: int, seconds: float) -> None:
        """Note an answer that came in one piece; it tells how fast its prompt was read if the rest is known."""
        if self.is_guess or not (self.answer or self.prompt):
            if seconds >= _LEAST_SECONDS:
                self.is_guess, self.thinking = True, max(0, written - shown)
                self.answer = (prompt / READ_PER_WRITTEN + written) / seconds
                self.prompt = self.answer * READ_PER_WRITTEN
            return
        reading = seconds - (written / self.answer if self.answer else seconds)
        if reading >= _LEAST_SECONDS and prompt >= _LEAST_TOKENS:
            self.prompt = _blend(self.prompt, prompt / reading)

    def observe_silence(self, prompt: int, seconds: float) -> None:
        """Note that a prompt was not answered within so many seconds; it may well take twice as many."""
        rate = prompt / max(2 * seconds, _LEAST_SECONDS)
        self.prompt = min(self.prompt or rate, rate)

    def observe_missed_answer(self, prompt: int, seconds: float) -> None:
        """Note that an answer did not begin within so many seconds."""
        self.observe_silence(prompt, seconds)
        self.missed = time.time()

    @property
    def missed_lately(self) -> bool:
        """Return whether the last answer did not come, and that is so short ago that there is no need to try again."""
        return time.time() - self.missed < _NEWS

    def prompt_tokens_within(self, seconds: float, answer: float) -> float:
        """Return how long a prompt may be for an answer within so many seconds; without end where nothing is known."""
        if not self.prompt:
            return math.inf
        return max(0.0, seconds - self.seconds(0, round(answer))) * self.prompt

    def seconds(self, prompt: int, answer: int) -> float:
        """Return how long an answer may take, thoughts included; 0 where nothing is known."""
        reading = prompt / self.prompt if self.prompt else 0.0
        return reading + ((answer + self.thinking) / self.answer if self.answer else 0.0)


def _blend(known: float, new: float) -> float:
    return known + _NEWEST * (new - known) if known else new
