"""What a search for entities may be told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import EntitySearchSettings
from sextant.retrievers import FusionWeights, SearchOptions
from sextant.stores.graph.protocol import EVERY_ENTITY, EntityFilter


def test_the_seeds_defaults_are_the_defaults() -> None:
    """权重配置, vector_search, graph_traversal, 性能优化: every constant."""
    assert FusionWeights().by_lane == {"vector": 0.5, "fts": 0.3, "graph": 0.2}
    assert SearchOptions().top_k == 10
    own = EntitySearchSettings()
    assert (own.vector_weight, own.fts_weight, own.graph_weight) == (0.5, 0.3, 0.2)
    assert (own.threshold, own.candidates, own.seeds) == (0.5, 20, 5)
    assert (own.depth, own.neighbours, own.decay, own.bonus) == (2, 10, 0.7, 0.02)
    assert own.cache_seconds == 5 * 60


@pytest.mark.parametrize(
    "weights",
    [
        {"vector": -0.1},
        {"fts": float("nan")},
        {"graph": float("inf")},
        {"vector": "0.5"},
        {"vector": None},
        {"vector": True},
        {"vector": 0, "fts": 0, "graph": 0},
        {"vector": 1e308, "fts": 1e308, "graph": 1e308},
        {"vector": 10**400},
        {"vector": 5e-324, "fts": 0, "graph": 0},
    ],
)
def test_weights_that_say_nothing_are_refused(weights: dict[str, Any]) -> None:
    with pytest.raises(OptionInvalid) as refused:
        FusionWeights(**weights)
    assert str(refused.value.field).startswith("weights")


@pytest.mark.parametrize("weights", [{"vector": 1}, "vector", 5])
def test_weights_of_another_kind_are_refused(weights: Any) -> None:
    with pytest.raises(OptionInvalid) as refused:
        SearchOptions(weights=weights)
    assert refused.value.field == "weights"


def test_weights_need_not_sum_to_one() -> None:
    assert FusionWeights(3, 0, 0).by_lane == {"vector": 3, "fts": 0, "graph": 0}


@pytest.mark.parametrize("top_k", [0, -1, 101, 10**6, 2.5, "10", None, True])
def test_a_page_has_1_to_100_results(top_k: Any) -> None:
    with pytest.raises(OptionInvalid) as refused:
        SearchOptions(top_k=top_k)
    assert refused.value.field == "top_k"


def test_filters_are_those_of_the_seed() -> None:
    """The filters of the example: {"entityTypes": ["concept", "tool"], "createdAfter": "2024-01-01"}."""
    only = SearchOptions(
        filters={"entityTypes": ["Concept", "tool"], "createdAfter": "2024-01-01"}
    ).only()
    assert only == EntityFilter(("concept", "tool"), datetime(2024, 1, 1, tzinfo=UTC))
    assert SearchOptions().only() == SearchOptions(filters={}).only() == EVERY_ENTITY


@pytest.mark.parametrize(
    ("name", "meant"), [("entityType", "entityTypes"), ("created_afte", "createdAfter")]
)
def test_an_unknown_filter_names_the_near_one(name: str, meant: str) -> None:
    with pytest.raises(OptionInvalid, match=f"Did you mean `{meant}`"):
        SearchOptions(filters={name: "x"}).only()


@pytest.mark.parametrize("name", ["documentIds", "document_ids"])
def test_a_filter_of_passages_is_refused_by_the_name_that_it_has_over_http(name: str) -> None:
    with pytest.raises(OptionInvalid, match="`documentIds` bounds passages") as refused:
        SearchOptions(filters={name: "x"}).only()
    assert refused.value.field == "filters.documentIds"


def test_an_unknown_filter_is_told_those_of_entities_nearest_first() -> None:
    with pytest.raises(OptionInvalid) as refused:
        SearchOptions(filters={"createdBefor": "x"}).only()
    said = "Did you mean `createdBefore`? Filters: createdBefore, createdAfter, entityTypes."
    assert refused.value.next_step == said
