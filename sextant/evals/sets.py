"""Load question sets as knowledge bases."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from sextant.domain.documents import Chunk, Job, JobStage, ParsedDocument
from sextant.domain.errors import ConflictError
from sextant.domain.scope import Scope
from sextant.evals.dataset import CorpusPassage, Triple
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.offline_descriptions import describe
from sextant.ingestion.progress import OnCount, silent
from sextant.ingestion.transfer.documents import join_chunks
from sextant.ingestion.transfer.line_reader import read_line
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine, line_evidence
from sextant.models.protocols import Embedder
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.graph.evidence import GraphEvidence
from sextant.stores.graph.record import GraphRecord
from sextant.stores.graph.transfer import chunks_by_external_id
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database

_BATCH = 128  # passages embedded at a time, some ten seconds of work
EVAL_USER = "sextant-eval"


def corpus_scope(corpus: Path, triples: Path | None = None) -> Scope:
    """Return the knowledge base of a corpus; with triples it is another one than without."""
    content = corpus.read_bytes() + (triples.read_bytes() if triples is not None else b"")
    return Scope(EVAL_USER, f"eval-{hashlib.sha256(content).hexdigest()[:16]}")


async def load_corpus(
    database: Database,
    embedder: Embedder,
    scope: Scope,
    passages: Sequence[CorpusPassage],
    on_progress: OnCount | None = None,
) -> None:
    """Store `passages` as one document with a section and a chunk for each; `external_id` is the passage's id.

    A stored corpus is left as it is, and an interrupted load goes on, since embedding takes long (some ten passages a
    second and core with the packaged model).

    Args:
        database: stores the corpus.
        embedder: makes the vectors.
        scope: the knowledge base; created if it is new.
        passages: the corpus.
        on_progress: called with (passages stored, passages in all).

    Raises:
        ConflictError: another process is loading this corpus.
        EmbeddingModelChanged: the database has vectors of another model.
    """
    await embedder.warm_up()
    await check_space(database, embedder)
    documents, jobs = DocumentStore(database), JobStore(database)
    parsed = describe(as_document(passages)).parsed
    registered = await documents.register(
        scope,
        source="corpus",
        filename="corpus.txt",
        media_type="text/plain",
        content=parsed.text.encode(),
    )
    if registered.unchanged:
        return
    job = await jobs.claim("eval", user_id=scope.user_id, job_id=registered.job_id)
    if job is None:
        raise ConflictError(
            "Another process loads this corpus, or one stopped loading it half a minute ago.",
            next_step="Try again in half a minute.",
        )
    if not await documents.is_live(scope, job.document_id, job.version):
        await _store(database, embedder, job, parsed, on_progress or silent)
    bare = replace(parsed, chunks=tuple(map(_without_title, parsed.chunks)))
    await GraphIndexer(database).index_document(scope, job.document_id, job.version, bare)
    await jobs.finish(job, len(parsed.chunks))


async def _store(
    database: Database,
    embedder: Embedder,
    job: Job,
    parsed: ParsedDocument,
    report: OnCount,
) -> None:
    """Make the corpus searchable; the job stays open for the graph."""
    documents, jobs = DocumentStore(database), JobStore(database)
    total = len(parsed.chunks)
    stored = await documents.begin(job.scope, job.document_id, parsed)
    waiting = [chunk for chunk in parsed.chunks if chunk.id not in stored]
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        done = len(stored) + start
        report(done, total)
        await jobs.heartbeat(job, JobStage.EMBED, done, total)
        vectors = await embedder.embed_passages([chunk.text for chunk in batch])
        await documents.add_chunks(job.scope, job.document_id, batch, vectors)
    await documents.publish(job.scope, job.document_id, close_job=False)
    report(total, total)


def as_document(passages: Sequence[CorpusPassage]) -> ParsedDocument:
    """Return one text of all passages' units, each titled one a section of its own under the root."""
    corpus = uuid5(NAMESPACE_URL, hashlib.sha256(repr(passages).encode()).hexdigest())
    lines = [ChunkLine(id=one.id, title=one.title, text=one.unit) for one in passages]
    return join_chunks(DocumentLine(id="corpus"), lines, corpus)


def _without_title(chunk: Chunk) -> Chunk:
    """Return the chunk with blanks instead of its title, which the graph gets separately.

    Otherwise names within the title ("Duke of Holstein" in "Adolf, Duke of Holstein") would count as mentions: recall@5
    of twowiki is 97 without and 94 with them.
    """
    heading = f"{chunk.title}\n"
    if not chunk.title or not chunk.text.startswith(heading):
        return chunk
    return replace(chunk, text=" " * len(chunk.title) + chunk.text[len(chunk.title) :])


async def add_triples(database: Database, scope: Scope, triples: Iterable[Triple]) -> None:
    """Add the triples of a loaded corpus to its graph, as an import would.

    Triples of unknown passages, and those that join an entity to itself, are left out.
    """
    by_passage = defaultdict[str, list[Triple]](list)
    for triple in triples:
        by_passage[triple.passage_id].append(triple)
    async with GraphRecord(database).writing(scope) as writer:
        chunk_ids = await chunks_by_external_id(writer, list(by_passage))
        rows = [line_evidence(scope, chunk_ids[one], _line(by_passage[one])) for one in chunk_ids]
        mentions = [row for evidence in rows for row in evidence.mentions]
        relations = [row for evidence in rows for row in evidence.relations]
        await writer.add(GraphEvidence(mentions, relations))


def _line(triples: Sequence[Triple]) -> ChunkLine:
    ends = [end for triple in triples for end in (triple.subject, triple.object)]
    line, _ = read_line(
        {
            "type": "chunk",
            "id": triples[0].passage_id,
            "text": "-",
            "entities": [{"name": name, "entityType": kind or "TERM"} for name, kind in ends],
            "triples": [(one.subject.name, one.relation, one.object.name) for one in triples],
        }
    )
    assert isinstance(line, ChunkLine)  # noqa: S101 - as its type says
    return line
