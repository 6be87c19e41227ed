"""A whole knowledge base in and out again, on PostgreSQL."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from sextant.domain.errors import GraphNotFound
from sextant.domain.questions import ChunkFilters
from sextant.domain.scope import Scope
from sextant.ingestion.importer import Importer, ImportReport
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.chunks.chunk_store import ChunkStore
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.name_decisions import Merge, decide_one, distinguish
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from tests.integration.chunk_hits import keyword_hits
from tests.integration.ingestion.transferred import (
    FOLDER,
    LINES,
    SAMPLES,
    Line,
    exported,
    facts,
    rows,
    sorted_lines,
    stream,
)


async def test_everything_arrives_whatever_the_order_of_lines(
    importer: Importer, database: Database, documents: DocumentStore, scope: Scope
) -> None:
    report = await importer.import_graph(scope, LINES)

    assert report == ImportReport(documents=2, chunks=3, entities=5, relations=4)
    [guide, alone] = await documents.list(scope)
    assert (guide.external_id, guide.title, guide.filename) == ("d1", "指南", "指南")
    assert guide.metadata["year"] == 2024
    assert (alone.external_id, alone.chunk_count) == ("alone", 1)
    found = await facts(database, scope)
    assert ("e1", "糖尿病", "DISEASE", "慢性病", 2, 2) in found["entities"]
    named = {"糖尿病", "二甲双胍", "glucophage", "mercury"}
    assert {row[0] for row in found["aliases"]} == named | {"dm", "消渴"}
    # Two chunks state the weight of 2.5 each.
    assert ("TREATED_BY", 5, 2) in found["relations"]
    # Homonyms with ids of their own are two entities.
    assert {row[2] for row in found["entities"] if row[1].lower() == "mercury"} == {
        "PLANET",
        "METAL",
    }


@pytest.mark.parametrize("said", ["2023-01-01", "2023-01-01T00:00:00", "2023-01-01T08:00+08:00"])
async def test_a_documents_date_is_that_of_its_passages_whoever_cuts_them(
    importer: Importer, chunks: ChunkStore, scope: Scope, said: str
) -> None:
    report = await importer.import_graph(
        scope,
        stream(
            [
                {"type": "document", "id": "cut", "text": "Bananas are yellow.", "createdAt": said},
                {"type": "document", "id": "given", "createdAt": said},
                {"type": "chunk", "id": "c", "documentId": "given", "text": "Apples are red."},
            ]
        ),
    )

    assert not report.problems
    day = datetime(2023, 1, 1, tzinfo=UTC)
    assert len(await chunks.matching_ids(scope, ChunkFilters(created_after=day))) == 2
    assert len(await chunks.matching_ids(scope, ChunkFilters(created_before=day))) == 0
    next_day = day + timedelta(days=1)
    assert len(await chunks.matching_ids(scope, ChunkFilters(created_before=next_day))) == 2


async def test_chunks_keep_ids_and_lie_in_the_given_text(
    importer: Importer, documents: DocumentStore, chunks: ChunkStore, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(LINES))

    [guide, _] = await documents.list(scope)
    text = await documents.text(scope, guide.id, 0, 1000)
    hits = await keyword_hits(chunks, scope, ["糖尿病", "biguanide"], 10)
    stored = {hit.chunk.external_id: hit.chunk for hit in hits}
    assert set(stored) == {"c1", "c2"}
    for chunk in stored.values():
        assert text[chunk.start : chunk.end] == chunk.text
    assert stored["c1"].start == len("前言。")
    assert stored["c1"].section_path == ("治疗",)


async def test_the_same_import_again_changes_nothing(
    importer: Importer, database: Database, record: GraphRecord, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(LINES))
    before, version = await facts(database, scope), await record.version(scope)

    report = await importer.import_graph(scope, stream([*LINES[6:], *LINES[:6]]))

    assert (report.documents, report.unchanged) == (2, 2)
    assert await record.version(scope) == version
    assert await facts(database, scope) == before


async def test_a_changed_document_takes_its_old_chunks_and_facts_along(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(LINES))
    changed = {"type": "chunk", "id": "c9", "documentId": "d1", "text": "Now about insulin.",
               "triples": [["insulin", "is", "hormone"]]}  # fmt: skip

    await importer.import_graph(scope, stream([LINES[3], changed]))

    found = await facts(database, scope)
    assert [row[1] for row in found["chunks"]] == ["A planet and a metal.", "Now about insulin."]
    # What the chunks stated is gone, what the user asserted is not.
    assert {row[0] for row in found["relations"]} == {"BRAND", "SAME_NAME_AS", "is"}
    assert ("e1", "糖尿病", "DISEASE", "慢性病", 0, 0) in found["entities"]


async def test_an_export_imports_as_the_same_knowledge_base(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(LINES))
    lines = await exported(database, scope)
    copy = replace(scope, graph_id="copy")

    report = await importer.import_graph(copy, stream(lines))

    assert report.problems == []
    assert await facts(database, copy) == await facts(database, scope)
    assert sorted_lines(await exported(database, copy)) == sorted_lines(lines)


async def test_an_export_of_files_imports_as_the_same_documents_and_graph(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    results = await graphed.ingest(scope, SAMPLES)
    assert [result.error for result in results if result.error] == []
    record = GraphRecord(database)
    [one, two, three, four] = await some_entities(database, scope, 4)
    async with record.writing(scope) as writer:
        await decide_one(writer, [Merge(one, two, "by hand")])
        await distinguish(writer, [(three, four)])
    copy = replace(scope, graph_id="copy")

    lines = await exported(database, scope)
    report = await Importer(graphed, record).import_graph(copy, stream(lines), strict=True)

    assert report.problems == []
    assert str(FOLDER.parent) not in json.dumps(lines)
    assert {line["id"] for line in lines if line["type"] == "document"} == {
        file.name for file in SAMPLES
    }
    before, after = await facts(database, scope), await facts(database, copy)
    for part, found in before.items():
        assert [
            pair for pair in zip(after[part], found, strict=True) if pair[0] != pair[1]
        ] == [], part
    assert sorted_lines(await exported(database, copy)) == sorted_lines(lines)


async def some_entities(database: Database, scope: Scope, number: int) -> list[UUID]:
    found = await rows(database, scope, "entities", "t.name, t.id")
    return [row[1] for row in found[:number]]


NAME = "Borealis " * 600
LONG: list[Line] = [
    {"type": "document", "id": "i" * 300, "text": "Ferry."},
    {"type": "document", "id": "d", "title": "t" * 300, "text": "Harbour."},
    {"type": "document", "id": "e", "title": "题" * 1000},
    {"type": "chunk", "id": "c", "documentId": "e", "title": "t" * 1000, "text": "Pier."},
    {"type": "chunk", "id": "c" * 1000, "text": "Quay."},
    {"type": "entity", "name": NAME},
    {"type": "entity", "name": "Aurora"},
    {"type": "entity", "name": f"{NAME}Ltd"},
    {"type": "relation", "source": NAME, "target": "Aurora", "relationType": "OWNS", "weight": 2},
    {"type": "decision", "source": NAME, "target": f"{NAME}Ltd"},
]


async def test_what_has_long_names_comes_out_as_it_went_in(
    importer: Importer, database: Database, scope: Scope
) -> None:
    report = await importer.import_graph(scope, stream(LONG))
    lines = await exported(database, scope)
    copy = replace(scope, graph_id="copy")
    assert report.problems == (await importer.import_graph(copy, stream(lines))).problems == []
    assert sorted_lines(await exported(database, copy)) == sorted_lines(lines)
    assert {"OWNS"} == {one["relationType"] for one in lines if one["type"] == "relation"}
    assert len([one for one in lines if one["type"] == "decision"]) == 1


async def test_a_slash_parts_no_title_and_a_text_that_says_its_own_keeps_it(
    importer: Importer, documents: DocumentStore, scope: Scope
) -> None:
    lines: list[Line] = [
        {"type": "document", "id": "a", "title": "TCP/IP v1.2", "text": "Packets are routed."},
        {"type": "document", "id": "x/y", "text": "Frames are switched."},
        {"type": "document", "id": "b", "title": "A/B", "text": "Testing\n\nTwo versions."},
    ]
    await importer.import_graph(scope, stream(lines))
    titles = {one.external_id: one.title for one in await documents.list(scope)}
    assert titles == {"a": "TCP／IP v1.2", "x/y": "x／y", "b": "Testing"}


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_is_imported_comes_out_as_it_went_in(
    importer: Importer, database: Database, scope: Scope, seed: int
) -> None:
    lines = some_lines(random.Random(seed))  # noqa: S311 - a test's dice
    await importer.import_graph(scope, stream(lines))
    copy = replace(scope, graph_id="copy")

    out = await exported(database, scope)
    report = await importer.import_graph(copy, stream(out), strict=True)
    version = await GraphRecord(database).version(copy)
    again = await importer.import_graph(copy, stream(out), strict=True)

    assert report.problems == again.problems == []
    before, after = await facts(database, scope), await facts(database, copy)
    for part, found in before.items():
        assert [
            pair for pair in zip(after[part], found, strict=True) if pair[0] != pair[1]
        ] == [], part
    assert sorted_lines(await exported(database, copy)) == sorted_lines(out)
    assert await GraphRecord(database).version(copy) == version


def some_lines(dice: random.Random) -> list[Line]:
    """Return a knowledge base of a few words, so that names, texts and ids often coincide."""
    words = ["Alpha", "alpha", "beta", "糖尿病", "Gamma ray", 'a "b"', "δ"]
    ids = [f"e{number}" for number in range(4)]
    chunks = [f"c{number}" for number in range(6)]
    ends = ids + words[:3]
    lines: list[Line] = [
        {"type": "document", "id": f"d{number}", "title": dice.choice(words), "text": "x\n".join(words),
         "metadata": {"n": number, "none": None}}
        for number in range(2)
    ]  # fmt: skip
    for chunk in chunks:
        triple = [dice.choice(words), dice.choice(["IS", "HAS"]), dice.choice(words)]
        lines.append({"type": "chunk", "id": chunk, "title": dice.choice(["", *words]),
                      "documentId": dice.choice(["d0", "d1", None]),
                      "text": " ".join(dice.choices(words, k=3)), "triples": [triple],
                      "entities": dice.sample(words, 2)})  # fmt: skip
    lines += [
        {"type": "entity", "id": one, "name": dice.choice(words),
         "aliases": dice.sample(words, 2), "description": dice.choice(["", "said"])}
        for one in ids
    ]  # fmt: skip
    for _ in range(8):
        source, target = dice.sample(ends, 2)
        lines.append({"type": "relation", "source": source, "target": target,
                      "relationType": dice.choice(["IS", "HAS"]), "weight": dice.choice([1, 0.1, 3]),
                      "chunkIds": dice.sample(chunks, dice.randint(0, 2))})  # fmt: skip
    for same in (True, True, False):
        source, target = dice.sample(ends, 2)
        lines.append({"type": "decision", "source": source, "target": target, "same": same})  # fmt: skip
    dice.shuffle(lines)
    return lines


async def test_nothing_of_an_import_reaches_another_tenant(
    importer: Importer, database: Database, scope: Scope
) -> None:
    other = Scope(f"{scope.user_id}-other", scope.graph_id)
    await importer.import_graph(scope, stream(LINES))

    with pytest.raises(GraphNotFound):
        await exported(database, other)
    report = await importer.import_graph(other, stream(LINES[:1]))

    reasons = [problem.reason.split(".")[0] for problem in report.problems]
    assert reasons == ["There is no entity 'e1'", "There is no entity 'e2'"]
    with pytest.raises(GraphNotFound):  # nothing came in
        await exported(database, other)
