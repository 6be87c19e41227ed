"""The context of an answer."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.retrieval import ItemKind, Mode, Retrieval, RetrievedItem
from sextant.retrievers import assemble_graph_context, assemble_vector_context


def item(kind: ItemKind, id_: str, score: float, **metadata: Any) -> RetrievedItem:
    return RetrievedItem(kind, id_, f"text of {id_}", score, "d1", metadata=metadata)


DIABETES = item(ItemKind.ENTITY, "e1", 0.9, name="糖尿病", type="DISEASE")
INSULIN = item(ItemKind.ENTITY, "e2", 0.5, name="胰岛素", type="MEDICINE")
TREATS = item(ItemKind.RELATION, "r1", 0.4, source="e2", target="e1", type="TREATS")
ELSEWHERE = item(ItemKind.RELATION, "r2", 0.8, source="e2", target="e9", type="CAUSES")
PASSAGE = item(ItemKind.CHUNK, "c1", 0.7, filename="指南.pdf", page=2)


def test_the_graphs_context_has_entities_and_directed_relations() -> None:
    assert assemble_graph_context([DIABETES, INSULIN, TREATS]) == {
        "entities": [
            {"id": "e1", "name": "糖尿病", "type": "DISEASE"},
            {"id": "e2", "name": "胰岛素", "type": "MEDICINE"},
        ],
        "relationships": [{"source": "e2", "target": "e1", "type": "TREATS"}],
    }


def test_a_retrieval_has_both_contexts() -> None:
    found = Retrieval((PASSAGE,), Mode.HYBRID, graph_items=(DIABETES, INSULIN, TREATS))
    assert assemble_graph_context(found) == assemble_graph_context(found.graph_items)
    assert assemble_vector_context(found) == assemble_vector_context([PASSAGE])


def test_it_is_ordered_by_importance_however_the_items_come() -> None:
    assert assemble_graph_context([TREATS, INSULIN, PASSAGE, DIABETES]) == assemble_graph_context(
        [DIABETES, INSULIN, TREATS]
    )


def test_a_relation_to_an_entity_that_is_not_told_is_left_out() -> None:
    told = assemble_graph_context([DIABETES, INSULIN, TREATS, ELSEWHERE])["relationships"]
    assert [relation["type"] for relation in told] == ["TREATS"]


def test_nothing_found_is_an_empty_context() -> None:
    assert assemble_graph_context([]) == {"entities": [], "relationships": []}


@pytest.mark.parametrize("assemble", [assemble_graph_context, assemble_vector_context])
@pytest.mark.parametrize(
    ("items", "field"),
    [(None, "items"), ("e1", "items"), ([PASSAGE, None], "items[1]"), ([{"id": "e1"}], "items[0]")],
)
def test_what_is_no_item_is_named(assemble: Any, items: Any, field: str) -> None:
    with pytest.raises(OptionInvalid) as refused:
        assemble(items)
    assert refused.value.field == field


def test_the_vectors_context_has_text_where_it_is_from_and_its_score() -> None:
    assert assemble_vector_context([DIABETES, PASSAGE]) == [
        {
            "text": "text of c1",
            "metadata": {
                "filename": "指南.pdf",
                "page": 2,
                "chunk_id": "c1",
                "document_id": "d1",
                "source": "指南.pdf",
            },
            "score": 0.7,
        }
    ]
