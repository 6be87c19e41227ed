"""A chat model that fails in a way of one's choice, over TCP from a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from sextant.testing.openai_server import ApiRequest, ReplyFunction, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json, broken_after, failing, silent_after

_BEGUN = "糖尿病患者的主要症状是多饮、多尿、多食和体重下降 [1]。"


def _breaking_off(request: ApiRequest) -> Reply:
    if not request.wants_json:
        return broken_after(8, _BEGUN)
    if '"relevant"' in request.prompt:
        return as_json({"relevant": [1], "sufficient": True})
    return as_json({"question": "糖尿病患者的主要症状是什么？", "keywords": ["糖尿病", "症状"]})


@dataclass(frozen=True)
class Failure:
    """A way to fail, and what a note about it names as the next step, in English and in Chinese."""

    script: ReplyFunction
    step: str
    step_zh: str


FAILURES = {
    "refused key": Failure(
        lambda _: failing(401, "Incorrect API key.", "invalid_api_key"),
        "Set OPENAI_API_KEY",
        "请把 OPENAI_API_KEY 设为",
    ),
    "status 500": Failure(
        lambda _: failing(500), "look into that server's log", "查看该服务的日志"
    ),
    "silence": Failure(
        lambda _: silent_after(0), "Raise SEXTANT_MODEL_TIMEOUT", "请调高 SEXTANT_MODEL_TIMEOUT"
    ),
    "breaking off": Failure(_breaking_off, "Check OPENAI_BASE_URL", "请检查 OPENAI_BASE_URL"),
}


@dataclass
class FailingModel:
    """The endpoint, and how it fails now; `variables` are those of a Sextant that asks it."""

    failure: Failure = field(default_factory=lambda: FAILURES["status 500"])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, request: ApiRequest) -> Reply | str:
        """Return what it answers now."""
        return self.failure.script(request)


@contextmanager
def failing_model() -> Iterator[FailingModel]:
    """Provide one that listens."""
    model, listens = FailingModel(), threading.Event()
    loop = asyncio.new_event_loop()
    over = asyncio.Event()

    async def listen() -> None:
        async with ScriptedOpenAI(model) as endpoint:
            model.variables = {
                "SEXTANT_CHAT_MODEL": "scripted",
                "OPENAI_BASE_URL": endpoint.base_url,
                "OPENAI_API_KEY": "any",
                "SEXTANT_MODEL_RETRIES": "0",
                "SEXTANT_MODEL_TIMEOUT": "5",
            }
            listens.set()
            await over.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(listen(),))
    thread.start()
    listens.wait()
    try:
        yield model
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def speaks_of_model(note: str) -> bool:
    """Return whether a note is about the chat model."""
    return "chat model" in note.lower() or "模型" in note
