"""The application on a port of its own, over a database of its own and a scripted chat model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import orjson
import uvicorn
from fastapi import FastAPI

from sextant.domain.settings import Settings
from sextant.server.app import create_app
from sextant.server.runs import Runs
from sextant.testing.openai_server import ApiRequest, ReplyFunction, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json
from tests.integration.own_database import settings_over

GRAPH = "papers"
QUESTION = "Who owns a value in Rust?"
ANSWER = "Each value in Rust has exactly one owner [1]. Version 3.14 changed nothing."
ENOUGH = {"relevant": [1], "sufficient": True}
ANALYSIS = {"question": QUESTION, "keywords": ["owner"]}


def judging(answer: Reply | str, judgement: Any = ENOUGH) -> ReplyFunction:
    """Return a script that judges by the book and answers `answer`."""

    def reply(request: ApiRequest) -> Reply | str:
        if not request.wants_json:
            return answer
        return as_json(judgement if '"relevant"' in request.prompt else ANALYSIS)

    return reply


@dataclass
class Model:
    """The chat model, scripted by the test."""

    script: ReplyFunction = field(default_factory=lambda: judging(ANSWER))

    def __call__(self, request: ApiRequest) -> Reply | str:
        """Return what it answers now."""
        return self.script(request)


@dataclass
class Served:
    """A running server, what it has under way, and the chat model's endpoint."""

    base_url: str
    app: FastAPI
    endpoint: ScriptedOpenAI
    model: Model

    @property
    def script(self) -> ReplyFunction:
        """Return what the model answers."""
        return self.model.script

    @script.setter
    def script(self, script: ReplyFunction) -> None:
        self.model.script = script

    @property
    def runs(self) -> Runs:
        """Return the answers under way."""
        runs: Runs = self.app.state.serving.runs
        return runs

    def client(self, **options: Any) -> httpx.AsyncClient:
        """Return a client of the server."""
        return httpx.AsyncClient(base_url=self.base_url, timeout=60, **options)


class _Quiet(uvicorn.Server):
    """A server that leaves the process's signals alone."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def listening(app: FastAPI) -> AsyncIterator[str]:
    """Provide `app` on a free port of the loopback interface: its URL."""
    server = _Quiet(uvicorn.Config(app, port=0, log_level="warning"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.wait({running}, timeout=0.02)
        if running.done():
            running.result()
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await running


@asynccontextmanager
async def serving_with(folder: Path, **changes: Any) -> AsyncIterator[Served]:
    """Provide a server over the database in `folder`, with other settings than the defaults."""
    model = Model()
    async with ScriptedOpenAI(model) as endpoint:
        chosen = {
            "openai_base_url": endpoint.base_url,
            "openai_api_key": "any",
            "chat_model": "scripted",
            "vision_model": "seeing",
            "embedding": "openai:hashed",
            "model_retries": 0,
        }
        settings = Settings(**settings_over(folder).model_dump() | chosen | changes)
        app = create_app(settings)
        async with listening(app) as url:
            yield Served(url, app, endpoint, model)


def asking(*, query: str = QUESTION, **more: Any) -> dict[str, Any]:
    """Return the body that asks `query` of the filled knowledge base."""
    return {"query": query, "graphId": GRAPH, "stream": True} | more


@dataclass(frozen=True)
class Sent:
    """One server-sent event."""

    id: str
    name: str
    data: Any


def sent(text: str) -> list[Sent]:
    """Return the events of a stream's text; pings are left out."""
    return [_event(block) for block in text.split("\n\n") if block and not block.startswith(":")]


def _event(block: str) -> Sent:
    fields: Mapping[str, str] = dict(line.split(": ", 1) for line in block.split("\n"))
    return Sent(fields["id"], fields["event"], orjson.loads(fields["data"]))


async def first(response: httpx.Response, name: str) -> tuple[Sent, str]:
    """Read a stream up to its first event of that name: the event, and the text until then."""
    text = ""
    async for part in response.aiter_text():
        text += part
        whole = text[: text.rfind("\n\n") + 2]
        for event in sent(whole):
            if event.name == name:
                return event, whole
    raise AssertionError(f"no {name} in {text!r}")
