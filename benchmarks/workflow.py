"""Measure the cost of the workflow itself: CPU per run and per token, with instant models and store.

    python -m benchmarks.workflow

Limits: a six-node run ≤ 5 ms CPU, a refining round ≤ 1.5 ms (an empty six-node graph takes 2.2 ms), streamed tokens ≥ 2,000 per CPU-second.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, cast

from langchain_core.language_models.fake_chat_models import FakeListChatModel

from benchmarks.figures import record
from sextant.domain.answers import Token, Usage
from sextant.domain.errors import ModelOutputInvalid
from sextant.domain.retrieval import ItemKind, LaneScore, Mode, Retrieval, RetrievedItem
from sextant.domain.settings import Settings
from sextant.graph.streaming import stream_answer
from sextant.graph.workflow import Workflow, create_query_workflow
from sextant.models.chat.chat_model import ChatModel, Messages, Restart, T
from sextant.models.offline.extractive import Extraction, Quotation
from sextant.nodes.context import Dependencies

RUNS = 200
TOKENS = 2000
QUESTION = {"query": "糖尿病的典型症状是什么？", "graph_id": "bench"}
SENTENCE = "糖尿病的典型症状为多饮、多尿、多食和体重下降。"


def passages(text: str) -> tuple[RetrievedItem, ...]:
    """Return ten passages of about the usual size."""
    return tuple(
        RetrievedItem(
            ItemKind.CHUNK, f"chunk-{n}", text * 8, 0.9 - n / 100, f"document-{n}",
            lanes={"vector": LaneScore(n + 1, 0.9)},
            metadata={"filename": f"{n}.md", "title": "指南", "start": 0, "section_path": ("症状",)},
        )
        for n in range(10)
    )  # fmt: skip


class InstantRetriever:
    """Finds the same passages at once."""

    lanes = ("vector", "keyword")

    def __init__(self, text: str) -> None:
        self._found = Retrieval(passages(text), Mode.NAIVE, timings={"total": 0.0})

    async def search(self, *_: object, **__: object) -> Retrieval:
        """Return the passages."""
        return self._found


class InstantAnswerer:
    """Quotes one sentence at once."""

    name = "instant"

    async def extract(self, *_: object, **__: object) -> Extraction:
        """Return the sentence."""
        return Extraction((Quotation(SENTENCE, 0, 0, len(SENTENCE)),), None)


class InstantChat(ChatModel):
    """Streams many tokens at once; gives no judgement, so that rules decide."""

    def __init__(self) -> None:
        super().__init__(FakeListChatModel(responses=[""]))

    async def structured(
        self,
        messages: Messages,
        schema: type[T],
        *,
        repair: bool = True,  # noqa: ARG002
        patient: bool = True,  # noqa: ARG002
        answer_tokens: int | None = None,  # noqa: ARG002
    ) -> tuple[T, Usage]:
        """Return no judgement."""
        raise ModelOutputInvalid(f"{len(messages)} messages make no {schema.__name__}.")

    async def stream(self, messages: Messages, **_: object) -> AsyncIterator[str | Restart | Usage]:  # noqa: ARG002
        """Yield `TOKENS` tokens with a cited sentence every twenty."""
        for n in range(TOKENS):
            yield f"{SENTENCE}[{n % 10 + 1}]" if n % 20 == 19 else "多饮 "
        yield Usage(1)


def workflow_over(text: str, chat: object = None) -> Workflow:
    """Return the real graph over instant parts."""
    parts = cast("Sequence[Any]", (InstantRetriever(text), InstantAnswerer(), chat))
    return create_query_workflow(
        dependencies=Dependencies(Settings(_env_file=None), parts[0], parts[1], parts[2])
    )


async def cpu_ms(run: Callable[[], Awaitable[object]], runs: int = RUNS) -> float:
    """Mean CPU milliseconds of this process for one `run`, after a warm-up."""
    for _ in range(20):
        await run()
    started = time.process_time()
    for _ in range(runs):
        await run()
    return (time.process_time() - started) / runs * 1000


async def stream_once(workflow: Workflow) -> int:
    """Read one whole stream; returns the number of token events."""
    events = [event async for event in stream_answer(workflow, QUESTION)]
    return sum(isinstance(event, Token) for event in events)


async def main() -> None:
    """Measure and print one line each."""
    enough, weak = workflow_over(SENTENCE), workflow_over("今天天气很好。")
    straight = await cpu_ms(lambda: enough.ainvoke(QUESTION))
    looped = await cpu_ms(lambda: weak.ainvoke(QUESTION))
    rounds = (await weak.ainvoke(QUESTION))["attempts"]
    bypass = await cpu_ms(lambda: enough.ainvoke({"query": "Hi", "mode": "bypass"}))
    record("workflow of six nodes, without models and search", straight, "ms CPU", most=5)
    record("each refining round", (looped - straight) / rounds, "ms CPU", most=1.5)
    record("workflow, bypass", bypass, "ms CPU")


if __name__ == "__main__":
    asyncio.run(main())
