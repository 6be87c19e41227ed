"""Measure the graph against bare tables: import, reading it whole, two hops, one more document.

    python -m benchmarks.graph [ENTITIES] [RELATIONS] [SEED]

Limits: import ≤ 1.5× COPY and then indexing, a 2-hop expansion from five starts ≤ 1.5× the
bare prepared LATERAL query over the same edges, the cost of a batch the same however large the graph
is. The bare tables are what COPY, then indexes, makes: entities, relations indexed from both ends and by weight,
adjacency, values sent as text, vacuumed. Both sides of a comparison run in turn in one
process, so the ratios hold on a loaded machine; CPU seconds are of this process and of its one
connection's backend. The graph is made up from a seed: relations from frequent entities (Zipf's law)
to any, weights uniform.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from benchmarks.quality.sets import numbers
from benchmarks.store import Meter, backend_of
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database

BATCH = 20_000
QUERIES = 100

COPIED_TABLES = """
create schema copied;
create table copied.entity (graph_id text not null, id uuid not null, name text not null,
  description text);
create table copied.edge (graph_id text not null, src uuid not null, dst uuid not null,
  weight float8 not null, description text);
create table copied.adj (graph_id text not null, node uuid not null, nbr uuid not null,
  weight float8 not null);
"""
COPIED_ADJACENCY = """
insert into copied.adj
select graph_id, src, dst, weight from copied.edge union all
select graph_id, dst, src, weight from copied.edge
"""
COPIED_INDEXES = """
alter table copied.entity add primary key (graph_id, id);
alter table copied.edge add primary key (graph_id, src, dst);
create index on copied.edge (graph_id, dst, src);
create index on copied.edge (graph_id, src, weight desc, dst);
create index on copied.edge (graph_id, dst, weight desc, src);
create index on copied.adj (graph_id, node, weight desc, nbr);
"""
COPIED_HOPS = """
with near as materialized (
  select a.* from unnest(%s::uuid[]) as start cross join lateral (
    select node, nbr, weight from copied.adj
    where graph_id = 'g' and node = start order by weight desc, nbr limit 10) as a
)
select 1, * from near union all
select 2, a.* from (select distinct nbr from near) as n cross join lateral (
  select node, nbr, weight from copied.adj
  where graph_id = 'g' and node = n.nbr order by weight desc, nbr limit 10) as a
"""


def make_graph(entities: int, relations: int, seed: int) -> GraphEvidence:
    """Return entities and relations as a user would bring them, without chunks."""
    rng = np.random.default_rng(seed)
    ids = [UUID(bytes=rng.bytes(16)) for _ in range(entities)]
    zipf = 1 / np.arange(1, entities + 1) ** 0.8
    pairs = zip(
        rng.choice(entities, relations, p=zipf / zipf.sum()),
        rng.integers(0, entities, relations),
        rng.random(relations) + 0.1,
        strict=True,
    )
    return GraphEvidence(
        [
            MentionRow(one, None, MentionKind.IMPORT, f"Entity {n} of all", "THING", f"The {n}th.")
            for n, one in enumerate(ids)
        ],
        [RelationRow(ids[a], ids[b], "KNOWS", None, float(w)) for a, b, w in pairs if a != b],
    )


async def add_evidence(record: GraphRecord, scope: Scope, evidence: GraphEvidence) -> None:
    """Add evidence to a graph in one step."""
    async with record.writing(scope) as writer:
        await writer.add(evidence)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the clock, and of CPU by the client and the server."""

    wall: float
    client: float
    server: float

    def over(self, other: Cost) -> str:
        """Return how many times the cost of `other` this is."""
        cpu = (self.client + self.server) / (other.client + other.server)
        return f"{cpu:.2f}x the CPU and {self.wall / other.wall:.2f}x the time"


Costs = dict[str, Cost]


@asynccontextmanager
async def costs(name: str, backend: int, into: Costs) -> AsyncIterator[None]:
    """Print what a block costs, and keep it under `name`."""
    meter = Meter(backend)
    started, (client, server) = time.perf_counter(), meter.read()
    yield
    seconds, (client_then, server_then) = time.perf_counter() - started, meter.read()
    cost = into[name] = Cost(seconds, client_then - client, server_then - server)
    print(
        f"{name:<32} {cost.wall:7.2f} s, CPU {cost.client:6.2f} s client"
        f" {cost.server:6.2f} s server",
        flush=True,
    )


async def import_by_copy(database: Database, graph: GraphEvidence, spent: Costs) -> None:
    """COPY into bare tables, then index and vacuum them; searches may read them."""
    unique = {(row.source_id, row.target_id): row for row in graph.relations}.values()
    rows: dict[str, list[tuple[object, ...]]] = {
        "entity": [("g", row.entity_id, row.name, row.description) for row in graph.mentions],
        "edge": [("g", row.source_id, row.target_id, row.weight, "") for row in unique],
    }
    async with database.owner() as owner:
        await owner.set_autocommit(True)
        await owner.execute(COPIED_TABLES)
        async with costs("COPY, then index", owner.info.backend_pid, spent):
            async with owner.transaction():
                for table, values in rows.items():
                    copying = f"copy copied.{table} from stdin".encode()
                    async with owner.cursor() as cursor, cursor.copy(copying) as copy:
                        for value in values:
                            await copy.write_row(value)
                await owner.execute(COPIED_ADJACENCY)
            await owner.execute(COPIED_INDEXES)
            for table in (*rows, "adj"):
                await owner.execute(f"vacuum analyze copied.{table}".encode())
        await owner.execute("grant usage on schema copied to sextant_app")
        await owner.execute("grant select on all tables in schema copied to sextant_app")


async def import_ours(database: Database, scope: Scope, graph: GraphEvidence, spent: Costs) -> None:
    """Store the same facts as evidence, in batches, derived once."""
    async with (
        costs("record: evidence, then derive", await backend_of(database, scope), spent),
        GraphRecord(database).writing(scope) as writer,
    ):
        for table, rows in (("mentions", graph.mentions), ("relations", graph.relations)):
            for batch in portions(rows, BATCH):
                await writer.add(GraphEvidence(**{table: batch}))


def portions(rows: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    """Return `rows` in runs of `size`."""
    return (rows[first : first + size] for first in range(0, len(rows), size))


async def compare_hops(database: Database, scope: Scope, graph: GraphEvidence) -> None:
    """Two hops from five starts, in turns; the edges must be the same."""
    rng, store = np.random.default_rng(3), PostgresGraph(database)
    picks = [
        [graph.mentions[one].entity_id for one in rng.integers(0, len(graph.mentions), 5)]
        for _ in range(QUERIES)
    ]

    async def bare(starts: list[UUID]) -> set[frozenset[UUID]]:
        async with database.transaction(scope.user_id) as connection:
            cursor = connection.cursor(binary=True)
            await cursor.execute(COPIED_HOPS.encode(), [starts], prepare=True)
            return {frozenset(row[1:3]) for row in await cursor.fetchall()}

    async def ours(starts: list[UUID]) -> set[frozenset[UUID]]:
        hops = await store.neighbourhood(scope, starts, depth=2)
        return {frozenset((hop.source_id, hop.target_id)) for hop in hops}

    times: dict[str, list[float]] = {"bare": [], "record": []}
    walks: dict[str, Callable[[list[UUID]], Awaitable[set[frozenset[UUID]]]]] = {
        "bare": bare,
        "record": ours,
    }
    missing = 0
    for starts in picks:
        found = dict[str, set[frozenset[UUID]]]()
        for name, walk in walks.items():
            started = time.perf_counter()
            found[name] = await walk(starts)
            times[name].append((time.perf_counter() - started) * 1000)
        missing += len(found["record"] - found["bare"])
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(
        f"two hops: bare {medians['bare']:.2f} ms, record {medians['record']:.2f} ms median:"
        f" {medians['record'] / medians['bare']:.2f}x (limit 1.5);"
        f" p95 {np.percentile(times['record'], 95):.2f} ms; {missing} edges that bare lacks"
    )


async def one_more_batch(database: Database, scope: Scope, graph: GraphEvidence) -> float:
    """Return CPU seconds of adding what a few pages say about frequent entities; median of several."""
    record, meter = GraphRecord(database), Meter(await backend_of(database, scope))
    rng, spent = np.random.default_rng(9), []
    for number in range(9):
        near = [graph.mentions[one] for one in rng.integers(0, 300, 150)]
        facts = [
            RelationRow(a.entity_id, b.entity_id, f"SAYS {number}", None)
            for a, b in zip(near[::2], near[1::2], strict=True)
            if a.entity_id != b.entity_id
        ]
        said = [row._replace(description=f"Said by {number}.") for row in near]
        before = sum(meter.read())
        await add_evidence(record, scope, GraphEvidence(said, facts))
        spent.append(sum(meter.read()) - before)
    return statistics.median(spent)


async def main() -> None:
    """Import, read, walk and add."""
    entities, relations, seed = numbers(__doc__, entities=100_000, relations=600_000, seed=1)
    graph, small = make_graph(entities, relations, seed), make_graph(2_000, 12_000, seed)
    spent: Costs = {}
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
        options = Settings(_env_file=None, data_dir=folder, database_url=None, database_pool=1)
        async with await Database.open(options) as database:
            scope = Scope("bench", str(uuid4()))
            await import_ours(database, scope, graph, spent)
            gc.freeze()  # made-up facts are not the collector's to look through again and again
            await import_by_copy(database, graph, spent)
            ours, copied = spent.values()
            print(f"import: {ours.over(copied)} of COPY, then index (limit 1.5)")
            async with costs("read whole", await backend_of(database, scope), spent):
                arrays = await GraphRecord(database).arrays(scope)
            print(f"  {len(arrays.names)} entities, {len(arrays.relation_source)} relations")
            await compare_hops(database, scope, graph)
            little = Scope("bench", "small")
            await add_evidence(GraphRecord(database), little, small)
            costs_small = await one_more_batch(database, little, small)
            costs_large = await one_more_batch(database, scope, graph)
            print(
                f"one more batch: {costs_small * 1000:.0f} ms CPU in a graph of 2,000 entities,"
                f" {costs_large * 1000:.0f} ms in one of {entities:,}"
            )


if __name__ == "__main__":
    asyncio.run(main())
