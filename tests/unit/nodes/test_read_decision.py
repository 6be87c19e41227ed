"""What a person gives as a decision is taken as it is meant, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.nodes.decisions import read_decision


def request(name: str) -> dict[str, Any]:
    """Return what a person is asked, with three options."""
    return {
        "action_requests": [{"name": name, "args": {"options": ["bird", "train", "firm"]}}],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "edit"]}],
    }


@pytest.mark.parametrize("choice", ["-1", "0", "4", "1-3", "none"])
@pytest.mark.parametrize("name", ["choose_meaning", "approve_sources"])
def test_a_number_that_is_not_on_offer_is_refused(name: str, choice: str) -> None:
    with pytest.raises(OptionInvalid, match="chooses none of the 3"):
        read_decision(request(name), choice)


def test_a_name_has_one_meaning_and_an_answer_several_sources() -> None:
    with pytest.raises(OptionInvalid, match="chooses 2 meanings"):
        read_decision(request("choose_meaning"), "1, 3")
    assert read_decision(request("approve_sources"), "1, 3").choice == "1, 3"
    assert read_decision(request("choose_meaning"), "Train").choice == "Train"


def test_what_is_not_on_offer_is_refused_with_what_one_may_give_or_type() -> None:
    with pytest.raises(OptionInvalid, match="cannot be decided by reject") as refused:
        read_decision(request("choose_meaning"), answer=False)
    assert '"approve"}]} (typed: y)' in refused.value.next_step
    assert '"edit"}]} (typed: a number)' in refused.value.next_step
    assert "reject" not in refused.value.next_step
