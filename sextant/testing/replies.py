"""What a scripted endpoint answers: one `Reply` per request, made by the functions below."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

from PIL import Image

from sextant.domain.answers import Answer, Citation, Source
from sextant.domain.events import Done, Event, Retrieved, Status


def trace_of(question: str, events: Sequence[Event]) -> str:
    """Return the nodes in their order, what each retrieval searched by, the answer, and what it rests on.

    No times and no scores: those differ from run to run.
    """
    [done] = [event for event in events if isinstance(event, Done)]
    answer = done.answer
    steps = list[str]()
    for event in events:
        if isinstance(event, Status):
            steps.append(event.node)
        elif isinstance(event, Retrieved):
            steps[-1] += f" ({event.mode})"
    told = [f"{answer.mode} · {question}", " → ".join(steps), "", answer.answer, ""]
    for source in answer.sources:
        told += _trace_lines(source, answer)
    return "\n".join([*told, f"{'grounded' if answer.grounded else 'not grounded'}\n"])


def _trace_lines(source: Source, answer: Answer) -> list[str]:
    place = " › ".join([source.filename, *source.section_path])
    page = f", page {source.page}" if source.page else ""
    lanes = ", ".join(f"{name} {found['rank']}" for name, found in sorted(source.lanes.items()))
    found = f"; rank by lane: {lanes}" if lanes else ""
    cited = [one for one in answer.citations if one.marker == source.marker]
    return [f"[{source.marker}] {place}{page}{found}", *map(_quote_line, cited)]


def _quote_line(citation: Citation) -> str:
    return (
        f"    {citation.start}–{citation.end}, support {citation.support:.1f}: “{citation.quote}”"
    )


def picture(color: str = "red", size: tuple[int, int] = (120, 90), kind: str = "PNG") -> bytes:
    """Return an image file of one colour; `size` in pixels, `kind` as Pillow names formats."""
    written = BytesIO()
    Image.new("RGB", size, color).save(written, kind)
    return written.getvalue()


def data_uri(content: bytes) -> str:
    """Return a PNG as a URI that holds it (RFC 2397)."""
    return f"data:image/png;base64,{b64encode(content).decode()}"


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
