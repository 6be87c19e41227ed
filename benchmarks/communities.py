"""Measure the cost of communities: the hierarchy of a large graph, its reports, and one more batch.

    python -m benchmarks.communities [ENTITIES] [RELATIONS] [SEED]

Limits: the hierarchy of 100,000 entities and 600,000 relations in 10 s, the reading of the
graph included; a batch of 1 % leaves 90 % of the reports untouched. The graph is made up from a seed:
topics of log-normal size, hubs by Zipf's law within a topic, a quarter of the relations across
topics. The batch adds 0.5 % entities and 1 % relations to one topic in twenty, as a few documents
about one subject would. There are no passages, so reports are written from relations.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from uuid import UUID, uuid4

import numpy as np
import numpy.typing as npt

from benchmarks.graph import BATCH, Costs, costs, portions
from benchmarks.quality.sets import numbers
from benchmarks.store import backend_of
from sextant.domain.graph import Community, MentionKind
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.communities.membership import build, top
from sextant.ingestion.graph.communities.network import modularity, network_of
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder

Numbers = npt.NDArray[np.int64]


class Topics:
    """A graph of topics, grown piece by piece from one random source."""

    def __init__(self, entities: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        sizes = np.maximum(5, self.random.lognormal(3.5, 1.0, entities // 40)).astype(int)
        self.topic = np.repeat(np.arange(len(sizes)), sizes)[:entities]
        self.count = int(self.topic.max()) + 1
        self.ids = [UUID(bytes=self.random.bytes(16)) for _ in range(entities)]

    def mentions(self, numbers: Sequence[int]) -> list[MentionRow]:
        """Return entities, named by their ids."""
        return [
            MentionRow(self.ids[n], None, MentionKind.IMPORT, self.ids[n].hex, "THING")
            for n in numbers
        ]

    def relations(self, number: int, topics: Numbers) -> list[RelationRow]:
        """Return relations from members of these topics; hubs come often."""
        members = np.flatnonzero(np.isin(self.topic, topics))
        start = np.searchsorted(self.topic, self.topic[members])
        weight = 1 / (members - start + 1) ** 0.8
        source = self.random.choice(members, number, p=weight / weight.sum())
        home = np.searchsorted(self.topic, self.topic[source])
        size = np.bincount(self.topic, minlength=self.count)[self.topic[source]]
        inside = home + (self.random.random(number) ** 2 * size).astype(int)
        across = self.random.integers(0, len(self.topic), number)
        target = np.where(self.random.random(number) < 0.75, inside, across)
        return [
            RelationRow(self.ids[a], self.ids[b], "KNOWS", None, float(w))
            for a, b, w in zip(source, target, self.random.random(number) + 0.5, strict=True)
            if a != b
        ]

    def grow(self, number: int, topics: Numbers) -> list[int]:
        """Return new entities in these topics; returns their numbers after the renumbering by topic."""
        known = np.arange(len(self.ids))
        new = self.random.choice(topics, number)
        order = np.argsort(np.concatenate([self.topic, new]), kind="stable")
        ids = [*self.ids, *(UUID(bytes=self.random.bytes(16)) for _ in range(number))]
        self.ids = [ids[place] for place in order]
        self.topic = np.concatenate([self.topic, new])[order]
        return np.flatnonzero(order >= len(known)).tolist()


async def store(database: Database, scope: Scope, *parts: GraphEvidence) -> None:
    """Import evidence in one transaction."""
    async with GraphRecord(database).writing(scope) as writer:
        for part in parts:
            for rows in portions(part.mentions, BATCH):
                await writer.add(GraphEvidence(rows))
            for rows in portions(part.relations, BATCH):
                await writer.add(GraphEvidence([], rows))


async def reports(database: Database, scope: Scope) -> dict[UUID, Community]:
    """Return all communities by id."""
    return {one.id: one for one in await PostgresGraph(database).communities(scope)}


async def batch(  # noqa: PLR0917 - reads as a row of a table
    database: Database, scope: Scope, topics: Topics, name: str, chosen: Numbers, relations: int
) -> None:
    """Add entities and relations to some topics, bring communities up to date, and compare."""
    before = await reports(database, scope)
    fresh = topics.grow(relations // 12, chosen)
    more = topics.relations(relations, chosen)
    await store(database, scope, GraphEvidence(topics.mentions(fresh), more))
    started, cpu = time.perf_counter(), time.process_time()
    done = await GraphUpkeep(database, HashEmbedder(384)).refresh(scope)
    seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
    after = await reports(database, scope)
    same = sum(
        (one.title, one.summary, one.findings)
        == (after[own].title, after[own].summary, after[own].findings)
        for own, one in before.items()
        if own in after
    )
    members = sum(
        one.entity_ids == after[own].entity_ids for own, one in before.items() if own in after
    )
    print(
        f"{name}: {len(fresh)} entities, {len(more)} relations in {len(chosen)} of {topics.count} topics:"
        f" {seconds:.1f} s (CPU {cpu:.1f} s client), full run: {done.full_run};"
        f" {same / len(before):.1%} of {len(before)} reports and {members / len(before):.1%} of the"
        " memberships as they were"
    )


async def main() -> None:
    """Import, partition, report, and add."""
    entities, relations, seed = numbers(__doc__, entities=100_000, relations=600_000, seed=1)
    topics = Topics(entities, seed)
    everything = np.arange(topics.count)
    cpu: Costs = {}
    with tempfile.TemporaryDirectory(prefix="sxt-") as folder:
        options = Settings(_env_file=None, data_dir=folder, database_url=None, database_pool=1)
        async with await Database.open(options) as database:
            scope = Scope("bench", str(uuid4()))
            graph = GraphEvidence(
                topics.mentions(range(len(topics.topic))), topics.relations(relations, everything)
            )
            await store(database, scope, graph)
            backend = await backend_of(database, scope)
            async with costs("read the graph", backend, cpu):
                arrays = await GraphRecord(database).arrays(scope)
            async with costs("weigh its edges", backend, cpu):
                network = await asyncio.to_thread(network_of, arrays)
            async with costs("hierarchy", backend, cpu):
                groups = await asyncio.to_thread(build, network, arrays, [])
            print(
                f"  {len(arrays.names)} entities, {len(network.source)} edges: {len(groups)} communities"
                f" on {max(one.level for one in groups) + 1} levels, modularity"
                f" {modularity(network, top(groups, network.size)):.3f} at the top"
            )
            upkeep = GraphUpkeep(database, HashEmbedder(384))
            async with costs("whole refresh, vectors hashed", backend, cpu):
                await upkeep.refresh(scope)
            async with costs("refresh with nothing to do", backend, cpu):
                await upkeep.refresh(scope)
            some = topics.random.choice(everything, topics.count // 20, replace=False)
            await batch(database, scope, topics, "1 % about a subject", some, relations // 100)


if __name__ == "__main__":
    asyncio.run(main())
