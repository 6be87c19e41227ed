"""What a scripted endpoint answers: one `Reply` per request, made by the functions below."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Words with their leading space, single ideographs, or single marks: about what tokens are.
_TOKENS = re.compile(r"\s*[A-Za-z0-9']+|\s*[^A-Za-z0-9'\s]|\s+")


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer.

    Attributes:
        text: the answer's text.
        status: HTTP status; other than 200, `text` is the error's message.
        headers: extra response headers.
        tokens: the pieces of a streamed answer; by default `text` cut into words and ideographs.
        delay: seconds before each piece (streamed) or before the answer (whole).
        pause_after: pieces after which the stream waits for `resume`; None: it never waits.
        resume: what a paused stream waits for; None: it waits until the client leaves.
        endless: the pieces are repeated until the client leaves.
        break_after: pieces after which the connection is cut without an end; None: never.
        refusal: the model's refusal, in the API's own field; `text` should be empty then.
        finish_reason: why the answer ends.
        usage: whether tokens are reported.
        error_code: `error.code` of an error's body.
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
    finish_reason: str = "stop"
    usage: bool = True
    error_code: str | None = None

    @property
    def pieces(self) -> Sequence[str]:
        """Return what a stream of this reply sends, piece by piece."""
        return self.tokens if self.tokens is not None else tokens_of(self.text)


def tokens_of(text: str) -> list[str]:
    """Return `text` cut into pieces that join back to it."""
    return _TOKENS.findall(text)


def as_json(value: object) -> Reply:
    """Return `value` as JSON, as a model that follows its instructions writes it."""
    return Reply(json.dumps(value, ensure_ascii=False))


def fence_json(value: object) -> Reply:
    """Return `value` as JSON in a code fence with talk around it, as small models write it."""
    written = json.dumps(value, ensure_ascii=False, indent=1)
    return Reply(f"Sure! Here is the JSON:\n```json\n{written}\n```\nLet me know if you need more.")


def invalid_json() -> Reply:
    """Return prose where JSON was asked for."""
    return Reply("I think the answer depends on the circumstances, mostly.")


def refusal(text: str = "I can't help with that.") -> Reply:
    """Return a refusal in the API's own field, with no text beside it."""
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
    """Return `text` again and again until the client leaves."""
    return Reply(text, endless=True)


def silent_after(
    pieces: int, text: str = "It begins well and then", resume: asyncio.Event | None = None
) -> Reply:
    """Return a stream that stops in the middle without closing, until `resume` or the client leaves."""
    return Reply(text, pause_after=pieces, resume=resume)


def broken_after(pieces: int, text: str = "It begins well and then") -> Reply:
    """Return a stream whose connection is cut after `pieces` pieces (0: before the first)."""
    return Reply(text, break_after=pieces)


def completion_body(reply: Reply, model: str, prompt: str) -> dict[str, Any]:
    """Return the body of an unstreamed chat completion."""
    message = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal}
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


def usage_of(reply: Reply, prompt: str) -> dict[str, int]:
    """Return tokens as the endpoint counts them: pieces of the prompt and of the answer."""
    asked, said = len(tokens_of(prompt)), len(reply.pieces)
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def error_body(reply: Reply) -> dict[str, Any]:
    """Return the body of an error, as OpenAI shapes it."""
    return {"error": {"message": reply.text, "type": "scripted", "code": reply.error_code}}
