"""What storing and searching chunks costs: rows per second, and both lanes beside a plain design.

    python -m benchmarks.store [CHUNKS] [SEED]

Limit: insert ≥ 5,000 rows/s without embedding. A search design is compared with the plain
one in the same run, query by query, so the ratio holds on a loaded machine;
the gate comes first: same chunks and same counts as ILIKE, recall@10 of HNSW against the exact scan.
Texts and vectors are made up from a seed: words by Zipf's law, half of them Chinese; vectors in
clouds around topics. One connection, parallel workers off.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt

from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.sets import numbers
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database

SMALL_SCOPES, SMALL_CHUNKS = 20, 300
BATCH = 500
QUERIES = 120
WORDS_PER_CHUNK = 90
ILIKE = r"""
select c.id, count(*) from chunks c join graphs g using (scope_id)
cross join unnest(%s::text[]) as word
where c.text ilike '%%' || regexp_replace(word, '([\\%%_])', '\\\1', 'g') || '%%'
group by c.id order by count(*) desc
"""
EXACT = """
select set_config('enable_indexscan', 'off', true);
select v.chunk_id from chunk_vectors v, graphs g
where v.partition_key = g.partition_key and v.scope_id = g.scope_id
order by v.embedding <=> '{vector}' limit 10
"""

Search = Callable[[int], Awaitable[object]]


@dataclass(frozen=True)
class Corpus:
    """Texts with a vector each."""

    texts: list[str]
    vectors: Vectors


def make_corpus(count: int, seed: int) -> Corpus:
    """`count` chunks of about 550 bytes, alternately Chinese and English."""
    rng = np.random.default_rng(seed)
    chinese = [
        "".join(map(chr, rng.integers(0x4E00, 0x5600, size))) for size in rng.integers(2, 4, 6000)
    ]
    english = [
        "".join(rng.choice(list("aeioulnrstdm"), size)) for size in rng.integers(2, 10, 6000)
    ]
    zipf = 1 / np.arange(3, 6003)
    zipf /= zipf.sum()
    texts = []
    for number in range(count):
        vocabulary, joint = (chinese, "") if number % 2 else (english, " ")
        picks = rng.choice(len(vocabulary), WORDS_PER_CHUNK, p=zipf)
        texts.append(joint.join(vocabulary[pick] for pick in picks))
    topics = rng.normal(size=(60, 384))
    raw = topics[rng.integers(0, 60, count)] + 0.7 * rng.normal(size=(count, 384))
    return Corpus(texts, np.asarray(raw / np.linalg.norm(raw, axis=1, keepdims=True), np.float32))


@dataclass
class Meter:
    """CPU seconds of this process and of its one connection's backend (10 ms steps: sum over many)."""

    backend: int

    def read(self) -> tuple[float, float]:
        """Return client and server CPU seconds so far."""
        fields = Path(f"/proc/{self.backend}/stat").read_text().rpartition(")")[2].split()
        return time.process_time(), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def backend_of(database: Database, scope: Scope) -> int:
    """Return the process of the pool's connection."""
    (backend,) = await backends_of(database, scope, 1)
    return backend


async def backends_of(database: Database, scope: Scope, number: int) -> list[int]:
    """Return the processes of that many of the pool's connections."""
    async with contextlib.AsyncExitStack() as stack:
        taken = [
            await stack.enter_async_context(database.transaction(scope.user_id))
            for _ in range(number)
        ]
        return [connection.info.backend_pid for connection in taken]


async def store(
    database: Database, scope: Scope, corpus: Corpus, *, batches_at_once: int = 1
) -> None:
    """Store a corpus as one document; print what it cost until its last chunk was searchable."""
    documents = DocumentStore(database)
    opened = await documents.register(
        scope, source="b", filename="b", media_type="text/plain", content=uuid4().bytes
    )
    section = Section(uuid4(), None, "", 0, 0, 0, 1)
    await documents.begin(scope, opened.document_id, ParsedDocument("", "x", "en", (section,), ()))
    chunks = [
        Chunk(uuid4(), section.id, number, 0, len(text), text)
        for number, text in enumerate(corpus.texts)
    ]
    meters = [Meter(pid) for pid in await backends_of(database, scope, batches_at_once)]
    batches = iter([slice(first, first + BATCH) for first in range(0, len(chunks), BATCH)])

    async def feed() -> None:
        for batch in batches:
            part, vectors = chunks[batch], corpus.vectors[batch]
            await documents.add_chunks(scope, opened.document_id, part, vectors)

    started, client = time.perf_counter(), time.process_time()
    server = sum(meter.read()[1] for meter in meters)
    await asyncio.gather(*(feed() for _ in meters))
    seconds, client_then = time.perf_counter() - started, time.process_time()
    server_then = sum(meter.read()[1] for meter in meters)
    print(
        f"insert, {batches_at_once} batches at once: {len(chunks) / seconds:.0f} rows/s (limit 5000), CPU a row: "
        f"{1e6 * (client_then - client) / len(chunks):.0f} us client, "
        f"{1e6 * (server_then - server) / len(chunks):.0f} us server"
    )
    started = time.perf_counter()
    await documents.publish(scope, opened.document_id)
    print(f"published, and indexed if large, in {time.perf_counter() - started:.1f} s")


async def side_by_side(designs: dict[str, Search], meter: Meter) -> None:
    """Run every design on every query, in turns, and print times, CPU and the ratio to the first."""
    walls: dict[str, list[float]] = {name: [] for name in designs}
    cpus = dict.fromkeys(designs, 0.0)
    for number in range(QUERIES):
        for name, search in designs.items():
            client, server = meter.read()
            started = time.perf_counter()
            await search(number)
            walls[name].append((time.perf_counter() - started) * 1000)
            cpus[name] += sum(meter.read()) - client - server
    plain = next(iter(designs))
    for name, times in walls.items():
        p50, p95 = statistics.median(times), float(np.percentile(times, 95))
        ratio = statistics.median(walls[plain]) / p50
        cpu = cpus[name] / QUERIES * 1000
        print(
            f"{name:<28} p50 {p50:8.2f} ms  p95 {p95:8.2f} ms  CPU {cpu:7.2f} ms"
            f"  {ratio:5.1f}x, CPU {cpus[plain] / max(cpus[name], 1e-9):5.1f}x"
        )


def keywords(corpus: Corpus, number: int) -> list[str]:
    """Return eight keywords cut out of one chunk: words of three letters and more, or three ideographs."""
    text = corpus.texts[number * 37 % len(corpus.texts)]
    if " " in text:
        return [word for word in text.split() if len(word) > 2][5:13]
    return [text[at : at + 3] for at in range(10, 34, 3)]


async def compare_keywords(database: Database, scope: Scope, corpus: Corpus, meter: Meter) -> None:
    """Compare the gram index with ILIKE over the same scope."""
    chunks = ChunkStore(database)

    async def ilike(number: int, words: list[str] | None = None) -> dict[UUID, int]:
        wanted = list(dict.fromkeys(words or keywords(corpus, number)))
        async with database.transaction(scope.user_id) as connection:
            return dict([row async for row in await connection.execute(ILIKE, [wanted])])

    async def grams(number: int, k: int = 20) -> dict[UUID, int]:
        hits = await chunks.keyword_search(scope, keywords(corpus, number), k)
        return {hit.chunk.id: int(hit.score) for hit in hits}

    checked = range(0, QUERIES, 6)
    same = [await grams(number, 10**6) == await ilike(number) for number in checked]
    print(f"keyword lane: same chunks and counts as ILIKE on {sum(same)} of {len(same)} queries")
    await side_by_side({"ILIKE, counted": ilike, "grams, then text": grams}, meter)


async def compare_vectors(database: Database, scope: Scope, corpus: Corpus, meter: Meter) -> None:
    """HNSW in the scope's own partition against the exact scan of the same rows."""
    chunks = ChunkStore(database)
    noise = np.random.default_rng(5).normal(size=(QUERIES, 384)).astype(np.float32) * 0.03
    picked: npt.NDArray[np.float32] = corpus.vectors[np.arange(QUERIES) * 37 % len(corpus.vectors)]
    queries = picked + noise

    async def exact(number: int) -> set[UUID]:
        literal = "[" + ",".join(f"{value:.6f}" for value in queries[number]) + "]"
        async with database.transaction(scope.user_id) as connection:
            cursor = await connection.execute(EXACT.format(vector=literal).encode())
            cursor.nextset()
            return {row[0] async for row in cursor}

    async def hnsw(number: int) -> set[UUID]:
        return {hit.chunk.id for hit in await chunks.vector_search(scope, queries[number], 10)}

    found = [len(await hnsw(number) & await exact(number)) / 10 for number in range(QUERIES)]
    print(f"vector lane: recall@10 {statistics.mean(found):.3f}, worst query {min(found):.1f}")
    await side_by_side({"exact scan, ids only": exact, "own partition, whole chunks": hnsw}, meter)


async def run(count: int, seed: int) -> None:
    """Everything, on a database of its own."""
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as folder:
        settings = Settings(
            _env_file=None, data_dir=Path(folder), database_url=None, database_pool=1
        )
        async with await Database.open(settings) as database:
            for number in range(SMALL_SCOPES):
                with contextlib.redirect_stdout(None):
                    small = make_corpus(SMALL_CHUNKS, number)
                    await store(database, Scope(f"small-{number}"), small)
            scope, corpus = Scope("large"), make_corpus(count, seed)
            await store(database, Scope("one-by-one"), corpus)
            two = settings.model_copy(update={"database_pool": 2})
            async with await Database.open(two) as twice:  # as ingestion does it
                await store(twice, scope, corpus, batches_at_once=2)
            meter = Meter(await backend_of(database, scope))
            await compare_keywords(database, scope, corpus, meter)
            await compare_vectors(database, scope, corpus, meter)


if __name__ == "__main__":
    asyncio.run(run(*numbers(__doc__, chunks=10_000, seed=2)))
