"""Recent questions are not embedded again."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from sextant.models.embedding.cache import CachedEmbedder
from sextant.models.protocols import Vectors


class CountingEmbedder:
    """Counts the questions that reach it; a question waits until `open` is set, `bad` fails."""

    name = "counting"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.open.set()
        self.warm = False

    async def warm_up(self) -> None:
        self.warm = True

    async def embed_query(self, text: str) -> Vectors:
        self.asked.append(text)
        await self.open.wait()
        if text == "bad":
            raise ValueError(text)
        return np.array([len(text), 1], np.float32)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return np.array([await self.embed_query(text) for text in texts])


async def test_a_repeated_question_is_computed_once() -> None:
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, 2)
    first, second = await embedder.embed_query("a"), await embedder.embed_query("a")
    assert inner.asked == ["a"]
    assert first.tolist() == second.tolist() == [1, 1]


async def test_the_question_asked_longest_ago_is_forgotten_first() -> None:
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, 2)
    for question in ("a", "b", "a", "c", "a", "b"):
        await embedder.embed_query(question)
    assert inner.asked == ["a", "b", "c", "b"]


async def test_a_cache_of_size_zero_keeps_nothing() -> None:
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, 0)
    await embedder.embed_query("a")
    await embedder.embed_query("a")
    assert inner.asked == ["a", "a"]


async def test_the_same_question_asked_at_the_same_time_is_computed_once() -> None:
    inner = CountingEmbedder()
    inner.open.clear()
    embedder = CachedEmbedder(inner, 8)
    asking = [asyncio.create_task(embedder.embed_query("a")) for _ in range(5)]
    await asyncio.sleep(0)
    inner.open.set()
    vectors = await asyncio.gather(*asking)
    assert inner.asked == ["a"]
    assert all(vector.tolist() == [1, 1] for vector in vectors)


async def test_who_gives_up_does_not_cancel_the_others() -> None:
    inner = CountingEmbedder()
    inner.open.clear()
    embedder = CachedEmbedder(inner, 8)
    impatient = asyncio.create_task(embedder.embed_query("a"))
    patient = asyncio.create_task(embedder.embed_query("a"))
    await asyncio.sleep(0)
    impatient.cancel()
    await asyncio.sleep(0)
    inner.open.set()
    assert (await patient).tolist() == [1, 1]
    assert impatient.cancelled()
    assert inner.asked == ["a"]


async def test_who_waits_for_another_may_give_up() -> None:
    inner = CountingEmbedder()
    inner.open.clear()
    embedder = CachedEmbedder(inner, 8)
    first = asyncio.create_task(embedder.embed_query("a"))
    second = asyncio.create_task(embedder.embed_query("a"))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.sleep(0)
    inner.open.set()
    assert (await first).tolist() == [1, 1]
    assert second.cancelled()
    assert inner.asked == ["a"]


async def test_a_failure_reaches_everyone_who_waits_for_it() -> None:
    inner = CountingEmbedder()
    inner.open.clear()
    embedder = CachedEmbedder(inner, 8)
    asking = [asyncio.create_task(embedder.embed_query("bad")) for _ in range(3)]
    await asyncio.sleep(0)
    inner.open.set()
    failed = await asyncio.gather(*asking, return_exceptions=True)
    assert [str(one) for one in failed] == ["bad"] * 3
    assert inner.asked == ["bad"]


async def test_a_failure_reaches_the_asker_and_is_tried_again() -> None:
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, 8)
    for _ in range(2):
        with pytest.raises(ValueError, match="bad"):
            await embedder.embed_query("bad")
    assert inner.asked == ["bad", "bad"]


async def test_a_cached_vector_cannot_be_changed_by_its_user() -> None:
    embedder = CachedEmbedder(CountingEmbedder(), 8)
    vector = await embedder.embed_query("a")
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 7


async def test_passages_name_dimension_and_warming_up_pass_through() -> None:
    inner = CountingEmbedder()
    embedder = CachedEmbedder(inner, 8)
    await embedder.warm_up()
    passages = await embedder.embed_passages(["a", "a"])
    assert (embedder.name, embedder.dimension, inner.warm) == ("counting", 2, True)
    assert passages.shape == (2, 2)
    assert inner.asked == ["a", "a"]
