"""A knowledge base that is deleted while others write to it."""

from __future__ import annotations

import asyncio

import numpy as np

from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.stores.documents.chunk_copy import maintain_indexes
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from tests.integration.stores.conftest import Ingest
from tests.integration.stores.test_jobs import upload


async def test_what_a_publish_tidies_up_is_there_until_it_is_done(
    ingest: Ingest, database: Database, scope: Scope
) -> None:
    """Deleting the knowledge base had the rows of its blocks and waited for their lock; tidying had the lock."""
    await ingest(
        scope, [f"text {number}" for number in range(300)], np.eye(300, 384, dtype=np.float32)
    )
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("select from graphs for update")
        tidying = asyncio.create_task(maintain_indexes(database, scope))
        await until_waiting(database, 1)
        assert not tidying.done()
    assert await tidying is False


async def test_what_did_not_follow_in_a_graph_is_not_noted_of_one_that_is_being_deleted(
    documents: DocumentStore, database: Database, scope: Scope
) -> None:
    await upload(documents, scope, "a.txt", "a")
    knowledge_bases = KnowledgeBases(database)
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("delete from documents")
        await connection.execute("delete from graphs")
        noting = asyncio.create_task(
            knowledge_bases.note_upkeep(scope, [CodedWarning(WarningCode.NEO4J_BEHIND)])
        )
        await until_waiting(database, 1)
    await noting
    assert await knowledge_bases.list(scope.user_id) == []


async def test_what_did_not_follow_is_read_as_data_and_by_its_code_from_a_newer_version(
    documents: DocumentStore, database: Database, scope: Scope
) -> None:
    await upload(documents, scope, "a.txt", "a")
    knowledge_bases = KnowledgeBases(database)
    behind = CodedWarning(WarningCode.NEO4J_BEHIND)
    await knowledge_bases.note_upkeep(scope, [behind])
    [listed] = await knowledge_bases.list(scope.user_id)
    assert (listed.coded_warnings, listed.warnings) == ((behind,), (str(behind),))
    async with database.transaction(scope.user_id) as connection:
        newer = '[{"code": "not_known_yet", "params": {}}]'
        await connection.execute("update graph_warnings set warnings = %s", [newer])
    [listed] = await knowledge_bases.list(scope.user_id)
    assert listed.warnings == ("not_known_yet",)


async def until_waiting(database: Database, number: int) -> None:
    """Return once so many statements wait for a row."""
    waiting = "select count(*) >= %s from pg_locks where not granted and locktype in ('transactionid', 'tuple')"
    async with asyncio.timeout(30), database.owner() as owner:
        while await (await owner.execute(waiting, [number])).fetchone() != (True,):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
