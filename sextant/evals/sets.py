"""Question sets as knowledge bases: a corpus and its questions are loaded once, then measured.

A set's folder has `corpus.jsonl.gz`, `queries.jsonl.gz` and, for some, `triples.jsonl.gz`.

Also here: what a measuring script is told on the command line.
"""

from __future__ import annotations

import argparse
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TypeVar

from sextant.domain.configuration import load_settings
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.corpus import add_triples, corpus_scope, load_corpus
from sextant.evals.dataset import EvalQuestion, read_set, read_triples
from sextant.graph.dependencies import dependencies_over
from sextant.models.embedding.choice import build_embedder
from sextant.models.protocols import Embedder
from sextant.nodes.context import Dependencies
from sextant.stores.postgresql.database import Database


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser that shows a description as it is written."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def numbers(description: str | None, **defaults: int) -> tuple[int, ...]:
    """Return whole numbers, each in its place and with its default."""
    parser = parser_of(description)
    for name, default in defaults.items():
        parser.add_argument(name, type=int, nargs="?", default=default, help=f"default {default:,}")
    return tuple(vars(parser.parse_args()).values())


def parser_of_sets(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of `folder`, which has a folder for each question set."""
    parser = parser_of(description)
    parser.add_argument("folder", type=Path, help="has a folder for each question set")
    return parser


def names_of_sets(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Return the command line, `names` of question sets last."""
    parser.add_argument("names", nargs="+", metavar="name", help="of a question set")
    return parser.parse_args()


CORPUS = "corpus.jsonl.gz"
QUERIES = "queries.jsonl.gz"
_TRIPLES = "triples.jsonl.gz"


@dataclass(frozen=True, slots=True)
class SetFiles:
    """The files of a set; `triples` names what is known about the corpus."""

    corpus: Path
    queries: Path
    triples: Path | None = None

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return the files of a set that lie in a folder."""
        stated = folder / _TRIPLES
        return cls(folder / CORPUS, folder / QUERIES, stated if stated.exists() else None)


@dataclass(frozen=True, slots=True)
class OpenSet:
    """A set that is loaded, its passages by id, and the workflow's parts to measure it with."""

    scope: Scope
    questions: list[EvalQuestion]
    texts: Mapping[str, str]
    dependencies: Dependencies


T = TypeVar("T")
Parts = tuple[Database, Embedder, Dependencies]


@asynccontextmanager
async def with_parts(settings: Settings) -> AsyncIterator[Parts]:
    """Provide the database that the settings configure, and what works over it."""
    embedder = build_embedder(settings)
    async with (
        await Database.open(settings) as database,
        dependencies_over(database, embedder) as dependencies,
    ):
        yield database, embedder, dependencies


async def open_sets(folder: Path, names: Sequence[str]) -> AsyncGenerator[tuple[str, OpenSet]]:
    """Yield each named set below `folder` in turn, in the database that the settings configure."""
    async with with_parts(load_settings()) as parts:
        for name in names:
            yield name, await open_set(*parts, SetFiles.of(folder / name))


async def open_set(
    database: Database, embedder: Embedder, dependencies: Dependencies, files: SetFiles
) -> OpenSet:
    """Load the corpus of a set, unless it is there.

    Raises:
        OptionInvalid: a file cannot be read, or holds nothing.
        SextantError: whatever loading raises.
    """
    passages, questions = read_set(files.corpus, files.queries)
    scope = corpus_scope(files.corpus, files.triples)
    await load_corpus(database, embedder, scope, passages)
    if files.triples is not None:
        await add_triples(database, scope, read_triples(files.triples))
    return OpenSet(scope, questions, {one.id: one.text for one in passages}, dependencies)


def sample(questions: Sequence[T], about: int) -> Sequence[T]:
    """Return every n-th question, so that about as many are left as are wanted, from all over the set."""
    return questions[:: max(1, len(questions) // about)]
