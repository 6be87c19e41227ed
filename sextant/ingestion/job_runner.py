"""Run one job through its stages: parse → embed and store in batches → publish → graph.

Each batch is committed, so a killed worker loses at most two batches. The next one parses again (ids follow from
content and position) and continues with the chunks that are not stored. A small document is stored and published in
one transaction.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from traceback import clear_frames
from uuid import UUID

from sextant.domain.documents import Chunk, Coverage, Job, JobStage, ParsedDocument
from sextant.domain.errors import (
    ConflictError,
    DependencyError,
    DocumentNotFound,
    FileRejected,
    FileUnsafe,
    SextantError,
)
from sextant.domain.settings import Settings
from sextant.domain.system import trim_memory
from sextant.domain.warnings import CodedWarning, attachments_not_read
from sextant.ingestion.graph.extraction.extract_llm import ModelExtractor
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.offline_descriptions import DescribedDocument, describe_in_parts
from sextant.ingestion.parsing.detect import media_type
from sextant.ingestion.parsing.hosts import Describe, ParserHosts, Recognise, parse_file
from sextant.ingestion.pictures import Captioner, OcrReader
from sextant.ingestion.progress import OnProgress, Progress, Stages, silent
from sextant.ingestion.transfer.documents import apply_dates, is_packed, unpack
from sextant.ingestion.workers import GroupCommit, Heartbeats, WorkShares
from sextant.models.protocols import Embedder, Vectors
from sextant.stores.chunks.stored import StoredChunk
from sextant.stores.documents.document_reader import SourceContent
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Registered, Upload
from sextant.stores.documents.versions import ReadyVersion
from sextant.stores.jobs import JobStore, lost

log = logging.getLogger(__name__)

_SMALL = 16  # chunks of a document that is stored and published in one transaction
_MAIL_IN_MAIL = 3  # nested e-mails whose attachments are read
_LARGE = 1 << 20  # bytes of a file after which free memory is returned to the system


def embedding_text(document_title: str, chunk: Chunk | StoredChunk) -> str:
    """Return the text of a chunk to embed: the titles above it, a table's header, and the text."""
    path = [document_title, *(title for title in chunk.section_path if title != document_title)]
    context = "" if chunk.context in path else chunk.context
    return "\n".join(filter(None, (" > ".join(path), context, chunk.text)))


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """The result of a job: the number of chunks, warnings, coverage, and attachments that are to be ingested."""

    chunks: int
    warnings: tuple[CodedWarning, ...] = ()
    coverage: Coverage | None = None
    attached: Sequence[tuple[Upload, Registered]] = ()


class JobRunner:
    """Run claimed jobs; the arguments are those of `sextant.ingestion.pipeline.Ingestor`."""

    def __init__(
        self,
        documents: DocumentStore,
        jobs: JobStore,
        embedder: Embedder,
        settings: Settings,
        graph: GraphIndexer | None,
        *,
        extractor: ModelExtractor | None,
        hosts: ParserHosts,
        captioner: Captioner | None = None,
        reader: OcrReader | None = None,
    ) -> None:
        self._documents = documents
        self._jobs = jobs
        self._embedder = embedder
        self._settings = settings
        self._graph = graph
        self._extractor = extractor
        self._hosts = hosts
        self._captioner = captioner
        self._reader = reader
        self._heartbeats = Heartbeats(jobs, settings.ingestion.job_heartbeat)
        self._shares = WorkShares()
        self._running = 0
        self._storing = GroupCommit(documents.store)
        self._finishing = GroupCommit(jobs.finish_all)

    async def run(
        self,
        job: Job,
        on_progress: OnProgress | None = None,
        given: SourceContent | None = None,
    ) -> JobOutcome:
        """Run a claimed job.

        Args:
            job: the job.
            on_progress: called with its progress.
            given: the file, if the caller has it; otherwise it is read.

        Raises:
            SextantError: the job failed. After a temporary error it waits for another attempt; otherwise it is
                closed as failed, and the unfinished version is withdrawn.
        """
        stages = Stages(on_progress or silent)

        def report(progress: Progress) -> None:
            stages.report(progress)
            self._heartbeats.note(job, progress)

        size = 0
        self._running += 1
        try:
            async with stages.timed(), self._heartbeats.of(job):
                given = given or await self._documents.read_source(job.scope, job.document_id)
                size = len(given.content)
                return await self._run(job, report, given)
        except ConflictError:
            raise  # replaced, cancelled or taken over: not ours to close
        except asyncio.CancelledError as stopped:
            await asyncio.shield(self._release(job, stopped))
            raise
        except DependencyError as error:
            if not error.retryable or job.released >= self._settings.worker.retries:
                await self._fail(job, error)
            else:
                wait: float = self._settings.worker.backoff * 2.0**job.released
                await self._release(job, error, wait=min(wait, 300.0))
            raise
        except Exception as error:
            report(Progress(job.filename, JobStage.FAILED))
            await self._fail(job, error)
            raise
        finally:
            self._running -= 1
            if size >= _LARGE:
                del given
                if raised := sys.exception():  # its frames refer to the document
                    clear_frames(raised.__traceback__)
                await asyncio.to_thread(trim_memory)

    async def _run(self, job: Job, report: OnProgress, given: SourceContent) -> JobOutcome:
        broken_off = job.attempts - 1 - job.released
        if broken_off >= self._settings.ingestion.job_attempts:
            raise FileUnsafe(
                f"Ingesting {job.filename} broke off {broken_off} times.",
                next_step="Check that there is memory enough, then ingest the file again.",
            )
        report(Progress(job.filename, JobStage.PARSE))
        async with AsyncExitStack() as place:
            added = await self._add(job, given, report, place)
        # What was parsed is free again, since reading with a model takes long.
        if self._graph is not None:
            added = replace(added, warnings=added.warnings + await self._extract(job, report))
        if not await self._finishing.do(job.scope, (job, added.chunks, added.warnings)):
            raise lost(job)
        report(Progress(job.filename, JobStage.DONE, added.chunks, added.chunks))
        return added

    async def _add(
        self, job: Job, given: SourceContent, report: OnProgress, place: AsyncExitStack
    ) -> JobOutcome:
        """Parse, store and publish the document, and add it to the graph; its job stays open."""
        parsed = await self._parse(job, given, report, place)
        if job.attempts > 1 and await self._documents.is_live(
            job.scope, job.document_id, job.version
        ):
            described = await describe_in_parts(parsed)
        else:
            described = await self._store(job, parsed, report)
        total = len(parsed.chunks)
        attached, remarks = await self._attach(job, parsed)
        if self._graph is not None:
            report(Progress(job.filename, JobStage.GRAPH, total, total))
            await self._graph.index_document(
                job.scope,
                job.document_id,
                job.version,
                described.parsed,
                described.terms,
                coming=self._running if self._is_shared(job, parsed) else 1,
            )
        return JobOutcome(total, parsed.warnings + remarks, parsed.coverage, attached)

    async def _attach(
        self, job: Job, parsed: ParsedDocument
    ) -> tuple[Sequence[tuple[Upload, Registered]], tuple[CodedWarning, ...]]:
        """Register the attachments of the document; warn of those that are nested too deep."""
        if not parsed.attachments and job.version == 1:
            return (), ()
        source = (await self._documents.get(job.scope, job.document_id)).source
        uploads = [
            Upload(
                f"{source}/{one.name}",
                one.name,
                media_type(one.name),
                one.content,
                parent_id=job.document_id,
            )
            for one in parsed.attachments
        ]
        registered = await self._documents.register_attachments(
            job.scope, job.document_id, uploads, deepest=_MAIL_IN_MAIL
        )
        if registered is None:
            return (), attachments_not_read([one.name for one in parsed.attachments])
        return [*zip(uploads, registered, strict=True)], ()

    async def _extract(self, job: Job, report: OnProgress) -> tuple[CodedWarning, ...]:
        """Extract from the document with the chat model; warn of passages that were not read."""
        if self._extractor is None:
            return ()

        def show(done: int, total: int) -> None:
            report(Progress(job.filename, JobStage.GRAPH, done, total))

        await self._extractor.extract(job.scope, document_id=job.document_id, on_progress=show)
        return await self._extractor.remarks(job.scope, job.document_id)

    async def _store(
        self, job: Job, parsed: ParsedDocument, report: OnProgress
    ) -> DescribedDocument:
        """Describe the document and make it searchable, a small one at once; the job stays open."""
        described = await describe_in_parts(parsed)
        parsed, version, total = described.parsed, job.version, len(parsed.chunks)
        if job.attempts == 1 and self._is_small(parsed):
            report(Progress(job.filename, JobStage.EMBED, 0, total))
            vectors = await self._vectors(job, parsed, parsed.chunks)
            report(Progress(job.filename, JobStage.EMBED, total, total))
            report(Progress(job.filename, JobStage.PUBLISH, total, total))
            ready = ReadyVersion(job.document_id, version, parsed, vectors)
            if self._is_shared(job, parsed):
                await self._storing.do(job.scope, ready, self._running)
            else:
                await self._documents.store(job.scope, [ready])
            return described
        stored = await self._documents.begin(job.scope, job.document_id, parsed, version=version)
        report(Progress(job.filename, JobStage.EMBED, len(stored), total))
        await self._embed(job, parsed, stored, report)
        report(Progress(job.filename, JobStage.PUBLISH, total, total))
        await self._documents.publish(job.scope, job.document_id, version=version, close_job=False)
        return described

    async def _vectors(self, job: Job, parsed: ParsedDocument, chunks: Sequence[Chunk]) -> Vectors:
        texts = [embedding_text(parsed.title, chunk) for chunk in chunks]
        async with self._shares.embedding(job.scope.user_id):
            return await self._embedder.embed_passages(texts)

    def _is_small(self, parsed: ParsedDocument) -> bool:
        return len(parsed.chunks) <= min(_SMALL, self._settings.ingestion.embed_batch)

    def _is_shared(self, job: Job, parsed: ParsedDocument) -> bool:
        """Return whether a document is small and new, and so waits for the database together with others."""
        is_new = job.attempts == 1 and job.version == 1
        return is_new and not parsed.attachments and self._is_small(parsed)

    async def _take_place(self, job: Job, parsed: ParsedDocument, place: AsyncExitStack) -> None:
        """Wait for one of the user's few places, unless the document takes little memory and no connection alone."""
        if not self._is_shared(job, parsed):
            await place.enter_async_context(self._shares.adding(job.scope.user_id))

    async def _parse(
        self, job: Job, given: SourceContent, report: OnProgress, place: AsyncExitStack
    ) -> ParsedDocument:
        if is_packed(given.content):
            unpacked = await asyncio.to_thread(unpack, given.content, job.document_id)
            await self._take_place(job, unpacked, place)
            return unpacked
        describe: Describe | None = None
        if self._captioner is not None:
            describe = partial(self._captioner.describe, job.scope, again=job.attempts > 1)
        recognise: Recognise | None = None
        if self._reader is not None:
            recognise = partial(
                self._reader.read,
                job.scope,
                job.document_id,
                given.content,
                on_progress=lambda done, total: report(
                    Progress(job.filename, JobStage.OCR, done, total)
                ),
                again=job.attempts > 1,
            )
        async with self._shares.parsing(job.scope.user_id):
            parsed = await parse_file(
                given.content,
                job.filename,
                document_id=job.document_id,
                settings=self._settings,
                hosts=self._hosts,
                describe=describe,
                recognise=recognise,
            )
            # Before the next file is parsed, so that no parsed ones pile up.
            await self._take_place(job, parsed, place)
        # The user's metadata, such as tags, take precedence.
        document = replace(parsed, metadata={**parsed.metadata, **given.metadata})
        return apply_dates(document, given.metadata)

    async def _embed(
        self, job: Job, parsed: ParsedDocument, stored: set[UUID], report: OnProgress
    ) -> None:
        missing = [chunk for chunk in parsed.chunks if chunk.id not in stored]
        total = len(parsed.chunks)
        done = total - len(missing)
        going = deque[tuple[int, asyncio.Task[None]]]()

        async def finish(all_but: int = 0) -> None:
            nonlocal done
            while len(going) > all_but:
                size, storing = going.popleft()
                await storing
                done += size
                report(Progress(job.filename, JobStage.EMBED, done, total))

        try:
            for batch in _batches(missing, self._settings.ingestion.embed_batch):
                vectors = await self._vectors(job, parsed, batch)
                # Two batches are stored at a time, since the server's work is the larger part.
                await finish(all_but=1)
                adding = self._documents.add_chunks(
                    job.scope, job.document_id, batch, vectors, version=job.version
                )
                going.append((len(batch), asyncio.create_task(adding)))
        finally:  # store what is embedded, also if the next batch, or storing one of them, fails
            try:
                await finish(all_but=1)
            finally:
                await finish()

    async def _release(self, job: Job, error: BaseException, wait: float = 0) -> None:
        with suppress(SextantError):
            await self._jobs.release(job, error, wait=wait)

    async def _fail(self, job: Job, error: Exception) -> None:
        # Invalid files and deleted documents are no errors of ours.
        if not isinstance(error, FileRejected | DocumentNotFound):
            log.exception("ingestion of a document failed", exc_info=error)
        with suppress(SextantError):
            # A published document stays searchable.
            if not await self._documents.is_live(job.scope, job.document_id, job.version):
                where = job.scope, job.document_id
                await self._documents.fail(*where, version=job.version, error=error)
            await self._jobs.fail(job, error)


def _batches(chunks: Sequence[Chunk], size: int) -> Iterator[list[Chunk]]:
    """Yield chunks in batches, of which the first is small."""
    remaining = iter(chunks)
    # A small first batch, so that a long document is searchable soon; a chunk takes 30–50 ms to embed.
    batch = list(islice(remaining, min(8, size)))
    while batch:
        yield batch
        batch = list(islice(remaining, size))
