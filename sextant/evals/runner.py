"""`sextant eval`: loads a corpus, asks its questions, and measures retrieval."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from sextant.domain.errors import QuestionInvalid
from sextant.domain.retrieval import ItemKind, Mode, Retrieval
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.evals.dataset import (
    CorpusPassage,
    EvalQuestion,
    MetricEstimate,
    all_found,
    auroc,
    estimate,
    ndcg,
    read_set,
    read_triples,
    recall,
    reciprocal_rank,
)
from sextant.evals.sets import add_triples, corpus_scope, load_corpus
from sextant.ingestion.progress import OnStage, silent
from sextant.models.embedding import build_embedder
from sextant.models.protocols import Embedder
from sextant.retrievers.graph_retriever import GraphRetriever
from sextant.retrievers.index.scope_index import ScopeIndexes
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database

_DEPTH = 10


@dataclass(frozen=True, slots=True)
class EvalOptions:
    """What to measure.

    `lanes` replaces the mode's own lanes; `limit` takes the first questions only; `triples` is a file of facts that the
    passages state.
    """

    corpus: Path
    queries: Path
    mode: str = Mode.NAIVE
    lanes: tuple[str, ...] | None = None
    limit: int | None = None
    triples: Path | None = None


@dataclass(frozen=True, slots=True)
class EvalReport:
    """Measures over all answerable questions and per question type, each with its interval.

    `refusal` says how well the first hit's score separates answerable from unanswerable questions (`auroc`).
    `milliseconds` holds the median and the 95th percentile of one retrieval.
    """

    corpus: str
    queries: str
    mode: str
    lanes: tuple[str, ...] | None
    embedding: str
    passages: int
    questions: int
    measures: Mapping[str, MetricEstimate]
    by_type: Mapping[str, Mapping[str, MetricEstimate]]
    refusal: Mapping[str, float]
    milliseconds: Mapping[str, float]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _QuestionOutcome:
    """The results of one question."""

    question: EvalQuestion
    ranked: tuple[str, ...]
    top_score: float
    milliseconds: float
    warnings: tuple[str, ...]
    measures: Mapping[str, float]


async def evaluate(
    options: EvalOptions,
    settings: Settings,
    on_progress: OnStage = silent,
) -> EvalReport:
    """Load the corpus into the database, unless it is there, and ask every question.

    Args:
        options: what to measure.
        settings: which database, embedding model and constants of retrieval.
        on_progress: called with (`corpus` or `questions`, done, total).

    Raises:
        OptionInvalid: a file cannot be read, or holds nothing.
        SextantError: loading or searching failed.
    """
    passages, questions = await asyncio.to_thread(read_set, options.corpus, options.queries)
    triples = await asyncio.to_thread(read_triples, options.triples) if options.triples else []
    embedder = build_embedder(settings)
    async with await Database.open(settings) as database:
        scope = await asyncio.to_thread(corpus_scope, options.corpus, options.triples)
        await load_corpus(database, embedder, scope, passages, partial(on_progress, "corpus"))
        await add_triples(database, scope, triples)
        outcomes = await _ask_all(
            questions[: options.limit],
            options=options,
            scope=scope,
            database=database,
            embedder=embedder,
            on_progress=on_progress,
        )
    return _report(options, embedder.name, passages, outcomes)


async def _ask_all(
    questions: Sequence[EvalQuestion],
    *,
    options: EvalOptions,
    scope: Scope,
    database: Database,
    embedder: Embedder,
    on_progress: OnStage,
) -> list[_QuestionOutcome]:
    chunks = ChunkStore(database)
    settings = database.settings
    indexes = ScopeIndexes(chunks, GraphRecord(database), settings.retrieval.index_passages)
    await indexes.get(scope)  # not in the time of the first questions
    retriever = GraphRetriever(
        chunks=chunks,
        embedder=embedder,
        settings=settings,
        indexes=indexes,
        graph=PostgresGraph(database),
    )
    at_once = asyncio.Semaphore(4)
    done = 0

    async def ask(question: EvalQuestion) -> _QuestionOutcome:
        nonlocal done
        async with at_once:
            try:
                found = await retriever.search(
                    scope, question.query, mode=options.mode, top_k=_DEPTH, lanes=options.lanes
                )
            except QuestionInvalid as error:  # a set may hold an empty line; it finds nothing
                refused = f"{question.id}: {error.message}"
                warning = CodedWarning(WarningCode.CAUSE, {"reason": refused})
                found = Retrieval(
                    (), Mode.BYPASS, coded_warnings=(warning,), timings={"total": 0.0}
                )
            passages = [item for item in found.results if item.kind is ItemKind.CHUNK]
            ranked = tuple(item.external_id or item.id for item in passages)
            outcome = _QuestionOutcome(
                question=question,
                ranked=ranked,
                top_score=found.results[0].score if found.results else 0.0,
                milliseconds=found.timings["total"],
                warnings=found.warnings,
                measures=_measures(question, ranked) if question.gold_ids else {},
            )
        done += 1
        on_progress("questions", done, len(questions))
        return outcome

    return list(await asyncio.gather(*map(ask, questions)))


def _measures(question: EvalQuestion, ranked: Sequence[str]) -> dict[str, float]:
    gold = question.gold_ids
    return {
        **{f"recall@{k}": recall(ranked, gold, k) for k in (2, 5, 10)},
        **{f"all@{k}": all_found(ranked, gold, k) for k in (5, 8)},
        "mrr@10": reciprocal_rank(ranked, gold, 10),
        "ndcg@10": ndcg(ranked, question.grades, 10),
    }


def _report(
    options: EvalOptions,
    embedding: str,
    passages: Sequence[CorpusPassage],
    outcomes: Sequence[_QuestionOutcome],
) -> EvalReport:
    by_type = defaultdict[str, list[_QuestionOutcome]](list)
    for outcome in outcomes:
        by_type[outcome.question.type].append(outcome)
    times = [outcome.milliseconds for outcome in outcomes]
    return EvalReport(
        corpus=str(options.corpus),
        queries=str(options.queries),
        mode=options.mode,
        lanes=options.lanes,
        embedding=embedding,
        passages=len(passages),
        questions=len(outcomes),
        measures=_estimates(outcomes),
        by_type={kind: _estimates(of_kind) for kind, of_kind in sorted(by_type.items())},
        refusal=_refusal(outcomes),
        milliseconds={
            "p50": float(np.quantile(times, 0.5)),
            "p95": float(np.quantile(times, 0.95)),
        },
        warnings=(
            *_unknown_gold(passages, outcomes),
            *dict.fromkeys(warning for outcome in outcomes for warning in outcome.warnings),
        ),
    )


def _unknown_gold(
    passages: Sequence[CorpusPassage], outcomes: Sequence[_QuestionOutcome]
) -> Iterator[str]:
    """Yield a warning about questions whose gold passages are not in the corpus; they count as missed."""
    known = {passage.id for passage in passages}
    lost = [one.question for one in outcomes if not known.issuperset(one.question.gold_ids)]
    if lost:
        yield (
            f"Passages that the corpus does not have count as not found: {len(lost)} of "
            f"{len(outcomes)} questions name some, the first is {lost[0].id}."
        )


def _estimates(outcomes: Sequence[_QuestionOutcome]) -> dict[str, MetricEstimate]:
    values = defaultdict[str, list[float]](list)
    for outcome in outcomes:
        for name, value in outcome.measures.items():
            values[name].append(value)
    return {name: estimate(found) for name, found in values.items()}


def _refusal(outcomes: Sequence[_QuestionOutcome]) -> dict[str, float]:
    """Return how well answerable and unanswerable questions are separated; empty without one of the kinds."""
    answerable = [outcome for outcome in outcomes if outcome.question.gold_ids]
    unanswerable = [outcome for outcome in outcomes if not outcome.question.gold_ids]
    if not answerable or not unanswerable:
        return {}
    scores = [[outcome.top_score for outcome in kind] for kind in (answerable, unanswerable)]
    return {"auroc": auroc(*scores)}
