"""Ingest files into knowledge bases: register each, claim its job, and run it (`sextant.ingestion.job_runner`)."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from sextant.domain.concurrency import run_together
from sextant.domain.documents import Coverage, Job, JobStage
from sextant.domain.errors import (
    Cancelled,
    DependencyError,
    DocumentNotFound,
    SextantError,
    Superseded,
    error_of,
)
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, word_warnings
from sextant.ingestion.files import Paths, find_files, find_size, find_vanished, read_file
from sextant.ingestion.graph.extraction.extract_llm import ModelExtractor
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.job_runner import JobOutcome, JobRunner
from sextant.ingestion.parsing.detect import media_type
from sextant.ingestion.parsing.hosts import ParserHosts
from sextant.ingestion.parsing.limits import Limits, check_size
from sextant.ingestion.pictures import Captioner, OcrReader
from sextant.ingestion.progress import OnProgress, Progress
from sextant.ingestion.workers import GroupCommit
from sextant.models.protocols import Embedder
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Registered, Upload
from sextant.stores.jobs import JobStore
from sextant.text.characters import readable_name

log = logging.getLogger(__name__)

T = TypeVar("T")

_LARGE = 256_000  # bytes of a file
_LARGE_AT_ONCE = 4  # of them, for the memory
# Codes of jobs that were closed on purpose. Both become `Superseded`, since `Cancelled` would suggest to try again.
_CLOSED_ON_PURPOSE = (Cancelled.code, Superseded.code)


@dataclass(frozen=True, slots=True)
class Ingested:
    """The outcome of a file.

    Attributes:
        unchanged: it was stored already.
        error: the reason why it could not be ingested.
        warnings: parts that are missing, such as the extraction by a chat model.
        same_as: another file with these bytes; both are the document `document_id`.
        coverage: the share of the text that was read; None if another process ingested it.
        attachments: the outcomes of its attachments.
    """

    source: str
    filename: str
    document_id: UUID | None = None
    chunks: int = 0
    unchanged: bool = False
    error: SextantError | None = None
    warnings: tuple[CodedWarning, ...] = ()
    same_as: str | None = None
    coverage: Coverage | None = None
    attachments: tuple[Ingested, ...] = ()


class IngestReport(list[Ingested]):
    """The outcome of each file, in order.

    Attributes:
        coded_warnings: failures of the descriptions and of the graph's update.
        removed: the names of documents that were deleted, since their files are gone.
    """

    coded_warnings: tuple[CodedWarning, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return the sentences of `coded_warnings`."""
        return word_warnings(self.coded_warnings, "en")


class Ingestor:
    """Ingest documents into knowledge bases.

    Args:
        documents: stores documents.
        jobs: stores jobs.
        embedder: computes the vectors of chunks, one batch at a time.
        settings: `limits` and `ingestion` apply.
        graph: adds published documents to the graph, if any.
        extractor: extracts from them with a chat model, if any.
        hosts: processes that parse files; by default new ones.
        captioner: describes images in documents, if any.
        reader: reads scanned pages and the words in images, if any.
    """

    def __init__(
        self,
        documents: DocumentStore,
        jobs: JobStore,
        embedder: Embedder,
        settings: Settings,
        graph: GraphIndexer | None = None,
        *,
        extractor: ModelExtractor | None = None,
        hosts: ParserHosts | None = None,
        captioner: Captioner | None = None,
        reader: OcrReader | None = None,
    ) -> None:
        self.documents = documents
        self._jobs = jobs
        self._registering = GroupCommit(documents.register_all)
        self._claiming = GroupCommit(self._claim_all)
        self._settings = settings
        self._limits = Limits.of(settings)
        self._worker = f"{socket.gethostname()}:{os.getpid()}"
        stale = settings.ingestion.job_stale
        self._others = f"another process has it, or died less than {stale:g} s ago"
        self._runner = JobRunner(
            documents,
            jobs,
            embedder,
            settings,
            graph,
            extractor=extractor,
            hosts=hosts or ParserHosts(),
            captioner=captioner,
            reader=reader,
        )

    async def ingest(
        self,
        scope: Scope,
        paths: Paths,
        on_progress: OnProgress | None = None,
    ) -> list[Ingested]:
        """Ingest files, and the readable files of folders, into a knowledge base.

        Returns:
            The outcome of each file, in order. An error of one file stops no other.

        Raises:
            DependencyError: the database or the embedding model failed. What was committed stays; the same call
                later continues.
        """
        files = await asyncio.to_thread(find_files, paths)
        return await _do_all(
            files, find_size, lambda file: self._ingest_file(scope, file, on_progress)
        )

    async def remove_vanished(self, scope: Scope, paths: Paths) -> tuple[str, ...]:
        """Delete the documents whose files are gone from these folders.

        A document that has copies under other names only loses a name.

        Returns:
            The names that are gone.
        """
        documents = await self.documents.list(scope)
        owners = {name: one.id for one in documents for name in (one.source, *one.copies)}
        vanished = await asyncio.to_thread(find_vanished, paths, list(owners))
        for name in vanished:
            with suppress(DocumentNotFound):  # another process was first
                await self.documents.delete(scope, owners[name], name)
        return tuple(vanished)

    async def ingest_uploads(self, scope: Scope, uploads: Sequence[Upload]) -> list[Ingested]:
        """Ingest files from memory, registered in one transaction; returns and raises what `ingest` does."""
        refused = [self._refuse(upload) for upload in uploads]
        fitting = [one for one, refusal in zip(uploads, refused, strict=True) if refusal is None]
        registered = await self.documents.register_all(scope, fitting) if fitting else []
        done = iter(
            await _do_all(
                [*zip(fitting, registered, strict=True)],
                lambda pair: len(pair[0].content),
                lambda pair: self._ingest_queued(scope, *pair, None),
            )
        )
        return [refusal or next(done) for refusal in refused]

    def _refuse(self, upload: Upload) -> Ingested | None:
        """Return the outcome of a file that is empty or too large; None for any other."""
        with _outcome(upload.source, upload.filename) as outcome:
            check_size(upload.content, upload.filename, self._limits)
        return outcome[0] if outcome else None

    async def ingest_upload(
        self, scope: Scope, upload: Upload, on_progress: OnProgress | None
    ) -> Ingested:
        """Ingest one file from memory.

        Raises:
            FileRejected: it is empty, too large or invalid.
            DependencyError: as for `ingest`.
        """
        check_size(upload.content, upload.filename, self._limits)
        registered = await self._registering.do(scope, upload)
        return await self._ingest_registered(scope, upload, registered, on_progress)

    async def run_next(self, user_id: str, on_claimed: Callable[[Scope], Awaitable[None]]) -> bool:
        """Run the next job of a user; return whether there was one.

        Args:
            user_id: the user; with as many running jobs as allowed, nothing is done.
            on_claimed: called with the job's knowledge base before the job runs.

        Raises:
            Exception: the job failed, see `JobRunner.run`.
        """
        job = await self._jobs.claim_turn(
            self._worker, user_id, max_running=self._settings.worker.per_user
        )
        if job is None:
            return False
        with suppress(DependencyError):
            await on_claimed(job.scope)
        await self._runner.run(job)
        return True

    async def _ingest_file(
        self, scope: Scope, file: Path, on_progress: OnProgress | None
    ) -> Ingested:
        source, name = readable_name(file.as_posix()), readable_name(file.name)
        with _outcome(source, name) as outcome:
            content = await asyncio.to_thread(read_file, file, self._limits.file_bytes)
            upload = Upload(source, name, media_type(name), content)
            outcome.append(await self.ingest_upload(scope, upload, on_progress))
        return outcome[0]

    async def _ingest_registered(
        self, scope: Scope, upload: Upload, registered: Registered, on_progress: OnProgress | None
    ) -> Ingested:
        source, filename = upload.source, upload.filename
        document_id, other = registered.document_id, registered.same_as
        if registered.job_id is None:
            return Ingested(source, filename, document_id, unchanged=True, same_as=other)
        job = await self._claim(scope, registered.job_id, filename, on_progress)
        done = (
            job
            if isinstance(job, JobOutcome)
            else await self._runner.run(job, on_progress, upload.source_content)
        )
        return Ingested(
            source,
            filename,
            document_id,
            done.chunks,
            warnings=done.warnings,
            same_as=other,
            coverage=done.coverage,
            attachments=tuple(
                [await self._ingest_queued(scope, *one, on_progress) for one in done.attached]
            ),
        )

    async def _ingest_queued(
        self, scope: Scope, upload: Upload, registered: Registered, on_progress: OnProgress | None
    ) -> Ingested:
        with _outcome(upload.source, upload.filename) as outcome:
            outcome.append(await self._ingest_registered(scope, upload, registered, on_progress))
        return outcome[0]

    async def _claim_all(self, scope: Scope, job_ids: Sequence[UUID]) -> list[Job | None]:
        return await self._jobs.claim_all(self._worker, scope.user_id, job_ids)

    async def _claim(
        self, scope: Scope, job_id: UUID, filename: str, on_progress: OnProgress | None
    ) -> Job | JobOutcome:
        """Claim a job; if another worker runs it, wait for its outcome, or until its heartbeat is stale."""
        while True:
            claiming = asyncio.ensure_future(self._claiming.do(scope, job_id))
            try:
                claimed = await asyncio.shield(claiming)
            except asyncio.CancelledError as stopped:
                # A claim that has begun is not stopped; kept, it would make the next run wait until it is stale.
                with suppress(SextantError):
                    if (claimed := await claiming) is not None:
                        await self._jobs.release(claimed, stopped)
                raise
            if claimed is not None:
                return claimed
            job = await self._jobs.get(scope.user_id, job_id)
            if job is None:
                return JobOutcome(0)
            if job.stage is JobStage.DONE:
                return JobOutcome(job.total, job.warnings)
            if job.stage is JobStage.FAILED:
                if job.error_code in _CLOSED_ON_PURPOSE:
                    raise Superseded(
                        f"{job.filename} is not taken in. {job.error}",
                        next_step="Nothing to do, unless you want it again: then ingest the file again.",
                    )
                raise error_of(job.error_code or "", job.error or "")
            if on_progress is not None:
                on_progress(Progress(filename, job.stage, job.done, job.total, self._others))
            await asyncio.sleep(0.5)


async def _do_all(
    items: Sequence[T], size_of: Callable[[T], int], one: Callable[[T], Awaitable[Ingested]]
) -> list[Ingested]:
    """Run `one` on each item, some at a time, few of them large; return the outcomes in order."""
    results = dict[int, Ingested]()
    waiting = iter(enumerate(items))
    large = asyncio.Semaphore(_LARGE_AT_ONCE)

    async def work() -> None:
        for index, item in waiting:
            async with large if size_of(item) > _LARGE else nullcontext():
                results[index] = await one(item)

    # Files in hand, so that small ones share transactions, and some are parsed while others are stored.
    await run_together(work() for _ in range(32))
    return [results[index] for index in range(len(items))]


@contextmanager
def _outcome(source: str, filename: str) -> Iterator[list[Ingested]]:
    """Provide a list for one file's result; an error of the file itself becomes that result."""
    results: list[Ingested] = []
    try:
        yield results
    except DependencyError:
        raise
    except SextantError as error:
        # Without its traceback, whose frames refer to the file.
        results.append(Ingested(source, filename, error=error.with_traceback(None)))
    except Exception as error:
        log.exception("ingestion of a file failed unexpectedly")
        failure = SextantError(f"{filename}: {type(error).__name__}: {error}")
        results.append(Ingested(source, filename, error=failure))
