"""What is known of each endpoint's models: learnt from their answers, shared in a process, kept in the data folder.

Endpoints are busy and idle by turns, and their settings change. So what a refusal told is believed for a while only,
and speeds are those of the last answers.
"""

from __future__ import annotations

import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from threading import Lock
from typing import Any

from pydantic import TypeAdapter

# Tokens of an answer's prompt without passages and conversation: 250 of instructions, up to 300 of what the graph knows
# (`sextant.nodes.prompt_lines`), and the rest for the question and for tokenizers that need more than is estimated.
INSTRUCTION_TOKENS = 700
USUAL_ANSWER = 150
"""Tokens of an ordinary answer."""

# The weight of the newest answer in an average.
_NEWEST = 0.5
# Shorter or quicker answers tell nothing of a rate.
_LEAST_TOKENS, _LEAST_SECONDS = 8, 0.05
# Seconds after which an endpoint that was too slow is tried again.
_NEWS = 600.0


@dataclass(slots=True)
class EndpointSpeed:
    """Tokens a second; 0: not known yet.

    Attributes:
        prompt: the rate of reading, without tokens that a cache has.
        answer: the rate of writing.
        thinking: tokens of an answer that are not shown.
        shown: tokens of an answer that are shown.
        missed: when an answer last came too late, in seconds since the epoch; 0: the last one was in time.
    """

    prompt: float = 0.0
    answer: float = 0.0
    thinking: float = 0.0
    shown: float = 0.0
    missed: float = 0.0

    def forget(self) -> None:
        """Reset all fields."""
        for one in fields(self):
            setattr(self, one.name, one.default)

    def observe_stream(
        self, prompt: int, shown: int, written: int, first: float, rest: float
    ) -> None:
        """Note an answer whose first piece took `first` seconds, and the others `rest`.

        If fewer tokens are shown than hidden, the model thought before the first piece.
        """
        self.missed = 0.0
        hidden = max(0, written - shown)
        self.thinking = _blend(self.thinking, hidden) if self.answer else hidden
        self.shown = _blend(self.shown, shown)
        if rest >= _LEAST_SECONDS and shown >= _LEAST_TOKENS:
            self.answer = _blend(self.answer, shown / rest)
        reading = first - (hidden / self.answer if hidden > shown and self.answer else 0.0)
        if reading >= _LEAST_SECONDS and prompt >= _LEAST_TOKENS:
            self.prompt = _blend(self.prompt, prompt / reading)

    def observe_silence(self, prompt: int, seconds: float) -> None:
        """Note that a prompt was not answered within so many seconds; twice as many are assumed.

        It counts as one answer, since the endpoint may have been busy with others.
        """
        rate = prompt / max(2 * seconds, _LEAST_SECONDS)
        self.prompt = min(self.prompt or rate, _blend(self.prompt, rate))

    def observe_missed_answer(self, prompt: int, seconds: float) -> None:
        """Note that an answer did not begin within so many seconds."""
        self.observe_silence(prompt, seconds)
        self.missed = time.time()

    @property
    def missed_lately(self) -> bool:
        """Return whether the last answer came too late, less than ten minutes ago."""
        return time.time() - self.missed < _NEWS

    def prompt_tokens_within(self, seconds: float, answer: float) -> float:
        """Return how many tokens a prompt may have for an answer within so many seconds; infinite where no rate is known."""
        if not self.prompt:
            return math.inf
        return max(0.0, seconds - self.seconds(0, round(answer))) * self.prompt

    def seconds(self, prompt: int, answer: int) -> float:
        """Return how long an answer may take, thoughts included; 0 where nothing is known."""
        reading = prompt / self.prompt if self.prompt else 0.0
        return reading + ((answer + self.thinking) / self.answer if self.answer else 0.0)


def _blend(known: float, new: float) -> float:
    return known + _NEWEST * (new - known) if known else new


MAX_TOKENS, MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
# Seconds for which a refusal is believed: one refused request an hour costs nothing.
BELIEVED = 3600.0
# A context that cuts silently is found again by no refusal, so it is believed longer.
_BELIEVED_CUT = 24 * BELIEVED
LEAST_CONTEXT = 256
"""Tokens of the shortest context that is believed; some endpoints report less by mistake."""

# Answers without a thought after which a model is believed not to think: some do so before one answer only.
_PLAIN_ANSWERS = 3
# The share of a context that an answer may take; the prompt gets the rest.
_ANSWERS_SHARE = 1 / 3


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The optional parts of a request.

    Attributes:
        json_format: index into the ways to ask for JSON, the best first.
        stream_usage: whether a stream is asked for its usage.
        limits: names of the token limit that were not refused; the first is used.
        temperature: whether a call for JSON asks for the likeliest answer.
        system: whether there is a system message; else it is the beginning of what the user says.
        streams: whether answers are streamed; else they come in one piece.
    """

    json_format: int = 0
    stream_usage: bool = True
    limits: tuple[str, ...] = (MAX_TOKENS, MAX_COMPLETION_TOKENS)
    temperature: bool = True
    system: bool = True
    streams: bool = True

    @property
    def lacking(self) -> tuple[str, ...]:
        """Return the parts that are left out, by the names of the API."""
        names = {
            "response_format json_schema": self.json_format == 0,
            "response_format json_object": self.json_format < 2,
            "stream_options": self.stream_usage,
            MAX_TOKENS: MAX_TOKENS in self.limits,
            "temperature": self.temperature,
            "system messages": self.system,
            "streams": self.streams,
        }
        return tuple(name for name, is_there in names.items() if not is_there)


@dataclass(frozen=True, slots=True)
class ContextLimit:
    """How many tokens of prompt and answer a model takes together.

    Attributes:
        tokens: how many.
        is_cut: whether a longer prompt loses a part without a word; else it is refused.
        until: when that is no longer believed, in seconds since the epoch.
    """

    tokens: int
    is_cut: bool = False
    until: float = 0.0

    @classmethod
    def learnt_now(cls, tokens: int, *, is_cut: bool = False) -> ContextLimit:
        """Return a limit that is believed for a while."""
        return cls(tokens, is_cut, time.time() + (_BELIEVED_CUT if is_cut else BELIEVED))

    @property
    def for_answer(self) -> int:
        """Return the tokens that an answer may have."""
        return int(self.tokens * _ANSWERS_SHARE)

    @property
    def for_prompt(self) -> int:
        """Return the tokens that a prompt may have."""
        return self.tokens - self.for_answer


@dataclass(slots=True)
class Learnt:
    """What is known of one model of one endpoint.

    Attributes:
        form: the form of requests that works.
        until: when that is no longer believed, in seconds since the epoch.
        thinks_unopened: whether its answers begin with a thought that no tag opens; None: not known.
        plain_answers: how many streamed ones of this process began without such a thought.
        speed: how fast it reads and writes.
        needs_room: whether lower limits than the usual one cut its answers off before they said anything.
        limit: how long its context is, where that is known.
    """

    form: RequestForm | None = None
    until: float = 0.0
    thinks_unopened: bool | None = None
    plain_answers: int = 0
    speed: EndpointSpeed = field(default_factory=EndpointSpeed)
    needs_room: bool = False
    limit: ContextLimit | None = None

    @property
    def context(self) -> ContextLimit | None:
        """Return the limit of its context as long as it is believed."""
        return self.limit if self.limit and time.time() < self.limit.until else None

    @property
    def answers_plainly(self) -> bool:
        """Return whether some answers of this process came, all without such a thought."""
        return not self.thinks_unopened and self.plain_answers >= _PLAIN_ANSWERS

    def forget(self) -> None:
        """Forget all but whether the model thinks."""
        self.form, self.limit, self.needs_room = None, None, False
        self.speed.forget()

    def gist(self) -> tuple[Any, ...]:
        """Return a summary whose change is worth writing: speeds count where they changed by half."""
        speed = self.speed
        rates = (speed.prompt, speed.answer, speed.thinking, speed.shown)
        levels = (round(math.log(rate, 1.5)) if rate > 0 else None for rate in rates)
        return (self.form, self.thinks_unopened, self.needs_room, self.limit, *levels)


# By endpoint and model; `false` alone says that a model never thinks, which only whoever runs it knows.
_FILE_FORMAT = TypeAdapter(dict[str, dict[str, bool | int | Learnt]])


class EndpointMemory:
    """What is known of the models of endpoints; a process asks a handful of them, so nothing is evicted."""

    def __init__(self) -> None:
        self._learnt: dict[tuple[str, str], Learnt] = {}
        self._file: Path | None = None
        self._lock = Lock()
        self._saved: dict[tuple[str, str], tuple[Any, ...]] = {}

    def of(self, endpoint: str, model: str) -> Learnt:
        """Return what is known of a model, to be added to."""
        return self._learnt.setdefault((endpoint, model), Learnt())

    def remember_in(self, file: Path) -> None:
        """Begin with what other processes have learnt, and write there what this one learns; blocks."""
        self._file = file
        for endpoint, models in _read(file).items():
            for model, known in models.items():
                key = (endpoint, model)
                if isinstance(known, bool):
                    self.of(*key).thinks_unopened = known
                elif isinstance(known, Learnt) and key not in self._learnt:
                    known.plain_answers = 0
                    self._learnt[key] = known
                    self._saved[key] = known.gist()

    def has_news(self, endpoint: str, model: str) -> bool:
        """Return whether something was learnt of a model that is not written yet."""
        known = self.of(endpoint, model).gist()
        return self._file is not None and known != self._saved.get((endpoint, model))

    def save(self, endpoint: str, model: str) -> None:
        """Write what is known of a model, if the folder can be written to; blocks."""
        if (file := self._file) is None:
            return
        with self._lock, suppress(OSError):
            learnt = self.of(endpoint, model)
            self._saved[endpoint, model] = learnt.gist()
            known = _read(file)
            known.setdefault(endpoint, {})[model] = learnt
            whole = file.with_suffix(f".{os.getpid()}")
            whole.write_bytes(_FILE_FORMAT.dump_json(known, indent=1))
            whole.replace(file)


def _read(file: Path) -> dict[str, dict[str, bool | int | Learnt]]:
    try:
        return _FILE_FORMAT.validate_json(file.read_bytes())
    except (OSError, ValueError):
        return {}


MEMORY = EndpointMemory()
"""Shared by all chat models of the process: those of one endpoint learn from each other."""
