"""Whether metadata ranking finds what the lanes find: recall beside the vector lane and rank fusion.

    python -m evals.chunk_search FOLDER xquad cmrc2018 …

Each question goes through `retrievers.chunk_ranking` with every preset. The vector lane's order is
`naive`, `rrf` the weighted fusion of seed 000 over the same two lanes. Corpora are loaded into the
configured database, unless they are there.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from domain.configuration import load_settings
from domain.retrieval import RetrievedItem
from domain.scope import Scope
from domain.settings import RetrievalSettings
from evals.corpus import load_corpus
from evals.dataset import Question as Asked
from evals.dataset import read_passages, read_questions
from evals.metrics import estimate, recall, reciprocal_rank
from evals.runner import EVAL_USER
from models.embedding import build_embedder
from models.protocols import Embedder
from retrievers.chunk_ranking import merged
from retrievers.lanes.lane import (
    KEYWORD,
    VECTOR,
    KeywordLane,
    LaneQuery,
    LaneRun,
    VectorLane,
    run_lanes,
)
from retrievers.ranking.fusion import fuse
from retrievers.ranking.metadata import PRESETS, MetadataWeights, Question, rank_by_metadata
from stores.chunks import ChunkStore
from stores.database import Database

_FETCHED = 50
_MOST_QUESTIONS = 300
_SECONDS = 60.0


async def found_by_lanes(
    database: Database, embedder: Embedder, folder: Path
) -> list[tuple[Asked, list[LaneRun]]]:
    """What both lanes find for the first three hundred questions of a set."""
    passages = read_passages(folder / "corpus.jsonl.gz")
    questions = [q for q in read_questions(folder / "queries.jsonl.gz") if q.gold_ids]
    content = (folder / "corpus.jsonl.gz").read_bytes()
    scope = Scope(EVAL_USER, f"eval-{hashlib.sha256(content).hexdigest()[:16]}-described")
    await load_corpus(database, embedder, scope, passages)
    chunks = ChunkStore(database)
    lanes = (VectorLane(chunks, embedder), KeywordLane(chunks))
    found = []
    for question in questions[:_MOST_QUESTIONS]:
        if question.query.strip():
            query = LaneQuery(scope, question.query, _FETCHED)
            found.append((question, await run_lanes(lanes, query, _SECONDS)))
    return found


def orders(
    question: Asked,
    runs: Sequence[LaneRun],
    constants: RetrievalSettings,
    presets: Mapping[str, MetadataWeights],
) -> dict[str, list[RetrievedItem]]:
    """The ranking of every way to join the two lanes."""
    weights = {VECTOR: constants.vector_weight, KEYWORD: constants.keyword_weight}
    asked, found = Question(question.query, datetime.now(UTC)), merged(runs)
    return {
        "naive": list(runs[0].hits),
        "rrf": fuse({run.name: run.hits for run in runs}, weights, constants.rrf_k),
        **{
            name: [one.item for one in rank_by_metadata(asked, found, own)]
            for name, own in presets.items()
        },
    }


async def main(folder: Path, names: Sequence[str]) -> None:
    """Measure each set and print a line of it for every ranking."""
    settings = load_settings()
    embedder = build_embedder(settings)
    print("| set | ranking | recall@5 | recall@10 | MRR@10 |\n| --- | --- | ---: | ---: | ---: |")
    async with await Database.open(settings) as database:
        for name in names:
            found = await found_by_lanes(database, embedder, folder / name)
            values = defaultdict[str, list[tuple[float, ...]]](list)
            for question, runs in found:
                ranked = orders(question, runs, settings.retrieval, PRESETS)
                for way, items in ranked.items():
                    values[way].append(_measures(question, items))
            for way, measured in values.items():
                means = [100 * estimate(column).mean for column in zip(*measured, strict=True)]
                cells = " | ".join(f"{mean:.1f}" for mean in means)
                print(f"| {name} | {way} | {cells} |", flush=True)


def _measures(question: Asked, items: Sequence[RetrievedItem]) -> tuple[float, ...]:
    ids, gold = [item.external_id or item.id for item in items], question.gold_ids
    return recall(ids, gold, 5), recall(ids, gold, 10), reciprocal_rank(ids, gold, 10)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
