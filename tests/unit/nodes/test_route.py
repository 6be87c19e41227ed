"""Who needs no retrieval."""

from typing import Literal

import pytest

from sextant.nodes.route import after_route, route
from sextant.nodes.state import State
from tests.unit.nodes.conftest import Build
from tests.unit.nodes.steps import after


@pytest.mark.parametrize(
    ("complexity", "strategy", "taken"),
    [
        ("complex", "naive", "naive"),
        ("simple", "naive", "bypass"),
        ("complex", "bypass", "bypass"),
    ],
)
async def test_only_simple_questions_and_bypass_skip_retrieval(
    bench: Build, complexity: Literal["simple", "complex"], strategy: str, taken: str
) -> None:
    state = State(complexity=complexity, strategy=strategy)
    routed = after(state, **await route(state, bench().runtime))
    assert routed.strategy == taken
    assert (after_route(routed) == "complex") == (taken == "naive")
