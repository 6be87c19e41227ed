"""OpenAI's client without what its streams cost: chunks come as the JSON that was sent, to their end.

Importing this takes about a second, as `openai` does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import orjson
from openai import APIConnectionError, APIError, AsyncOpenAI, AsyncStream

_LAST = "[DONE]"


class PlainStream(AsyncStream[object]):
    """A stream of dictionaries; `object` is the library's word for data as it is.

    A worker that dies behind a proxy leaves a stream that ends in good order in the middle of a sentence:
    one that says neither why it ended nor that it did is broken.
    """

    _ended = False

    async def __aiter__(self) -> AsyncIterator[Any]:
        begun = False
        headers = self.response.headers
        if "event-stream" not in headers.get("content-type", "") and "content-length" in headers:
            await self.response.aread()
            yield _as_chunk(_read_whole(self.response))
            return
        async for chunk in super().__aiter__():
            for choice in (isinstance(chunk, dict) and chunk.get("choices")) or ():
                choice.setdefault("delta", None)  # some endpoints send none when they end
                self._ended |= bool(choice.get("finish_reason"))
            yield chunk
            begun = True
        if begun and not self._ended:
            raise APIConnectionError(request=self.response.request)

    # The library's own name, since it swallows the `[DONE]` and nothing public tells of it: else all bytes
    # would be decoded twice. A test of both ways in which streams end breaks with it (test_chat_stream.py).
    async def _iter_events(self) -> AsyncIterator[Any]:
        async for event in super()._iter_events():
            self._ended |= event.data.startswith(_LAST)
            yield event


def _read_whole(response: Any) -> dict[str, Any]:  # noqa: ANN401 - of httpx or httpx2
    """Return the answer in a body of status 200.

    Raises:
        APIError: there is none in it, with what there is: many gateways report errors so, in shapes of their own.
        ValueError: it is no JSON.
    """
    body = orjson.loads(response.content)
    if isinstance(body, dict) and body.get("choices") and not body.get("error"):
        return body
    error = body.get("error") if isinstance(body, dict) else None
    message = str(error or response.text)
    raise APIError(message, response.request, body=error or body or None)


def _as_chunk(answer: dict[str, Any]) -> dict[str, Any]:
    """Return a whole answer as the only chunk of a stream."""
    choices = [{**one, "delta": one.get("message")} for one in answer["choices"]]
    return {**answer, "choices": choices}


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
        answer = await super().post(path, stream_cls=stream_cls and PlainStream, **options)
        if not options.get("stream") and (raw := getattr(answer, "http_response", None)):
            _read_whole(raw)
        return answer
