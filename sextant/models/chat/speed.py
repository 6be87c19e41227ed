"""How fast a model of an endpoint reads and writes, measured as it answers."""

from __future__ import annotations

from dataclasses import dataclass

# What one more answer counts against all before it: endpoints are busy and idle by turns.
_NEWEST = 0.5
# Answers that are shorter or quicker than this tell nothing of a rate.
_LEAST_TOKENS, _LEAST_SECONDS = 8, 0.05


@dataclass(slots=True)
class EndpointSpeed:
    """Tokens a second; 0: not known yet.

    Attributes:
        prompt: that are read of a prompt, those apart that a cache has.
        answer: that are written.
        thinking: tokens of an answer that are not shown.
    """

    prompt: float = 0.0
    answer: float = 0.0
    thinking: float = 0.0

    def observe_stream(
        self, prompt: int, shown: int, written: int, first: float, rest: float
    ) -> None:
        """Note an answer whose first piece came after `first` seconds and whose others took `rest`.

        Where most of what was written is not shown, the model thought before the first piece.
        """
        hidden = max(0, written - shown)
        self.thinking = _blend(self.thinking, hidden) if self.answer else hidden
        if rest >= _LEAST_SECONDS and shown >= _LEAST_TOKENS:
            self.answer = _blend(self.answer, shown / rest)
        reading = first - (hidden / self.answer if hidden > shown and self.answer else 0.0)
        if reading >= _LEAST_SECONDS and prompt >= _LEAST_TOKENS:
            self.prompt = _blend(self.prompt, prompt / reading)

    def observe_whole(self, prompt: int, written: int, seconds: float) -> None:
        """Note an answer that came in one piece; it tells how fast its prompt was read if the rest is known."""
        reading = seconds - (written / self.answer if self.answer else seconds)
        if reading >= _LEAST_SECONDS and prompt >= _LEAST_TOKENS:
            self.prompt = _blend(self.prompt, prompt / reading)

    def observe_silence(self, prompt: int, seconds: float) -> None:
        """Note that a prompt was not answered within so many seconds."""
        rate = prompt / max(seconds, _LEAST_SECONDS)
        self.prompt = min(self.prompt or rate, rate)

    def seconds(self, prompt: int, answer: int) -> float:
        """Return how long an answer may take, thoughts included; 0 where nothing is known."""
        reading = prompt / self.prompt if self.prompt else 0.0
        return reading + ((answer + self.thinking) / self.answer if self.answer else 0.0)


def _blend(known: float, new: float) -> float:
    return known + _NEWEST * (new - known) if known else new
