import json
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.documents import MOST_LEVELS, storable
from sextant.text.characters import clean_text


def nested(levels: int) -> Any:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def test_what_nests_as_deep_as_it_may_is_kept_and_can_be_written() -> None:
    assert storable(nested(MOST_LEVELS)) == nested(MOST_LEVELS)
    assert json.loads(orjson.dumps(nested(MOST_LEVELS))) == nested(MOST_LEVELS)


@pytest.mark.parametrize("levels", [MOST_LEVELS + 1, 900])
def test_what_nests_deeper_is_refused(levels: int) -> None:
    with pytest.raises(ValueError, match="100 levels"):
        storable(nested(levels))


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
))  # fmt: skip
def test_what_is_storable_is_json_without_what_no_text_holds(value: Any) -> None:
    written = json.dumps(storable(value), allow_nan=False, ensure_ascii=False)
    assert "\\u0000" not in written
    assert clean_text(written) == written
    orjson.dumps(as_jsonb(json.loads(written)))


@pytest.mark.parametrize("number", [2**63, -(2**63), 10**30, 1e19, -1e300])
def test_a_number_beyond_64_bits_is_kept_as_its_text(number: float) -> None:
    assert storable({"n": [number]}) == {"n": [str(number)]}


def test_other_numbers_stay_what_they_are() -> None:
    numbers = [0, True, -1.5, 1e15, 2**63 - 1, -(2**63) + 1]
    assert storable(numbers) == numbers


def as_jsonb(value: Any) -> Any:
    """As PostgreSQL gives a value back: whole numbers without their exponents."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [as_jsonb(one) for one in value]
    if isinstance(value, dict):
        return {key: as_jsonb(one) for key, one in value.items()}
    return value
