"""Measure what an answer adds to the models' own time: the workflow, first token, tokens a second, checks of a sentence.

    python -m benchmarks.answers

The models, the search and the store take no time, so that what is measured is ours.

Limits: a six-node run ≤ 5 ms CPU, a refining round ≤ 1.5 ms (an empty six-node graph takes 2.2 ms); first token ≤ 10 ms
(bypass) and ≤ 30 ms (three rounds, three lanes); ≥ 2,000 tokens a second and core; checks ≤ 5 ms a sentence.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from itertools import permutations
from typing import Any, cast

from langchain_core.language_models.fake_chat_models import FakeListChatModel

from benchmarks.figures import record
from benchmarks.quality.sets import parser_of
from sextant.domain.answers import Token, Usage
from sextant.domain.errors import ModelOutputInvalid
from sextant.domain.retrieval import ItemKind, LaneScore, Mode, Retrieval, RetrievedItem
from sextant.domain.settings import Settings
from sextant.graph.streaming import stream_answer
from sextant.graph.workflow import Workflow, create_query_workflow
from sextant.models.chat.chat_model import ChatModel, Messages, Restart, T
from sextant.models.offline.extractive import Extraction, Quotation
from sextant.nodes.answers.sanitizer import OutputSanitizer
from sextant.nodes.citing.cited_text import CitedText
from sextant.nodes.context import Dependencies

WORKFLOW_RUNS = 200
TOKENS = 2000
QUESTION = {"query": "糖尿病的典型症状是什么？", "graph_id": "bench"}
SENTENCE = "糖尿病的典型症状为多饮、多尿、多食和体重下降。"
# Different sentences that it supports: what a model repeats is left out of its answer.
SAID = [
    f"{head}{'、'.join(order)}"
    for head in (
        "糖尿病的典型症状为",
        "糖尿病的症状为",
        "典型症状为",
        "糖尿病的典型症状是",
        "症状为",
    )
    for order in permutations(("多饮", "多尿", "多食", "体重下降"))
]
RUNS = 60
STATEMENTS = {
    "zh": (
        "糖尿病的典型症状为多饮、多尿、多食和体重下降，血糖升高时应尽早就医。",
        "症状是多饮、多尿和体重下降",
    ),
    "en": (
        "Each value in Rust has exactly one owner at a time, and moves end it.",
        "Each value has one owner",
    ),
}


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
            yield f"{SAID[n // 20]}[{n % 10 + 1}]。" if n % 20 == 19 else "多饮 "
        yield Usage(1)


def workflow_over(text: str, chat: object = None) -> Workflow:
    """Return the real graph over instant parts."""
    parts = cast("Sequence[Any]", (InstantRetriever(text), InstantAnswerer(), chat))
    return create_query_workflow(
        dependencies=Dependencies(Settings(_env_file=None), parts[0], parts[1], parts[2])
    )


async def run_ms(run: Callable[[], Awaitable[object]], runs: int = WORKFLOW_RUNS) -> float:
    """Mean CPU milliseconds of this process for one `run`, after a warm-up."""
    for _ in range(20):
        await run()
    started = time.process_time()
    for _ in range(runs):
        await run()
    return (time.process_time() - started) / runs * 1000


async def stream_once(workflow: Workflow) -> None:
    """Read one whole stream."""
    async for _ in stream_answer(workflow, QUESTION):
        pass


async def workflow_runs() -> None:
    """Print what the workflow itself takes, a refining round, and a run without a search."""
    enough, weak = workflow_over(SENTENCE), workflow_over("今天天气很好。")
    straight = await run_ms(lambda: enough.ainvoke(QUESTION))
    looped = await run_ms(lambda: weak.ainvoke(QUESTION))
    rounds = (await weak.ainvoke(QUESTION))["attempts"]
    bypass = await run_ms(lambda: enough.ainvoke({"query": "Hi", "mode": "bypass"}))
    record("workflow of six nodes, without models and search", straight, "ms CPU", most=5)
    record("each refining round", (looped - straight) / rounds, "ms CPU", most=1.5)
    record("workflow, bypass", bypass, "ms CPU")


class Timed(InstantChat):
    """Says when it was asked to write."""

    asked = 0.0

    async def stream(
        self, messages: Messages, **options: object
    ) -> AsyncIterator[str | Restart | Usage]:
        """Yield the same tokens."""
        self.asked = time.process_time()
        async for piece in super().stream(messages, **options):
            yield piece


async def first_token(
    workflow: Workflow, question: dict[str, Any], chat: Timed
) -> tuple[float, float]:
    """Return CPU milliseconds to the first token, and of these, those after the model was asked."""
    started = time.process_time()
    async with aclosing(stream_answer(workflow, question)) as events:
        async for event in events:
            if isinstance(event, Token):
                now = time.process_time()
                return (now - started) * 1000, (now - chat.asked) * 1000
    raise AssertionError("an answer has tokens")


async def first_tokens() -> None:
    """Print the time to the first token, without a search and after three weak ones."""
    for name, text, question, limit in (
        ("bypass", "", {"query": "Hi", "mode": "bypass"}, 10),
        ("one round", STATEMENTS["zh"][0], {"query": "糖尿病的典型症状是什么？"}, 30),
        ("three rounds", "今天天气很好。", {"query": "糖尿病的典型症状是什么？"}, 30),
    ):
        chat = Timed()
        workflow = workflow_over(text, chat)
        times = [await first_token(workflow, question, chat) for _ in range(RUNS)][10:]
        whole, after = (min(values) for values in zip(*times, strict=True))
        record(f"our time to the first token, {name}", whole, "ms CPU", most=limit)
        record(f"of it after the model was asked, {name}", after, "ms CPU")


def checks() -> None:
    """Print what checking one sentence against ten passages takes: cited, and not cited by the model."""
    for language, (text, statement) in STATEMENTS.items():
        items = list(passages(text * 2))
        for name, marker in (("cited", "[{n}]"), ("not cited", "")):
            taken = sentence_ms(items, statement, marker)
            record(f"checks of a sentence, {language}, {name}", taken, "ms", most=5)


def sentence_ms(
    items: Sequence[RetrievedItem], statement: str, marker: str, count: int = 200
) -> float:
    """Return milliseconds a sentence, its passage's preparation included."""
    stop = "。" if statement[0] > "z" else ". "
    written = [f"{statement}{marker.format(n=n % 10 + 1)}{stop}" for n in range(count)]
    return cpu_ms(lambda: feed(items, written)) / count


def feed(items: Sequence[RetrievedItem], written: Sequence[str]) -> None:
    """Take a text through all that it goes through, token by token."""
    guard, text = OutputSanitizer([item.text for item in items]), CitedText(items)
    for sentence in written:
        for start in range(0, len(sentence), 2):
            for _ in text.feed(guard.feed(sentence[start : start + 2])):
                pass
    for _ in text.finish():
        pass


def cpu_ms(run: Callable[[], object], runs: int = 5) -> float:
    """Return least CPU milliseconds of several runs."""
    times = []
    for _ in range(runs):
        started = time.process_time()
        run()
        times.append((time.process_time() - started) * 1000)
    return min(times)


async def tokens() -> None:
    """Print the model's tokens of whole streams for a second of CPU: analysis, search and checks included."""
    workflow = workflow_over(STATEMENTS["zh"][0], InstantChat())
    await stream_once(workflow)
    started = time.process_time()
    for _ in range(5):
        await stream_once(workflow)
    rate = 5 * TOKENS / (time.process_time() - started)
    record("tokens streamed, checked and cited", rate, "a CPU-second", least=2000)


def main() -> None:
    """Measure and print."""
    parser_of(__doc__).parse_args()
    asyncio.run(workflow_runs())
    asyncio.run(first_tokens())
    checks()
    asyncio.run(tokens())


if __name__ == "__main__":
    main()
