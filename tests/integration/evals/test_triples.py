"""Triples of a question set become the evidence of its corpus."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from sextant.domain.graph import CO_OCCURS
from sextant.domain.scope import Scope
from sextant.evals.dataset import CorpusPassage, read_triples
from sextant.evals.sets import add_triples, load_corpus
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder


async def test_triples_enter_the_graph_under_the_passages_that_state_them(
    database: Database, scope: Scope, tmp_path: Path
) -> None:
    rows = [
        {"chunk_id": "p1", "subject": "张三", "relation": "妻子", "object": "李四"},
        {"chunk_id": "p2", "subject": "李四", "relation": "故乡", "object": "北京", "object_type": "City"},
        {"chunk_id": "p2", "subject": "李四", "relation": "是", "object": "李四"},
        {"chunk_id": "gone", "subject": "x", "relation": "y", "object": "z"},
    ]  # fmt: skip
    file = tmp_path / "triples.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    passages = [
        CorpusPassage("p1", "张三", "张三的妻子是李四。"),
        CorpusPassage("p2", "", "李四生于北京。"),
    ]
    await load_corpus(database, HashEmbedder(384), scope, passages)

    for _ in range(2):  # again changes nothing
        await add_triples(database, scope, read_triples(file))

    graph = PostgresGraph(database)
    start = entity_id(scope, "张三")
    hops = await graph.neighbourhood(scope, [start], depth=2)
    stated = [hop for hop in hops if hop.relation_type != CO_OCCURS]
    assert [(hop.relation_type, hop.weight, hop.depth) for hop in stated] == [
        ("妻子", 1, 1),
        ("故乡", 1, 2),
    ]
    [city] = await graph.entities_by_alias(scope, ["北京"])
    assert city.entity.entity_type == "City"
    assert await graph.entities_by_alias(scope, ["x"]) == []
