"""Measure the cost of the Neo4j copy: building it, one more batch, two hops.

    python -m benchmarks.projection [ENTITIES] [RELATIONS] [SEED]

Limits: at least 5,000 relations a second on 100,000 entities with 600,000 relations; one
round trip for a 2-hop expansion. The server is that of the tests; the same questions go to PostgreSQL
in turn, and must get the same rows.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import UUID

import numpy as np

from benchmarks.graph import add_evidence, make_graph
from benchmarks.quality.sets import numbers
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.neo4j.bolt import Bolt
from sextant.stores.graph.neo4j.projector import Projector
from sextant.stores.graph.neo4j.store import Neo4jGraph
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from tests.neo4j_server import FAST, neo4j_for_tests

QUERIES = 100
BATCH = 100
SCOPE = Scope("bench", "graph")


async def timed(name: str, number: int, unit: str, work: Awaitable[object]) -> None:
    """Print how long some work takes, and how much of it is done in a second."""
    started = time.perf_counter()
    await work
    seconds = time.perf_counter() - started
    print(f"{name:<36} {seconds:7.2f} s, {number / seconds:8.0f} {unit}/s", flush=True)


async def milliseconds(ask: Callable[[int], Awaitable[object]]) -> str:
    """Return the median and the 95th percentile of asking."""
    spent = []
    for place in range(QUERIES):
        started = time.perf_counter()
        await ask(place)
        spent.append((time.perf_counter() - started) * 1000)
    return f"median {statistics.median(spent):6.2f} ms, p95 {np.percentile(spent, 95):6.2f} ms"


async def compare(
    name: str, graphs: dict[str, GraphStore], ask: Callable[..., Awaitable[object]]
) -> None:
    """Ask each store the same; say how long each takes and how often the rows are equal."""
    equal = 0
    for place in range(20):
        rows = [await ask(graph, place) for graph in graphs.values()]
        equal += all(row == rows[0] for row in rows)
    for store, graph in graphs.items():
        took = await milliseconds(lambda place, graph=graph: ask(graph, place))  # type: ignore[misc]
        print(f"{name + ', ' + store:<36} {took}, equal {equal} of 20", flush=True)


async def questions(database: Database, bolt: Bolt, ids: list[UUID]) -> None:
    """Ask the questions of retrieval of both stores."""
    settings = database.settings.retrieval
    graphs: dict[str, GraphStore] = {
        "postgres": PostgresGraph(database),
        "neo4j": Neo4jGraph(bolt, settings),
    }
    rng = np.random.default_rng(3)
    starts = [[ids[n] for n in rng.integers(0, len(ids), 5)] for _ in range(QUERIES)]
    frequent = [[ids[n] for n in rng.integers(0, 200, 5)] for _ in range(QUERIES)]
    for name, some in (("2 hops", starts), ("2 hops from frequent ones", frequent)):
        await compare(name, graphs, lambda g, n, s=some: g.neighbourhood(SCOPE, s[n], depth=2))
    await compare("5 entities", graphs, lambda g, n: g.get_entities(SCOPE, starts[n]))
    await compare(
        "names by their words", graphs, lambda g, n: g.entities_by_words(SCOPE, [str(n * 7)], 10)
    )
    await compare(
        "5 aliases", graphs, lambda g, n: g.entities_by_alias(SCOPE, [f"Entity {n} of all"])
    )


async def run(entities: int, relations: int, seed: int) -> None:
    """Take a graph over, change it, ask."""
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder, neo4j_for_tests(FAST) as access:
        settings = Settings(_env_file=None, data_dir=Path(folder), database_url=None).model_copy(
            update={**access, "neo4j_timeout": 60.0}
        )
        graph = make_graph(entities, relations, seed)
        bolt = Bolt(settings)
        async with await Database.open(settings) as database:
            record, projector = GraphRecord(database), Projector(database, bolt)
            await timed(
                "into the record", relations, "relations", add_evidence(record, SCOPE, graph)
            )
            await timed("into Neo4j", relations, "relations", projector.sync(SCOPE))
            ids = [row.entity_id for row in graph.mentions]
            more = [RelationRow(ids[n], ids[-n - 1], "MEETS", None, 1.0) for n in range(BATCH)]
            named = MentionRow(ids[0], None, MentionKind.IMPORT, "Another name", "THING")
            await add_evidence(record, SCOPE, GraphEvidence([named], more))
            await timed(f"{BATCH} relations more", BATCH, "relations", projector.sync(SCOPE))
            await questions(database, bolt, ids)
            await timed("again from nothing", relations, "relations", projector.rebuild(SCOPE))
        await bolt.close()


def main() -> None:
    """Read the sizes from the command line."""
    asyncio.run(run(*numbers(__doc__, entities=100_000, relations=600_000, seed=7)))


if __name__ == "__main__":
    main()
