"""Hits by id: what a search shows is the same as if an item had been made of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sextant.domain.retrieval import LEAST_SCORE, ItemKind, PassageContent, RetrievedItem
from sextant.retrievers.lazy_hits import LazyHits
from sextant.retrievers.mode_runner import alone
from sextant.retrievers.ranking.fusion import fuse
from sextant.stores.postgresql.values import Nearest, read_scored

IDS = [f"00000000-0000-0000-0000-00000000000{place}" for place in range(4)]
SCORES = [0.75, 0.5, 0.25, 0.125]


def told(place: int) -> PassageContent:
    return PassageContent(f"text {place}", "document", None, {"page": place})


def item(place: int, text: str = "") -> RetrievedItem:
    bare = RetrievedItem(ItemKind.CHUNK, IDS[place], "", SCORES[place])
    return (
        replace(bare, text=text, document_id="document", metadata={"page": place}) if text else bare
    )


def test_an_item_is_made_of_the_hit_that_is_asked_for() -> None:
    asked: list[int] = []

    def tell(place: int) -> PassageContent:
        asked.append(place)
        return told(place)

    hits = LazyHits(IDS, SCORES, tell)
    assert hits[2] == item(2, "text 2")
    assert asked == [2]
    assert list(hits) == [item(place, f"text {place}") for place in range(4)]
    assert hits[1:3] == [item(1, "text 1"), item(2, "text 2")]
    assert hits[-1].id == IDS[-1]


def test_what_a_store_finds_has_ids_as_text_and_scores_above_zero() -> None:
    found = Nearest(np.array([[0, 1], [2**63, 5]], np.uint64), np.array([0.5, -0.1], np.float32))
    hits = LazyHits.of(read_scored(found))
    assert [hit.id for hit in hits] == [IDS[1], "80000000-0000-0000-0000-000000000005"]
    assert [hit.score for hit in hits] == [0.5, LEAST_SCORE]
    assert not any(hit.text for hit in hits)


@pytest.mark.parametrize("wanted", [2, None])
def test_fused_hits_by_id_are_what_fused_items_are(wanted: int | None) -> None:
    """What one lane knows by id only has the text that the other tells."""
    weights = {"vector": 0.7, "keyword": 0.3}
    by_id = {
        "vector": LazyHits(IDS[:3], SCORES[:3], told),
        "keyword": LazyHits(IDS[1:], SCORES[1:]),
    }
    items = {
        "vector": [item(place, f"text {place}") for place in range(3)],
        "keyword": [item(place) for place in range(1, 4)],
    }
    assert fuse(by_id, weights, wanted=wanted) == fuse(items, weights, wanted=wanted)
    assert alone("vector", by_id["vector"], wanted) == alone("vector", items["vector"], wanted)
