"""Weights become decimals here exactly as PostgreSQL makes them of floats."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.numeric import NumericBinaryLoader

from sextant.stores.graph.evidence import HEAVIEST
from sextant.stores.graph.loading.assertions import as_numeric

weights_of_a_graph = st.one_of(
    st.floats(0, HEAVIEST, exclude_min=True),
    st.floats(0.01, 100),
    st.integers(1, 10**12).map(float),
    st.integers(1, 10**15).map(lambda n: n / 1000),
    st.integers(-15, 12).map(lambda power: 10.0**power),
)


@given(st.lists(weights_of_a_graph, min_size=1, max_size=50))
def test_they_are_the_first_15_digits_as_float_and_as_numeric(weights: list[float]) -> None:
    floats, sent = as_numeric(np.array(weights))
    # PostgreSQL's float8_numeric prints with %.15g and reads that.
    printed = [f"{weight:.15g}" for weight in weights]
    assert floats.tolist() == [float(text) for text in printed]
    loader = NumericBinaryLoader(1700)
    read = [loader.load(one.tobytes()) for one in sent]
    assert read == [Decimal(text) for text in printed]
    # As many digits after the point as the printed number has, and no zero at the end.
    shown = [int.from_bytes(one.tobytes()[6:8], "big") for one in sent]
    assert shown == [max(0, -_exponent(text)) for text in printed]


def _exponent(text: str) -> int:
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent
