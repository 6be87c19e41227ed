"""A whole knowledge base in and out again, on PostgreSQL."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from domain.errors import GraphNotFound, OptionInvalid
from domain.scope import Scope
from domain.settings import Settings
from ingestion.graph.index import GraphIndexer
from ingestion.pipeline import Ingestor
from ingestion.transfer.exporting import export_graph
from ingestion.transfer.importing import Importer, ImportReport
from stores.chunks import ChunkStore
from stores.database import Database
from stores.documents import DocumentStore
from stores.graph.merges import Merge
from stores.graph.record import GraphRecord
from stores.graph.resolution import decide_one
from stores.graph.transfer import distinguish
from stores.jobs import JobStore
from testing.hash_embedder import HashEmbedder

Line = dict[str, Any]
FOLDER = Path(__file__).parents[3] / "samples" / "documents"
SAMPLES = [
    FOLDER / name
    for name in (
        "employee-handbook.docx",
        "糖尿病诊疗指南.pdf",
        "price-list-2025.xlsx",
        "rust-ownership.md",
    )
]

LINES: list[Line] = [
    # In no helpful order on purpose: the relations come first and a chunk before its document.
    {
        "type": "relation",
        "source": "e1",
        "target": "e2",
        "relationType": "TREATED_BY",
        "description": "First line.",
        "weight": 2.5,
        "chunkIds": ["c1", "c2"],
    },
    {"type": "relation", "source": "e2", "target": "e3", "relationType": "BRAND"},
    {"type": "chunk", "id": "c1", "documentId": "d1", "title": "治疗", "text": "二甲双胍治疗糖尿病。",
     "entities": ["糖尿病", {"name": "二甲双胍", "entityType": "DRUG", "description": "口服药"}],
     "triples": [["二甲双胍", "治疗", "糖尿病"]]},
    {"type": "document", "id": "d1", "title": "指南", "text": "前言。二甲双胍治疗糖尿病。结语。",
     "metadata": {"year": 2024}, "createdAt": "2024-05-01T00:00:00Z"},
    {"type": "chunk", "id": "c2", "documentId": "d1", "text": "Metformin is a biguanide."},
    {"type": "chunk", "id": "alone", "title": "Mercury", "text": "A planet and a metal."},
    {"type": "entity", "id": "e1", "name": "糖尿病", "entityType": "DISEASE",
     "description": "慢性病", "aliases": ["DM", "消渴"]},
    {"type": "entity", "id": "e2", "name": "二甲双胍", "entityType": "DRUG"},
    {"type": "entity", "id": "e3", "name": "Glucophage"},
    {"type": "entity", "id": "m1", "name": "Mercury", "entityType": "PLANET"},
    {"type": "entity", "id": "m2", "name": "mercury", "entityType": "METAL"},
    {"type": "relation", "source": "m1", "target": "m2", "relationType": "SAME_NAME_AS",
     "chunkIds": ["alone"]},
]  # fmt: skip


@pytest.fixture
def importer(ingestor: Ingestor, database: Database) -> Importer:
    return Importer(ingestor, GraphRecord(database))


@pytest.fixture
def record(database: Database) -> GraphRecord:
    return GraphRecord(database)


async def stream(lines: Iterable[Line]) -> AsyncIterator[Line]:
    for line in lines:
        yield line


async def exported(database: Database, scope: Scope) -> list[Line]:
    return [line async for line in export_graph(database, scope)]


def sorted_lines(lines: Iterable[Line]) -> list[str]:
    return sorted(json.dumps(line, sort_keys=True, ensure_ascii=False) for line in lines)


async def rows(database: Database, scope: Scope, table: str, columns: str) -> list[Any]:
    """What a table of the graph holds for one knowledge base, ids left out."""
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(
            f"select {columns} from {table} t join graphs g using (scope_id) "
            f"where g.graph_id = %s order by {columns}",
            [scope.graph_id],
        )
        return await cursor.fetchall()


async def facts(database: Database, scope: Scope) -> dict[str, list[Any]]:
    return {
        "chunks": await rows(
            database, scope, "chunks",
            "t.title, t.text, t.start_offset, t.end_offset, t.section_path, t.page, t.modality, "
            "t.context, t.summary, t.tags, t.topics, t.keywords, t.ordinal",
        ),
        "documents": await rows(
            database, scope, "document_versions",
            "t.filename, t.title, t.language, t.page_count, t.text",
        ),
        "sections": await rows(
            database, scope, "sections",
            "t.title, t.level, t.ordinal, t.start_offset, t.end_offset, t.path, t.heading_source, "
            "t.page, t.summary, t.tags, t.keywords",
        ),
        "merges": await rows(database, scope, "entity_merges", "t.reason, t.automatic"),
        "distinctions": await rows(
            database, scope, "entity_distinctions", "t.user_id"
        ),
        "entities": await rows(
            database, scope, "entities",
            "t.external_id, t.name, t.entity_type, t.description, t.mention_count, t.degree",
        ),
        "relations": await rows(
            database, scope, "relations", "t.relation_type, t.weight, t.evidence_count"
        ),
        "aliases": await rows(database, scope, "aliases", "t.norm, t.name, t.source"),
    }  # fmt: skip


async def test_everything_arrives_whatever_the_order_of_lines(
    importer: Importer, database: Database, documents: DocumentStore, scope: Scope
) -> None:
    report = await importer.import_graph(scope, stream(LINES))

    assert report == ImportReport(documents=2, chunks=3, entities=5, relations=4)
    [guide, alone] = await documents.list(scope)
    assert (guide.external_id, guide.title, guide.filename) == ("d1", "指南", "指南")
    assert guide.metadata["year"] == 2024
    assert (alone.external_id, alone.chunk_count) == ("alone", 1)
    found = await facts(database, scope)
    assert ("e1", "糖尿病", "DISEASE", "慢性病", 2, 2) in found["entities"]
    assert {row[0] for row in found["aliases"]} == {"dm", "消渴", "mercury"}
    # Two chunks state the weight of 2.5 each.
    assert ("TREATED_BY", 5, 2) in found["relations"]
    # Homonyms with ids of their own are two entities.
    assert {row[2] for row in found["entities"] if row[1].lower() == "mercury"} == {
        "PLANET",
        "METAL",
    }


async def test_chunks_keep_ids_and_lie_in_the_given_text(
    importer: Importer, documents: DocumentStore, chunks: ChunkStore, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(LINES))

    [guide, _] = await documents.list(scope)
    text = await documents.text(scope, guide.id, 0, 1000)
    hits = await chunks.keyword_search(scope, ["糖尿病", "biguanide"], 10)
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
    """A knowledge base of a few words, so that names, texts and ids often coincide."""
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


def outline(name: str, *sections: dict[str, int], text: str = "In the text.") -> str:
    """A document with sections of one level, as a line."""
    said = [{"title": "Part", "level": 1, **section} for section in sections]
    return json.dumps({"type": "document", "id": name, "text": text, "sections": said})


async def test_bad_lines_are_reported_by_number_and_good_ones_kept(
    importer: Importer, database: Database, scope: Scope, tmp_path: Path
) -> None:
    bad = [
        "{not json",
        "",
        '{"type": "relation", "source": "e1", "target": "e1", "relationType": "R"}',
        '{"type": "relation", "source": "e1", "target": "nobody", "relationType": "R"}',
        '{"type": "relation", "source": "e1", "target": "e2", "relationType": "R", "weight": NaN}',
        '{"type": "relation", "source": "e1", "target": "e2", "relationType": "X", "chunkIds": ["c7"]}',
        '{"type": "entity", "id": "e8", "name": "  "}',
        '{"type": "chunk", "id": "c8", "documentId": "d8", "text": "lost"}',
        '{"type": "document", "id": "empty"}',
        json.dumps({"type": "entity", "id": "long", "name": "名" * 5000, "colour": "red"}),
        json.dumps(LINES[8]),
        outline("o1", {"start": 9, "end": 3}),
        outline("o2", {"start": 0, "end": 999}),
        outline("o3", {"start": 0, "end": 6}, {"start": 2, "end": 6}),
        '{"type": "chunk", "id": "o4", "documentId": "o2", "text": "lost"}',
        outline("o5", {"start": 0, "end": 7}, text=""),
        '{"type": "chunk", "id": "o6", "documentId": "o5", "text": "six.."}',
    ]
    file = tmp_path / "graph.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join([*map(json.dumps, LINES), *bad]).encode()))

    report = await importer.import_graph(scope, file)

    first = len(LINES) + 1
    dropped = {
        problem.line - first: problem.reason for problem in report.problems if not problem.kept
    }
    assert dropped.keys() == {0, 2, 3, 4, 5, 6, 7, 8, 11, 12, 14, 15}
    assert "'nobody'" in dropped[3]
    assert "weight" in dropped[4]
    assert "'c7'" in dropped[5]
    assert "'d8'" in dropped[7]
    assert "sections.0.start: 9" in dropped[11]
    assert "sections.0.end: 999" in dropped[12]
    assert "'o2'" in dropped[14]
    assert "sections.0.end: 7" in dropped[15]
    kept = [problem.line - first for problem in report.problems if problem.kept]
    assert sorted(kept) == [9, 10, 13]
    found = await facts(database, scope)
    assert ("long", "名" * 5000, "TERM", "", 0, 0) in found["entities"]
    assert {row[0] for row in found["relations"]} == {"TREATED_BY", "BRAND", "SAME_NAME_AS", "治疗"}


async def test_strict_stops_at_the_first_bad_line_with_nothing_stored(
    importer: Importer, documents: DocumentStore, scope: Scope
) -> None:
    lines: Sequence[Line] = [*LINES, {"type": "chunk", "id": "c1"}, {"type": "nothing"}]

    with pytest.raises(OptionInvalid, match=f"Line {len(LINES) + 1}: text: Field required"):
        await importer.import_graph(scope, stream(lines), strict=True)

    assert await documents.list(scope) == []


async def test_a_later_import_may_speak_of_what_an_earlier_one_brought(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(LINES))
    later: list[Line] = [
        {"type": "relation", "source": "e3", "target": "m2", "relationType": "LATER", "chunkIds": ["c2"]},
        {"type": "relation", "source": "glucophage", "target": "e1", "relationType": "BY_NAME"},
        {"type": "entity", "id": "m3", "name": "MERCURY", "entityType": "GOD"},
    ]  # fmt: skip

    report = await importer.import_graph(scope, stream(later), strict=True)

    assert (report.relations, report.entities) == (2, 1)
    found = await facts(database, scope)
    assert {row[0] for row in found["relations"]} >= {"LATER", "BY_NAME"}
    assert {row[0] for row in found["entities"]} >= {"m1", "m2", "m3"}


async def test_a_document_without_chunks_is_cut_like_any_other(
    importer: Importer, documents: DocumentStore, scope: Scope
) -> None:
    text = "A whole text that comes without chunks."

    report = await importer.import_graph(
        scope, stream([{"type": "document", "id": "d1", "title": "Plain", "text": text}])
    )

    assert (report.documents, report.chunks, report.problems) == (1, 1, [])
    [document] = await documents.list(scope)
    assert (document.external_id, document.chunk_count) == ("d1", 1)


async def test_nothing_of_an_import_reaches_another_tenant(
    importer: Importer, database: Database, scope: Scope
) -> None:
    other = Scope(f"{scope.user_id}-other", scope.graph_id)
    await importer.import_graph(scope, stream(LINES))

    with pytest.raises(GraphNotFound):
        await exported(database, other)
    report = await importer.import_graph(other, stream(LINES[:1]))

    assert [problem.reason for problem in report.problems] == [
        "There is no entity 'e1'.", "There is no entity 'e2'."
    ]  # fmt: skip
    assert await exported(database, other) == []


async def test_a_file_that_cannot_be_read_says_so(
    importer: Importer, scope: Scope, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress(b'{"type": "entity", "name": "x"}\n' * 5000)[:-20])

    for file in (broken, tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(OptionInvalid, match="cannot be read"):
            await importer.import_graph(scope, file)


async def test_an_alias_links_the_passages_that_have_it_whichever_came_first(
    ingestor: Ingestor, database: Database, settings: Settings, scope: Scope
) -> None:
    city: Line = {"type": "entity", "id": "ny", "name": "New York", "aliases": ["Big Apple"]}
    trip: Line = {"type": "chunk", "id": "c", "text": "In spring we saw the Big Apple."}
    documents, jobs = DocumentStore(database), JobStore(database)
    graphed = Ingestor(documents, jobs, HashEmbedder(384), settings, GraphIndexer(database))
    found = []
    for graph_id, imports in {
        "together": [[city, trip]],
        "name first": [[city], [trip]],
        "passage first": [[trip], [city], [city]],
    }.items():
        own = Scope(scope.user_id, graph_id)
        for lines in imports:
            await Importer(graphed, GraphRecord(database)).import_graph(own, stream(lines))
        columns = "t.kind::text, t.name, t.start_offset, t.end_offset"
        found.append(await rows(database, own, "mentions", columns))
    assert found[0] == found[1] == found[2]
    assert ("alias", "big apple", 21, 30) in found[0]
