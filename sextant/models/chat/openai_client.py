"""OpenAI's client, whose streams are read as endpoints that call themselves compatible write them.

Importing this takes about a second, as `openai` does.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import suppress
from typing import Any

from openai import APIConnectionError, APIError, AsyncOpenAI, AsyncStream

from sextant.models.failures import message_in

# Seconds in which a stream that has ended may leave its connection to the next.
_DRAIN_SECONDS = 1.0
# Characters of an answer which, sent once more from the beginning, are no coincidence.
_REPEATED = 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class PlainStream(AsyncStream[object]):
    """A stream of chunks as dictionaries, in one shape.

    One line of data is one chunk, whatever stands between the lines. Thoughts in a field of their own become a thought
    in the text, and an answer in one piece, or an error of whatever shape, is one in a stream, too.

    A worker that dies behind a proxy leaves a stream that ends in good order in the middle of a sentence:
    one that says neither why it ended nor that it did is broken.
    """

    # The library's own name: the chunks that `__aiter__` and `__anext__` go through.
    async def __stream__(self) -> AsyncIterator[Any]:
        reader, others, begun = _ChunkReader(), list[bytes](), False
        lines = self._lines()
        try:
            async for line in lines:
                name, _, data = line.removeprefix(_BYTE_ORDER_MARK).partition(b":")
                data = data.strip()
                if name not in (b"data", b"error"):  # older llama.cpp writes "error: {…}"
                    others.append(line)
                elif data.startswith(b"[DONE]"):
                    reader.has_ended = begun = True
                    with suppress(TimeoutError):
                        async with asyncio.timeout(_DRAIN_SECONDS):
                            _ = [rest async for rest in lines]
                    break
                elif data not in (b"", b"null", b"{}"):
                    yield self._read(reader, data)
                    begun = True
            if not begun and (body := b"\n".join(others)).strip():
                yield self._read(reader, body)
        finally:
            await self.response.aclose()
        if begun and not reader.has_ended:
            raise APIConnectionError(request=self.response.request)

    async def _lines(self) -> AsyncGenerator[bytes]:
        """Yield the lines of the body without those that are comments."""
        rest = b""
        async for piece in self.response.aiter_bytes():
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if not line.startswith(b":"):
                    yield line.rstrip(b"\r")
        yield rest

    def _read(self, reader: _ChunkReader, data: bytes) -> dict[str, Any]:
        """Return a chunk.

        Raises:
            APIError: it is an error.
            ValueError, TypeError: it is no JSON, or no object.
        """
        value = json.loads(data)
        chunk = value[0] if isinstance(value, list) and value else value
        if not isinstance(chunk, dict):
            raise TypeError("a chunk is no JSON object")
        error = chunk.get("error")
        # Some say "Success" beside the usage, behind the answer.
        is_answer = chunk.get("choices") or (chunk.get("usage") or {}).get("total_tokens")
        if error or (not is_answer and message_in(chunk)):
            raise APIError(str(error or chunk), self.response.request, body=error or chunk)
        return reader.normalise(chunk)


class _ChunkReader:
    """Brings the chunks of one stream into one shape.

    Attributes:
        has_ended: whether the stream has said so.
    """

    def __init__(self) -> None:
        self.has_ended = False
        self._is_refusal = self._is_thought = False
        self._text = ""

    def normalise(self, chunk: dict[str, Any]) -> dict[str, Any]:
        """Return a chunk whose choices have a `delta` with all that the model says as text."""
        given = chunk.get("choices") or ()
        choices = [self._choice(one) for one in given]
        self.has_ended |= not choices and bool(chunk.get("usage"))
        # Moonshot tells the usage within the choice.
        usage = chunk.get("usage") or next(
            (one["usage"] for one in given if one.get("usage")), None
        )
        return {**chunk, "choices": choices, "usage": usage}

    def _choice(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        said = choice.get("delta") or choice.get("message") or {"content": choice.get("text")}
        self._is_refusal |= bool(said.get("refusal"))
        reason = "refusal" if self._is_refusal else choice.get("finish_reason")
        if isinstance(reason, dict):
            reason = reason.get("type")
        self.has_ended |= bool(reason)
        delta = {"role": "assistant", "content": self._content(said, is_last=bool(reason))}
        return {"index": 0, "delta": delta, "finish_reason": reason}

    def _content(self, said: Mapping[str, Any], *, is_last: bool) -> str:
        """Return what of an answer or a thought is new."""
        thought = said.get("reasoning_content") or said.get("reasoning")
        content = _as_text(said.get("content"))
        content = self._drop_repeated(content) if is_last else content
        written = ""
        if isinstance(thought, str) and thought and not self._text:
            written = thought if self._is_thought else f"<think>{thought}"
            self._is_thought = True
        if content and self._is_thought:
            written += "</think>"
            self._is_thought = False
        self._text += content
        return written + content

    def _drop_repeated(self, content: str) -> str:
        """Return the text of the last chunk without all that came before, which some endpoints repeat there."""
        if len(self._text) >= _REPEATED and content.startswith(self._text):
            return content[len(self._text) :]
        return content


def _as_text(content: object) -> str:
    """Return the text of a content, which may be a list of parts."""
    if isinstance(content, list):
        texts = (one.get("text") for one in content if isinstance(one, dict))
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""


class PlainStreams(AsyncOpenAI):
    """A client whose streams are plain.

    The library makes nested models of each chunk, by looking through all their types each time, and
    LangChain dumps them to dictionaries at once: 0.15 of the 0.38 ms that a token cost a server.
    """

    async def post(
        self,
        path: str,
        *,
        stream_cls: type[AsyncStream[Any]] | None = None,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401 - seven overloads
        """See `AsyncOpenAI`."""
        return await super().post(path, stream_cls=stream_cls and PlainStream, **options)
