"""Find entities with similar vectors, by one matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import numpy as np

from sextant.stores.graph.arrays import IdTable, halves_of
from sextant.stores.postgresql.binary import read_embedded

# The least cosine similarity of a pair, and the number of pairs of each entity.
_MIN_COSINE, _MAX_NEIGHBOURS = 0.96, 3


def near_pairs(entity_ids: Sequence[UUID], blocks: Sequence[bytes]) -> dict[str, list[Any]]:
    """Return each of `entity_ids` with its nearest by cosine, as columns: lower id, higher id, cosine.

    `blocks` hold all vectors. One matrix product is much faster than a scan for each entity.
    """
    if not entity_ids:
        return {"ones": [], "others": [], "scores": []}
    known = read_embedded(blocks)
    order = np.lexsort((known.ids[:, 1], known.ids[:, 0]))
    table = IdTable(known.ids[order])
    unit = known.vectors[order]
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1e-12)
    rows = table.rows_of(halves_of(entity_ids))
    cosines = unit[rows] @ unit.T
    cosines[np.arange(len(rows)), rows] = -1.0
    pairs: dict[tuple[UUID, UUID], float] = {}
    for index, row in enumerate(rows.tolist()):
        near = np.flatnonzero(cosines[index] >= _MIN_COSINE)
        best = near[np.argsort(-cosines[index, near], kind="stable")][:_MAX_NEIGHBOURS]
        for other in best.tolist():
            one_id, other_id = sorted((table[row], table[other]))
            pairs[one_id, other_id] = min(1.0, float(cosines[index, other]))
    return {
        "ones": [one for one, _ in pairs],
        "others": [other for _, other in pairs],
        "scores": list(pairs.values()),
    }
