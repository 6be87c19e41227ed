"""OpenAI's client without what its streams cost: chunks come as the JSON that was sent, to their end.

Importing this takes about a second, as `openai` does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
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
        if "json" in headers.get("content-type", "") and "content-length" in headers:
            await self._raise_whole()
        async for chunk in super().__aiter__():
            for choice in (isinstance(chunk, dict) and chunk.get("choices")) or ():
                choice.setdefault("delta", None)  # some endpoints send none when they end
                self._ended |= bool(choice.get("finish_reason"))
            yield chunk
            begun = True
        if begun and not self._ended:
            raise APIConnectionError(request=self.response.request)

    async def _raise_whole(self) -> None:
        """Raise what an endpoint says that answers a stream with an error of status 200."""
        with suppress(ValueError, AttributeError):
            if error := orjson.loads(await self.response.aread()).get("error"):
                raise APIError(str(error), self.response.request, body=error)

    # The library's own name, since it swallows the `[DONE]` and nothing public tells of it: else all bytes
    # would be decoded twice. A test of both ways in which streams end breaks with it (test_chat_stream.py).
    async def _iter_events(self) -> AsyncIterator[Any]:
        async for event in super()._iter_events():
            self._ended |= event.data.startswith(_LAST)
            yield event


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
