"""Import documents, chunks, entities and relations from JSON Lines.

All lines are read into a spool first, so they may come in any order. Then each document is ingested by a durable job,
and entities and relations are written to the graph in one transaction. The user's ids identify everything, so the
same import again changes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import starmap

from sextant.domain.errors import (
    DocumentNotFound,
    FileRejected,
    OptionInvalid,
    Superseded,
    Wording,
    describe_reason,
)
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.fact_verbaliser import FactVerbaliser, StoredDocuments
from sextant.ingestion.pipeline import Ingested, Ingestor
from sextant.ingestion.progress import OnStage, silent
from sextant.ingestion.transfer.documents import GAP, ImportUpkeep, align_chunks, chunk_id, upload
from sextant.ingestion.transfer.evidence import EvidenceWriter
from sextant.ingestion.transfer.line_reader import Source, check_sections, read_into
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine, LineInvalid, LineProblem
from sextant.ingestion.transfer.spool import Numbered, Spool, spool
from sextant.stores.graph.record import GraphCounts, GraphRecord

_MOST_PROBLEMS = 1000  # that a report lists


@dataclass(slots=True)
class ImportReport(StoredDocuments):
    """The numbers of imported lines by type, and the problems of others.

    Attributes:
        relations: triples count, too.
        problem_count: counts also the problems beyond the first thousand, which are not listed.
        left_out: problems whose line, or the part named, was left out.
        pending: whether a worker has to update the graph yet.
        graph: the size of the whole graph, with the entities found in texts.
        graph_alone: the knowledge base has no passages, so questions find nothing.
    """

    entities: int = 0
    relations: int = 0
    problem_count: int = 0
    left_out: int = 0
    problems: list[LineProblem] = field(default_factory=list[LineProblem])
    pending: bool = False
    graph: GraphCounts | None = None
    graph_alone: bool = False


class Importer:
    """Import documents through the ingestor, and the graph into its record.

    Args:
        ingestor: ingests the documents.
        record: stores the graph.
        check_model: checks the embedding model before anything is stored that needs it, within a number of seconds;
            None: it is not checked.
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
        """Import lines into a knowledge base.

        Args:
            scope: the knowledge base; created if it is new and a line is imported.
            source: a file of JSON Lines (docs/import.md), plain or gzip-compressed, or an iterable of dicts.
            strict: stop at the first invalid line. Most stop the import before anything is stored. One that names
                an unknown entity or chunk stops it after the documents, and sections beyond the text of chunks
                stop it at their document.
            facts_as_passages: write a document for each entity of the lines, so that questions find its facts:
                description, aliases, and relations that the user asserts (`sextant/ingestion/fact_verbaliser.py`).
            on_progress: called with (`lines`, `documents`, `graph`, `storing` or `facts`, done, total; 0: unknown).
            patience: seconds within which the embedding model must answer first; None: the usual timeout.

        Raises:
            OptionInvalid: the file cannot be read; with `strict`, a line is invalid.
            GraphNotFound: the knowledge base was deleted meanwhile.
            DependencyError: the database or the embedding model failed; the same import again continues.
        """
        upkeep = ImportUpkeep(scope, self._record)
        run = _ImportRun(ImportReport(), strict, on_progress or silent, upkeep)
        with spool() as lines:
            async for problems in read_into(lines, source):
                run.note(problems)
                run.on_progress("lines", lines.size, 0)
            run.note(await asyncio.to_thread(lines.orphans))
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
                subjects = sorted(evidence.subjects)
                verbaliser = FactVerbaliser(scope, self._record, self._ingestor, upkeep)
                await verbaliser.verbalise(
                    subjects, run.report, lambda done: run.on_progress("facts", done, len(subjects))
                )
        return run.report

    async def _store_documents(self, scope: Scope, lines: Spool, run: _ImportRun) -> None:
        total, done = await asyncio.to_thread(lines.document_count), 0
        # 20 documents: two groups of small ones.
        async for batch in lines.document_batches(20):
            usable = [one for one in batch if _is_usable(*one, run)]
            packed = starmap(upload, [(one.line, chunks) for one, chunks in usable])
            uploads = await asyncio.to_thread(list, packed)
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
        """Note the ids of a stored document, or the reason why it was not stored."""
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
        await asyncio.to_thread(
            lines.note_stored,
            {chunk.id: chunk_id(stored.document_id, chunk.id) for chunk in chunks},
        )
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
    """Return the error that ends an import with `strict`."""
    reasons = {language: problem.coded.in_language(language) for language in ("en", "zh")}
    error = OptionInvalid.worded(
        {
            "en": Wording(
                f"Line {problem.line}: {reasons['en']}",
                "Fix the line, or leave out `strict`: such lines are then skipped.",
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
    """Return whether a document can be stored; note its problems."""
    line = document.line
    if fault := _fault(line, chunks):
        run.note([LineProblem(document.number, fault)])
        return False
    remarks = _misplaced_warnings(line, chunks) if chunks else _unused_warnings(line)
    run.note([LineProblem(document.number, one, kept=True) for one in remarks])
    return True


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
    """Report chunks with a wrong `start` or an unknown section."""
    text = line.text or ""
    if not all(one.start is None or text.startswith(one.text, one.start) for one in chunks):
        _, starts = align_chunks(text, chunks)
        for chunk, start in zip(chunks, starts, strict=True):
            if chunk.start not in (None, start):
                params = {"chunk": f"{chunk.id!r:.80}", "said": chunk.start, "start": start}
                yield CodedWarning(WarningCode.LINE_CHUNK_ELSEWHERE, params)
    for chunk in chunks:
        if chunk.section is not None and chunk.section >= len(line.sections):
            params = {"chunk": f"{chunk.id!r:.80}", "section": chunk.section}
            params |= {"sections": len(line.sections)}
            yield CodedWarning(WarningCode.LINE_SECTION_UNKNOWN, params)


def _unused_warnings(line: DocumentLine) -> Iterator[CodedWarning]:
    """Report fields that are used only for a document with chunks."""
    fields_given = {
        "sections": line.sections,
        "filename": line.filename,
        "pageCount": line.page_count,
    }
    if given := [name for name, value in fields_given.items() if value]:
        yield CodedWarning(WarningCode.LINE_KEYS_UNUSED, {"keys": given})
