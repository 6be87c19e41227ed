"""Convert weights to PostgreSQL's numeric, whose sums do not depend on the order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_DIGITS = 15  # PostgreSQL manual, "Numeric Types": a float8 becomes numeric by its first 15
_GROUPS = 5  # of four digits each: 15 digits, and up to 3 zeros that bring the point between groups
# Powers of ten up to this are exact floats, so one division rounds like parsing the decimal.
_MAX_EXACT_POWER = 22


def as_numeric(weights: Array) -> tuple[Array, Array]:
    """Return `weight::numeric::float8`, and `weight::numeric` in binary format, 18 bytes each.

    Weights are greater than 0 and at most 1e14. The bytes are those of `numeric_send` (PostgreSQL,
    src/backend/utils/adt/numeric.c): number of groups, weight of the first, sign, digits after the
    point, groups. Zeros at either end are allowed.
    """
    decimals = _DIGITS - 1 - np.floor(np.log10(weights)).astype(np.int64)
    scaled = weights * 10.0 ** np.minimum(decimals, _MAX_EXACT_POWER)
    whole = np.rint(scaled)
    # A product may be off by a sixteenth. Near a half, and at the limits of 15 digits, use the text.
    is_doubtful = np.abs(np.abs(scaled - whole) - 0.5) < 0.07
    is_doubtful |= (
        (decimals > _MAX_EXACT_POWER) | (scaled < 10 ** (_DIGITS - 1)) | (whole >= 10**_DIGITS)
    )
    digits = whole.astype(np.int64)
    for index in np.flatnonzero(is_doubtful).tolist():
        mantissa, exponent = f"{weights[index]:.{_DIGITS - 1}e}".split("e")
        digits[index] = int(mantissa.replace(".", ""))
        decimals[index] = _DIGITS - 1 - int(exponent)
    rounded = digits / 10.0 ** np.minimum(decimals, _MAX_EXACT_POWER)
    for index in np.flatnonzero(decimals > _MAX_EXACT_POWER).tolist():
        rounded[index] = float(f"{digits[index]}e{-decimals[index]}")
    return rounded, _encode_decimals(digits, decimals)


def _encode_decimals(digits: Array, decimals: Array) -> Array:
    """Encode the numbers `digits` ÷ 10**`decimals` as bytes."""
    after = -(-decimals // 4)  # groups after the point
    rest = digits * 10 ** (4 * after - decimals)
    rows = np.empty((len(digits), 4 + _GROUPS), ">i2")
    rows[:, 0], rows[:, 1], rows[:, 2] = _GROUPS, _GROUPS - 1 - after, 0
    rows[:, 3] = np.maximum(0, decimals - _zeros(digits))
    for group in reversed(range(_GROUPS)):
        rest, rows[:, 4 + group] = np.divmod(rest, 10_000)
    return rows.view("V18").reshape(-1)


def _zeros(digits: Array) -> Array:
    """Count the trailing zeros of each number."""
    zeros = np.zeros(len(digits), np.int64)
    remaining = np.flatnonzero(digits % 10 == 0)
    while len(remaining):
        zeros[remaining] += 1
        remaining = remaining[digits[remaining] // 10 ** zeros[remaining] % 10 == 0]
    return zeros
