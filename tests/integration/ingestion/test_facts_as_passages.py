"""A graph alone, whose facts become passages, on PostgreSQL."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from uuid import uuid4

import pytest

from sextant.domain.errors import DependencyError, OptionInvalid
from sextant.domain.scope import Scope
from sextant.ingestion.fact_verbaliser import FactVerbaliser
from sextant.ingestion.importer import Importer, ImportReport
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from tests.integration.ingestion.test_transfer import some_lines
from tests.integration.ingestion.transferred import (
    Line,
    exported,
    facts,
    rows,
    sorted_lines,
    stream,
)


def entity(own_id: str, name: str, description: str = "", *aliases: str) -> Line:
    return {
        "type": "entity",
        "id": own_id,
        "name": name,
        "description": description,
        "aliases": [*aliases],
    }


def relation(source: str, said: str, target: str, **values: object) -> Line:
    return {
        "type": "relation",
        "source": source,
        "target": target,
        "relationType": said,
        **values,
    }


GRAPH: list[Line] = [
    relation("e1", "TREATS", "e2"),
    relation("e1", "TREATS", "Gestational diabetes", description="where diet is not enough"),
    relation("e1", "BRAND", "e4", weight=3),
    entity("e1", "Metformin", "A biguanide.", "Dimethylbiguanide"),
    entity("e2", "Type 2 diabetes"),
    {"type": "entity", "name": "Gestational diabetes"},
    entity("e4", "Glucophage", "The first brand."),
    relation("Dimethylbiguanide", "并发症", "e5"),
    entity("e5", "乳酸酸中毒"),
]


async def imported(importer: Importer, scope: Scope, *lines: Line) -> ImportReport:
    return await importer.import_graph(scope, stream(lines), strict=True, facts_as_passages=True)


async def texts(database: Database, scope: Scope) -> list[str]:
    return [row[0] for row in await rows(database, scope, "chunks", "t.text")]


async def test_facts_and_descriptions_become_passages_of_their_entities(
    importer: Importer, database: Database, documents: DocumentStore, scope: Scope
) -> None:
    report = await imported(importer, scope, *GRAPH)

    assert (report.documents, report.chunks, report.entities, report.relations) == (2, 7, 5, 4)
    assert await texts(database, scope) == [
        "Glucophage: The first brand.",
        "Metformin is also called Dimethylbiguanide.",
        "Metformin treats Gestational diabetes (where diet is not enough).",
        "Metformin treats Type 2 diabetes.",
        "Metformin, brand: Glucophage.",
        "Metformin: A biguanide.",
        "Metformin的并发症是乳酸酸中毒。",
    ]
    found = {one.external_id: one for one in await documents.list(scope)}
    assert found.keys() == {"facts of id e1", "facts of id e4"}
    one = found["facts of id e1"]
    assert (one.title, one.filename) == ("Metformin", "Metformin (graph)")
    assert one.metadata == {"tags": ["graph"], "factsOf": "e1"}
    # Each is stated once, with its own weight and words, by its passage.
    stated = await rows(
        database, scope, "relation_evidence", "t.relation_type, t.weight, t.description"
    )
    assert [row for row in stated if row[0] in ("TREATS", "BRAND", "并发症")] == [
        ("BRAND", 3, ""),
        ("TREATS", 1, ""),
        ("TREATS", 1, "where diet is not enough"),
        ("并发症", 1, ""),
    ]


async def test_the_same_again_changes_nothing_in_whatever_order_its_lines_come(
    importer: Importer, database: Database, record: GraphRecord, scope: Scope
) -> None:
    await imported(importer, scope, *GRAPH)
    before, version = await facts(database, scope), await record.version(scope)

    report = await imported(importer, scope, *reversed(GRAPH))

    assert (report.documents, report.unchanged) == (2, 2)
    assert await record.version(scope) == version
    assert await facts(database, scope) == before


async def test_a_later_word_on_a_fact_takes_the_place_of_the_old_one(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await imported(importer, scope, *GRAPH)
    later = relation("e1", "TREATS", "e2", weight=2, description="since 1957")

    await imported(importer, scope, later)

    anew = replace(scope, graph_id="anew")
    await imported(importer, anew, later, *GRAPH[1:])
    assert "Metformin treats Type 2 diabetes (since 1957)." in await texts(database, scope)
    assert "Metformin treats Type 2 diabetes." not in await texts(database, scope)
    assert await facts(database, scope) == await facts(database, anew)


async def test_facts_that_were_imported_without_the_option_are_told_once(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(GRAPH), strict=True)

    await imported(importer, scope, *GRAPH)

    anew = replace(scope, graph_id="anew")
    await imported(importer, anew, *GRAPH)
    assert await facts(database, scope) == await facts(database, anew)


async def test_deleting_an_entitys_document_takes_its_facts_along(
    importer: Importer, database: Database, documents: DocumentStore, scope: Scope
) -> None:
    await imported(importer, scope, *GRAPH)
    [one] = [one for one in await documents.list(scope) if one.title == "Metformin"]

    await documents.delete(scope, one.id)

    anew = replace(scope, graph_id="anew")
    await imported(importer, anew, *(line for line in GRAPH if line["type"] == "entity"))
    copy = await documents.list(anew)
    await documents.delete(anew, next(one.id for one in copy if one.title == "Metformin"))
    assert await facts(database, scope) == await facts(database, anew)


async def test_an_import_without_the_option_leaves_passages_and_weights(
    importer: Importer, database: Database, record: GraphRecord, scope: Scope
) -> None:
    await imported(importer, scope, *GRAPH)
    before, version = await facts(database, scope), await record.version(scope)

    report = await importer.import_graph(scope, stream(GRAPH), strict=True)

    assert (report.documents, report.chunks) == (0, 0)
    assert await facts(database, scope) == before
    assert await record.version(scope) == version
    heavier = relation("e1", "BRAND", "e4", weight=5)
    await importer.import_graph(scope, stream([heavier]), strict=True)
    assert ("BRAND", 5, 1) in (await facts(database, scope))["relations"]


async def test_a_later_import_may_name_what_an_earlier_one_brought(
    importer: Importer, database: Database, documents: DocumentStore, scope: Scope
) -> None:
    await importer.import_graph(scope, stream(GRAPH), strict=True)

    await imported(importer, scope, relation("e2", "SEEN_IN", "gestational diabetes"))

    # All that there is to say of whom the lines speak, and nothing of others.
    assert await texts(database, scope) == ["Type 2 diabetes is seen in Gestational diabetes."]
    await imported(importer, scope, relation("dimethylbiguanide", "CAUSES", "乳酸酸中毒"))
    assert await texts(database, scope) == [
        "Metformin causes 乳酸酸中毒.",
        "Metformin is also called Dimethylbiguanide.",
        "Metformin treats Gestational diabetes (where diet is not enough).",
        "Metformin treats Type 2 diabetes.",
        "Metformin, brand: Glucophage.",
        "Metformin: A biguanide.",
        "Metformin的并发症是乳酸酸中毒。",
        "Type 2 diabetes is seen in Gestational diabetes.",
    ]
    named = {one.external_id for one in await documents.list(scope)}
    assert named == {"facts of id e1", "facts of id e2"}


async def test_part_of_a_graph_adds_to_what_is_told_and_takes_nothing(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await imported(importer, scope, *GRAPH)

    await imported(importer, scope, relation("e1", "TREATS", "e5"))

    anew = replace(scope, graph_id="anew")
    await imported(importer, anew, *GRAPH, relation("e1", "TREATS", "e5"))
    assert "Metformin treats Type 2 diabetes and 乳酸酸中毒." in await texts(database, scope)
    assert await facts(database, scope) == await facts(database, anew)


async def test_what_an_entitys_line_leaves_out_is_told_no_longer(
    importer: Importer, database: Database, documents: DocumentStore, scope: Scope
) -> None:
    await imported(importer, scope, *GRAPH)

    await imported(importer, scope, entity("e4", "GLUCOPHAGE"), entity("e1", "Metformin"))

    assert await texts(database, scope) == [
        "Metformin treats Gestational diabetes (where diet is not enough).",
        "Metformin treats Type 2 diabetes.",
        "Metformin, brand: GLUCOPHAGE.",
        "Metformin的并发症是乳酸酸中毒。",
    ]
    assert [one.external_id for one in await documents.list(scope)] == ["facts of id e1"]


async def test_an_entity_that_is_given_an_id_later_keeps_one_document(
    importer: Importer, database: Database, documents: DocumentStore, scope: Scope
) -> None:
    first: list[Line] = [
        {"type": "entity", "name": "Insulin", "description": "A hormone."},
        {"type": "entity", "name": "Diabetes"},
        relation("insulin", "TREATS", "diabetes"),
    ]
    await imported(importer, scope, *first)

    await imported(importer, scope, entity("i", "Insulin", "A peptide."))

    assert [one.external_id for one in await documents.list(scope)] == ["facts of id i"]
    assert await texts(database, scope) == ["Insulin treats Diabetes.", "Insulin: A peptide."]
    assert (await facts(database, scope))["relations"] == [("TREATS", 1, 1)]


async def test_what_a_chunk_states_later_is_told_no_longer(
    importer: Importer, database: Database, scope: Scope
) -> None:
    graph: list[Line] = [
        {"type": "entity", "name": "Insulin"},
        {"type": "entity", "name": "Diabetes"},
        relation("insulin", "TREATS", "diabetes", weight=3),
    ]
    said = "Insulin has been given in diabetes since 1922."
    chunk: Line = {"type": "chunk", "id": "c1", "text": said,
                   "triples": [["insulin", "TREATS", "diabetes"]]}  # fmt: skip
    await imported(importer, scope, *graph)

    await imported(importer, scope, chunk)

    assert await texts(database, scope) == [said]
    assert ("TREATS", 4, 2) in (await facts(database, scope))["relations"]


async def test_an_import_broken_off_before_its_passages_state_anything_loses_nothing(
    importer: Importer, database: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def break_off(*_: object) -> None:
        raise DependencyError("gone")

    await imported(importer, scope, *GRAPH)
    before, more = await facts(database, scope), relation("e1", "TREATS", "e5")
    with monkeypatch.context() as patched:
        patched.setattr(FactVerbaliser, "_state", break_off)
        with pytest.raises(DependencyError):
            await imported(importer, scope, more)
    broken = await facts(database, scope)

    await imported(importer, scope, more)

    anew = replace(scope, graph_id="anew")
    await imported(importer, anew, *GRAPH, more)
    assert broken["relations"] == sorted([*before["relations"], ("TREATS", 1, 1)])
    assert await facts(database, scope) == await facts(database, anew)


@pytest.mark.parametrize("step", ["_store", "_state"])
@pytest.mark.parametrize("more", [[relation("e1", "TREATS", "e5")], []])
async def test_what_another_import_says_while_an_entity_is_told_is_told_too(
    importer: Importer,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    more: list[Line],
) -> None:
    """The other one does all it has to between what this one reads and what it stores of it."""
    scope = Scope(f"user-{uuid4()}")
    other = [
        *more,
        relation("e1", "BRAND", "e4", weight=5),
        entity("e4", "Glucophage", "A brand of many.", "GLU"),
    ]
    going_on, waiting = getattr(FactVerbaliser, step), [other]

    async def after_the_other(verbaliser: FactVerbaliser, *given: object) -> object:
        if waiting:
            await imported(importer, scope, *waiting.pop())
        return await going_on(verbaliser, *given)

    monkeypatch.setattr(FactVerbaliser, step, after_the_other)
    await imported(importer, scope, *GRAPH)

    anew = replace(scope, graph_id="anew")
    await imported(importer, anew, *GRAPH, *other)
    assert await facts(database, scope) == await facts(database, anew)


async def test_imports_of_the_same_entities_at_once_leave_nothing_untold(
    graphed: Ingestor, database: Database, record: GraphRecord, scope: Scope
) -> None:
    importer = Importer(graphed, record)
    hub = entity("hub", "Hub")
    parts_of_it = [
        [
            entity(f"leaf {n}", f"Leaf {n}"),
            relation("hub", "HAS", f"leaf {n}"),
            relation(f"leaf {n}", "OF", "hub"),
        ]
        for n in range(6)
    ]

    await asyncio.gather(*(imported(importer, scope, hub, *lines) for lines in parts_of_it))

    anew = replace(scope, graph_id="anew")
    await imported(importer, anew, hub, *(line for lines in parts_of_it for line in lines))
    assert await facts(database, scope) == await facts(database, anew)


def parts(dice: random.Random) -> tuple[list[Line], list[Line]]:
    """Return two files about the same entities, some called by their names alone and spelled in two ways."""
    names = ["Alpha", "Beta ray", "糖尿病", "δ", "Zoë 🤒", "two\nlines"]
    spelled = [*names, "ALPHA", "beta  ray"]
    ids = [f"e{number}" for number in range(3)]
    first: list[Line] = [{"type": "entity", "name": name} for name in names]
    first += [{"type": "chunk", "id": f"c{n}", "text": f"Of {dice.choice(names)}."} for n in (0, 1)]
    second = list[Line]()
    for place, one in enumerate(ids):
        for lines in dice.sample([first, second], dice.choice([1, 1, 2])):
            aliases = dice.sample(["uno", "dos", "三"], dice.randint(0, 2))
            said = dice.choice(["", "Said of it.", f"{names[place]} is told."])
            spelling = dice.choice([names[place], names[place].upper()])
            lines.append(entity(one, spelling, said, *aliases))
    in_first = [*spelled, *(one["id"] for one in first if one["type"] == "entity" and "id" in one)]
    for lines, ends in ((first, in_first), (second, [*spelled, *ids])):
        for _ in range(12):
            source, target = dice.sample(ends, 2)
            kind = dice.choice(["IS", "TREATS", "并发症"])
            lines.append(relation(source, kind, target, weight=dice.choice([1, 0.1, 3]),
                                  description=dice.choice(["", "", "since 1922"]),
                                  chunkIds=dice.choice([[], [], [], ["c0"], ["c1", "c0"]])))  # fmt: skip
    first.append({"type": "decision", "source": "δ", "target": dice.choice(["Alpha", "糖尿病"])})
    second.append({"type": "chunk", "id": "c2", "text": "Both.", "entities": dice.sample(spelled, 2),
                   "triples": [[dice.choice(spelled), "IS", dice.choice(spelled)]]})  # fmt: skip
    return first, second


@pytest.mark.parametrize("seed", range(16))
async def test_two_files_after_each_other_tell_what_both_in_one_do(
    graphed: Ingestor, database: Database, record: GraphRecord, scope: Scope, seed: int
) -> None:
    importer = Importer(graphed, record)
    first, second = parts(random.Random(seed))  # noqa: S311 - a test's dice

    for lines in (first, second):
        await importer.import_graph(scope, stream(lines), facts_as_passages=True)

    anew = replace(scope, graph_id="anew")
    await importer.import_graph(anew, stream([*first, *second]), facts_as_passages=True)
    told, wanted = await facts(database, scope), await facts(database, anew)
    for one in (
        told,
        wanted,
    ):  # of two spellings of an alias the first stays, with the option or without
        one["aliases"] = sorted((norm, source) for norm, _, source in one["aliases"])
    assert told == wanted
    version = await record.version(scope)
    again = await importer.import_graph(scope, stream(second), facts_as_passages=True)
    assert (again.unchanged, await record.version(scope)) == (again.documents, version)


async def test_what_chunks_state_is_not_told_again(
    importer: Importer, database: Database, scope: Scope
) -> None:
    said = "Metformin is given in diabetes, mostly as Glucophage."
    chunk = {"type": "chunk", "id": "c1", "text": said,
             "triples": [["metformin", "TREATS", "type 2 diabetes"]]}  # fmt: skip

    await imported(
        importer,
        scope,
        *(
            line | {"description": "", "aliases": []} if line["type"] == "entity" else line
            for line in GRAPH[:7]
        ),
        chunk,
        relation("e1", "BRAND", "e4", chunkIds=["c1"]),
        relation("e1", "BRAND", "e4"),
    )

    assert await texts(database, scope) == [
        said,
        "Metformin treats Gestational diabetes (where diet is not enough).",
    ]


async def test_homonyms_have_documents_of_their_own(
    importer: Importer, documents: DocumentStore, scope: Scope
) -> None:
    await imported(
        importer,
        scope,
        entity("m1", "Mercury", "A planet."),
        entity("m2", "mercury", "A metal."),
        relation("m2", "POLLUTES", "sea"),
        {"type": "entity", "name": "Sea"},
        relation("Mercury", "ORBITS", "Sun"),
        {"type": "entity", "name": "Sun"},
    )

    found = await documents.list(scope)
    read = {one.external_id: await documents.text(scope, one.id, 0, 1000) for one in found}
    assert read == {
        "facts of id m1": "Mercury: A planet.\n\nMercury orbits Sun.",
        "facts of id m2": "mercury: A metal.\n\nmercury pollutes Sea.",
    }


async def test_bad_lines_are_told_by_their_own_numbers(
    importer: Importer, database: Database, scope: Scope
) -> None:
    lines = [
        relation("e1", "TREATS", "nobody"),
        relation("e1", "IS", "Dimethylbiguanide"),
        *GRAPH,
        {"type": "relation", "source": "e1"},
    ]

    report = await importer.import_graph(scope, stream(lines), facts_as_passages=True)

    reasons = {problem.line: problem.reason for problem in report.problems}
    assert reasons.keys() == {1, 2, len(lines)}
    assert "'nobody'" in reasons[1]
    assert "the same entity" in reasons[2]
    assert len(await texts(database, scope)) == 7
    with pytest.raises(OptionInvalid, match=f"Line {len(lines)}:"):
        await imported(importer, replace(scope, graph_id="strict"), *lines)


async def test_facts_of_entities_that_are_one_stay_two_documents(
    importer: Importer, documents: DocumentStore, scope: Scope
) -> None:
    decision = {"type": "decision", "source": "e4", "target": "e1"}

    await imported(importer, scope, *GRAPH, decision)
    report = await imported(importer, scope, *GRAPH)

    assert (report.documents, report.unchanged) == (2, 2)
    assert len(await documents.list(scope)) == 2


async def test_an_export_imports_as_the_same_with_the_option_or_without(
    importer: Importer, database: Database, scope: Scope
) -> None:
    await imported(importer, scope, *GRAPH, entity("long", "Long", "It goes on and on. " * 300))
    lines = await exported(database, scope)

    for graph, option in (("plain", False), ("told", True)):
        copy = replace(scope, graph_id=graph)
        await importer.import_graph(copy, stream(lines), strict=True, facts_as_passages=option)

        assert await facts(database, copy) == await facts(database, scope)
        assert sorted_lines(await exported(database, copy)) == sorted_lines(lines)


@pytest.mark.parametrize("seed", range(4))
async def test_whatever_is_imported_is_told_and_comes_out_as_it_went_in(
    importer: Importer, database: Database, record: GraphRecord, scope: Scope, seed: int
) -> None:
    lines = some_lines(random.Random(seed))  # noqa: S311 - a test's dice
    await importer.import_graph(scope, stream(lines), facts_as_passages=True)
    out, copy = await exported(database, scope), replace(scope, graph_id="copy")

    await importer.import_graph(copy, stream(out), strict=True)

    assert sorted_lines(await exported(database, copy)) == sorted_lines(out)
    version = await record.version(scope)
    again = await importer.import_graph(scope, stream(lines), facts_as_passages=True)
    assert (again.unchanged, await record.version(scope)) == (again.documents, version)
