"""Putting a corpus of passages into a knowledge base, one passage = one chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from uuid import NAMESPACE_URL, UUID, uuid5

from domain.documents import Chunk, HeadingSource, JobStage, ParsedDocument, Section
from domain.errors import ConflictError
from domain.scope import Scope
from evals.dataset import Passage
from models.protocols import Embedder
from stores.database import Database
from stores.documents import DocumentStore
from stores.jobs import JobStore

# Some ten seconds of embedding, well within a job's heartbeat.
_BATCH = 128
_GAP = "\n\n"


async def load_corpus(
    database: Database,
    embedder: Embedder,
    scope: Scope,
    passages: Sequence[Passage],
    on_progress: Callable[[int, int], None] | None = None,
) -> None:
    """Store `passages` as one document: a section and a chunk for each, `external_id` its own id.

    A corpus already there is left alone, and an interrupted load goes on where it stopped, since
    embedding is what takes long (some ten passages a second and core with the packaged model).

    Args:
        database: where to.
        embedder: makes the passages' vectors.
        scope: the knowledge base, made when new.
        passages: the corpus.
        on_progress: called with (passages stored, passages in all).

    Raises:
        ConflictError: another process is loading this corpus.
    """
    documents, jobs = DocumentStore(database), JobStore(database)
    parsed = as_document(passages)
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
    report = on_progress or _silent
    stored = await documents.begin(scope, registered.document_id, parsed)
    waiting = [chunk for chunk in parsed.chunks if chunk.id not in stored]
    for start in range(0, len(waiting), _BATCH):
        batch = waiting[start : start + _BATCH]
        done = len(stored) + start
        report(done, len(parsed.chunks))
        await jobs.progress(job, JobStage.EMBED, done, len(parsed.chunks))
        vectors = await embedder.embed_passages([chunk.text for chunk in batch])
        await documents.add_chunks(scope, registered.document_id, batch, vectors)
    await documents.publish(scope, registered.document_id)
    report(len(parsed.chunks), len(parsed.chunks))


def as_document(passages: Sequence[Passage]) -> ParsedDocument:
    """One text of all passages' units, each a section of its own under the root."""
    corpus = uuid5(NAMESPACE_URL, hashlib.sha256(repr(passages).encode()).hexdigest())
    root = uuid5(corpus, "root")
    sections: list[Section] = []
    chunks: list[Chunk] = []
    start = 0
    for ordinal, passage in enumerate(passages):
        title = passage.title or passage.id
        section = Section(
            id=uuid5(corpus, f"section {ordinal}"),
            parent_id=root,
            title=title,
            level=1,
            ordinal=ordinal,
            start=start,
            end=start + len(passage.unit),
            path=(title,),
        )
        sections.append(section)
        chunks.append(_chunk(uuid5(corpus, f"chunk {ordinal}"), section, passage))
        start = section.end + len(_GAP)
    text = _GAP.join(passage.unit for passage in passages)
    whole = Section(root, None, "corpus", 0, 0, 0, len(text), heading_source=HeadingSource.ROOT)
    return ParsedDocument("corpus", text, "", (whole, *sections), tuple(chunks))


def _chunk(chunk_id: UUID, section: Section, passage: Passage) -> Chunk:
    return Chunk(
        id=chunk_id,
        section_id=section.id,
        ordinal=section.ordinal,
        start=section.start,
        end=section.end,
        text=passage.unit,
        section_path=section.path,
        title=passage.title,
        external_id=passage.id,
    )


def _silent(done: int, total: int) -> None:
    """Report progress to nobody."""
