"""An OpenAI-compatible endpoint with scripted answers, over TCP on the loopback interface.

    async with ScriptedOpenAI(chat=[rate_limited(0), "Ownership moves."]) as server:
        settings = Settings(chat_model="scripted", openai_base_url=server.base_url)
        ...
    assert len(server.chat_requests) == 2

It runs in the caller's event loop, so a test needs no process, no fixed port and no sleeping.
"""

from __future__ import annotations

import asyncio
import re
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import orjson

from sextant.models.protocols import Vectors
from sextant.testing.hash_embedder import hash_vector
from sextant.testing.http import CutConnection, HttpRequest, HttpResponse, LoopbackEndpoint
from sextant.testing.replies import (
    EndpointPace,
    Reply,
    Sleep,
    VirtualClock,
    chunk_body,
    completion_body,
    error_body,
    failing,
    tool_calls_of,
    usage_of,
)


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to an endpoint, with lower-case header names and the parsed JSON body."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Return the messages of a chat request."""
        return cast("list[dict[str, Any]]", self.body.get("messages", []))

    @property
    def prompt(self) -> str:
        """Return all text of a chat request's messages, in order."""
        return "\n".join(_text_of(message.get("content")) for message in self.messages)

    @property
    def images(self) -> list[bytes]:
        """Return the images of a chat request's messages in order; raise ValueError unless they are data URIs."""
        return [_image_of(part) for message in self.messages for part in _parts_of(message)]

    @property
    def streamed(self) -> bool:
        """Return whether the request asks for a streamed answer."""
        return bool(self.body.get("stream"))

    @property
    def wants_json(self) -> bool:
        """Return whether the request asks for JSON, by `response_format` or in its prompt."""
        return "response_format" in self.body or "JSON schema" in self.prompt


# OpenAI's, and what stands in its place at Azure, which takes the key as `api-key`.
_BASES = re.compile(r"^(/v1|/openai/deployments/[^/]+)")

ReplyFunction = Callable[[ApiRequest], "Reply | str"]
Script = ReplyFunction | Iterable["Reply | str"]


class ScriptedOpenAI(LoopbackEndpoint):
    """`/v1/chat/completions`, `/v1/embeddings`, `/v1/rerank` and `/v1/models` from a script.

    A script is either a sequence of replies, one per request in order of arrival (further requests get
    status 500), or a function from the request to a reply. A string is a reply with that text.
    Embeddings are those of `HashEmbedder`, and rerank scores are their cosines, unless a script returns
    an error: for these two, a reply of status 200 means the default answer.

    Args:
        chat: script of chat completions.
        embeddings: script of embedding requests; None: the default answers.
        rerank: script of rerank requests; None: the default answers.
        dimension: length of the embedding vectors.
        vector: returns the vector of a text, instead of hashing.
        api_key: the only accepted key; None: accept requests with any key or none.
        models: names that `/v1/models` lists.
        pace: how fast chat completions come, and how long prompts may be; None: at once, of any length.
        clock: by which it waits; None: it does.
    """

    base_path = "/v1"

    def __init__(
        self,
        chat: Script = (),
        *,
        embeddings: Script | None = None,
        rerank: Script | None = None,
        dimension: int = 64,
        vector: Callable[[str], Vectors] | None = None,
        api_key: str | None = None,
        models: Iterable[str] = ("scripted",),
        pace: EndpointPace | None = None,
        clock: VirtualClock | None = None,
    ) -> None:
        self.requests: list[ApiRequest] = []
        self._chat = to_handler(chat)
        self._embeddings = to_handler(embeddings if embeddings is not None else _default_reply)
        self._rerank = to_handler(rerank if rerank is not None else _default_reply)
        self._dimension = dimension
        self._vector = vector or (lambda text: hash_vector(text, dimension))
        self._api_key = api_key
        self._models = tuple(models)
        self._pace = pace
        self._sleep: Sleep = clock.sleep if clock else asyncio.sleep
        super().__init__()

    @property
    def chat_requests(self) -> list[ApiRequest]:
        """Return the chat requests so far, in order of arrival."""
        return [request for request in self.requests if request.path.endswith("/chat/completions")]

    @property
    def connections(self) -> int:
        """Return the number of connections opened so far."""
        return self._server.accepted

    @property
    def disconnects(self) -> int:
        """Return the number of clients that disconnected before their answer was complete."""
        return self._server.disconnects

    @property
    def open_streams(self) -> int:
        """Return the number of current answers."""
        return self._server.open_responses

    async def wait_for_streams(self, number: int = 1) -> None:
        """Wait until exactly `number` answers are open; raise TimeoutError after a minute."""
        await self._server.wait_until(lambda server: server.open_responses == number)

    async def _handle(self, http: HttpRequest) -> HttpResponse:
        path = _BASES.sub("", http.path.partition("?")[0])
        key = http.headers.get("api-key") or http.headers.get("authorization", "")
        if self._api_key and key.removeprefix("Bearer ") != self._api_key:
            return _json_response(
                error_body(Reply("Incorrect API key.", error_code="invalid_api_key")), 401
            )
        if path == "/models":
            return _json_response(
                {
                    "object": "list",
                    "data": [
                        {"id": name, "object": "model", "created": 0, "owned_by": "testing"}
                        for name in self._models
                    ],
                }
            )
        answer = {
            "/chat/completions": self._complete,
            "/embeddings": self._embed,
            "/rerank": self._score,
        }.get(path)
        if answer is None:
            return _json_response(error_body(Reply(f"Unknown path {http.path}.")), 404)
        request = ApiRequest(http.path, http.headers, cast("dict[str, Any]", http.json()))
        self.requests.append(request)
        return await answer(request)

    async def _complete(self, request: ApiRequest) -> HttpResponse:
        prompt, refusal, read = request.prompt, None, request
        if self._pace is not None:
            prompt, refusal = self._pace.limited(prompt)
            if prompt != request.prompt:  # it reads what it has not cut off
                messages = [{"role": "user", "content": prompt}]
                read = replace(request, body={**request.body, "messages": messages})
        reply = refusal or self._chat(read)
        if reply.status != 200 and reply.raw is None:
            return await self._error_response(reply)
        if self._pace is not None:
            reply = await self._pace.paced(
                prompt, reply, streamed=request.streamed, sleep=self._sleep
            )
        model = str(request.body.get("model", ""))
        if reply.raw is not None:
            kind = "text/event-stream" if request.streamed else "text/html"
            return HttpResponse(reply.status, reply.raw, {"content-type": kind, **reply.headers})
        if request.streamed:
            return HttpResponse(
                200,
                _events(request, reply, model, prompt, self._sleep),
                {"content-type": "text/event-stream", **reply.headers},
            )
        await wait_as_scripted(reply, self._sleep)
        return _json_response(completion_body(reply, model, prompt), headers=reply.headers)

    async def _embed(self, request: ApiRequest) -> HttpResponse:
        reply = self._embeddings(request)
        if reply.status != 200:
            return await self._error_response(reply)
        await wait_as_scripted(reply, self._sleep)
        texts = request.body["input"]
        vectors = [self._vector(text) for text in ([texts] if isinstance(texts, str) else texts)]
        as_base64 = request.body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": b64encode(vector.tobytes()).decode() if as_base64 else vector.tolist(),
            }
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors)}
        return _json_response(
            {"object": "list", "model": request.body.get("model"), "data": data, "usage": usage}
        )

    async def _score(self, request: ApiRequest) -> HttpResponse:
        reply = self._rerank(request)
        if reply.status != 200:
            return await self._error_response(reply)
        await wait_as_scripted(reply, self._sleep)
        query = hash_vector(request.body["query"], self._dimension)
        scores = [
            {"index": index, "relevance_score": float(query @ hash_vector(text, self._dimension))}
            for index, text in enumerate(request.body["documents"])
        ]
        scores.sort(key=lambda score: -score["relevance_score"])
        return _json_response({"id": "scripted", "results": scores[: request.body.get("top_n")]})

    async def _error_response(self, reply: Reply) -> HttpResponse:
        await wait_as_scripted(reply, self._sleep)
        return _json_response(error_body(reply), reply.status, reply.headers)


def to_handler(script: Script) -> Callable[[ApiRequest], Reply]:
    """Return what answers requests by a script."""
    if callable(script):
        return lambda request: _reply(script(request))
    queue = deque(script)
    return lambda _request: (
        _reply(queue.popleft()) if queue else failing(500, "The script has no reply left.")
    )


def _reply(reply: Reply | str) -> Reply:
    return Reply(reply) if isinstance(reply, str) else reply


def _default_reply(_request: ApiRequest) -> Reply:
    return Reply()


async def wait_as_scripted(reply: Reply, sleep: Sleep = asyncio.sleep) -> None:
    """Delay, block or cut an unstreamed answer, as its reply defines."""
    await sleep(reply.delay)
    if reply.pause_after is not None:
        await (reply.resume or asyncio.Event()).wait()
    if reply.break_after is not None:
        raise CutConnection


async def _events(
    request: ApiRequest, reply: Reply, model: str, prompt: str, sleep: Sleep
) -> AsyncIterator[bytes]:
    async for delta in _deltas(reply, sleep):
        yield _event(chunk_body(model, delta))
    yield _event(chunk_body(model, {}, reply.finish_reason))
    if reply.usage and (request.body.get("stream_options") or {}).get("include_usage"):
        usage = {"choices": [], "usage": usage_of(reply, prompt)}
        yield _event(chunk_body(model, {}) | usage)
    yield b"data: [DONE]\n\n"


async def _deltas(reply: Reply, sleep: Sleep) -> AsyncIterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    if reply.thought:
        yield {"reasoning_content": reply.thought}
    if reply.refusal is not None:
        yield {"refusal": reply.refusal}
    if reply.tool_calls:
        yield {"tool_calls": tool_calls_of(reply)}
    async for piece in pieces_as_scripted(reply, sleep):
        yield {"content": piece}


async def pieces_as_scripted(reply: Reply, sleep: Sleep = asyncio.sleep) -> AsyncIterator[str]:
    """Yield the pieces of a stream, delayed, held or cut as the reply defines."""
    sent = 0
    while True:
        for piece in (*reply.pieces, None):
            if sent == reply.pause_after:
                await (reply.resume or asyncio.Event()).wait()
            if sent == reply.break_after:
                raise CutConnection
            if piece is not None:
                await sleep(reply.delay)
                yield piece
                sent += 1
        if not reply.endless:
            return


def _event(body: dict[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(body) + b"\n\n"


def _json_response(
    body: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    return HttpResponse(status, orjson.dumps(body), headers or {})


def _parts_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return [part for part in parts if part.get("type") == "image_url"]


def _image_of(part: Mapping[str, Any]) -> bytes:
    address = str(part["image_url"]["url"])
    head, comma, data = address.partition(",")
    if not (comma and head.startswith("data:image/") and head.endswith(";base64")):
        raise ValueError(f"An image is given by {address[:60]}, not by its bytes.")
    return b64decode(data, validate=True)


def _text_of(content: object) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content)
    return str(content or "")
