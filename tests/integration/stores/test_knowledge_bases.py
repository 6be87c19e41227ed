"""A knowledge base that is deleted while others write to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

import numpy as np

from sextant.domain.documents import Job
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.stores.documents.chunk_copy import maintain_indexes
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Upload
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from sextant.stores.work.jobs import JobStore
from tests.integration.stores.conftest import Ingest
from tests.integration.stores.test_jobs import upload


async def test_jobs_are_closed_together_while_their_knowledge_base_is_deleted(
    documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope
) -> None:
    claimed = await claim_nine(documents, jobs, scope)
    async with closing(reversed(claimed), jobs, database, scope) as closed:
        deleting = asyncio.create_task(KnowledgeBases(database).delete(scope))
        await until_waiting(database, 2)
    ended, deleted = await asyncio.gather(closed, deleting, return_exceptions=True)
    assert ended == [None] * 9
    assert deleted is None
    assert await jobs.list(scope) == []


async def test_jobs_are_closed_together_while_one_of_their_documents_comes_anew(
    documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope
) -> None:
    claimed = await claim_nine(documents, jobs, scope)
    anew = [
        Upload(f"{number}.txt", f"{number}.txt", "text/plain", b"new %d" % number)
        for number in reversed(range(9))
    ]
    async with closing(claimed, jobs, database, scope) as closed:
        registering = asyncio.create_task(documents.register_all(scope, anew))
        await until_waiting(database, 2)
    assert await closed == [None] * 9
    assert len({one.document_id for one in await registering}) == 9


async def claim_nine(documents: DocumentStore, jobs: JobStore, scope: Scope) -> list[Job]:
    """Return the jobs of nine documents, in the order in which they came."""
    for number in range(9):
        await upload(documents, scope, f"{number}.txt", str(number))
    claims = [await jobs.claim("worker", user_id=scope.user_id) for _ in range(9)]
    return [job for job in claims if job is not None]


@asynccontextmanager
async def closing(
    claimed: Iterable[Job], jobs: JobStore, database: Database, scope: Scope
) -> AsyncIterator[asyncio.Task[list[None]]]:
    """Provide jobs that are being closed, and have come to the one in the middle: until the block ends that is held.

    Who comes to it from the other end waits there, too, and both go on at the same moment.
    """
    done = [(job, 1, ()) for job in claimed]
    async with database.transaction(scope.user_id) as connection:
        held = "select from ingestion_jobs where id = %s for update"
        await connection.execute(held, [done[len(done) // 2][0].id])
        closed = asyncio.create_task(jobs.finish_all(scope, done))
        await until_waiting(database, 1)
        yield closed


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


async def test_what_did_not_follow_is_read_as_data_and_as_the_sentence_of_an_older_version(
    documents: DocumentStore, database: Database, scope: Scope
) -> None:
    await upload(documents, scope, "a.txt", "a")
    knowledge_bases = KnowledgeBases(database)
    behind = CodedWarning(WarningCode.NEO4J_BEHIND)
    await knowledge_bases.note_upkeep(scope, [behind])
    [listed] = await knowledge_bases.list(scope.user_id)
    assert (listed.coded_warnings, listed.warnings) == ((behind,), (str(behind),))
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("""update graph_warnings set warnings = '["Neo4j is gone."]'""")
    [listed] = await knowledge_bases.list(scope.user_id)
    assert listed.warnings == ("Neo4j is gone.",)


async def until_waiting(database: Database, number: int) -> None:
    """Return once so many statements wait for a row."""
    waiting = "select count(*) >= %s from pg_locks where not granted and locktype in ('transactionid', 'tuple')"
    async with asyncio.timeout(30), database.owner() as owner:
        while await (await owner.execute(waiting, [number])).fetchone() != (True,):  # noqa: ASYNC110
            await asyncio.sleep(0.01)
