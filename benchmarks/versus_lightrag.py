"""Compare Sextant with LightRAG's published package: ingestion and retrieval of one made-up corpus.

    python -m benchmarks.versus_lightrag [PASSAGES]

Limits: ≥ 20× LightRAG's passages per CPU-second at 2,000 passages, the cost of a passage
flat as the graph grows; retrieval in the graph modes ≥ 10× faster. Both get the same documents, the same instant
embedding and keywords that cost no model call. LightRAG runs with its default settings, tokenizer and
file stores in an environment of its own, `.venv/peer`, which is made on first use; its models' time is
taken off. Of Sextant everything counts: this process, the parser's and PostgreSQL's.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from benchmarks.figures import record
from benchmarks.peer.corpus import DIMENSION, Corpus, make_corpus, vector_of
from benchmarks.quality.sets import parser_of
from sextant.domain.retrieval import Mode
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.models.embedding.cache import CachedEmbedder
from sextant.models.protocols import Vectors
from sextant.stores.postgresql.database import Database

GRAPH = "bench"
PEER = Path(sys.prefix) / "peer"
REQUIREMENTS = Path(__file__).parent / "peer" / "requirements.txt"
# This wheel carries the file of LightRAG's default tokenizer, o200k_base, which tiktoken would fetch.
VOCABULARY = "litellm==1.109.1"
MODES = (Mode.NAIVE, Mode.LOCAL, Mode.GLOBAL, Mode.HYBRID, Mode.MIX)


class InstantEmbedder:
    """The corpus's own embedding; `spent` is the CPU time in it."""

    name, dimension = "instant", DIMENSION

    def __init__(self) -> None:
        self.spent = 0.0

    async def warm_up(self) -> None:
        """Nothing to load."""

    async def embed_query(self, text: str) -> Vectors:
        """Return one vector."""
        return vector_of(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return a vector per text."""
        started = time.process_time()
        vectors: Vectors = np.stack([vector_of(text) for text in texts])
        self.spent += time.process_time() - started
        return vectors


def cpu_of_everything(data: Path) -> float:
    """Return CPU seconds of this process, its children past and present, and the PostgreSQL of `data`."""
    own = os.times()
    server = psutil.Process(int(next(data.rglob("postmaster.pid")).read_text().split()[0]))
    family = {*psutil.Process().children(recursive=True), server, *server.children()}
    ended = own.children_user + own.children_system
    return own.user + own.system + ended + sum(_cpu(process) for process in family)


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def measure_peer(sizes: Sequence[int], folder: Path) -> list[dict[str, Any]]:
    """Return LightRAG's stages, from a process in its own environment."""
    if not PEER.exists():
        venv.create(PEER, with_pip=True)
    python = PEER / "bin" / "python"
    pip: list[str | Path] = [python, "-m", "pip", "install", "--quiet"]
    _run([*pip, "--requirement", REQUIREMENTS])
    _run([*pip, "--no-deps", VOCABULARY])
    [vocabulary] = PEER.glob("lib/python*/site-packages/litellm/litellm_core_utils/tokenizers")
    sized = ",".join(map(str, sizes))
    quiet = {"OPENBLAS_NUM_THREADS": "1", "TIKTOKEN_CACHE_DIR": str(vocabulary)}
    printed = _run([python, "-m", "benchmarks.peer.run_lightrag", sized, folder], quiet)
    stages: list[dict[str, Any]] = json.loads(printed.splitlines()[-1])
    return stages


def _run(command: Sequence[str | Path], environment: Mapping[str, str] | None = None) -> str:
    """Return what the command prints; its errors are shown."""
    return subprocess.run(  # noqa: S603 - our own arguments
        command,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **(environment or {})},
    ).stdout


async def measure_ours(corpus: Corpus, sizes: Sequence[int], folder: Path) -> list[dict[str, Any]]:
    """Return the same stages of Sextant."""
    settings = Settings(
        _env_file=None, data_dir=folder / "data", database_url=None, embedding="instant"
    )
    embedder = InstantEmbedder()
    done, stages = 0, []
    async with await Database.open(settings) as database, AsyncExitStack() as stack:
        rag = Sextant(database, CachedEmbedder(embedder, 0), stack)
        for size in sizes:
            files = folder / str(size)
            files.mkdir()
            for name, text in corpus.documents(done, size):
                (files / name).write_text(text, encoding="utf-8")
            started, before = cpu_of_everything(settings.data_dir), embedder.spent
            await rag.ingest([files], graph_id=GRAPH)
            cpu = cpu_of_everything(settings.data_dir) - started - (embedder.spent - before)
            modes = await query_times(rag, corpus)
            stages.append({"passages": size, "per_cpu_s": (size - done) / cpu, "modes": modes})
            done = size
    return stages


async def query_times(rag: Sextant, corpus: Corpus) -> dict[str, dict[str, float]]:
    """Return retrieval alone, mode by mode: right after ingestion, and once what is read in the background is there."""
    times = {}
    for mode in MODES:
        await rag.search(corpus.questions[0].text, graph_id=GRAPH, mode=mode)
        first, _ = await ask_all(rag, corpus, mode)
        again, found = await ask_all(rag, corpus, mode)
        times[mode.value] = {"first_ms": first, "median_ms": again, "found": found}
    return times


async def ask_all(rag: Sextant, corpus: Corpus, mode: Mode) -> tuple[float, float]:
    """Return the median time in ms, and the share of the questions whose answer was found."""
    samples, found = [], 0
    for question in corpus.questions:
        started = time.perf_counter()
        answer = await rag.search(question.text, graph_id=GRAPH, mode=mode, limit=20)
        samples.append((time.perf_counter() - started) * 1000)
        found += any(question.answer in item.text for item in answer.results)
    return statistics.median(samples), found / len(corpus.questions)


def report(ours: Sequence[dict[str, Any]], peers: Sequence[dict[str, Any]]) -> None:
    """Both side by side."""
    for own, peer in zip(ours, peers, strict=True):
        ratio = own["per_cpu_s"] / peer["per_cpu_s"]
        size = f"{own['passages']:,} passages"
        print(f"{size}: {own['per_cpu_s']:.0f} a CPU-second, LightRAG {peer['per_cpu_s']:.1f}")
        record(f"ingestion beside LightRAG, {size}", ratio, "times", least=20)
        for mode, mine in own["modes"].items():
            other = peer["modes"][mode]
            print(
                f"  {mode:<7} {mine['median_ms']:7.2f} ms, LightRAG {other['median_ms']:7.2f} ms:"
                f" right after ingestion {mine['first_ms']:.2f} and {other['first_ms']:.2f};"
                f" answering sentence found {mine['found']:.2f}, LightRAG {other['found']:.2f}"
            )
            times = other["median_ms"] / mine["median_ms"]
            record(f"`{mode}` beside LightRAG, {size}", times, "times", least=10)


def main() -> None:
    """Both, one after the other, at a quarter, a half and the whole of the passages."""
    parser = parser_of(__doc__)
    parser.add_argument("passages", type=int, nargs="?", default=2000)
    whole = parser.parse_args().passages
    corpus = make_corpus(whole)
    sizes = [whole // 4, whole // 2, whole]
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
        (Path(folder) / "peer").mkdir()
        ours = asyncio.run(measure_ours(corpus, sizes, Path(folder)))
        report(ours, measure_peer(sizes, Path(folder) / "peer"))


if __name__ == "__main__":
    main()
