"""Communities follow the documents: built, joined, cleaned up, kept apart, and resumed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.domain.graph import Community, Finding
from sextant.domain.scope import Scope
from sextant.domain.settings import CommunitySettings, Settings
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.ingestion.pipeline import Ingested, Ingestor
from sextant.models.protocols import Vectors
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.community_store import CommunityStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from sextant.testing.hash_embedder import HashEmbedder
from sextant.text.characters import normalise
from tests.integration.ingestion.uploading import ingest_bytes

SAMPLES = Path(__file__).parents[3] / "samples" / "documents"
NEW = """# 热控系统

热控系统控制加热回路的温度，蓄电池组向加热回路供电。

## 加热回路

加热回路有两条，都属于热控系统，由蓄电池组供电。

## 蓄电池组

蓄电池组的温度由热控系统监测，蓄电池组与加热回路相连。
"""


@pytest.fixture
def upkeep(database: Database, embedder: HashEmbedder) -> GraphUpkeep:
    return GraphUpkeep(database, embedder)


@pytest.fixture
def graph(database: Database) -> PostgresGraph:
    return PostgresGraph(database)


def said(communities: Sequence[Community]) -> dict[UUID, tuple[object, ...]]:
    return {one.id: (one.title, one.summary, one.findings) for one in communities}


def is_told_by(finding: Finding, texts: Mapping[UUID, str]) -> bool:
    """Return whether the cited passages hold a sentence word for word, or both ends of a relation."""
    cited = normalise("".join("".join(texts[chunk].split()) for chunk in finding.chunk_ids))
    said = [normalise("".join(part.split())) for part in finding.text.split(" — ")]
    return all(part in cited for part in (said[0], said[-1]))


async def test_ingested_documents_have_communities_with_cited_reports(
    graphed: Ingestor,
    upkeep: GraphUpkeep,
    graph: PostgresGraph,
    chunks: ChunkStore,
    scope: Scope,
) -> None:
    await graphed.ingest(scope, [SAMPLES])
    done = await upkeep.refresh(scope)
    communities = await graph.communities(scope)

    assert done.full_run
    assert done.communities == done.reports_written == len(communities) > 10
    cited = {chunk for one in communities for said in one.findings for chunk in said.chunk_ids}
    texts = {chunk.id: chunk.text for chunk in await chunks.get(scope, sorted(cited))}
    assert texts.keys() == cited
    for one in communities:
        assert one.title
        assert 0 < one.rating <= 10
        assert len(one.entity_ids) > 1
        for finding in one.findings:
            assert is_told_by(finding, texts)
    seen = [entity for one in communities if one.level == 0 for entity in one.entity_ids]
    assert len(seen) == len(set(seen))
    _, vectors = await graph.reports(scope)
    assert len(vectors.ids) == len(communities)
    assert (await upkeep.refresh(scope)) == replace(done, communities=0, reports_written=0,
        entities_embedded=0, full_run=False)  # fmt: skip


async def test_names_are_counted_before_the_first_is_embedded_and_as_they_are(
    graphed: Ingestor, upkeep: GraphUpkeep, scope: Scope
) -> None:
    told = list[tuple[int, int]]()
    await graphed.ingest(scope, [SAMPLES])

    done = await upkeep.refresh(
        scope,
        lambda stage, done, total: told.append((done, total)) if stage == "entities" else None,
    )

    total = done.entities_embedded
    assert total > 0
    assert (told[0], told[-1]) == ((0, total), (total, total))
    assert {one for _, one in told} == {total}
    steps = [one - before for (before, _), (one, _) in pairwise(told)]
    assert max(steps) <= 128  # else it seems to stand still, though 512 are stored at a time


async def test_the_same_documents_stored_anew_have_the_same_reports(
    graphed: Ingestor, upkeep: GraphUpkeep, graph: PostgresGraph, database: Database, scope: Scope
) -> None:
    """Passages that say as much stood in the order of their ids, which are drawn; relations as their rows lay."""
    trades = ("baker", "cooper", "potter", "weaver", "carter", "tanner", "fuller", "glazier")
    files = {
        f"{trade}.md": f"# {trade.title()}\n\nAda Marsh is a {trade}. Ada Marsh met Ben Tilney and "
        f"Ben Tilney met Cora Vance. Cora Vance pays Ada Marsh.\n"
        for trade in trades
    }
    told = []
    for order in (trades, trades[::-1], trades[3:] + trades[:3]):
        for trade in order:
            await ingest_bytes(graphed, scope, files[f"{trade}.md"].encode(), f"{trade}.md")
        await graphed.ingest(scope, [SAMPLES / "spare-parts-inventory.csv"])
        await upkeep.refresh(scope)
        found = await graph.communities(scope)
        told.append(
            {(one.title, one.summary, *(said.text for said in one.findings)) for one in found}
        )
        await KnowledgeBases(database).delete(scope)

    assert told[0] == told[1] == told[2]
    assert any("Ada Marsh" in report[0] for report in told[0])


async def test_one_more_document_leaves_most_reports_as_they_are_and_so_does_deleting_it(
    graphed: Ingestor,
    upkeep: GraphUpkeep,
    graph: PostgresGraph,
    documents: DocumentStore,
    scope: Scope,
) -> None:
    await graphed.ingest(scope, [SAMPLES])
    await upkeep.refresh(scope)
    before = said(await graph.communities(scope))

    added = await ingest_bytes(graphed, scope, NEW.encode(), "tcs.md")
    done = await upkeep.refresh(scope)
    after = said(await graph.communities(scope))
    assert not done.full_run
    assert any("加热回路" in str(report[0]) for report in after.values())
    same = [own for own, report in before.items() if after.get(own) == report]
    assert len(same) >= 0.9 * len(before)
    assert done.reports_written == len(after.keys() - set(same))

    assert added.document_id is not None
    await documents.delete(scope, added.document_id)
    await upkeep.refresh(scope)
    left = said(await graph.communities(scope))
    assert not any("加热回路" in str(report) for report in left.values())
    assert len([own for own in same if left.get(own) == after[own]]) >= 0.9 * len(same)


async def test_deleting_everything_leaves_no_community(
    graphed: Ingestor,
    upkeep: GraphUpkeep,
    graph: PostgresGraph,
    documents: DocumentStore,
    scope: Scope,
) -> None:
    added = await ingest_bytes(graphed, scope, NEW.encode(), "tcs.md")
    await upkeep.refresh(scope)
    assert await graph.communities(scope)
    assert added.document_id is not None
    await documents.delete(scope, added.document_id)
    await upkeep.refresh(scope)
    assert await graph.communities(scope) == []


async def test_communities_of_another_tenant_are_neither_seen_nor_touched(
    graphed: Ingestor, upkeep: GraphUpkeep, graph: PostgresGraph, scope: Scope
) -> None:
    other = Scope(f"{scope.user_id}-other", scope.graph_id)
    await ingest_bytes(graphed, scope, NEW.encode(), "tcs.md")
    await ingest_bytes(graphed, other, NEW.encode(), "tcs.md")
    await upkeep.refresh(scope)
    assert await graph.communities(other) == []
    own = await graph.communities(scope)
    await upkeep.refresh(other, full=True)
    theirs = await graph.communities(other)
    assert theirs
    assert {one.id for one in own}.isdisjoint(one.id for one in theirs)
    assert await graph.communities(scope) == own


async def test_two_refreshes_at_once_do_the_work_once(
    graphed: Ingestor, upkeep: GraphUpkeep, scope: Scope
) -> None:
    await graphed.ingest(scope, [SAMPLES])
    both = await asyncio.gather(upkeep.refresh(scope), upkeep.refresh(scope))
    assert sorted(done.reports_written > 0 for done in both) == [False, True]


class Breaking(HashEmbedder):
    """Stops with an error at its nth call."""

    def __init__(self, calls: int) -> None:
        super().__init__(384)
        self.left = calls

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.left -= 1
        if self.left < 0:
            raise ModelUnavailable("The embedding model is gone.", next_step="Wait.")
        return await super().embed_passages(texts)


@pytest.mark.parametrize("calls", [0, 1])
async def test_what_a_broken_refresh_left_undone_is_done_by_the_next(
    calls: int,
    graphed: Ingestor,
    graph: PostgresGraph,
    database: Database,
    scope: Scope,
) -> None:
    await graphed.ingest(scope, [SAMPLES])
    with pytest.raises(ModelUnavailable):
        await GraphUpkeep(database, Breaking(calls)).refresh(scope)
    assert await graph.communities(scope)
    assert await CommunityStore(database).to_embed(scope)
    await GraphUpkeep(database, HashEmbedder(384)).refresh(scope)
    assert await CommunityStore(database).to_embed(scope) == []


async def test_a_refresh_that_is_killed_between_reports_goes_on_where_it_was(
    graphed: Ingestor,
    upkeep: GraphUpkeep,
    graph: PostgresGraph,
    monkeypatch: pytest.MonkeyPatch,
    scope: Scope,
) -> None:
    monkeypatch.setattr("sextant.ingestion.graph.communities.report_writer._REPORTS_AT_ONCE", 4)
    await graphed.ingest(scope, [SAMPLES])

    def stop(stage: str, done: int, _: int) -> None:
        if stage == "reports" and done >= 8:
            raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await upkeep.refresh(scope, stop)
    first = said(await graph.communities(scope))
    assert len(first) == 8
    done = await upkeep.refresh(scope)
    communities = said(await graph.communities(scope))
    assert done.reports_written == len(communities) - 8
    assert first.items() <= communities.items()


async def test_communities_can_be_turned_off(
    graphed: Ingestor, settings: Settings, graph: PostgresGraph, scope: Scope
) -> None:
    await ingest_bytes(graphed, scope, NEW.encode(), "tcs.md")
    off = settings.model_copy(update={"communities": CommunitySettings(enabled=False)})
    async with await Database.open(off) as database:
        await GraphUpkeep(database, HashEmbedder(384)).refresh(scope)
    assert await graph.communities(scope) == []
    assert await graph.entities_by_vector(scope, await HashEmbedder(384).embed_query("TCS"), 3)


async def test_every_entity_that_is_shown_has_a_vector(
    graphed: Ingestor, upkeep: GraphUpkeep, database: Database, scope: Scope
) -> None:
    for name in ("one", "two"):
        await ingest_bytes(
            graphed,
            scope,
            f"# {name}\n\nThe pump of Ada Marsh is near the Foo Works.".encode(),
            f"{name}.md",
        )
    await upkeep.refresh(scope)

    names = {name for name, _ in await vectors_of(database, scope)}
    assert {"Ada Marsh", "Foo Works"} <= names
    assert all(embedded for _, embedded in await vectors_of(database, scope))


async def test_entities_beyond_the_most_that_may_have_a_vector_are_told(
    graphed: Ingestor, settings: Settings, database: Database, scope: Scope
) -> None:
    await ingest_bytes(graphed, scope, NEW.encode(), "tcs.md")
    few = settings.model_copy(update={"communities": CommunitySettings(entity_vectors=2)})
    async with await Database.open(few) as limited:
        done = await GraphUpkeep(limited, HashEmbedder(384)).refresh(scope)

    stored = await vectors_of(database, scope)
    assert done.entities_embedded == sum(embedded for _, embedded in stored) == 2
    [warning] = [one for one in done.warnings if "SEXTANT_COMMUNITIES__ENTITY_VECTORS" in one]
    assert f"searched by words only: {len(stored) - 2} entities." in warning


async def vectors_of(database: Database, scope: Scope) -> list[tuple[str, bool]]:
    """Return the entities that readers see, by name, and whether each has a vector."""
    query = """select e.name, v.entity_id is not null from entities e join graphs g using (scope_id)
      left join entity_vectors v on v.scope_id = e.scope_id and v.entity_id = e.id
      where g.graph_id = %s and e.shown"""
    async with database.transaction(scope.user_id) as connection:
        return list(await (await connection.execute(query, [scope.graph_id])).fetchall())


async def test_after_any_history_reports_cite_what_is_there_and_name_who_is_in_them(
    graphed: Ingestor,
    upkeep: GraphUpkeep,
    graph: PostgresGraph,
    database: Database,
    scope: Scope,
) -> None:
    documents, chunks = DocumentStore(database), ChunkStore(database)
    random = np.random.default_rng(4)
    files = sorted(path for path in SAMPLES.iterdir() if path.suffix in {".md", ".txt", ".html"})
    there: dict[Path, UUID] = {}
    for _ in range(6):
        for path in (files[n] for n in random.choice(len(files), 3, replace=False)):
            if path in there:
                await documents.delete(scope, there.pop(path))
            else:
                text = path.read_bytes()
                added = await ingest_bytes(graphed, scope, text, path.name)
                assert added.document_id is not None
                there[path] = added.document_id
        await upkeep.refresh(scope)
        communities = await graph.communities(scope)
        cited = {chunk for one in communities for said in one.findings for chunk in said.chunk_ids}
        texts = {chunk.id: chunk.text for chunk in await chunks.get(scope, sorted(cited))}
        assert texts.keys() == cited
        for one in communities:
            for finding in one.findings:
                assert is_told_by(finding, texts)
        assert await CommunityStore(database).dirty(scope) == []


async def test_communities_of_a_large_graph_wait_until_enough_is_new_but_not_when_something_has_gone(
    graphed: Ingestor,
    upkeep: GraphUpkeep,
    database: Database,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that a passage costs the same in a large graph as in a small one."""
    monkeypatch.setattr("sextant.stores.graph.community_store._MAX_EAGER_PASSAGES", 10)
    await graphed.ingest(scope, [SAMPLES])
    assert (await upkeep.refresh(scope, patient=True)).full_run

    there = await ChunkStore(database).count(scope)

    async def ingest_one(number: int) -> Ingested:
        return await ingest_bytes(graphed, scope, f"{NEW}\n第{number}号。".encode(), f"{number}.md")

    first = await ingest_one(0)
    assert 0 < first.chunks < 0.05 * there
    assert not (await upkeep.refresh(scope, patient=True)).communities
    for number in range(1, 5 + there // (20 * first.chunks)):
        await ingest_one(number)
    assert (await upkeep.refresh(scope, patient=True)).communities
    assert first.document_id is not None
    await DocumentStore(database).delete(scope, first.document_id)
    assert (await upkeep.refresh(scope, patient=True)).communities
    await ingest_bytes(graphed, scope, NEW.encode(), "1.md")  # another version of it
    assert (await upkeep.refresh(scope, patient=True)).communities
    await ingest_one(99)
    assert not (await upkeep.refresh(scope, patient=True)).communities
    assert (await upkeep.refresh(scope)).communities  # whoever is not patient need not wait
