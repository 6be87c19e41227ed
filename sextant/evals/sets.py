"""Question sets as knowledge bases, and the command line of measuring scripts.

A set's folder has `corpus.jsonl.gz`, `queries.jsonl.gz` and, for some, `triples.jsonl.gz`.
"""

from __future__ import annotations

import argparse
import hashlib
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar
from uuid import NAMESPACE_URL, uuid5

from sextant.domain.configuration import load_settings
from sextant.domain.documents import Chunk, Job, JobStage, ParsedDocument
from sextant.domain.errors import ConflictError
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.dataset import CorpusPassage, EvalQuestion, Triple, read_set, read_triples
from sextant.graph.dependencies import dependencies_over
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.metadata.offline_descriptions import describe
from sextant.ingestion.progress import OnCount, silent
from sextant.ingestion.transfer.documents import join_chunks
from sextant.ingestion.transfer.line_reader import read_line
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine, line_evidence
from sextant.models.embedding import build_embedder
from sextant.models.protocols import Embedder
from sextant.nodes.context import Dependencies
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.graph.evidence import GraphEvidence
from sextant.stores.graph.record import GraphRecord
from sextant.stores.graph.transfer import chunks_by_external_id
from sextant.stores.postgresql.database import Database
from sextant.stores.work.jobs import JobStore

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
        await jobs.progress(job, JobStage.EMBED, done, total)
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


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that prints its description unchanged."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def numbers(description: str | None, **defaults: int) -> tuple[int, ...]:
    """Parse optional whole numbers from the command line, each with its default."""
    parser = parser_of(description)
    for name, default in defaults.items():
        parser.add_argument(name, type=int, nargs="?", default=default, help=f"default {default:,}")
    return tuple(vars(parser.parse_args()).values())


def parser_of_sets(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the argument `folder`, which has a folder for each question set."""
    parser = parser_of(description)
    parser.add_argument("folder", type=Path, help="has a folder for each question set")
    return parser


def names_of_sets(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line, with the `names` of question sets at the end."""
    parser.add_argument("names", nargs="+", metavar="name", help="of a question set")
    return parser.parse_args()


CORPUS = "corpus.jsonl.gz"
QUERIES = "queries.jsonl.gz"
_TRIPLES = "triples.jsonl.gz"


@dataclass(frozen=True, slots=True)
class SetFiles:
    """The files of a set; `triples` are facts that the passages state."""

    corpus: Path
    queries: Path
    triples: Path | None = None

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return the files of a set in its folder."""
        stated = folder / _TRIPLES
        return cls(folder / CORPUS, folder / QUERIES, stated if stated.exists() else None)


@dataclass(frozen=True, slots=True)
class OpenSet:
    """A loaded set, and the dependencies of the workflow."""

    scope: Scope
    questions: list[EvalQuestion]
    dependencies: Dependencies


T = TypeVar("T")
Parts = tuple[Database, Embedder, Dependencies]


@asynccontextmanager
async def with_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Open the database, the embedder and the dependencies of the workflow."""
    embedder = build_embedder(settings)
    async with (
        await Database.open(settings) as database,
        dependencies_over(database, embedder) as dependencies,
    ):
        yield database, embedder, dependencies


async def open_sets(folder: Path, names: Sequence[str]) -> AsyncGenerator[tuple[str, OpenSet]]:
    """Yield each named set below `folder`, loaded into the database of the settings."""
    async with with_parts(load_settings()) as parts:
        for name in names:
            yield name, await open_set(*parts, SetFiles.of(folder / name))


async def open_set(
    database: Database, embedder: Embedder, dependencies: Dependencies, files: SetFiles
) -> OpenSet:
    """Load the corpus of a set, unless it is there.

    Raises:
        OptionInvalid: a file cannot be read, or holds nothing.
        SextantError: loading failed.
    """
    passages, questions = read_set(files.corpus, files.queries)
    scope = corpus_scope(files.corpus, files.triples)
    await load_corpus(database, embedder, scope, passages)
    if files.triples is not None:
        await add_triples(database, scope, read_triples(files.triples))
    return OpenSet(scope, questions, dependencies)


def sample(questions: Sequence[T], about: int) -> Sequence[T]:
    """Return every n-th question, about as many as wanted."""
    return questions[:: max(1, len(questions) // about)]
