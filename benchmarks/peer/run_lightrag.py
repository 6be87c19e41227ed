"""Measure LightRAG's published package on the made-up corpus: chunks per CPU-second, milliseconds per mode.

    python -m benchmarks.peer.run_lightrag SIZES FOLDER

Runs in the peer's own environment (`benchmarks.versus_lightrag` makes it) with its default settings,
tokenizer and file stores, and prints one line of JSON. Model and embedding are instant, and the time
spent in them is taken off.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import statistics
import sys
import time
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from lightrag import LightRAG, QueryParam  # type: ignore[import-not-found, unused-ignore]
from lightrag.kg.shared_storage import initialize_pipeline_status  # type: ignore[import-not-found, unused-ignore]
from lightrag.utils import EmbeddingFunc  # type: ignore[import-not-found, unused-ignore]

from benchmarks.peer.corpus import (
    DIMENSION,
    IS_A,
    SEPARATOR,
    STATES,
    Question,
    make_corpus,
    vector_of,
)

MODES = ("naive", "local", "global", "hybrid", "mix")
_FIELD, _END = "<|#|>", "<|COMPLETE|>"


class Instant:
    """Both models; `spent` is their CPU time in seconds."""

    spent = 0.0

    async def embed(self, texts: list[str]) -> npt.NDArray[np.float32]:
        """Return vectors of hashed words."""
        started = time.process_time()
        vectors = np.stack([vector_of(text) for text in texts])
        self.spent += time.process_time() - started
        return vectors

    async def answer(self, prompt: str, **_: object) -> str:
        """Return what a model would extract from the text of the prompt."""
        started = time.process_time()
        text = prompt.rsplit("---Input Text---", 1)[-1]
        rows = [
            _FIELD.join(("entity", name, kind, f"{name} is a {kind} known for {what}."))
            for name, kind, what in IS_A.findall(text)
        ]
        rows += [
            _FIELD.join(("relation", a, b, verb, f"{a} {verb} {b} for {what}."))
            for a, verb, b, what in STATES.findall(text)
        ]
        self.spent += time.process_time() - started
        return "\n".join((*rows, _END)) if "---Input Text---" in prompt else _END


async def query_times(rag: LightRAG, questions: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Return retrieval alone: keywords are given, no model is asked. Every question twice, as of Sextant."""
    times = {}
    for mode in MODES:
        first, _ = await ask_all(rag, questions, mode)
        again, found = await ask_all(rag, questions, mode)
        times[mode] = {"first_ms": first, "median_ms": again, "found": found}
    return times


async def ask_all(rag: LightRAG, questions: Sequence[Question], mode: str) -> tuple[float, float]:
    """Return the median time in ms, and the share of the questions whose answer was found."""
    samples, found = [], 0
    for question in questions:
        wanted = QueryParam(mode=mode, only_need_context=True)
        wanted.hl_keywords, wanted.ll_keywords = list(question.themes), list(question.names)
        started = time.perf_counter()
        context = await rag.aquery(question.text, wanted)
        samples.append((time.perf_counter() - started) * 1000)
        found += question.answer in str(context)
    return statistics.median(samples), found / len(questions)


async def main() -> None:
    """Ingest up to each size and query there."""
    sized, folder = sys.argv[1:]
    sizes = [int(size) for size in sized.split(",")]
    corpus, instant = make_corpus(sizes[-1]), Instant()
    os.chdir(folder)  # it reads .env and config.ini of the working directory
    rag = LightRAG(
        working_dir=folder,
        embedding_func=EmbeddingFunc(
            embedding_dim=DIMENSION, max_token_size=8192, func=instant.embed
        ),
        llm_model_func=instant.answer,
    )
    await rag.initialize_storages()
    await initialize_pipeline_status()
    logging.getLogger("lightrag").setLevel(logging.CRITICAL)
    done, stages = 0, []
    for size in sizes:
        names, texts = zip(*corpus.documents(done, size), strict=True)
        started, before = time.process_time(), instant.spent
        await rag.ainsert(
            list(texts),
            split_by_character=SEPARATOR,
            split_by_character_only=True,
            ids=list(names),
            file_paths=list(names),
        )
        cpu = time.process_time() - started - (instant.spent - before)
        modes = await query_times(rag, corpus.questions)
        stages.append({"passages": size, "per_cpu_s": (size - done) / cpu, "modes": modes})
        done = size
    await rag.finalize_storages()
    print(json.dumps(stages))


if __name__ == "__main__":
    asyncio.run(main())
