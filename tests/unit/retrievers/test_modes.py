"""Which modes there are, and what is said of the others."""

from __future__ import annotations

import pytest

from domain.errors import ModeNotAvailable, OptionInvalid
from domain.retrieval import Mode
from retrievers.modes import Composition, composition_from, composition_of

LANES = ["vector", "keyword"]


def test_naive_is_the_vector_lane_with_keywords_standing_in() -> None:
    assert composition_of("naive", LANES) == (Mode.NAIVE, Composition(("vector",), ("keyword",)))


def test_bypass_runs_no_lane() -> None:
    assert composition_of("bypass", LANES) == (Mode.BYPASS, Composition(()))


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix"])
def test_a_graph_mode_is_refused_with_the_modes_there_are(mode: str) -> None:
    with pytest.raises(ModeNotAvailable, match=rf"`{mode}`.*graph.*Available modes: naive, bypass"):
        composition_of(mode, LANES)


@pytest.mark.parametrize("mode", ["auto", "Naive", "", "hyrbid"])
def test_another_name_is_refused_with_the_modes_there_are(mode: str) -> None:
    with pytest.raises(ModeNotAvailable, match=r"Available modes: naive, bypass") as refused:
        composition_of(mode, LANES)
    assert refused.value.field == "mode"


def test_lanes_can_be_named_instead() -> None:
    assert composition_from(["vector", "keyword", "vector"], LANES) == Composition(
        ("vector", "keyword")
    )


@pytest.mark.parametrize("lanes", [[], ["vector", "graph"]])
def test_unknown_or_no_lanes_are_refused(lanes: list[str]) -> None:
    with pytest.raises(OptionInvalid, match="Lanes: vector, keyword") as refused:
        composition_from(lanes, LANES)
    assert refused.value.field == "lanes"
