"""Whether metadata ranking finds what the lanes find: recall beside the vector lane and rank fusion.

    python -m sextant.evals.chunk_search FOLDER xquad cmrc2018 …

Each question goes through `sextant.retrievers.chunk_search.ranking` with every preset. The vector lane's order is
`naive`, `rrf` the weighted fusion over the same two lanes. Corpora are loaded into the
configured database, unless they are there.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sextant.domain.configuration import load_settings
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.evals.corpus import EVAL_USER, corpus_scope, load_corpus
from sextant.evals.dataset import EvalQuestion as Asked
from sextant.evals.dataset import read_passages, read_questions
from sextant.evals.metrics import estimate, recall, reciprocal_rank
from sextant.evals.sets import CORPUS, QUERIES, names_of_sets, parser_of_sets
from sextant.models.embedding.choice import build_embedder
from sextant.models.protocols import Embedder
from sextant.retrievers.chunk_search.ranker import scores_of
from sextant.retrievers.chunk_search.ranking import QuestionSignals, rank_by_metadata
from sextant.retrievers.chunk_search.weights import PRESETS, MetadataWeights
from sextant.retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    KeywordLane,
    LaneQuery,
    LaneRun,
    VectorLane,
    run_lanes,
)
from sextant.retrievers.ranking.fusion import fuse
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.chunks.metadata import ChunkMetadata, read_metadata
from sextant.stores.postgresql.database import Database

_FETCHED = 50
_MOST_QUESTIONS = 300
_SECONDS = 60.0


@dataclass(frozen=True)
class LaneFindings:
    """What both lanes find for a question, and what is known of it."""

    question: Asked
    runs: list[LaneRun]
    traits: list[ChunkMetadata]


async def search_lanes(database: Database, embedder: Embedder, folder: Path) -> list[LaneFindings]:
    """Return the first three hundred questions of a set."""
    passages = read_passages(folder / CORPUS)
    questions = [q for q in read_questions(folder / QUERIES) if q.gold_ids]
    scope = Scope(EVAL_USER, f"{corpus_scope(folder / CORPUS).graph_id}-described")
    await load_corpus(database, embedder, scope, passages)
    chunks = ChunkStore(database)
    lanes = (VectorLane(chunks, embedder), KeywordLane(chunks))
    found = []
    for question in questions[:_MOST_QUESTIONS]:
        if question.query.strip():
            query = LaneQuery(scope, question.query, _FETCHED)
            runs = await run_lanes(lanes, query, _SECONDS)
            ids = dict.fromkeys(hit.id for run in runs for hit in run.hits)
            found.append(LaneFindings(question, runs, await read_metadata(database, scope, ids)))
    return found


def orders(
    found: LaneFindings, settings: Settings, presets: Mapping[str, MetadataWeights]
) -> dict[str, list[RetrievedItem]]:
    """Return the ranking of every way to join the two lanes."""
    constants = settings.retrieval
    weights = {VECTOR: constants.vector_weight, KEYWORD: constants.keyword_weight}
    hits = {run.name: run.hits for run in found.runs}
    fused = fuse(hits, weights, constants.rrf_k)
    signals = QuestionSignals(
        found.question.query, datetime.now(UTC), settings.chunk_search.half_life
    )
    items = {one.id: one for one in fused}
    lanes = scores_of(found.runs)
    return {
        "naive": list(hits[VECTOR]),
        "rrf": fused,
        **{
            name: [
                items[id_] for id_ in rank_by_metadata(signals, found.traits, lanes, weighed).ids
            ]
            for name, weighed in presets.items()
        },
    }


async def main(folder: Path, names: Sequence[str]) -> None:
    """Measure each set and print a line of it for every ranking."""
    settings = load_settings()
    embedder = build_embedder(settings)
    print("| set | ranking | recall@5 | recall@10 | MRR@10 |\n| --- | --- | ---: | ---: | ---: |")
    async with await Database.open(settings) as database:
        for name in names:
            found = await search_lanes(database, embedder, folder / name)
            values = defaultdict[str, list[tuple[float, ...]]](list)
            for one in found:
                ranked = orders(one, settings, PRESETS)
                for way, items in ranked.items():
                    values[way].append(_measures(one.question, items))
            for way, measured in values.items():
                means = [100 * estimate(column).mean for column in zip(*measured, strict=True)]
                cells = " | ".join(f"{mean:.1f}" for mean in means)
                print(f"| {name} | {way} | {cells} |", flush=True)


def _measures(question: Asked, items: Sequence[RetrievedItem]) -> tuple[float, ...]:
    ids, gold = [item.external_id or item.id for item in items], question.gold_ids
    return recall(ids, gold, 5), recall(ids, gold, 10), reciprocal_rank(ids, gold, 10)


if __name__ == "__main__":
    given = names_of_sets(parser_of_sets(__doc__))
    asyncio.run(main(given.folder, given.names))
