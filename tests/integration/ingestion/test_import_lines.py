"""What single lines of an import may say, and how bad ones are told."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.ingestion.graph.resolution.resolve import resolve
from sextant.ingestion.importer import Importer
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.name_decisions import MergeReader
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.stores.scopes import KnowledgeBases
from tests.integration.ingestion.transferred import LINES, Line, facts, rows, stream


def outline(name: str, *sections: dict[str, int], text: str = "In the text.") -> str:
    """Return a document with sections of one level, as a line."""
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
    assert "sections[0].start: 9" in dropped[11]
    assert "sections[0].end: 999" in dropped[12]
    assert "'o2'" in dropped[14]
    assert "sections[0].end: 7" in dropped[15]
    kept = [problem.line - first for problem in report.problems if problem.kept]
    assert sorted(kept) == [
        9,
        10,
        13,
    ]  # of the last, which has no chunks, sections are passed over
    found = await facts(database, scope)
    assert ("long", "名" * 5000, "TERM", "", 0, 0) in found["entities"]
    assert {row[0] for row in found["relations"]} == {"TREATED_BY", "BRAND", "SAME_NAME_AS", "治疗"}


async def test_what_was_left_out_is_counted_also_beyond_what_is_listed(
    importer: Importer, scope: Scope
) -> None:
    """By it the command line fails, though the list was full of remarks on lines that were kept."""
    lines: list[Line] = [{"type": "entity", "name": "A", "colour": "red"}] * 600

    report = await importer.import_graph(scope, stream([*lines, {"type": "entity"}]))

    assert all(problem.kept for problem in report.problems)
    assert (report.problem_count, report.left_out) == (1200, 1)


async def test_a_triple_that_is_too_short_costs_no_passage(
    importer: Importer, database: Database, scope: Scope
) -> None:
    triples = [["Alpha", "OWNS"], ["Alpha", "OWNS", "Beta"]]
    lines: list[Line] = [
        {"type": "chunk", "id": "c1", "text": "Alpha owns Beta.", "triples": triples}
    ]

    report = await importer.import_graph(scope, stream(lines))

    [problem] = report.problems
    assert (problem.line, problem.kept, report.chunks, report.left_out) == (1, False, 1, 1)
    assert problem.reason.startswith("triples[0]: must be a list of three texts")
    found = await facts(database, scope)
    assert [row[1] for row in found["chunks"]] == ["Alpha owns Beta."]
    assert [row[0] for row in found["relations"]] == ["OWNS"]


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


async def test_documents_of_one_text_are_as_many_as_their_ids_and_each_says_what_its_last_line_says(
    importer: Importer, documents: DocumentStore, scope: Scope
) -> None:
    """Equal texts were one document, and a line with other metadata changed nothing."""
    line: Line = {"type": "document", "id": "d1", "text": "Equal.", "metadata": {"tags": ["old"]}}
    twin: Line = {**line, "id": "d2"}
    await importer.import_graph(scope, stream([line, twin]))

    changed: Line = {**line, "title": "New", "metadata": {"tags": ["new"]}}
    report = await importer.import_graph(scope, stream([changed, twin]))

    assert (report.documents, report.unchanged) == (2, 1)
    found = {
        one.external_id: (one.title, one.metadata["tags"]) for one in await documents.list(scope)
    }
    assert found == {"d1": ("New", ["new"]), "d2": ("d2", ["old"])}


async def test_what_only_a_document_with_chunks_has_is_told_where_it_has_none(
    importer: Importer, scope: Scope
) -> None:
    lines = [json.loads(outline("d1", {"start": 0, "end": 2})) | {"filename": "d1.pdf"}]

    report = await importer.import_graph(scope, stream(lines), strict=True)

    [problem] = report.problems
    assert problem.kept
    assert "sections, filename were ignored" in problem.reason


async def test_a_chunk_that_does_not_stand_where_it_says_is_kept_where_it_is_found_and_told(
    importer: Importer, scope: Scope
) -> None:
    lines: list[Line] = [
        {"type": "document", "id": "d", "text": "First. Second."},
        {"type": "chunk", "id": "right", "documentId": "d", "text": "First.", "start": 0},
        {"type": "chunk", "id": "found", "documentId": "d", "text": "Second.", "start": 3},
        {"type": "chunk", "id": "added", "documentId": "d", "text": "Third.", "start": 99},
    ]

    report = await importer.import_graph(scope, stream(lines), strict=True)

    assert report.chunks == 3
    assert [one.reason.partition(",")[0] for one in report.problems] == [
        "Its chunk 'found' is not at offset 3 of the text",
        "Its chunk 'added' is not at offset 99 of the text",
    ]
    assert [one.reason.split("; ")[1].split(".")[0] for one in report.problems] == [
        "7 was used",
        "16 was used",
    ]


async def test_a_file_that_cannot_be_read_says_so(
    importer: Importer, scope: Scope, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.jsonl.gz"
    broken.write_bytes(gzip.compress(b'{"type": "entity", "name": "x"}\n' * 5000)[:-20])

    for file in (broken, tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(OptionInvalid, match="cannot be read"):
            await importer.import_graph(scope, file)


async def test_an_alias_links_the_passages_that_have_it_whichever_came_first(
    graphed: Ingestor, database: Database, scope: Scope
) -> None:
    city: Line = {"type": "entity", "id": "ny", "name": "New York", "aliases": ["Big Apple"]}
    trip: Line = {"type": "chunk", "id": "c", "text": "In spring we saw the Big Apple."}
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


@pytest.mark.parametrize("text", ["In NYC we saw the Big Apple.", "Nobody is named here."])
@pytest.mark.parametrize("left", [[], ["NYC"], ["NYC", "Gotham"]])
async def test_an_alias_that_the_line_of_its_entity_does_not_give_any_more_means_it_no_longer(
    importer: Importer, database: Database, scope: Scope, text: str, left: list[str]
) -> None:
    """One that no passage has went on to be shown, and found by its words."""
    city: Line = {"type": "entity", "id": "ny", "name": "New York", "aliases": ["Big Apple", "NYC"]}
    trip: Line = {"type": "chunk", "id": "c", "text": text}
    anew = Scope(scope.user_id, "anew")
    later = {**city, "aliases": left}
    await importer.import_graph(scope, stream([city, trip]))

    await importer.import_graph(scope, stream([later]), strict=True)
    await importer.import_graph(scope, stream([{"type": "entity", "name": "new york"}]))
    await importer.import_graph(anew, stream([later, trip]))

    told = {
        "mentions": "t.kind::text, t.name",
        "aliases": "t.name",
        "entity_names": "t.name, t.times",
    }
    for table, columns in told.items():
        found = await rows(database, scope, table, columns)
        assert found == await rows(database, anew, table, columns)
        assert not any("big apple" in str(row).casefold() for row in found)


@pytest.mark.parametrize("together", [True, False])
async def test_a_relation_may_name_its_ends_by_an_alias_that_one_entity_has(
    importer: Importer, database: Database, scope: Scope, *, together: bool
) -> None:
    said: list[Line] = [
        {"type": "entity", "id": "ny", "name": "New York", "aliases": ["Big Apple", "The City"]},
        {"type": "entity", "id": "ld", "name": "London", "aliases": ["伦敦", "the city"]},
    ]
    relations: list[Line] = [
        {"type": "relation", "source": "BIG APPLE", "target": "伦敦", "relationType": "TWINNED"},
        {"type": "relation", "source": "the city", "target": "伦敦", "relationType": "LOST"},
    ]
    imports = [[*relations, *said]] if together else [said, relations]

    reports = [await importer.import_graph(scope, stream(lines)) for lines in imports]

    [problem] = reports[-1].problems
    assert problem.reason == (
        "Several entities have the alias 'the city'; give the id of the one you mean."
    )
    found = await facts(database, scope)
    assert [row[0] for row in found["relations"]] == ["TWINNED"]
    assert {row[:2] for row in found["entities"]} == {("ny", "New York"), ("ld", "London")}


ALPHA: Line = {
    "type": "entity",
    "id": "a",
    "name": "Alpha",
    "entityType": "CITY",
    "description": "said",
}
AGAIN: Line = {"type": "entity", "name": "alpha"}


@pytest.mark.parametrize(
    "imports", [[[ALPHA], [AGAIN]], [[ALPHA, AGAIN]], [[AGAIN], [ALPHA, AGAIN]]]
)
async def test_a_line_without_an_id_speaks_of_the_entity_of_its_name_and_takes_nothing_from_it(
    importer: Importer, database: Database, scope: Scope, imports: Sequence[Sequence[Line]]
) -> None:
    for lines in imports:
        await importer.import_graph(scope, stream(lines), strict=True)

    found = await facts(database, scope)
    assert found["entities"] == [("a", "Alpha", "CITY", "said", 0, 0)]


async def test_an_id_that_an_entity_has_is_given_to_no_other(
    importer: Importer, database: Database, scope: Scope
) -> None:
    """Two entities of one id were stored, and an export of them could not be imported."""
    beta: Line = {"type": "entity", "id": "b", "name": "Beta"}
    relation: Line = {"type": "relation", "source": "a", "target": "b", "relationType": "R"}
    await importer.import_graph(scope, stream([ALPHA]))

    report = await importer.import_graph(
        scope, stream([{**ALPHA, "name": "Omega"}, beta, relation])
    )

    assert [(problem.line, problem.kept) for problem in report.problems] == [(1, False)]
    assert "'Alpha'" in report.problems[0].reason
    found = await facts(database, scope)
    assert [row[0] for row in found["entities"]] == ["a", "b"]
    assert [row[0] for row in found["relations"]] == ["R"]


async def test_what_others_are_merged_into_keeps_its_own_id(
    importer: Importer, database: Database, scope: Scope
) -> None:
    """Of the ids of all of them the first in order was taken, and its own was that of nothing."""
    names = {"a": "Alpha Works", "b": "Beta Works", "c": "Gamma Works"}
    lines: list[Line] = [{"type": "entity", "id": id_, "name": name} for id_, name in names.items()]
    await importer.import_graph(scope, stream(lines))
    merged: Line = {"type": "decision", "source": "a", "target": "b", "same": True}
    relations: list[Line] = [
        {"type": "relation", "source": end, "target": "c", "relationType": f"OF_{end}"}
        for end in ("a", "b")
    ]

    await importer.import_graph(scope, stream([merged]), strict=True)
    await importer.import_graph(scope, stream(relations), strict=True)

    found = await facts(database, scope)
    assert [row[:2] for row in found["entities"]] == [("b", "Beta Works"), ("c", "Gamma Works")]
    assert [row[0] for row in found["relations"]] == ["OF_a", "OF_b"]


def decision(source: str, target: str, *, same: bool) -> Line:
    return {"type": "decision", "source": source, "target": target, "same": same}


async def are_one(database: Database, scope: Scope, *names: str) -> bool:
    ids = [entity_id(scope, name) for name in names]
    members = await MergeReader(database).component(scope, ids)
    return len({member.root_id for member in members if member.id in ids}) == 1


ONE, OTHER = "New York Inc", "New-York Inc"


@pytest.mark.parametrize(
    "merges",
    [
        pytest.param([], id="by their spelling"),
        pytest.param([(ONE, OTHER)], id="by the user"),
        pytest.param([(ONE, "third"), (OTHER, "third")], id="each into a third"),
        pytest.param([(ONE, "third"), ("third", OTHER)], id="through a third"),
    ],
)
@pytest.mark.parametrize("ends", [(ONE, OTHER), (OTHER, ONE)])
async def test_two_that_were_merged_are_two_as_soon_as_a_line_says_so(
    importer: Importer,
    database: Database,
    scope: Scope,
    merges: Sequence[tuple[str, str]],
    ends: tuple[str, str],
) -> None:
    """They stayed one until the graph changed otherwise, and for good where the user had merged them."""
    named: list[Line] = [{"type": "entity", "name": name} for name in (ONE, OTHER, "third")]
    said = [decision(*pair, same=True) for pair in merges]
    await importer.import_graph(scope, stream([*named, *said]), strict=True)
    await resolve(database, scope)
    assert await are_one(database, scope, ONE, OTHER)

    for _ in range(2):
        await importer.import_graph(scope, stream([decision(*ends, same=False)]), strict=True)
        await resolve(database, scope)

        assert not await are_one(database, scope, ONE, OTHER)
        assert len((await facts(database, scope))["merges"]) == max(0, len(merges) - 1)


async def test_one_entity_under_two_spellings_is_not_two(importer: Importer, scope: Scope) -> None:
    lines = [ALPHA, decision("Alpha", "alpha", same=False)]

    report = await importer.import_graph(scope, stream(lines))

    assert [(problem.line, problem.reason) for problem in report.problems] == [
        (2, "'Alpha' and 'alpha' are the same entity. Name two different ones.")
    ]


@pytest.mark.parametrize(
    "line",
    ["garbage", '{"type": "relation", "source": "x", "target": "y", "relationType": "R"}', ""],
)
async def test_an_import_of_which_nothing_can_be_used_makes_no_knowledge_base(
    importer: Importer, database: Database, scope: Scope, tmp_path: Path, line: str
) -> None:
    file = tmp_path / "graph.jsonl"
    file.write_text(line)

    await importer.import_graph(scope, file)

    assert await KnowledgeBases(database).list(scope.user_id) == []
