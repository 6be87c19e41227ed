"""The cap on what extraction may cost."""

from __future__ import annotations

from sextant.domain.answers import Usage
from sextant.ingestion.graph.extraction.cost import CostBudget


def test_calls_that_take_more_than_was_estimated_leave_less_room_for_those_after_them() -> None:
    budget = CostBudget(tokens=1000)
    need, used = Usage(1, 60, 40), Usage(1, 60, 140)

    while budget.reserve(need):
        budget.settle(need, used)

    assert budget.spent.prompt_tokens + budget.spent.completion_tokens == 1000
