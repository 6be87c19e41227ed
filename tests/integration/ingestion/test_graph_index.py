"""Documents enter the knowledge graph as they are ingested, and leave it without a trace."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from sextant.domain.documents import DocumentStatus, JobStage
from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.graph import CO_OCCURS
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings, WorkerSettings
from sextant.ingestion.graph.index import GraphIndexer, _NewDocument
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.chunk_hits import keyword_hits
from tests.integration.ingestion.resuming import resumed
from tests.integration.ingestion.uploading import ingest_bytes
from tests.integration.stored_state import JobStore

HEATER = "# 热控系统（TCS）\n\n加热回路由蓄电池供电。蓄电池的温度由热控系统控制。\n"
REPORT = "# 检修报告\n\n王思佳检查了热控系统，确认TCS工作正常。\n"
CITY = "# New York City\n\nThe museum opened in New York City after the mayor left New York.\n"
STATE = "# New York (state)\n\nThe governor wrote the 检修报告 about New York.\n"
POWER = "# 电源\n\n## 3.1 蓄电池组\n\n检修报告说，蓄电池组的加热回路属于热控系统。\n"
WORLD = {"heater": HEATER, "report": REPORT, "city": CITY, "state": STATE, "power": POWER}


async def add(ingestor: Ingestor, scope: Scope, name: str, text: str) -> UUID:
    result = await ingest_bytes(ingestor, scope, text.encode(), f"{name}.md")
    assert result.document_id is not None
    return result.document_id


async def mentions(database: Database, scope: Scope) -> set[tuple[str, str, str]]:
    """Return (file, kind, entity as a reader sees it) of every mention in the graph."""
    return {(row[0], row[1], row[2]) for row in await evidence(database, scope)}


async def evidence(database: Database, scope: Scope) -> list[tuple[str, str, str, str, int, int]]:
    """Return every mention without the ids of one history: file, kind, entity, spelling, offsets."""
    query = """select d.source, m.kind::text, e.name, m.name, m.start_offset, m.end_offset
      from mentions m join graphs g using (scope_id)
      join entities e on e.scope_id = m.scope_id and e.id = m.entity_id
      join documents d on d.scope_id = m.scope_id and d.id = m.document_id
      where g.graph_id = %s"""
    return await rows(database, scope, query)


async def relations(database: Database, scope: Scope) -> list[tuple[str, str, str, float]]:
    query = """select least(s.name, t.name), greatest(s.name, t.name), r.relation_type,
        r.weight::float8
      from relations r join graphs g using (scope_id)
      join entities s on s.scope_id = r.scope_id and s.id = r.source_id
      join entities t on t.scope_id = r.scope_id and t.id = r.target_id where g.graph_id = %s"""
    return await rows(database, scope, query)


async def aliases(database: Database, scope: Scope) -> list[tuple[str, str, str]]:
    query = """select d.source, a.name, a.source from aliases a join graphs g using (scope_id)
      join documents d on d.id = a.document_id where g.graph_id = %s"""
    return await rows(database, scope, query)


async def rows(database: Database, scope: Scope, query: str) -> list[Any]:
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(query.encode(), [scope.graph_id])
        return sorted(await cursor.fetchall())


async def test_a_document_links_to_the_one_it_names_whichever_came_first(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, "report", REPORT)
    await add(graphed, scope, "heater", HEATER)
    other = Scope(scope.user_id, "the other order")
    await add(graphed, other, "heater", HEATER)
    await add(graphed, other, "report", REPORT)

    found = await mentions(database, scope)
    assert ("report.md", "alias", "热控系统（TCS）") in found
    assert ("heater.md", "title", "热控系统（TCS）") in found
    assert ("heater.md", "term", "蓄电池") in found
    assert await evidence(database, scope) == await evidence(database, other)
    spellings = {
        row[3] for row in await evidence(database, scope) if row[:2] == ("report.md", "alias")
    }
    assert {"热控系统", "tcs"} <= spellings


async def test_names_of_a_knowledge_base_that_another_process_made_anew_are_those_of_now(
    graphed: Ingestor, database: Database, settings: Settings, scope: Scope
) -> None:
    """Its graph has the number of changes that the old one had."""
    stores = DocumentStore(database), JobStore(database)
    beside = Ingestor(*stores, HashEmbedder(384), settings, GraphIndexer(database))
    record = GraphRecord(database)
    await add(graphed, scope, "state", STATE)
    version = await record.version(scope)
    await KnowledgeBases(database).delete(scope)
    await add(beside, scope, "heater", HEATER)
    assert await record.version(scope) == version

    await add(graphed, scope, "report", REPORT)

    assert ("report.md", "alias", "热控系统（TCS）") in await mentions(database, scope)


async def test_terms_of_one_sentence_occur_together(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, "heater", HEATER)
    together = {
        (source, target)
        for source, target, kind, _ in await relations(database, scope)
        if kind == CO_OCCURS
    }
    assert together == {("温度", "热控系统"), ("温度", "蓄电池"), ("热控系统", "蓄电池")}


async def test_a_document_takes_its_names_and_what_they_linked_along(
    graphed: Ingestor, documents: DocumentStore, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, "report", REPORT)
    before = await evidence(database, scope), await relations(database, scope)
    heater = await add(graphed, scope, "heater", HEATER)
    assert await evidence(database, scope) != before[0]

    await documents.delete(scope, heater)

    assert (await evidence(database, scope), await relations(database, scope)) == before
    assert {source for source, _, _ in await aliases(database, scope)} == {"report.md"}


async def test_a_replaced_document_is_in_the_graph_as_if_it_had_always_been_so(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    await add(graphed, scope, "report", REPORT)
    await add(graphed, scope, "heater", STATE)
    await add(graphed, scope, "heater", HEATER)
    plain = Scope(scope.user_id, "never replaced")
    await add(graphed, plain, "heater", HEATER)
    await add(graphed, plain, "report", REPORT)
    assert await evidence(database, scope) == await evidence(database, plain)
    assert await aliases(database, scope) == await aliases(database, plain)


async def state(database: Database, scope: Scope) -> list[list[Any]]:
    return [await read(database, scope) for read in (evidence, relations, aliases)]


@pytest.mark.parametrize("seed", range(5))
async def test_any_order_and_any_deletions_give_the_graph_of_what_survives(
    graphed: Ingestor, documents: DocumentStore, database: Database, scope: Scope, seed: int
) -> None:
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    there: dict[str, UUID] = {}
    for name in dice.sample(list(WORLD), len(WORLD)):
        there[name] = await add(graphed, scope, name, WORLD[name])
        if dice.random() < 0.5:
            await documents.delete(scope, there.pop(dice.choice(list(there))))

    scratch = Scope(scope.user_id, "from scratch")
    # Another process, which has nothing in memory.
    fresh = Ingestor(
        documents, graphed._jobs, HashEmbedder(384), database.settings, GraphIndexer(database)
    )
    for name in dice.sample(sorted(there), len(there)):
        await add(fresh, scratch, name, WORLD[name])
    assert await state(database, scope) == await state(database, scratch)


class Failing(GraphIndexer):
    """Fails once with each of the given errors, as a database that goes or a bug does."""

    def __init__(self, database: Database, *errors: Exception) -> None:
        super().__init__(database)
        self.errors = list(errors)

    async def index_document(self, *args: Any, **kwargs: Any) -> None:
        await super().index_document(*args, **kwargs)
        if self.errors:
            raise self.errors.pop()


async def test_a_job_that_broke_off_at_the_graph_goes_on_there_and_changes_nothing_twice(
    documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope, settings: Settings
) -> None:
    indexer = Failing(database, DatabaseUnavailable("The database is gone."))
    at_once = settings.model_copy(update={"worker": WorkerSettings(backoff=0)})
    ingestor = Ingestor(documents, jobs, HashEmbedder(384), at_once, indexer)
    with pytest.raises(DatabaseUnavailable):
        await add(ingestor, scope, "heater", HEATER)
    once = await state(database, scope)
    [document] = await documents.list(scope)
    assert document.status is DocumentStatus.READY

    assert await resumed(ingestor, scope)

    assert [job.stage for job in await jobs.list(scope)] == [JobStage.DONE]
    assert await state(database, scope) == once


async def test_a_document_stays_searchable_when_only_its_graph_fails(
    documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope, settings: Settings
) -> None:
    ingestor = Ingestor(
        documents, jobs, HashEmbedder(384), settings, Failing(database, ValueError("a bug"))
    )
    with pytest.raises(ValueError, match="a bug"):
        await add(ingestor, scope, "heater", HEATER)

    [job] = await jobs.list(scope)
    assert (job.stage, job.error) == (JobStage.FAILED, "a bug")
    assert len(await keyword_hits(ChunkStore(database), scope, ["加热回路"], 10)) == 1
    [document] = await documents.list(scope)
    assert document.status is DocumentStatus.READY


async def test_a_document_whose_graph_failed_enters_it_when_it_is_ingested_again(
    documents: DocumentStore,
    graphed: Ingestor,
    database: Database,
    scope: Scope,
    settings: Settings,
) -> None:
    for _ in range(settings.ingestion.job_attempts + 1):
        broken = Failing(database, ValueError("a bug"))
        failing = Ingestor(documents, JobStore(database), HashEmbedder(384), settings, broken)
        with pytest.raises(ValueError, match="a bug"):
            await add(failing, scope, "report", REPORT)
    results = [await ingest_bytes(graphed, scope, REPORT.encode(), "report.md") for _ in range(2)]
    assert [(one.unchanged, one.error) for one in results] == [(False, None), (True, None)]


async def test_an_upload_that_comes_while_the_graph_is_written_takes_over(
    documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope, settings: Settings
) -> None:
    stopped = Failing(database, DatabaseUnavailable("The database is gone."))
    ingestor = Ingestor(documents, jobs, HashEmbedder(384), settings, stopped)
    with pytest.raises(DatabaseUnavailable):
        await add(ingestor, scope, "heater", STATE)

    await add(ingestor, scope, "heater", HEATER)

    assert not await resumed(ingestor, scope)
    assert {job.stage for job in await jobs.list(scope)} == {JobStage.FAILED, JobStage.DONE}
    assert {name for _, name, _ in await aliases(database, scope)} == {
        "热控系统（TCS）",
        "热控系统",
        "TCS",
    }


async def test_rows_of_tables_state_relations_and_describe(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    table = "| Drug | Class | Dose |\n|---|---|---|\n| Metformin | Biguanides | 500 mg |\n"
    await add(graphed, scope, "first", f"# Table of drugs\n\n{table}")
    await add(
        graphed, scope, "second", "# Notes\n\nA doctor gives Metformin or other Biguanides.\n"
    )
    assert ("Biguanides", "Metformin", "Class", 1.0) in await relations(database, scope)
    (metformin,) = await PostgresGraph(database).entities_by_alias(scope, ["metformin"])
    assert metformin.entity.description == "Dose: 500 mg"


async def test_a_document_that_the_graph_refuses_costs_those_written_with_it_nothing(
    documents: DocumentStore, database: Database, settings: Settings, scope: Scope, tmp_path: Path
) -> None:
    class Refusing(GraphIndexer):
        """Cannot write the evidence of documents that contain 毒."""

        async def _write(self, scope: Scope, documents: Sequence[_NewDocument]) -> list[None]:
            if any("毒" in text for one in documents for _, text in one.texts):
                raise ValueError("refused")
            return await super()._write(scope, documents)

    ingestor = Ingestor(
        documents, JobStore(database), HashEmbedder(384), settings, Refusing(database)
    )
    files = [tmp_path / f"{name}.md" for name in (*WORLD, "poison")]
    for file, text in zip(files, (*WORLD.values(), "# 毒\n\n毒在这里。\n"), strict=True):
        file.write_text(text, encoding="utf-8")

    results = await ingestor.ingest(scope, [tmp_path])

    assert [one.filename for one in results if one.error] == ["poison.md"]
    found = await mentions(database, scope)
    assert {Path(source).stem for source, _, _ in found} == set(WORLD)
    plain = Scope(scope.user_id, "never refused")
    await Ingestor(
        documents, JobStore(database), HashEmbedder(384), settings, GraphIndexer(database)
    ).ingest(plain, files[:-1])
    assert await evidence(database, plain) == await evidence(database, scope)
