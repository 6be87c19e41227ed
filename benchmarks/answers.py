"""Measure what an answer adds to the chat model's own time: first token, tokens a second, checks of a sentence.

    python -m benchmarks.answers

The model, the search and the store take no time, so that what is measured is ours.

Limits: first token ≤ 10 ms (bypass) and ≤ 30 ms (three rounds, three lanes); ≥ 2,000 tokens a
second and core; checks ≤ 5 ms a sentence.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from benchmarks.figures import record
from benchmarks.quality.sets import parser_of
from benchmarks.workflow import InstantChat, passages, stream_once, workflow_over
from sextant.domain.answers import Token, Usage
from sextant.domain.retrieval import RetrievedItem
from sextant.graph.streaming import stream_answer
from sextant.graph.workflow import Workflow
from sextant.models.chat.chat_model import Messages, Restart
from sextant.nodes.answers.sanitizer import OutputSanitizer
from sextant.nodes.citing.cited_text import CitedText

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
    """Print the tokens of whole streams for a second of CPU: analysis, search and checks included."""
    workflow = workflow_over(STATEMENTS["zh"][0], InstantChat())
    await stream_once(workflow)
    started = time.process_time()
    count = sum([await stream_once(workflow) for _ in range(5)])
    rate = count / (time.process_time() - started)
    record("tokens streamed, checked and cited", rate, "a CPU-second", least=2000)


def main() -> None:
    """Measure and print."""
    parser_of(__doc__).parse_args()
    asyncio.run(first_tokens())
    checks()
    asyncio.run(tokens())


if __name__ == "__main__":
    main()
