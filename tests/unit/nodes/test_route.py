"""Who needs no retrieval."""

import pytest

from nodes.route import route
from nodes.state import State
from tests.unit.nodes.conftest import Build


@pytest.mark.parametrize(
    ("complexity", "strategy", "goto"),
    [
        ("complex", "naive", "retrieve"),
        ("simple", "naive", "generate"),
        ("complex", "bypass", "generate"),
    ],
)
async def test_only_simple_questions_and_bypass_skip_retrieval(
    bench: Build, complexity: str, strategy: str, goto: str
) -> None:
    command = await route(State(complexity=complexity, strategy=strategy), bench().runtime)
    assert command.goto == goto
    assert (command.update == {"strategy": "bypass"}) == (goto == "generate")
