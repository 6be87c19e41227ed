"""Question sets as knowledge bases: a folder with a corpus and its questions is loaded once, then measured.

A set's folder has `corpus.jsonl.gz`, `queries.jsonl.gz` and, for some, `triples.jsonl.gz`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path

from domain.configuration import load_settings
from domain.scope import Scope
from evals.corpus import add_triples, corpus_scope, load_corpus
from evals.dataset import Question, read_passages, read_questions, read_triples
from graph.dependencies import dependencies_over
from models.embedding.choice import build_embedder
from models.protocols import Embedder
from nodes.context import Dependencies
from stores.postgresql.database import Database

CORPUS = "corpus.jsonl.gz"
QUERIES = "queries.jsonl.gz"
_TRIPLES = "triples.jsonl.gz"


@dataclass(frozen=True, slots=True)
class OpenSet:
    """A set that is loaded, and the workflow's parts to measure it with."""

    name: str
    scope: Scope
    questions: list[Question]
    dependencies: Dependencies


async def open_sets(folder: Path, names: Sequence[str]) -> AsyncGenerator[OpenSet]:
    """Each named set below `folder` in turn, in the database that the settings configure."""
    settings = load_settings()
    embedder = build_embedder(settings)
    async with (
        await Database.open(settings) as database,
        dependencies_over(database, embedder) as dependencies,
    ):
        for name in names:
            scope, questions = await load_set(database, embedder, folder / name)
            yield OpenSet(name, scope, questions, dependencies)


async def load_set(
    database: Database, embedder: Embedder, folder: Path
) -> tuple[Scope, list[Question]]:
    """Load the corpus of a set, unless it is there; return its knowledge base and questions.

    Raises:
        OptionInvalid: a file cannot be read.
        SextantError: whatever loading raises.
    """
    corpus, stated = folder / CORPUS, folder / _TRIPLES
    triples = stated if stated.exists() else None
    scope = corpus_scope(corpus, triples)
    await load_corpus(database, embedder, scope, read_passages(corpus))
    if triples is not None:
        await add_triples(database, scope, read_triples(triples))
    return scope, read_questions(folder / QUERIES)


def sample(questions: Sequence[Question], about: int) -> Sequence[Question]:
    """Every n-th question, so that about as many are left as are wanted, from all over the set."""
    return questions[:: max(1, len(questions) // about)]
