"""Weights as PostgreSQL's numeric: sums of floats would depend on their order, sums of decimals do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_DIGITS = 15  # PostgreSQL manual, "Numeric Types": a float8 becomes numeric by its first 15
_GROUPS = 5  # of four digits each: 15 digits, and up to 3 zeros that bring the point between groups
# Powers of ten up to this are floats exactly, so one division rounds as reading the decimal does.
_EXACT = 22


def as_numeric(weights: Array) -> tuple[Array, Array]:
    """Return what `weight::numeric::float8` gives, and `weight::numeric` as COPY reads it, 18 bytes each.

    Weights are above 0 and at most 1e14. The bytes are those of `numeric_send` (PostgreSQL,
    src/backend/utils/adt/numeric.c): number of groups, weight of the first, sign, digits shown after
    the point, groups; zeros at either end are allowed.
    """
    decimals = _DIGITS - 1 - np.floor(np.log10(weights)).astype(np.int64)
    scaled = weights * 10.0 ** np.minimum(decimals, _EXACT)
    whole = np.rint(scaled)
    # A product may be off by a sixteenth; near a half, and at the limits of 15 digits, text decides.
    doubtful = np.abs(np.abs(scaled - whole) - 0.5) < 0.07
    doubtful |= (decimals > _EXACT) | (scaled < 10 ** (_DIGITS - 1)) | (whole >= 10**_DIGITS)
    digits = whole.astype(np.int64)
    for place in np.flatnonzero(doubtful).tolist():
        mantissa, exponent = f"{weights[place]:.{_DIGITS - 1}e}".split("e")
        digits[place] = int(mantissa.replace(".", ""))
        decimals[place] = _DIGITS - 1 - int(exponent)
    rounded = digits / 10.0 ** np.minimum(decimals, _EXACT)
    for place in np.flatnonzero(decimals > _EXACT).tolist():
        rounded[place] = float(f"{digits[place]}e{-decimals[place]}")
    return rounded, _encode_decimals(digits, decimals)


def _encode_decimals(digits: Array, decimals: Array) -> Array:
    """Return the numbers `digits` ÷ 10**`decimals` as bytes."""
    after = -(-decimals // 4)  # groups after the point
    rest = digits * 10 ** (4 * after - decimals)
    rows = np.empty((len(digits), 4 + _GROUPS), ">i2")
    rows[:, 0], rows[:, 1], rows[:, 2] = _GROUPS, _GROUPS - 1 - after, 0
    rows[:, 3] = np.maximum(0, decimals - _zeros(digits))
    for group in reversed(range(_GROUPS)):
        rest, rows[:, 4 + group] = np.divmod(rest, 10_000)
    return rows.view("V18").reshape(-1)


def _zeros(digits: Array) -> Array:
    """Return how many zeros each number ends in."""
    zeros = np.zeros(len(digits), np.int64)
    left = np.flatnonzero(digits % 10 == 0)
    while len(left):
        zeros[left] += 1
        left = left[digits[left] // 10 ** zeros[left] % 10 == 0]
    return zeros
