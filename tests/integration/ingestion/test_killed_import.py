"""An import killed with SIGKILL and started again ends as one that nobody killed."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest

from sextant.domain.scope import Scope
from sextant.ingestion.graph.index import GraphIndexer
from sextant.ingestion.importer import Importer
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.jobs import JobStore
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.ingestion.transferred import LINES, exported, facts, sorted_lines
from tests.integration.killing import kill_when_reached

WORKER = Path(__file__).with_name("killed_import.py")
MORE = [
    {"type": "chunk", "id": f"more {number}", "title": f"Leaf {number}",
     "text": f"Insulin lowers glucose, says leaf {number}.",
     "triples": [["Insulin", "lowers", f"glucose {number}"]]}
    for number in range(25)  # with the others more than are stored at a time
]  # fmt: skip


@pytest.mark.parametrize(("stage", "far"), [("lines", 1), ("documents", 1), ("graph", 28)])
async def test_an_import_killed_in_the_middle_and_repeated_equals_one_never_killed(
    stage: str, far: int, impatient: Database, data_dir: Path, tmp_path: Path
) -> None:
    scope, untouched = Scope(f"user-{uuid4()}"), Scope(f"user-{uuid4()}")
    file = tmp_path / "graph.jsonl"
    file.write_text("\n".join(map(json.dumps, [*LINES, *MORE])))
    documents, record = DocumentStore(impatient), GraphRecord(impatient)
    ingestor = Ingestor(
        documents,
        JobStore(impatient),
        HashEmbedder(384),
        impatient.settings,
        GraphIndexer(impatient),
    )
    importer = Importer(ingestor, record)
    whole = await importer.import_graph(untouched, file)

    await kill_when_reached(WORKER, data_dir, scope.user_id, file, stage, far)
    half = await documents.list(scope)
    report = await importer.import_graph(scope, file)

    assert len(half) == {"lines": 0, "documents": 20, "graph": whole.documents}[stage]
    assert report.problems == whole.problems == []
    assert report.unchanged == len(half)
    before, after = await facts(impatient, untouched), await facts(impatient, scope)
    del before["distinctions"], after["distinctions"]  # these are rows of a user's name only
    assert after == before
    assert sorted_lines(await exported(impatient, scope)) == sorted_lines(
        await exported(impatient, untouched)
    )
