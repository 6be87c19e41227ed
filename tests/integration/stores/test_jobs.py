"""Ingestion jobs: one worker each, taken over when a worker dies; uploads that meet."""

from __future__ import annotations

import asyncio

import pytest

from sextant.domain.documents import JobStage
from sextant.domain.errors import ConflictError, FileBroken
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion import workers
from sextant.ingestion.progress import Progress
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Registered
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import doom_scope
from tests.integration.stored_state import JobStore


async def upload(documents: DocumentStore, scope: Scope, name: str, content: str) -> Registered:
    return await documents.register(
        scope, source=name, filename=name, media_type="text/plain", content=content.encode()
    )


async def test_workers_that_claim_at_once_never_get_the_same_job(
    documents: DocumentStore, jobs: JobStore, scope: Scope
) -> None:
    for number in range(6):
        await upload(documents, scope, f"{number}.txt", str(number))
    claims = await asyncio.gather(
        *(jobs.claim(f"worker {n}", user_id=scope.user_id) for n in range(8))
    )
    claimed = [job for job in claims if job is not None]
    assert len({job.id for job in claimed}) == 6
    assert {job.scope for job in claimed} == {scope}
    assert {job.attempts for job in claimed} == {1}


async def test_a_job_without_heartbeat_is_taken_over_and_its_old_worker_refused(
    documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope
) -> None:
    await upload(documents, scope, "a.txt", "a")
    first = await jobs.claim("first", user_id=scope.user_id)
    assert first is not None
    await jobs.heartbeat(first, JobStage.EMBED, 3, 10)
    assert await jobs.claim("second", user_id=scope.user_id) is None
    async with database.transaction(scope.user_id) as connection:  # time passes
        stale = database.settings.ingestion.job_stale + 1
        await connection.execute(
            "update ingestion_jobs set heartbeat_at = now() - make_interval(secs => %s)", [stale]
        )
    second = await jobs.claim("second", user_id=scope.user_id)
    assert second is not None
    assert (second.id, second.attempts, second.done, second.total) == (first.id, 2, 3, 10)
    with pytest.raises(ConflictError):
        await jobs.heartbeat(first)
    await jobs.heartbeat(second)


async def test_a_failed_job_says_why_and_a_released_one_is_given_out_again(
    documents: DocumentStore, jobs: JobStore, scope: Scope
) -> None:
    await upload(documents, scope, "a.txt", "a")
    job = await jobs.claim("w", user_id=scope.user_id)
    assert job is not None
    await jobs.release(job, TimeoutError("slow"))
    again = await jobs.claim("w", user_id=scope.user_id)
    assert again is not None
    await documents.fail(scope, again.document_id, version=again.version)
    await jobs.fail(again, FileBroken("The file is damaged.", next_step="Save it anew."))
    (listed,) = await jobs.list(scope)
    assert (listed.stage, listed.error_code) == (JobStage.FAILED, "file_broken")
    assert listed.error == "The file is damaged. Save it anew."
    assert await jobs.claim("w", user_id=scope.user_id) is None

    retried = await upload(documents, scope, "a.txt", "a")
    assert retried.document_id == job.document_id
    assert retried.job_id not in {None, job.id}


async def test_publishing_closes_the_job_and_finishing_it_again_is_harmless(
    documents: DocumentStore, jobs: JobStore, scope: Scope
) -> None:
    await upload(documents, scope, "a.txt", "a")
    job = await jobs.claim("w", user_id=scope.user_id)
    assert job is not None
    await documents.publish(scope, job.document_id, version=job.version)
    await jobs.finish(job)
    found = await jobs.get(scope.user_id, job.id)
    assert found is not None
    assert found.stage is JobStage.DONE


async def test_a_closed_job_keeps_what_its_document_lacks(
    documents: DocumentStore, jobs: JobStore, scope: Scope
) -> None:
    await upload(documents, scope, "a.txt", "a")
    job = await jobs.claim("w", user_id=scope.user_id)
    assert job is not None
    assert job.warnings == ()
    said = (
        CodedWarning(WarningCode.IMAGES_NOT_LOOKED_AT, {"images": count(1, "image")}),
        CodedWarning(WarningCode.UNREADABLE_CHARACTERS, {"number": 2}),
    )
    await jobs.finish(job, 2, said)
    assert [job.warnings for job in await jobs.list(scope)] == [said]


async def test_the_same_file_uploaded_many_times_at_once_is_one_document_with_one_job(
    documents: DocumentStore, jobs: JobStore, scope: Scope
) -> None:
    results = await asyncio.gather(
        *(upload(documents, scope, f"{n % 3}.txt", "the same bytes") for n in range(24))
    )
    assert len({(result.document_id, result.job_id) for result in results}) == 1
    assert len(await documents.list(scope)) == 1
    assert len(await jobs.list(scope)) == 1


async def test_a_file_that_becomes_equal_to_another_is_that_other_document(
    documents: DocumentStore, scope: Scope
) -> None:
    first = await upload(documents, scope, "a.txt", "alpha")
    await upload(documents, scope, "b.txt", "beta")
    merged = await upload(documents, scope, "b.txt", "alpha")
    assert merged.document_id == first.document_id
    assert [document.source for document in await documents.list(scope)] == ["a.txt"]


@pytest.mark.parametrize("seconds", [0.0, 60.0])
async def test_whoever_has_just_done_a_job_has_not_lost_it(
    documents: DocumentStore,
    jobs: JobStore,
    scope: Scope,
    monkeypatch: pytest.MonkeyPatch,
    seconds: float,
) -> None:
    """The watch may look between the last commit and the end of the work."""
    monkeypatch.setattr(workers, "_WATCH_SECONDS", 0.0)
    await upload(documents, scope, "a.txt", "a")
    job = await jobs.claim("w", user_id=scope.user_id)
    assert job is not None
    async with workers.Heartbeats(jobs, seconds).of(job):
        await jobs.finish(job, 1)
        for _ in range(50):
            assert [one.stage for one in await jobs.list(scope)] == [JobStage.DONE]


async def test_whoever_watches_sees_at_once_that_a_job_is_begun_and_soon_how_far_it_is(
    documents: DocumentStore, jobs: JobStore, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_WATCH_SECONDS", 0.0)
    await upload(documents, scope, "a.txt", "a")
    job = await jobs.claim("w", user_id=scope.user_id)
    assert job is not None
    assert [one.stage for one in await jobs.list(scope)] == [JobStage.PARSE]
    beats = workers.Heartbeats(jobs, 60.0)
    async with beats.of(job):
        beats.note(job, Progress("a.txt", JobStage.EMBED, 3, 7))
        now = JobStage.PARSE
        while now is JobStage.PARSE:
            [now] = [one.stage for one in await jobs.list(scope)]
    [job_now] = await jobs.list(scope)
    assert (job_now.stage, job_now.done, job_now.total) == (JobStage.EMBED, 3, 7)


async def test_a_job_that_is_cancelled_is_stopped(
    documents: DocumentStore, jobs: JobStore, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_WATCH_SECONDS", 0.0)
    await upload(documents, scope, "a.txt", "a")
    job = await jobs.claim("w", user_id=scope.user_id)
    assert job is not None

    async def work() -> None:
        async with workers.Heartbeats(jobs, 60.0).of(job):
            await jobs.fail(job, FileBroken("The file is damaged."))
            await asyncio.Event().wait()

    with pytest.raises(ConflictError, match="cancelled"):
        await work()


async def test_jobs_that_end_together_while_their_knowledge_base_is_deleted_cost_nobody_a_deadlock(
    documents: DocumentStore, jobs: JobStore, database: Database, scope: Scope
) -> None:
    claims = []
    for number in range(2):
        await upload(documents, scope, f"{number}.txt", str(number))
        claims.append(await jobs.claim("w", user_id=scope.user_id))
    ended = [(job, 1, ()) for job in claims if job is not None]
    first, last = (job for job, _, _ in ended)
    async with database.transaction(scope.user_id) as connection:
        await doom_scope(connection, scope)
        delete = "delete from ingestion_jobs where id = %s"
        await connection.execute(delete, [last.id])
        finishing = asyncio.ensure_future(jobs.finish_all(scope, ended))
        waits = "select exists (select from pg_locks where not granted)"
        while await (await connection.execute(waits)).fetchone() != (True,):
            pass
        await connection.execute(delete, [first.id])

    assert await finishing == [False, False]
