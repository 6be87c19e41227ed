"""Evidence that cannot be stored is left out; everything else of its batch is kept."""

from __future__ import annotations

from uuid import uuid4

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import AliasRow, GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.graph.postgres import PostgresGraph
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.graph.world import Store, evidence, mention, named, relation

GOOD = (
    mention("Insulin", None, MentionKind.IMPORT),
    mention("Diabetes", None, MentionKind.IMPORT),
    relation("insulin", "TREATS", "diabetes", None),
)


@pytest.mark.parametrize(
    "row",
    [
        relation("insulin", "IS", "insulin", None),
        relation("insulin", "IS", "diabetes", None, float("nan")),
        relation("insulin", "IS", "diabetes", None, -1.0),
        relation("insulin", "IS", "diabetes", None, 0.0),
        relation("insulin", "IS", "diabetes", None, float("inf")),
        relation("insulin", " ", "diabetes", None),
        relation("insulin", "X" * 201, "diabetes", None),
        mention(" \x00 ", None, MentionKind.IMPORT),
        mention("x" * 100_001, None, MentionKind.IMPORT),
        mention("Insulin", None, MentionKind.TERM),
    ],
)
async def test_a_bad_row_is_left_out_and_the_good_ones_stay(
    record: GraphRecord, database: Database, scope: Scope, row: object
) -> None:
    batch = evidence(*GOOD, row)  # type: ignore[arg-type]
    await record.add(scope, batch)
    hops = await PostgresGraph(database).neighbourhood(scope, [named("insulin")])
    assert [hop.target_id for hop in hops] == [named("diabetes")]


async def test_a_relation_to_an_unknown_entity_waits_unseen_until_it_is_known(
    record: GraphRecord, database: Database, scope: Scope
) -> None:
    graph = PostgresGraph(database)
    await record.add(scope, evidence(*GOOD, relation("insulin", "NEEDS", "unknown", None)))
    hops = await graph.neighbourhood(scope, [named("insulin")])
    assert [hop.relation_type for hop in hops] == ["TREATS"]
    assert await graph.get_entities(scope, [named("unknown")]) == []
    arrays = await record.arrays(scope)
    assert arrays.relation_types[arrays.relation_type[0]] == "TREATS"
    assert len(arrays.relation_type) == 1

    await record.add(scope, evidence(mention("Unknown", None, MentionKind.IMPORT)))
    hops = await graph.neighbourhood(scope, [named("insulin")])
    assert {hop.relation_type for hop in hops} == {"NEEDS", "TREATS"}


async def test_ten_thousand_aliases_of_one_entity(
    record: GraphRecord, database: Database, scope: Scope, store: Store
) -> None:
    stored = await store(scope, ["x"])
    insulin = entity_id(scope, "insulin")
    names = [f"Insulin preparation {number}" for number in range(10_000)]
    aliases = [AliasRow(insulin, name, "import", stored.document_id) for name in names]
    await record.add(
        scope,
        GraphEvidence(
            [MentionRow(insulin, stored.chunks[0], MentionKind.MODEL, "Insulin")], [], aliases
        ),
    )
    graph = PostgresGraph(database)
    hits = await graph.entities_by_alias(scope, ["insulin  PREPARATION 9999", "nothing"])
    assert [hit.entity.id for hit in hits] == [insulin]
    (found,) = await graph.get_entities(scope, [insulin])
    assert len(found.aliases) == 10_000
    assert len((await record.arrays(scope)).alias_norms) == 10_000
    await DocumentStore(database).delete(scope, stored.document_id)
    assert await graph.get_entities(scope, [insulin]) == []


async def test_an_entity_is_not_merged_into_itself(record: GraphRecord, scope: Scope) -> None:
    with pytest.raises(OptionInvalid):
        await record.merge(scope, [Merge(named("a"), named("a"))])
    assert await record.unmerge(scope, [uuid4()]) == 0
