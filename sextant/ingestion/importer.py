"""Bring your own graph: documents, chunks, entities and relations from JSON Lines.

All lines are read into a spool first, so that they may come in any order. Then each document is
ingested as a durable job of its own, and what the lines say about entities becomes evidence in one
transaction. Everything goes by the user's own ids: the same import again changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sextant.domain.errors import (
    DocumentNotFound,
    FileRejected,
    OptionInvalid,
    Superseded,
    Wording,
    describe_reason,
)
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, word_warnings
from sextant.ingestion.facts.verbaliser import FactVerbaliser
from sextant.ingestion.pipeline import Ingested, Ingestor
from sextant.ingestion.progress import OnStage, silent
from sextant.ingestion.transfer.documents import GAP, ImportUpkeep, align_chunks, chunk_id, upload
from sextant.ingestion.transfer.evidence import EvidenceWriter
from sextant.ingestion.transfer.line_reader import Source, check_sections, read_into
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine, LineInvalid, LineProblem
from sextant.ingestion.transfer.spool import (
    DOCUMENTS_CHARS,
    Numbered,
    Spool,
    next_of,
    size_of,
    spool,
)
from sextant.stores.documents.registration import Upload
from sextant.stores.graph.record import GraphCounts, GraphRecord

_BATCH = 20  # documents at a time: two groups of small ones
# A file of nothing but bad lines is a wrong file: the first so many say so.
_MOST_PROBLEMS = 1000


@dataclass(slots=True)
class ImportReport:
    """What an import brought: lines that were taken, by kind, and what was wrong with others.

    `unchanged` counts the documents that were there already; `relations` includes triples;
    `problem_count` also counts the problems beyond the first thousand, which are not listed, and
    `left_out` those of all whose line, or the part named, was left out;
    `warnings` say what of the graph did not follow, and how to mend it, `coded_warnings` the same as data; `pending`: it is still to follow, which
    a worker does; `graph` is how large the whole graph is then, with what was found in the texts;
    `graph_alone`: the knowledge base has no passage, so that no question finds anything in it.
    """

    documents: int = 0
    unchanged: int = 0
    chunks: int = 0
    entities: int = 0
    relations: int = 0
    problem_count: int = 0
    left_out: int = 0
    problems: list[LineProblem] = field(default_factory=list[LineProblem])
    warnings: tuple[str, ...] = ()
    coded_warnings: tuple[CodedWarning, ...] = ()
    pending: bool = False
    graph: GraphCounts | None = None
    graph_alone: bool = False

    def warn(self, warnings: Iterable[CodedWarning]) -> None:
        """Add warnings, and their sentences."""
        self.coded_warnings = (*self.coded_warnings, *warnings)
        self.warnings = word_warnings(self.coded_warnings, "en")


class Importer:
    """Imports into knowledge bases: documents through the ingestor, the graph into its record.

    Args:
        ingestor: takes the documents in.
        record: takes what is said of the graph.
        check_model: called before anything is stored that needs the embedding model, with the seconds in
            which it must answer; None: nothing is.
    """

    def __init__(
        self,
        ingestor: Ingestor,
        record: GraphRecord,
        check_model: Callable[[float | None], Awaitable[None]] | None = None,
    ) -> None:
        self._ingestor = ingestor
        self._record = record
        self._check_model = check_model

    async def import_graph(
        self,
        scope: Scope,
        source: Source,
        *,
        strict: bool = False,
        facts_as_passages: bool = False,
        on_progress: OnStage | None = None,
        patience: float | None = None,
    ) -> ImportReport:
        """Take a whole knowledge base in.

        Args:
            scope: the knowledge base; made when it is new and there is something to put in.
            source: a file of JSON Lines (docs/import.md), plain or gzip-compressed, or dicts as they come.
            strict: stop at the first line that cannot be used. Such a line stops the import before
                anything is stored, except one that names what is neither in the import nor stored,
                which stops it after the documents, and sections beyond a text that only the chunks
                make, which stop it at their document.
            facts_as_passages: tell in passages what the graph then says of each entity of the lines: its
                description and aliases, and by the user's own word what it is to others, where no chunk
                states that. So questions find it: a document for each entity (`sextant/ingestion/facts`).
            on_progress: called with (`lines`, `documents`, `graph`, `storing` or `facts`, done, total; 0 = not
                known).
            patience: seconds in which the embedding model must have answered once, before anything is stored; None:
                as long as a call of it may take.

        Raises:
            OptionInvalid: the file cannot be read; or, with `strict`, what is wrong in which line.
            GraphNotFound: the knowledge base was deleted meanwhile.
            DependencyError: the database or the embedding model is gone; the same import again goes
                on from there.
        """
        upkeep = ImportUpkeep(scope, self._record)
        run = _ImportRun(ImportReport(), strict, on_progress or silent, upkeep)
        with spool() as lines:
            await self._read(lines, source, run)
            await upkeep.check()
            documents = await asyncio.to_thread(lines.document_count)
            if self._check_model is not None and (documents > 0 or facts_as_passages):
                await self._check_model(patience)
            await self._store_documents(scope, lines, run)
            async with self._record.writing(scope, bare=False) as writer:
                upkeep.found(writer.scope_id)
                evidence = EvidenceWriter(scope, writer, lines, with_subjects=facts_as_passages)
                done = 0
                total = lines.document_count()
                total += lines.count("entity", "relation", "decision")
                async for problems, count in evidence.write_all():
                    done += count
                    run.note(problems)
                    run.on_progress("graph", done, total)
                run.on_progress("storing", 0, 0)
                run.report.entities = evidence.entities
                run.report.relations = evidence.relations
            if facts_as_passages:
                await self._verbalise_facts(scope, evidence.subjects, run)
        return run.report

    async def _read(self, lines: Spool, source: Source, run: _ImportRun) -> None:
        async for problems in read_into(lines, source):
            run.note(problems)
            run.on_progress("lines", lines.size, 0)
        run.note(await asyncio.to_thread(lines.orphans))

    async def _verbalise_facts(
        self, scope: Scope, subjects: Collection[UUID], run: _ImportRun
    ) -> None:
        verbaliser = FactVerbaliser(scope, self._record, self._ingestor, run.standing)
        facts = await verbaliser.verbalise(
            sorted(subjects), lambda done: run.on_progress("facts", done, len(subjects))
        )
        run.report.documents += facts.documents
        run.report.unchanged += facts.unchanged
        run.report.chunks += facts.chunks
        run.report.warn(facts.warnings)

    async def _store_documents(self, scope: Scope, lines: Spool, run: _ImportRun) -> None:
        total, done = await asyncio.to_thread(lines.document_count), 0
        waiting = lines.documents()
        while batch := await next_of(waiting, _BATCH, size_of, DOCUMENTS_CHARS):
            usable = [one for one in batch if _is_usable(*one, run)]
            uploads = await asyncio.to_thread(_uploads, usable)
            taken = await self._ingestor.ingest_uploads(scope, uploads)
            await run.standing.check()
            for (document, chunks), stored in zip(usable, taken, strict=True):
                await self._note(lines, document.number, chunks, stored, run)
            done += len(batch)
            run.on_progress("documents", done, total)

    async def _note(
        self,
        lines: Spool,
        number: int,
        chunks: Sequence[ChunkLine],
        stored: Ingested,
        run: _ImportRun,
    ) -> None:
        """Take down under which ids a document was stored, or why it was not."""
        if isinstance(stored.error, FileRejected):
            reason = {"reason": describe_reason(stored.error)}
            run.note([LineProblem(number, CodedWarning(WarningCode.LINE_REJECTED, reason))])
            return
        overtaken = isinstance(stored.error, Superseded | DocumentNotFound)
        if overtaken and run.standing.is_there:
            run.note([LineProblem(number, CodedWarning(WarningCode.LINE_OVERTAKEN))])
            return
        if stored.error is not None:
            await run.standing.fail(stored.error)
        assert stored.document_id is not None  # noqa: S101 - it was stored
        await asyncio.to_thread(lines.note_stored, _ids(stored.document_id, chunks))
        run.report.documents += 1
        run.report.unchanged += stored.unchanged
        run.report.chunks += len(chunks) or stored.chunks


@dataclass(frozen=True, slots=True)
class _ImportRun:
    report: ImportReport
    strict: bool
    on_progress: OnStage
    standing: ImportUpkeep

    def note(self, problems: Sequence[LineProblem]) -> None:
        for problem in problems:
            if self.strict and not problem.kept:
                raise _stopped_at(problem)
        self.report.problem_count += len(problems)
        self.report.left_out += sum(not problem.kept for problem in problems)
        left = _MOST_PROBLEMS - len(self.report.problems)
        self.report.problems.extend(problems[: max(0, left)])


def _stopped_at(problem: LineProblem) -> OptionInvalid:
    """Return why an import with `strict` ends at a line."""
    reasons = {language: problem.coded.in_language(language) for language in ("en", "zh")}
    error = OptionInvalid.worded(
        {
            "en": Wording(
                f"Line {problem.line}: {reasons['en']}",
                "Mend the line, or leave `strict` out: such lines are then passed over.",
            ),
            "zh": Wording(
                f"第 {problem.line} 行：{reasons['zh']}",
                "请修正该行，或不用 `strict`：这样的行会被略过。",
            ),
        }
    )
    error.field = "strict"
    return error


def _is_usable(
    document: Numbered[DocumentLine], chunks: Sequence[ChunkLine], run: _ImportRun
) -> bool:
    """Return whether a document can be stored; what is wrong with it is noted."""
    line = document.line
    if fault := _fault(line, chunks):
        run.note([LineProblem(document.number, fault)])
        return False
    remarks = _misplaced_warnings(line, chunks) if chunks else _unused_warnings(line)
    run.note([LineProblem(document.number, one, kept=True) for one in remarks])
    return True


def _uploads(
    documents: Sequence[tuple[Numbered[DocumentLine], Sequence[ChunkLine]]],
) -> list[Upload]:
    return [upload(one.line, chunks) for one, chunks in documents]


def _fault(line: DocumentLine, chunks: Sequence[ChunkLine]) -> CodedWarning | None:
    """Return why a document cannot be stored; None when it can."""
    if not chunks and not (line.text or "").strip():
        return CodedWarning(WarningCode.LINE_DOCUMENT_EMPTY)
    try:
        if not line.text:  # else its sections were checked when the line was read
            check_sections(line.sections, len(GAP.join(chunk.text for chunk in chunks)))
    except LineInvalid as error:
        return error.coded
    return None


def _misplaced_warnings(line: DocumentLine, chunks: Sequence[ChunkLine]) -> Iterator[CodedWarning]:
    """Yield a remark on each chunk that names a section or a place which its document does not have."""
    for chunk, start in _elsewhere(line.text or "", chunks):
        params = {"chunk": f"{chunk.id!r:.80}", "said": chunk.start, "start": start}
        yield CodedWarning(WarningCode.LINE_CHUNK_ELSEWHERE, params)
    for chunk in chunks:
        if chunk.section is not None and chunk.section >= len(line.sections):
            params = {"chunk": f"{chunk.id!r:.80}", "section": chunk.section}
            params |= {"sections": len(line.sections)}
            yield CodedWarning(WarningCode.LINE_SECTION_UNKNOWN, params)


def _elsewhere(text: str, chunks: Sequence[ChunkLine]) -> list[tuple[ChunkLine, int]]:
    """Return the chunks that lie elsewhere than they say, and where."""
    if all(one.start is None or text.startswith(one.text, one.start) for one in chunks):
        return []
    _, starts = align_chunks(text, chunks)
    pairs = zip(chunks, starts, strict=True)
    return [(one, start) for one, start in pairs if one.start not in (None, start)]


def _unused_warnings(line: DocumentLine) -> Iterator[CodedWarning]:
    """Yield a remark on what is said only of a document that comes with its chunks."""
    fields_given = {
        "sections": line.sections,
        "filename": line.filename,
        "pageCount": line.page_count,
    }
    if given := [name for name, value in fields_given.items() if value]:
        yield CodedWarning(WarningCode.LINE_KEYS_UNUSED, {"keys": given})


def _ids(document_id: UUID, chunks: Sequence[ChunkLine]) -> dict[str, UUID]:
    return {chunk.id: chunk_id(document_id, chunk.id) for chunk in chunks}
