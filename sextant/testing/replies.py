"""The scripted answers of an endpoint, one `Reply` per request, and how fast a simulated one gives them.

    pace = EndpointPace(prompt_rate=80, answer_rate=8)
    async with ScriptedOpenAI(chat=answer, pace=pace) as server: ...

A prompt's beginning that it has read before costs nothing, as with the prompt caches of real endpoints.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any
from weakref import WeakKeyDictionary

# Words with their leading space, single ideographs, or single marks, which resemble tokens.
_TOKENS = re.compile(r"\s*[A-Za-z0-9']+|\s*[^A-Za-z0-9'\s]|\s+")


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer.

    Attributes:
        text: the answer's text.
        status: the HTTP status; unless it is 200, `text` is the message of the error.
        headers: extra response headers.
        tokens: the pieces of a streamed answer; by default `text` cut into words and ideographs.
        delay: seconds before each streamed piece, or before an unstreamed answer.
        pause_after: number of pieces after which the stream waits for `resume`; None: never.
        resume: ends the wait of a paused stream; None: it waits until the client disconnects.
        endless: whether the pieces are repeated until the client disconnects.
        break_after: number of pieces after which the connection is cut; None: never.
        refusal: the model's refusal in its own field of the API; `text` should be empty then.
        tool_calls: what the model calls instead of answering, as pairs of a tool's name and its arguments.
        finish_reason: why the answer ends.
        usage: whether tokens are reported.
        thought: what the model thinks first, in its own field of the API.
        cached: tokens of the prompt that the endpoint says it had read before.
        hidden: tokens that it says it wrote beside those of the text.
        error_code: `error.code` of an error's body.
        raw: the body of a chat completion instead of one that is made of all this.
    """

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    tokens: Sequence[str] | None = None
    delay: float = 0.0
    pause_after: int | None = None
    resume: asyncio.Event | None = None
    endless: bool = False
    break_after: int | None = None
    refusal: str | None = None
    tool_calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    finish_reason: str = "stop"
    usage: bool = True
    thought: str = ""
    cached: int = 0
    hidden: int = 0
    error_code: str | None = None
    raw: bytes | None = None

    @property
    def pieces(self) -> Sequence[str]:
        """Return the pieces that a stream of this reply sends."""
        return self.tokens if self.tokens is not None else tokens_of(self.text)


def tokens_of(text: str) -> list[str]:
    """Split `text` into pieces whose concatenation is `text`."""
    return _TOKENS.findall(text)


def as_json(value: object) -> Reply:
    """Return `value` as JSON, as a model that follows its instructions writes it."""
    return Reply(json.dumps(value, ensure_ascii=False))


def fence_json(value: object) -> Reply:
    """Return `value` as JSON in a code fence between sentences, as small models write it."""
    written = json.dumps(value, ensure_ascii=False, indent=1)
    return Reply(f"Sure! Here is the JSON:\n```json\n{written}\n```\nLet me know if you need more.")


def calling(name: str, **arguments: object) -> Reply:
    """Return a call of a tool; text of the model comes with none."""
    return Reply(tool_calls=[(name, arguments)], finish_reason="tool_calls")


def tool_calls_of(reply: Reply) -> list[dict[str, Any]]:
    """Return the tool calls of a reply as the API has them, each with its own id."""
    return [
        {
            "index": index,
            "id": f"call_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
        }
        for index, (name, arguments) in enumerate(reply.tool_calls)
    ]


def invalid_json() -> Reply:
    """Return prose instead of JSON."""
    return Reply("I think the answer depends on the circumstances, mostly.")


def refusal(text: str = "I can't help with that.") -> Reply:
    """Return a refusal in its own field of the API, without text."""
    return Reply(refusal=text)


def empty() -> Reply:
    """Return an answer without text."""
    return Reply("")


def rate_limited(retry_after: float | str = 0) -> Reply:
    """Return 429 with Retry-After: seconds, or an HTTP date."""
    return Reply("Rate limit reached.", 429, {"retry-after": str(retry_after)})


def failing(status: int = 500, message: str = "Something broke.", code: str | None = None) -> Reply:
    """Return an HTTP error with an OpenAI-shaped body."""
    return Reply(message, status, error_code=code)


def slow(text: str, delay: float) -> Reply:
    """Return `text`, each streamed piece (or the whole, unstreamed) after `delay` seconds."""
    return Reply(text, delay=delay)


def endless(text: str = "and so on ") -> Reply:
    """Return `text` repeatedly until the client disconnects."""
    return Reply(text, endless=True)


def silent_after(
    pieces: int, text: str = "It begins well and then", resume: asyncio.Event | None = None
) -> Reply:
    """Return a stream that pauses until `resume` is set or the client disconnects."""
    return Reply(text, pause_after=pieces, resume=resume)


def broken_after(pieces: int, text: str = "It begins well and then") -> Reply:
    """Return a stream whose connection is cut after `pieces` pieces (0: before the first)."""
    return Reply(text, break_after=pieces)


def completion_body(reply: Reply, model: str, prompt: str) -> dict[str, Any]:
    """Return the body of an unstreamed chat completion."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": reply.text or None,
        "refusal": reply.refusal,
    }
    if reply.thought:
        message |= {"reasoning_content": reply.thought}
    if reply.tool_calls:
        message |= {"tool_calls": tool_calls_of(reply)}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    body = {"id": "scripted", "object": "chat.completion", "created": 0, "model": model}
    return (
        body | {"choices": [choice]} | ({"usage": usage_of(reply, prompt)} if reply.usage else {})
    )


def chunk_body(
    model: str, delta: dict[str, Any], finish_reason: str | None = None
) -> dict[str, Any]:
    """Return one chunk of a streamed chat completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    body = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": model}
    return body | {"choices": [choice]}


def usage_of(reply: Reply, prompt: str) -> dict[str, Any]:
    """Count the tokens of the prompt and of the answer by their pieces."""
    sent, received = len(tokens_of(prompt)), len(reply.pieces) + reply.hidden
    return {
        "prompt_tokens": sent,
        "completion_tokens": received,
        "total_tokens": sent + received,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
    }


def error_body(reply: Reply) -> dict[str, Any]:
    """Return the body of an error in OpenAI's format."""
    return {"error": {"message": reply.text, "type": "scripted", "code": reply.error_code}}


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
