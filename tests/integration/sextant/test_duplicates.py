"""`Entities.duplicates`: pairs that may be one thing, page by page, while their owner decides."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.facade.entities import Duplicates, Entities
from sextant.stores.graph.name_comparison import MergeCandidate

TOWNS = ["Aldersbury", "Cobaltford", "Grimsvotnir", "Pemberquay", "Zolkiewska"]
# Each twice, under names that are alike; no two towns are.
ALIKE = [f"{town} {kind}" for town in TOWNS for kind in ("Harbour", "Harbours Ltd")]
SPELLINGS = ["Harbour-Master Institute", "Harbour Master Institute"]
OTHER = "Harbour Master Institutes Ltd"


@pytest.fixture
async def rag(settings: Settings, scope: Scope) -> AsyncIterator[Sextant]:
    user = settings.model_copy(update={"user_id": scope.user_id})
    async with Sextant.open(user) as opened:
        await brought(opened, "towns", ALIKE)
        yield opened


@pytest.fixture
async def entities(rag: Sextant) -> Entities:
    return await rag.entities("towns")


async def brought(rag: Sextant, graph_id: str, names: list[str]) -> None:
    await rag.import_graph([{"type": "entity", "name": name} for name in names], graph_id)


async def kept_apart(rag: Sextant, one: str, other: str, graph_id: str = "towns") -> None:
    line = {"type": "decision", "source": one, "target": other, "same": False}
    await rag.import_graph([line], graph_id)


def names_of(page: Duplicates) -> list[tuple[str, ...]]:
    return [named(one) for one in page.pairs]


def named(one: MergeCandidate) -> tuple[str, ...]:
    return tuple(sorted((one.one_name, one.other_name)))


async def test_pages_hold_every_pair_once_in_the_order_of_the_whole_list(
    entities: Entities,
) -> None:
    whole = await entities.duplicates()
    assert whole.next_cursor is None
    assert len(whole.pairs) == len(TOWNS)
    for limit in (1, 2, len(whole.pairs) - 1, len(whole.pairs)):
        seen, cursor = list[MergeCandidate](), None
        while True:
            page = await entities.duplicates(limit, cursor)
            assert 0 < len(page.pairs) <= limit
            seen += page.pairs
            if (cursor := page.next_cursor) is None:
                break
        assert tuple(seen) == whole.pairs


async def test_a_list_is_gone_on_with_while_its_pairs_are_decided(
    entities: Entities, rag: Sextant
) -> None:
    whole = names_of(await entities.duplicates())
    first = await entities.duplicates(2)
    merged, apart = first.pairs
    await entities.merge(merged.one_name, merged.other_name)
    await kept_apart(rag, apart.one_name, apart.other_name)
    rest = await entities.duplicates(50, first.next_cursor)
    assert names_of(rest) == whole[2:]
    assert names_of(await entities.duplicates()) == whole[2:]


async def test_a_page_may_be_left_of_which_every_pair_is_decided(entities: Entities) -> None:
    first = await entities.duplicates(1)
    for one in (await entities.duplicates()).pairs:
        await entities.merge(str(one.one_id), str(one.other_id))
    assert await entities.duplicates(1, first.next_cursor) == Duplicates((), None)


async def test_two_entities_are_one_pair_whichever_of_their_spellings_are_alike(
    rag: Sextant,
) -> None:
    await brought(rag, "spelt", [*SPELLINGS, OTHER])
    entities = await rag.entities("spelt")
    [pair] = (await entities.duplicates()).pairs
    shown = {(await entities.show(name)).entity.id for name in (*SPELLINGS, OTHER)}
    assert {pair.one_id, pair.other_id} == shown


async def test_what_is_told_apart_under_one_spelling_is_told_apart_under_all(rag: Sextant) -> None:
    for place, name in enumerate(SPELLINGS):
        graph_id = f"apart-{place}"
        await brought(rag, graph_id, [*SPELLINGS, OTHER])
        await kept_apart(rag, name, OTHER, graph_id)
        assert (await (await rag.entities(graph_id)).duplicates()).pairs == ()


async def test_one_name_under_two_ids_of_the_users_own_is_listed_until_he_decides(
    rag: Sextant,
) -> None:
    lines = [
        {"type": "entity", "id": own, "name": name, "entityType": kind}
        for own, name, kind in (
            ("e1", "Borealis Harbour", "PLACE"),
            ("e2", "Borealis-Harbour", "TERM"),
            ("e3", "Borealis Harbour", "SHIP"),
            ("e4", "Mercury", "PLANET"),
            ("e5", "Mercury", "METAL"),
        )
    ]
    await rag.import_graph(lines, "ids")
    entities = await rag.entities("ids")
    found = (await entities.duplicates()).pairs
    same = [await ids_of(entities, one) for one in found if one.reason == "the same name"]
    assert sorted(same) == [("e1", "e2"), ("e2", "e3")]
    for one, other in same:
        await kept_apart(rag, one, other, "ids")
    assert (await entities.duplicates()).pairs == ()


async def ids_of(entities: Entities, pair: MergeCandidate) -> tuple[str, ...]:
    """Return the user's own ids of a pair."""
    both = [(await entities.get(one)).entity.external_id for one in (pair.one_id, pair.other_id)]
    return tuple(sorted(filter(None, both)))


async def test_a_cursor_is_of_one_knowledge_base_of_one_user(
    entities: Entities, rag: Sextant
) -> None:
    cursor = (await entities.duplicates(1)).next_cursor
    stranger = rag.as_user(f"{rag.user_id}-other")
    await brought(rag, "others", ALIKE)
    await brought(stranger, "towns", ALIKE[:4])
    for others in (await rag.entities("others"), await stranger.entities("towns")):
        with pytest.raises(OptionInvalid, match="not one of this search or list") as refused:
            await others.duplicates(1, cursor)
        assert refused.value.field == "cursor"
    theirs = await (await stranger.entities("towns")).duplicates()
    assert {name for pair in names_of(theirs) for name in pair} <= set(ALIKE[:4])


@pytest.mark.parametrize("cursor", ["", "AAAA", "长", "\ud800", "a" * 5000, 7])
async def test_what_is_no_cursor_is_refused(entities: Entities, cursor: str) -> None:
    with pytest.raises(OptionInvalid, match="not one of this search or list"):
        await entities.duplicates(1, cursor)
