"""Pages of what a mode ranks, where the first passages depend on how many are ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from sextant.domain.retrieval import ItemKind, Mode, Retrieval, RetrievedItem
from sextant.facade import Sextant
from sextant.server.answers import run_search
from sextant.server.schemas.answers import SearchBody


class Ranking:
    """Stands for `Sextant` over 150 passages; `shown` is what the page shows."""

    user_id = "local"

    def __init__(self) -> None:
        self.shown_ids: list[str] = []

    async def search(self, *_: object, mode: str, limit: int, **__: object) -> Retrieval:
        """Up to half of `global` are reports; of `hybrid` the last two come round with every size."""
        passages = [item(ItemKind.CHUNK, f"{place}", place) for place in range(150)][:limit]
        if mode == Mode.HYBRID:
            passages[-2:] = reversed(passages[-2:])
        reports = [item(ItemKind.COMMUNITY, f"r{place}", place) for place in range(6)]
        first = reports[: limit // 2] if mode == Mode.GLOBAL else []
        return Retrieval((*first, *passages[: limit - len(first)]), Mode(mode))

    async def chunks(self, _: str) -> Ranking:
        return self

    async def hits_of_mode(
        self, items: Sequence[RetrievedItem], **_: object
    ) -> tuple[tuple[()], list[str]]:
        self.shown_ids += [one.id for one in items]
        return (), []


def item(kind: ItemKind, name: str, place: int) -> RetrievedItem:
    return RetrievedItem(kind, name, name, 1 / (1 + place))


@pytest.mark.parametrize("mode", ["naive", "global", "hybrid"])
@pytest.mark.parametrize("limit", [7, 100])
async def test_pages_are_full_and_show_every_passage_once(mode: str, limit: int) -> None:
    rag, asked = Ranking(), {"query": "Rust", "mode": mode, "limit": limit}
    sizes, cursor = list[int](), None
    while True:
        before = len(rag.shown_ids)
        body = SearchBody.model_validate(asked | {"cursor": cursor})
        page: Any = await run_search(cast("Sextant", rag), body)
        sizes.append(len(rag.shown_ids) - before)
        if (cursor := page.next_cursor) is None:
            break
    assert len(set(rag.shown_ids)) == len(rag.shown_ids)
    assert not any(one.startswith("r") for one in rag.shown_ids)
    assert set(sizes[:-1]) <= {limit}
    assert len(rag.shown_ids) == {"naive": 150, "global": 94, "hybrid": 100}[mode]
