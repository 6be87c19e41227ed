"""From file to searchable document: register → parse → embed and store in batches → publish → graph.

Every document's ingestion is a durable job. Each batch is committed, so a worker that is killed loses
at most one: whoever takes the job over parses again (ids follow from content and place) and goes on
with the chunks that are not stored yet. A small document is stored and published in one step.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from domain.documents import Chunk, Job, JobStage, ParsedDocument
from domain.errors import (
    ConflictError,
    DependencyError,
    FileRejected,
    FileUnsafe,
    SextantError,
    error_of,
)
from domain.scope import Scope
from domain.settings import Settings
from ingestion.detect import media_type
from ingestion.files import find_files, read_file
from ingestion.graph.extract_llm import ModelExtractor
from ingestion.graph.index import GraphIndexer
from ingestion.guards import check_size
from ingestion.hosts import ParserHosts
from ingestion.limits import Limits
from ingestion.parse import parse_file
from ingestion.transfer.documents import is_packed, unpack
from ingestion.workers import is_dead, worker_name
from models.protocols import Embedder, Vectors
from stores.chunks import StoredChunk
from stores.documents import DocumentStore
from stores.jobs import JobStore

log = logging.getLogger(__name__)

# While one file is embedded the next one is parsed; more at once would only cost memory.
_AT_ONCE = 2
_POLL_SECONDS = 0.5
# A passage takes 30–50 ms to embed: the first of a long document are searchable after half a second.
_FIRST_BATCH = 8
# Up to here a document is stored and published in one transaction instead of four.
_SMALL = 16
# How far a job is, is written down once a second: a small file would spend a tenth of its time on it.
_NOTE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one file is: `done` of `total` chunks in stage `embed`; 0 of 0 where nothing counts.

    `note` says in words how it ended, where no result does.
    """

    filename: str
    stage: JobStage
    done: int = 0
    total: int = 0
    note: str = ""


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of a file. `unchanged`: it was there already. `error`: it could not be taken in.

    `same_as`: the other file whose bytes these are; both are the one document `document_id`.
    `warnings`: it was taken in, but something about it is missing, such as what a chat model finds.
    """

    source: str
    filename: str
    document_id: UUID | None = None
    chunks: int = 0
    unchanged: bool = False
    error: SextantError | None = None
    warnings: tuple[str, ...] = ()
    same_as: str | None = None


def embedding_text(document_title: str, chunk: Chunk | StoredChunk) -> str:
    """What is embedded for a chunk: where it stands, a table's header, and the text itself."""
    path = [document_title, *(title for title in chunk.section_path if title != document_title)]
    context = "" if chunk.context in path else chunk.context
    return "\n".join(filter(None, (" > ".join(path), context, chunk.text)))


class Ingestor:
    """Takes documents into knowledge bases.

    Args:
        documents: where they go.
        jobs: the record of the work.
        embedder: gives chunks their vectors; called for one batch at a time.
        settings: `limits` and `ingestion` apply.
        graph: enters published documents into the knowledge graph; None: none is kept.
        extractor: reads them with a chat model, after that; None: nothing does.
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
    ) -> None:
        self._documents = documents
        self._jobs = jobs
        self._embedder = embedder
        self._settings = settings
        self._graph = graph
        self._extractor = extractor
        self._limits = Limits.of(settings)
        self._hosts = ParserHosts()
        self._noted: dict[UUID, float] = {}
        self._worker = worker_name()
        self._embedding = asyncio.Lock()

    async def ingest(
        self,
        scope: Scope,
        paths: Iterable[str | Path],
        on_progress: OnProgress | None = None,
    ) -> list[Ingested]:
        """Take files, and the readable files of folders, into a knowledge base.

        Returns:
            What became of each file, in order. A file that cannot be ingested carries its error and
            stops no other.

        Raises:
            DependencyError: the database or the embedding model is gone, so no file can go on. What
                was committed stays; the same call later goes on from there.
        """
        files = await asyncio.to_thread(lambda: find_files(paths))
        results: dict[Path, Ingested] = {}
        waiting = iter(files)

        async def work() -> None:
            for file in waiting:
                results[file] = await self._ingest_file(scope, file, on_progress)

        await _together(work() for _ in range(_AT_ONCE))
        return [results[file] for file in files]

    async def ingest_bytes(
        self,
        scope: Scope,
        content: bytes,
        filename: str,
        *,
        source: str | None = None,
        external_id: str | None = None,
        metadata: dict[str, Any] | None = None,
        on_progress: OnProgress | None = None,
    ) -> Ingested:
        """Take one file in from memory; `source` names it for replacement (default: its file name).

        `external_id` and `metadata` are the user's own, and come back with the document.

        Raises:
            FileRejected: it is empty or too large, or its parser refused it.
            DependencyError: as for `ingest`.
        """
        source = source or filename
        check_size(content, filename, self._limits)
        registered = await self._documents.register(
            scope,
            source=source,
            filename=filename,
            media_type=media_type(filename),
            content=content,
            external_id=external_id,
            metadata=metadata,
        )
        if registered.job_id is None:
            return Ingested(
                source,
                filename,
                registered.document_id,
                unchanged=True,
                same_as=registered.same_as,
            )
        job = await self._claim(scope, registered.job_id, filename, on_progress)
        chunks = job if isinstance(job, int) else await self.run_job(job, on_progress, content)
        warnings = await self._remarks(scope, registered.document_id)
        return Ingested(
            source,
            filename,
            registered.document_id,
            chunks,
            warnings=warnings,
            same_as=registered.same_as,
        )

    async def run_job(
        self, job: Job, on_progress: OnProgress | None = None, content: bytes | None = None
    ) -> int:
        """Do a claimed job to its end and return the number of chunks.

        `content` is that of the job's version, where the caller has it; else it is read.

        Raises:
            SextantError: why it could not be done. Errors that may pass put the job back for another
                try; any other closes it as failed and takes the unfinished version back.
        """
        report = on_progress or _silent
        try:
            async with self._heartbeat(job):
                return await self._run(job, report, content)
        except ConflictError:
            raise  # replaced or taken over: not ours to close
        except asyncio.CancelledError as stopped:
            await asyncio.shield(self._release(job, stopped))
            raise
        except DependencyError as error:
            await self._release(job, error)
            raise
        except Exception as error:
            report(Progress(job.filename, JobStage.FAILED))
            await self._fail(job, error)
            raise

    async def resume(self, user_id: str, on_progress: OnProgress | None = None) -> list[Ingested]:
        """Do every job of a user that waits or whose worker died, one after the other."""
        results = []
        while job := await self._jobs.claim(self._worker, user_id=user_id):
            with _outcome(job.filename, job.filename) as outcome:
                chunks = await self.run_job(job, on_progress)
                outcome.append(Ingested(job.filename, job.filename, job.document_id, chunks))
            results += outcome
        return results

    async def _run(self, job: Job, report: OnProgress, content: bytes | None) -> int:
        if job.attempts > self._settings.ingestion.job_attempts:
            raise FileUnsafe(
                f"Ingesting {job.filename} broke off {job.attempts - 1} times.",
                next_step="Check that there is memory enough, then ingest the file again.",
            )
        report(Progress(job.filename, JobStage.PARSE))
        await self._note(job, JobStage.PARSE, 0, 0)
        parsed = await self._parse(job, content)
        if not await self._is_published(job):
            await self._store(job, parsed, report)
        total = len(parsed.chunks)
        if self._graph is not None:
            report(Progress(job.filename, JobStage.GRAPH, total, total))
            await self._note(job, JobStage.GRAPH, total, total)
            await self._graph.index_document(job.scope, job.document_id, job.version, parsed)
            await self._extract(job, report)
        await self._jobs.finish(job, total)
        report(Progress(job.filename, JobStage.DONE, total, total))
        return total

    async def _extract(self, job: Job, report: OnProgress) -> None:
        """Let the chat model read the document; what it does not read is kept with the reason."""
        if self._extractor is None:
            return

        def show(done: int, total: int) -> None:
            report(Progress(job.filename, JobStage.GRAPH, done, total))

        await self._extractor.extract(job.scope, document_id=job.document_id, on_progress=show)

    async def _remarks(self, scope: Scope, document_id: UUID) -> tuple[str, ...]:
        if self._extractor is None:
            return ()
        return await self._extractor.remarks(scope, document_id)

    async def _store(self, job: Job, parsed: ParsedDocument, report: OnProgress) -> None:
        """Make the document searchable; the job stays open for what follows."""
        small = min(_SMALL, self._settings.ingestion.embed_batch)
        if job.attempts == 1 and len(parsed.chunks) <= small:
            await self._store_at_once(job, parsed, report)
        else:
            await self._store_in_batches(job, parsed, report)

    async def _store_in_batches(self, job: Job, parsed: ParsedDocument, report: OnProgress) -> None:
        stored = await self._documents.begin(
            job.scope, job.document_id, parsed, version=job.version
        )
        await self._embed(job, parsed, stored, report)
        total = len(parsed.chunks)
        report(Progress(job.filename, JobStage.PUBLISH, total, total))
        await self._note(job, JobStage.PUBLISH, total, total)
        await self._documents.publish(
            job.scope, job.document_id, version=job.version, close_job=False
        )

    async def _store_at_once(self, job: Job, parsed: ParsedDocument, report: OnProgress) -> None:
        total = len(parsed.chunks)
        report(Progress(job.filename, JobStage.EMBED, 0, total))
        vectors = await self._vectors(parsed, parsed.chunks)
        report(Progress(job.filename, JobStage.EMBED, total, total))
        report(Progress(job.filename, JobStage.PUBLISH, total, total))
        await self._documents.store(
            job.scope, job.document_id, parsed, vectors, version=job.version
        )

    async def _is_published(self, job: Job) -> bool:
        """Whether an earlier try of this job went as far as that."""
        return job.attempts > 1 and await self._documents.is_live(
            job.scope, job.document_id, job.version
        )

    async def _note(self, job: Job, stage: JobStage, done: int, total: int) -> None:
        """Write down how far a job is, unless that was done a moment ago."""
        now = time.monotonic()
        if now - self._noted[job.id] >= _NOTE_SECONDS:
            self._noted[job.id] = now
            await self._jobs.progress(job, stage, done, total)

    async def _vectors(self, parsed: ParsedDocument, chunks: Sequence[Chunk]) -> Vectors:
        texts = [embedding_text(parsed.title, chunk) for chunk in chunks]
        async with self._embedding:
            return await self._embedder.embed_passages(texts)

    async def _parse(self, job: Job, content: bytes | None) -> ParsedDocument:
        if content is None:
            content = await self._documents.content(job.scope, job.document_id)
        if is_packed(content):
            return await asyncio.to_thread(unpack, content, job.document_id)
        return await parse_file(
            content,
            job.filename,
            document_id=job.document_id,
            settings=self._settings,
            hosts=self._hosts,
        )

    async def _embed(
        self, job: Job, parsed: ParsedDocument, stored: set[UUID], report: OnProgress
    ) -> None:
        missing = [chunk for chunk in parsed.chunks if chunk.id not in stored]
        total = len(parsed.chunks)
        done = total - len(missing)
        report(Progress(job.filename, JobStage.EMBED, done, total))
        for batch in _batches(missing, self._settings.ingestion.embed_batch):
            vectors = await self._vectors(parsed, batch)
            await self._documents.add_chunks(
                job.scope, job.document_id, batch, vectors, version=job.version
            )
            done += len(batch)
            await self._note(job, JobStage.EMBED, done, total)
            report(Progress(job.filename, JobStage.EMBED, done, total))

    async def _ingest_file(
        self, scope: Scope, file: Path, on_progress: OnProgress | None
    ) -> Ingested:
        source = file.as_posix()
        with _outcome(source, file.name) as outcome:
            content = await asyncio.to_thread(read_file, file, self._limits.file_bytes)
            outcome.append(
                await self.ingest_bytes(
                    scope, content, file.name, source=source, on_progress=on_progress
                )
            )
        return outcome[0]

    async def _claim(
        self, scope: Scope, job_id: UUID, filename: str, on_progress: OnProgress | None
    ) -> Job | int:
        """The job to do; or, when another worker has just done it, the number of its chunks.

        A job of a worker that was killed becomes free at once if it ran on this machine, else when its
        heartbeat is stale.
        """
        while True:
            claimed = await self._jobs.claim(self._worker, user_id=scope.user_id, job_id=job_id)
            if claimed is not None:
                return claimed
            job = await self._jobs.get(scope.user_id, job_id)
            if job is None or job.stage is JobStage.DONE:
                return job.total if job else 0
            if job.stage is JobStage.FAILED:
                raise error_of(job.error_code or "", job.error or "")
            if await asyncio.to_thread(is_dead, job.worker):
                await self._jobs.take_from_dead(job)
                continue
            (on_progress or _silent)(Progress(filename, job.stage, job.done, job.total))
            await asyncio.sleep(_POLL_SECONDS)

    async def _release(self, job: Job, error: BaseException) -> None:
        with suppress(SextantError):
            await self._jobs.release(job, error)

    async def _fail(self, job: Job, error: Exception) -> None:
        if not isinstance(error, FileRejected):
            log.exception("ingestion of a document failed", exc_info=error)
        with suppress(SextantError):
            # A document that only the graph lacks stays searchable.
            if not await self._documents.is_live(job.scope, job.document_id, job.version):
                await self._documents.fail(job.scope, job.document_id, version=job.version)
            await self._jobs.fail(job, error)

    @asynccontextmanager
    async def _heartbeat(self, job: Job) -> AsyncIterator[None]:
        """Tell the job's record, while the block runs, that this worker lives; claiming just did."""
        self._noted[job.id] = time.monotonic()
        beating = asyncio.create_task(self._beat(job))
        try:
            yield
        finally:
            beating.cancel()
            with suppress(asyncio.CancelledError):
                await beating
            del self._noted[job.id]

    async def _beat(self, job: Job) -> None:
        # A claim that is lost shows at the next progress call, which raises.
        with suppress(ConflictError):
            while True:
                await asyncio.sleep(self._settings.ingestion.job_heartbeat)
                with suppress(DependencyError):
                    await self._jobs.heartbeat(job)


def _batches(chunks: Sequence[Chunk], size: int) -> Iterator[list[Chunk]]:
    """Batches of `size`; the first is small, so that a long document can soon be searched."""
    remaining = iter(chunks)
    if first := list(islice(remaining, min(size, _FIRST_BATCH))):
        yield first
    while batch := list(islice(remaining, size)):
        yield batch


@contextmanager
def _outcome(source: str, filename: str) -> Iterator[list[Ingested]]:
    """A list for one file's result; an error of the file itself becomes that result."""
    results: list[Ingested] = []
    try:
        yield results
    except DependencyError:
        raise
    except SextantError as error:
        results.append(Ingested(source, filename, error=error))
    except Exception as error:
        log.exception("ingestion of a file failed unexpectedly")
        failure = SextantError(f"{filename}: {type(error).__name__}: {error}")
        results.append(Ingested(source, filename, error=failure))


async def _together(works: Iterable[Coroutine[None, None, None]]) -> None:
    """Run coroutines side by side; the first error stops the others and is raised by itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for work in works:
                group.create_task(work)
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


def _silent(_: Progress) -> None:
    """Report to nobody."""
