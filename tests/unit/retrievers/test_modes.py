"""Which modes there are, and what is said of the others."""

from __future__ import annotations

import pytest

from sextant.domain.errors import ModeNotAvailable, OptionInvalid
from sextant.domain.retrieval import Mode
from sextant.retrievers.modes import ModeSpec, resolve_mode, spec_from_lanes

LANES = ["vector", "keyword"]
GRAPH_LANES = [*LANES, "local", "mix", "reports", "global"]


def test_naive_is_the_vector_lane_with_keywords_standing_in() -> None:
    assert resolve_mode("naive", LANES) == (
        Mode.NAIVE,
        ModeSpec(("vector",), fallback=("keyword",)),
    )


def test_bypass_runs_no_lane() -> None:
    assert resolve_mode("bypass", LANES) == (Mode.BYPASS, ModeSpec(()))


@pytest.mark.parametrize("mode", ["local", "global", "hybrid", "mix"])
def test_without_a_graph_its_modes_are_refused_with_those_there_are(mode: str) -> None:
    with pytest.raises(ModeNotAvailable, match=rf"`{mode}`.*graph.*Available modes: naive, bypass"):
        resolve_mode(mode, LANES)


@pytest.mark.parametrize("mode", list(Mode))
def test_with_a_graph_all_six_are_there(mode: str) -> None:
    chosen, spec = resolve_mode(mode, GRAPH_LANES)
    assert chosen == mode
    assert {*spec.signals, *spec.fallback} <= set(GRAPH_LANES)


def test_auto_is_the_best_mode_there_is() -> None:
    assert resolve_mode("auto", GRAPH_LANES)[0] is Mode.MIX
    assert resolve_mode("auto", LANES)[0] is Mode.NAIVE


def test_auto_answers_what_is_about_the_whole_from_reports_where_there_are_any() -> None:
    assert resolve_mode("auto", GRAPH_LANES, broad=True)[0] is Mode.GLOBAL
    assert resolve_mode("auto", [*LANES, "mix"], broad=True)[0] is Mode.MIX
    assert resolve_mode("auto", LANES, broad=True)[0] is Mode.NAIVE
    assert resolve_mode("mix", GRAPH_LANES, broad=True)[0] is Mode.MIX


def test_mix_does_without_reports_where_there_is_no_graph_store() -> None:
    assert resolve_mode("mix", [*LANES, "mix"])[0] is Mode.MIX


@pytest.mark.parametrize("mode", ["Naive", "", "hyrbid"])
def test_another_name_is_refused_with_the_modes_there_are(mode: str) -> None:
    with pytest.raises(ModeNotAvailable, match=r"Available modes: naive, bypass") as refused:
        resolve_mode(mode, LANES)
    assert refused.value.field == "mode"


def test_lanes_can_be_named_instead() -> None:
    assert spec_from_lanes(["vector", "keyword", "vector"], LANES) == ModeSpec(
        ("vector", "keyword")
    )


@pytest.mark.parametrize("lanes", [[], ["vector", "graph"]])
def test_unknown_or_no_lanes_are_refused(lanes: list[str]) -> None:
    with pytest.raises(OptionInvalid, match="Lanes: vector, keyword") as refused:
        spec_from_lanes(lanes, LANES)
    assert refused.value.field == "lanes"
