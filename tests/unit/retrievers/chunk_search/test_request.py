"""What a request for a chunk search answers to fields that it does not have."""

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.retrievers.chunk_search.search import SearchRequest


def test_an_unknown_field_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(OptionInvalid, match="Did you mean `includeNeighbors`") as caught:
        SearchRequest.model_validate({"query": "付款", "includeNeighbour": True})
    assert caught.value.field == "includeNeighbour"
    assert caught.value.message == "There is no option `includeNeighbour`."


def test_an_unknown_field_that_is_near_to_none_is_answered_with_all_of_them() -> None:
    with pytest.raises(OptionInvalid, match="There is no option `zzz`") as caught:
        SearchRequest.model_validate({"query": "付款", "zzz": 1})
    assert "ranking" in str(caught.value)
    assert "Did you mean" not in str(caught.value)


def test_a_field_that_is_given_a_wrong_value_keeps_its_own_reason() -> None:
    with pytest.raises(OptionInvalid, match="`limit` cannot be 'many'") as caught:
        SearchRequest.model_validate({"query": "付款", "limit": "many"})
    assert caught.value.field == "limit"
