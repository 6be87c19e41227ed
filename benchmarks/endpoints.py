"""Simulate slow model endpoints in virtual time, and report when a question is answered.

    python -m benchmarks.endpoints

The sample documents are asked in `mix`, with the default limits: first of an endpoint that nothing is known of, then of
one whose speed is known; questions that the rules are sure of, then one that they are not. What Sextant does by itself
passes as it does.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sextant import Sextant
from sextant.domain.answers import Done, Token
from sextant.domain.settings import Settings
from sextant.nodes import budget
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import EndpointPace, Reply, VirtualClock, as_json

DOCUMENTS = Path(__file__).parents[1] / "samples" / "documents"
ENDPOINTS = {
    "20 / 2": EndpointPace(20, 2),
    "40 / 4": EndpointPace(40, 4),
    "80 / 8": EndpointPace(80, 8),
    "300 / 15": EndpointPace(300, 15),
    "1,000 / 40": EndpointPace(1000, 40),
    "1,000 / 60, thinks 800": EndpointPace(1000, 60, thinking=800),
}
QUESTIONS = {
    "sure": "When is a value dropped in Rust?",
    "unsure": "Which colleague should a visitor telephone about a lost Rust ownership badge?",
}
ANSWER = "When the owner goes out of scope, the value is dropped, and its memory is released [{n}]."


def reply_to(request: ApiRequest) -> Reply | str:
    """Judge that all suffices, and answer from the passage on owners."""
    if request.wants_json:
        return as_json({"relevant": [1], "sufficient": True, "queries": []})
    found = request.prompt.partition("out of scope")[0].rpartition('<passage number="')[2]
    return ANSWER.format(n=(re.match(r"\d+", found) or ["1"])[0])


@dataclass(frozen=True)
class Run:
    """One question: when its first words came, when it ended, and how."""

    first: float
    whole: float
    model: str
    usage: Any
    warnings: tuple[str, ...]

    def row(self, *names: str) -> str:
        """Return the run as a row of a table."""
        cells = [*names, f"{self.first:.1f}", f"{self.whole:.1f}", self.model]
        cells += [str(self.usage.calls), str(self.usage.prompt_tokens), " ".join(self.warnings)]
        return f"| {' | '.join(cells)} |"


async def ask(rag: Sextant, question: str, clock: VirtualClock) -> Run:
    """Ask, and take the time."""
    started, first = clock.time(), 0.0
    async for event in rag.stream(question, mode="mix"):
        if isinstance(event, Token) and not first:
            first = clock.time() - started
        if isinstance(event, Done):
            whole = clock.time() - started
            answer = event.answer
    return Run(first, whole, answer.model, answer.usage, answer.warnings)


async def main() -> None:
    """Print a table of all runs."""
    clock = VirtualClock.of_running_loop()
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder, patch.object(budget, "time", clock):
        async with Sextant.open(Settings(_env_file=None, data_dir=Path(folder))) as rag:
            await rag.ingest(sorted(DOCUMENTS.iterdir()))
        print(
            "| endpoint | speed | rules are | first words s | whole s | by | calls | prompt tokens | warnings |"
        )
        print("|---|---|---|--:|--:|---|--:|--:|---|")
        for name, pace in ENDPOINTS.items():
            for first in QUESTIONS:
                # Another model each time, of which nothing is known.
                questions = [first, *(one for one in QUESTIONS if one != first)]
                async with ScriptedOpenAI(reply_to, pace=replace(pace), clock=clock) as endpoint:
                    settings = Settings(
                        _env_file=None, data_dir=Path(folder), chat_model="simulated", openai_base_url=endpoint.base_url,
                    )  # fmt: skip
                    async with Sextant.open(settings) as rag:
                        await rag.warm_up()
                        for at, kind in enumerate(questions):
                            run = await ask(rag, QUESTIONS[kind], clock)
                            print(run.row(name, "known" if at else "unknown", kind), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
