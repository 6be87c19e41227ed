"""Question sets of a folder as knowledge bases, and the command line of measuring scripts.

A set's folder has `corpus.jsonl.gz`, `queries.jsonl.gz` and, for some, `triples.jsonl.gz`.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from sextant.domain.configuration import load_settings
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.dataset import EvalQuestion, read_rows, read_set, read_triples
from sextant.evals.sets import add_triples, corpus_scope, load_corpus
from sextant.graph.dependencies import dependencies_over
from sextant.models.embedding import build_embedder
from sextant.models.protocols import Embedder
from sextant.nodes.context import Dependencies
from sextant.stores.postgresql.database import Database


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


def holds_answer(text: str, answers: Sequence[str]) -> bool:
    """Return whether `text` contains one of `answers`, without regard to case, spaces and punctuation."""
    bare = _bare(text)
    return any(wanted in bare for answer in answers if (wanted := _bare(answer)))


def _bare(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


JUDGED = "public.jsonl.gz"
"""The file of a set whose questions bring their passages: NoMIRACL (arXiv:2312.11361)."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with about ten passages and a human judgement whether one of them answers it."""

    id: str
    language: str
    query: str
    passages: tuple[RetrievedItem, ...]
    is_answerable: bool


def read_judged(path: Path) -> list[JudgedQuestion]:
    """Read questions with their passages from JSON lines, plain or gzip-compressed.

    Raises:
        OptionInvalid: as for `read_questions`.
    """
    required = ("id", "language", "query", "passages", "answerable")
    return [
        JudgedQuestion(
            row["id"],
            row["language"],
            row["query"],
            tuple(
                _judged_passage(f"{row['id']}:{rank}", rank, **passage)
                for rank, passage in enumerate(row["passages"], start=1)
            ),
            row["answerable"],
        )
        for row in read_rows(path, "queries", required)
    ]


def _judged_passage(name: str, rank: int, *, title: str, text: str, **_: object) -> RetrievedItem:
    titles = {"title": title, "document_title": title}
    return RetrievedItem(ItemKind.CHUNK, name, text, 1 / rank, document_id=name, metadata=titles)
