"""What a caller says of a document in JSON of any shape, as it can be stored and written again."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sextant.text.characters import clean_text

MOST_LEVELS = 100
"""How deep lists and objects may nest: orjson writes 254 levels, Python's json some hundreds."""


_LARGEST = 2**63
"""`jsonb` gives large numbers back as whole ones, which orjson writes up to 64 bits only."""


def storable(value: object, levels: int = MOST_LEVELS) -> object:
    """Return `value` as PostgreSQL's `jsonb` can hold it, keys included.

    Numbers that are none become null, those beyond 64 bits their text.

    Raises:
        ValueError: it nests deeper than `levels`.
    """
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, int | float) and abs(value) >= _LARGEST:
        return str(value)
    if not isinstance(value, Mapping | list):
        return value
    if levels == 0:
        raise ValueError(f"must not nest deeper than {MOST_LEVELS} levels")
    if isinstance(value, list):
        return [storable(one, levels - 1) for one in value]
    return {clean_text(str(key)): storable(one, levels - 1) for key, one in value.items()}
