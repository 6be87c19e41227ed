"""The cap on what extraction may cost."""

from __future__ import annotations

import pytest

from sextant.domain.answers import Usage
from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import ExtractionSettings
from sextant.ingestion.graph.extraction.cost import CostBudget


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan"), float("inf")])
def test_a_budget_that_is_no_amount_of_money_is_refused_and_not_taken_for_used_up(
    cost: float,
) -> None:
    budget = CostBudget(ExtractionSettings(input_price=1.0, output_price=2.0))

    with pytest.raises(OptionInvalid) as refused:
        budget.limit(None, cost)

    assert refused.value.field == "budget_cost"
    assert budget.cost is None


def test_calls_that_take_more_than_was_estimated_leave_less_room_for_those_after_them() -> None:
    budget = CostBudget(ExtractionSettings(), tokens=1000)
    need, used = Usage(1, 60, 40), Usage(1, 60, 140)

    while budget.reserve(need):
        budget.settle(need, used)

    assert budget.spent.prompt_tokens + budget.spent.completion_tokens == 1000
