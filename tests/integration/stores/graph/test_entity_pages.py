"""Pages of entities: whole, current, and of the one search that began them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from uuid import UUID, uuid4

import numpy as np
import pytest

from sextant.domain.errors import GraphNotFound, OptionInvalid
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.retrievers import EntitySearch, FusionWeights, SearchOptions
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.graph.name_decisions import Merge
from sextant.stores.graph.record import EntityVectors
from tests.integration.stores.graph.entity_world import ENTITIES, QUERY, Build, World, at


async def paged(
    world: World, search: EntitySearch, top_k: int, between: Callable[[int], Awaitable[None]]
) -> list[tuple[UUID, float]]:
    cursor, seen = None, []
    for page in range(100):
        options = SearchOptions(top_k=top_k, cursor=cursor)
        found = await search.search(QUERY, world.scope, options)
        seen += [(one.entity.id, one.scores.final) for one in found.results]
        cursor = found.next_cursor
        if cursor is None:
            return seen
        await between(page)
    raise AssertionError("pages without end")


@pytest.mark.parametrize("cache_seconds", [300.0, 0.0], ids=["kept", "taken anew"])
@pytest.mark.parametrize("top_k", [1, 2, 4])
async def test_pages_make_up_the_whole_list_whatever_is_added_meanwhile(
    build: Build, top_k: int, cache_seconds: float
) -> None:
    world = await build()
    search = world.search(cache_seconds=cache_seconds)

    async def insert(page: int) -> None:
        await world.add({f"Rust内存安全 {page}": ("concept", "内存安全 Rust", 0.95)})

    async def nothing(_: int) -> None: ...

    whole = await paged(world, search, 100, nothing)
    assert await paged(world, search, top_k, insert) == whole
    after = await paged(world, search, 100, nothing)
    assert len(after) > len(whole)


async def test_a_page_shows_nothing_that_is_gone(build: Build) -> None:
    world = await build()
    search = world.search()
    first = await search.search(QUERY, world.scope, SearchOptions(top_k=1))
    left = first.results[0].entity.name
    gone = [Merge(world.id(name), world.id(left)) for name in ENTITIES if name != left]
    await world.record.merge(world.scope, gone)
    await world.reading.catch_up(world.scope)
    options = SearchOptions(top_k=10, cursor=first.next_cursor)
    assert (await search.search(QUERY, world.scope, options)).results == ()


async def test_a_hot_query_is_answered_from_memory_until_something_is_written(build: Build) -> None:
    """结果缓存: five minutes, per user, dropped on write of the graph or of vectors."""
    world = await build()
    now = [0.0]
    search = EntitySearch(
        world.database, world.reading.graph, world.embedder, world.database.settings,
        clock=lambda: now[0],
    )  # fmt: skip
    one = SearchOptions(explain=True)

    async def cached() -> bool:
        found = await search.search(QUERY, world.scope, one)
        assert found.debug is not None
        return found.debug.cached

    assert [await cached(), await cached()] == [False, True]
    asked = world.embedder.asked
    now[0] = 299.0
    assert await cached()
    assert world.embedder.asked == asked
    now[0] = 300.0
    assert [await cached(), await cached()] == [False, True]
    tokio = MentionRow(world.id("Tokio"), None, MentionKind.IMPORT, "Tokio", "tool", "Rust内存")
    await world.record.add(world.scope, GraphEvidence([tokio]))
    await world.reading.catch_up(world.scope)
    assert [await cached(), await cached()] == [False, True]
    vectors = EntityVectors(world.database)
    waiting = await vectors.to_embed(world.scope)
    await vectors.store(world.scope, waiting, np.stack([at(0.7)]))
    assert [await cached(), await cached()] == [False, True]


async def test_another_user_finds_nothing_and_cannot_use_a_cursor(build: Build) -> None:
    world = await build()
    search = world.search()
    found = await search.search(QUERY, world.scope, SearchOptions(top_k=1))
    assert found.next_cursor is not None
    stranger = Scope(f"user-{uuid4()}", world.scope.graph_id)
    with pytest.raises(GraphNotFound):
        await search.search(QUERY, stranger)
    other = Scope(stranger.user_id, "own")
    await world.record.add(
        other,
        GraphEvidence(
            [
                MentionRow(
                    entity_id(other, "Mine"), None, MentionKind.IMPORT, "Mine", "x", "Rust内存"
                )
            ]
        ),
    )
    await world.reading.catch_up(other)
    mine = await search.search(QUERY, other)
    assert [one.entity.name for one in mine.results] == ["Mine"]
    with pytest.raises(OptionInvalid, match="cursor"):
        await search.search(QUERY, other, SearchOptions(cursor=found.next_cursor))


async def test_a_cursor_of_another_search_or_a_changed_one_is_refused(build: Build) -> None:
    world = await build()
    search = world.search()
    found = await search.search(QUERY, world.scope, SearchOptions(top_k=1))
    cursor = found.next_cursor
    assert cursor is not None
    weights = FusionWeights(vector=1.0)
    filters = {"entityTypes": ["tool"]}
    for query, options in (
        ("else", SearchOptions(cursor=cursor)),
        (QUERY, SearchOptions(cursor=cursor, weights=weights)),
        (QUERY, SearchOptions(cursor=cursor, filters=filters)),
        *((QUERY, SearchOptions(cursor=bad)) for bad in changed(cursor)),
    ):
        with pytest.raises(OptionInvalid, match="cursor") as refused:
            await search.search(query, world.scope, options)
        assert refused.value.field == "cursor"


def changed(cursor: str) -> list[str]:
    swapped = [
        cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
        for place in range(0, len(cursor), 7)
    ]
    return [*swapped, "", "x", cursor + "AAAA", cursor[:-4], "长" * 10, "=" * 64, "A" * 5000]
