"""What is written after `--filter`."""

from __future__ import annotations

import pytest

from sextant.cli.session import read_filters
from sextant.domain.errors import OptionInvalid


def test_a_name_given_again_has_one_more_value_and_dates_have_one() -> None:
    given = ["tags=table", "createdAfter=2026-03-01", "tags = zh", "topicLabels=a=b"]
    assert read_filters(given) == {
        "tags": ["table", "zh"],
        "createdAfter": "2026-03-01",
        "topicLabels": ["a=b"],
    }
    assert read_filters(None) == {}


@pytest.mark.parametrize("given", ["tags", "=x", "tags=", " = "])
def test_what_has_no_name_or_no_value_is_refused(given: str) -> None:
    with pytest.raises(OptionInvalid, match="is not a filter"):
        read_filters([given])


def test_of_two_dates_nobody_knows_which_is_meant() -> None:
    with pytest.raises(OptionInvalid, match="given twice") as caught:
        read_filters(["createdAfter=2026-03-01", "createdAfter=2026-02-01"])
    assert caught.value.field == "filters.createdAfter"
