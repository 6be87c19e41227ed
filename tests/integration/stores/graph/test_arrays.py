"""The whole graph as arrays says what the tables say."""

from __future__ import annotations

from uuid import UUID, uuid4

import numpy as np

from sextant.domain.graph import CO_OCCURS, MentionKind
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import KINDS, halves_of
from sextant.stores.graph.name_decisions import Merge
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.world import Store, alias, evidence, mention, named, relation

BACKSLASHES = "C:\\new\\table \\N"


async def test_arrays_number_chunks_and_entities_and_join_them(
    record: GraphRecord, store: Store, scope: Scope
) -> None:
    stored = await store(scope, ["one", "two", "three"])
    one, two, _ = stored.chunks
    await record.add(
        scope,
        evidence(
            mention("Insulin", one, MentionKind.TITLE),
            mention("Insulin", two),
            mention(BACKSLASHES, two, MentionKind.MODEL, entity_type="PATH"),
            mention("Once", two),
            mention("Asserted", None, MentionKind.IMPORT),
            mention("Shot", two, MentionKind.ALIAS, of="Insulin"),
            relation("insulin", "IN", BACKSLASHES, one, 0.1),
            relation("insulin", "IN", BACKSLASHES, two, 0.2),
            relation("insulin", "A", "asserted", one, 3.0),
            relation("insulin", "A", "once", one, 3.0),
            alias("insulin", "Shot", stored.document_id),
        ),
    )
    arrays = await record.arrays(scope)

    assert arrays.version == await record.version(scope)
    assert {arrays.chunk_id(place) for place in range(3)} == set(stored.chunks)
    place = {name: number for number, name in enumerate(arrays.names)}
    assert set(place) == {"Insulin", BACKSLASHES, "Asserted"}
    assert arrays.entity_id(place["Insulin"]) == named("insulin")
    assert arrays.entity_types[place[BACKSLASHES]] == "PATH"
    assert arrays.entity_indices_of(
        halves_of([named("once"), named("insulin"), uuid4()])
    ).tolist() == [*(-1, place["Insulin"], -1)]
    links = {
        (arrays.names[entity], arrays.chunk_id(chunk), KINDS[kind])
        for entity, chunk, kind in zip(
            arrays.mention_entity, arrays.mention_chunk, arrays.mention_kind, strict=True
        )
    }
    assert links == {
        ("Insulin", one, MentionKind.TITLE),
        ("Insulin", two, MentionKind.TERM),
        ("Insulin", two, MentionKind.ALIAS),
        (BACKSLASHES, two, MentionKind.MODEL),
    }
    edges = {
        (arrays.names[source], arrays.relation_types[kind], arrays.names[target], weight)
        for source, kind, target, weight in zip(
            arrays.relation_source,
            arrays.relation_type,
            arrays.relation_target,
            arrays.relation_weight.tolist(),
            strict=True,
        )
    }
    assert edges == {("Insulin", "IN", BACKSLASHES, 0.3), ("Insulin", "A", "Asserted", 3.0)}
    statements = {
        (arrays.relation_types[arrays.relation_type[relation]], arrays.chunk_id(chunk))
        for relation, chunk in zip(arrays.statement_relation, arrays.statement_chunk, strict=True)
    }
    assert statements == {("IN", one), ("IN", two), ("A", one)}
    assert arrays.titled.tolist() == [name == "Insulin" for name in arrays.names]
    assert arrays.alias_norms == ["shot"]
    assert arrays.alias_entity.tolist() == [place["Insulin"]]


async def test_merged_entities_have_one_number(
    record: GraphRecord, store: Store, scope: Scope
) -> None:
    (chunk,) = (await store(scope, ["one"])).chunks
    await record.add(
        scope,
        evidence(
            *[mention(name, chunk, MentionKind.MODEL) for name in ("NYC", "New York", "Berlin")],
            relation("nyc", "LIKES", "berlin", chunk),
            relation("nyc", "IS", "new york", chunk),
            alias("nyc", "Big Apple", None),
        ),
    )
    await record.merge(scope, [Merge(named("nyc"), named("new york"))])
    arrays = await record.arrays(scope)
    york = arrays.names.index("New York")
    assert len(arrays.names) == 2
    assert np.count_nonzero(arrays.mention_entity == york) == 2
    assert [arrays.names[end] for end in arrays.relation_source] == ["New York"]
    assert arrays.alias_entity.tolist() == [york]


async def test_a_statement_about_a_merged_entity_states_the_merged_relation(
    record: GraphRecord, store: Store, scope: Scope
) -> None:
    one, two = (await store(scope, ["one", "two"])).chunks
    await record.add(
        scope,
        evidence(
            *[mention(name, one, MentionKind.MODEL) for name in ("NYC", "New York", "Berlin")],
            relation("nyc", "LIKES", "berlin", one),
            relation("new york", "LIKES", "berlin", two),
            relation("nyc", "IS", "new york", one),
        ),
    )
    await record.merge(scope, [Merge(named("nyc"), named("new york"))])
    arrays = await record.arrays(scope)
    assert arrays.statement_relation.tolist() == [0, 0]
    assert {arrays.chunk_id(chunk) for chunk in arrays.statement_chunk} == {one, two}


async def test_co_occurrence_and_statements_of_the_user_are_in_no_chunk(
    record: GraphRecord, store: Store, scope: Scope
) -> None:
    (chunk,) = (await store(scope, ["one"])).chunks
    await record.add(
        scope,
        evidence(
            *[mention(name, chunk, MentionKind.MODEL) for name in ("A", "B", "C")],
            relation("a", CO_OCCURS, "b", chunk),
            relation("b", "KNOWS", "c", None),
            relation("a", "KNOWS", "c", chunk),
        ),
    )
    arrays = await record.arrays(scope)
    assert len(arrays.relation_source) == 3
    [stated] = arrays.statement_relation
    assert arrays.names[arrays.relation_source[stated]] == "A"
    assert arrays.relation_types[arrays.relation_type[stated]] == "KNOWS"


async def test_an_absent_graph_is_an_empty_one(record: GraphRecord, scope: Scope) -> None:
    arrays = await record.arrays(scope)
    assert (arrays.version, len(arrays.chunks), len(arrays.entities)) == (0, 0, 0)
    assert arrays.entity_indices_of(halves_of([UUID(int=1)])).tolist() == [-1]
