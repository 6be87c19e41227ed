"""Run the common tasks with a real chat model over the sample documents.

    make model            # at the endpoint that the settings name; or: python -m benchmarks.model_walk

Reads the documents, asks a question in each mode and two that follow each other, has a report written at effort
`high`, and lets the model describe a document and find its entities. Nothing is scripted, and nothing is asserted: the table in
docs/quality.md says what became of each step, and how long a user waited. Its columns:

- first words: seconds until the first of them could be read; seconds: until the end.
- outcome: what the answer says of itself (`quoted`: the model's words came too late, or did not hold), or the error.
- citations: of the answer; calls, tokens in, tokens out: what it cost.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from time import perf_counter

from benchmarks.quality.model_answers import no_chat_model
from benchmarks.quality.pages import Cell, measured, write_pages, write_report
from sextant.domain.answers import Done, Effort, Event, Failed, Token
from sextant.domain.configuration import load_settings
from sextant.domain.errors import SextantError
from sextant.domain.settings import Settings
from sextant.facade import Sextant

REPORT = "model-walk"
COLUMNS = ("step", "first words", "seconds", "outcome", "citations", "calls", "tokens in", "tokens out")  # fmt: skip
GRAPH = "walk"
SAMPLES = Path(__file__).parents[1] / "sextant" / "samples" / "documents"
MODES = {
    "naive": "How does Rust keep memory safe without a garbage collector?",
    "local": "糖尿病患者的主要症状是什么？",
    "global": "What are these documents about?",
    "hybrid": "How long is the probation period?",
    "mix": "供应商违约金的比例是多少？",
    "bypass": "Say in one sentence what a garbage collector does.",
    "auto": "How many parts have a stock below 10?",
}
FOLLOWING = ("What is ownership in Rust?", "And what happens when its owner goes out of scope?")
REPORTED = "Compare how the documents say that memory and insulin are managed."

Walked = Callable[[list[Cell]], None]


async def walk(show: Walked) -> str:
    """Take every step, show its row when it ends, and return the model's name.

    Raises:
        SettingsInvalid: the settings name no chat model.
        SextantError: the documents cannot be read in.
    """
    settings = await asyncio.to_thread(load_settings)
    model = settings.chat_model
    if not model:
        raise no_chat_model()
    with tempfile.TemporaryDirectory() as folder:
        settings = settings.model_copy(update={"data_dir": Path(folder), "database_url": None})
        async with Sextant.open(settings) as sextant:
            show(await _timed("read the documents", sextant.ingest([SAMPLES], graph_id=GRAPH)))
            for mode, question in MODES.items():
                asked = sextant.stream(question, graph_id=GRAPH, mode=mode)
                show(await _answered(f"ask, {mode}", asked))
            for question in FOLLOWING:
                asked = sextant.stream(question, graph_id=GRAPH, thread_id="walk")
                show(await _answered("ask in a conversation", asked))
            high: Effort = "high"
            asked = sextant.stream(REPORTED, graph_id=GRAPH, effort=high)
            show(await _answered("report, effort high", asked))
        show(await _read_by_model(settings))
    return model


async def _read_by_model(settings: Settings) -> list[Cell]:
    """Return the row of a document that the model describes and finds entities in."""
    by_model = {"metadata": "llm", "graph": "llm"}
    ingestion = settings.ingestion.model_copy(update=by_model)
    async with Sextant.open(settings.model_copy(update={"ingestion": ingestion})) as sextant:
        work = sextant.ingest([SAMPLES / "release-notes.md"], graph_id="described")
        return await _timed("read a document, describe and extract", work)


async def _answered(step: str, events: AsyncGenerator[Event]) -> list[Cell]:
    """Return the row of an answer, whether it comes or fails."""
    began, first = perf_counter(), None
    try:
        async with aclosing(events):
            async for event in events:
                if isinstance(event, Token) and first is None:
                    first = perf_counter() - began
                if isinstance(event, Failed):
                    return _row(step, began, first, event.code)
                if isinstance(event, Done):
                    answer = event.answer
                    outcome = "declined" if answer.declined else answer.trust.value
                    counts = (
                        answer.usage.calls,
                        answer.usage.prompt_tokens,
                        answer.usage.completion_tokens,
                    )
                    return _row(step, began, first, outcome, len(answer.citations), *counts)
    except SextantError as error:
        return _row(step, began, first, error.code)
    return _row(step, began, first, "no end")


async def _timed(step: str, work: Awaitable[object]) -> list[Cell]:
    began = perf_counter()
    try:
        await work
    except SextantError as error:
        return _row(step, began, None, error.code)
    return _row(step, began, None, "done")


def _row(step: str, began: float, first: float | None, outcome: str, *counts: int) -> list[Cell]:
    words = "–" if first is None else f"{first:.1f}"
    costs: list[Cell] = list(counts) or ["–"] * 4
    return [step, words, f"{perf_counter() - began:.1f}", outcome, *costs]


def _main() -> None:
    rows = list[list[Cell]]()

    def show(row: list[Cell]) -> None:
        rows.append(row)
        print(" | ".join(map(str, row)), file=sys.stderr, flush=True)

    try:
        model = asyncio.run(walk(show))
    except SextantError as error:
        sys.exit(f"{error.message} {error.next_step}")
    how = measured("make model")
    how["machine"] = f"{model}; {how['machine']}"
    write_report(REPORT, {"measured": how, "columns": COLUMNS, "rows": rows})
    write_pages()


if __name__ == "__main__":
    _main()
