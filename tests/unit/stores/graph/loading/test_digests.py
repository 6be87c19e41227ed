"""Many ids of relations at once are those that each has by itself."""

from __future__ import annotations

from uuid import UUID

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sextant.stores.graph.ids import relation_id
from sextant.stores.graph.loading.assertions import digests

texts = st.lists(st.text(max_size=30), min_size=1, max_size=5)
rows = st.lists(st.tuples(st.uuids(), st.uuids(), st.integers(0, 4)), max_size=20)


@given(rows, texts)
def test_digests_are_the_ids_of_relations(
    said: list[tuple[UUID, UUID, int]], kinds: list[str]
) -> None:
    sources, targets = (np.array([row[at].bytes for row in said], "V16") for at in (0, 1))  # type: ignore[union-attr]
    numbers = np.array([row[2] % len(kinds) for row in said], np.intc)
    made = digests(sources, targets, numbers, kinds)
    wanted = [relation_id(a, b, kinds[kind % len(kinds)]) for a, b, kind in said]
    assert [UUID(bytes=one.tobytes()) for one in made] == wanted


def test_more_than_fit_into_the_cache_at_once() -> None:
    number = 20_000
    ids = np.frombuffer(np.random.default_rng(1).bytes(16 * number), "V16")
    made = digests(ids, ids[::-1].copy(), np.zeros(number, np.intc), ["KNOWS"])
    for place in (0, 8191, 8192, number - 1):
        source, target = (UUID(bytes=ids[at].tobytes()) for at in (place, number - 1 - place))
        assert made[place].tobytes() == relation_id(source, target, "KNOWS").bytes
