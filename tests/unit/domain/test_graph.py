"""Entities know how central they are."""

from __future__ import annotations

from uuid import UUID

import pytest

from sextant.domain.graph import Entity


@pytest.mark.parametrize(("degree", "centrality"), [(0, 0.0), (10, 0.5), (190, 0.95)])
def test_centrality_follows_from_the_number_of_relations(degree: int, centrality: float) -> None:
    assert Entity(UUID(int=1), "Hub", degree=degree).centrality == pytest.approx(centrality)
