"""In a large scope common words are read only beside others: what is found is the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from uuid import UUID

import numpy as np
import pytest

from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.chunks.grams import salt_grams
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import Scored, load_queries
from sextant.text.characters import lowercase

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]
LARGE = 600
COMMON = ["糖尿病", "return", "患者", "value"]
RARE = ["ownership", "胰岛素", "付款节点", "rust", "机器学习", "valley", "尿道", "turn"]
WORDS = [*COMMON, *RARE]


@pytest.fixture(autouse=True)
def early(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scopes count as large from LARGE chunks on."""
    retrieval = database.settings.retrieval.model_copy(update={"exact_below": LARGE})
    settings = database.settings.model_copy(update={"retrieval": retrieval})
    monkeypatch.setattr(database, "settings", settings)


def mixed(count: int, seed: int) -> list[str]:
    """Return texts of three words, of which four are common, and of some that nobody asks for."""
    rng = np.random.default_rng(seed)
    often = np.array([20.0] * len(COMMON) + [1.0] * len(RARE))
    drawn = rng.choice(WORDS, (count, 3), p=often / often.sum())
    return [
        f"{'，'.join(words[: rng.integers(1, 4)])} {'filling ' * rng.integers(0, 9)}{number}"
        for number, words in enumerate(drawn)
    ]


def vectors_of(texts: Sequence[str]) -> Vectors:
    return np.eye(384, dtype=np.float32)[np.arange(len(texts)) % 384]


def asked(seed: int, count: int) -> list[list[str]]:
    rng = np.random.default_rng(seed)
    return [[*rng.choice(WORDS, rng.integers(1, 6), replace=False)] for _ in range(count)]


async def counted(database: Database, scope: Scope) -> int:
    query = "select counted_chunks from graphs where graph_id = %s"
    async with database.transaction(scope.user_id) as connection:
        row = await (await connection.execute(query, [scope.graph_id])).fetchone()
    assert row is not None
    return int(row[0])


async def forget(database: Database, scope: Scope) -> None:
    """Have everything read again, as in a scope that is not large."""
    async with database.transaction(scope.user_id) as connection:
        await connection.execute("update graphs set counted_chunks = 0")


async def assert_the_same_when_all_is_read(
    database: Database, scope: Scope, questions: Sequence[Sequence[str]]
) -> None:
    chunks = ChunkStore(database)
    wanted = (1, 3, 20, 200)
    found = [[await chunks.keyword_matches(scope, words, k) for k in wanted] for words in questions]
    await forget(database, scope)
    whole = [[await chunks.keyword_matches(scope, words, k) for k in wanted] for words in questions]
    for words, one, other in zip(questions, found, whole, strict=True):
        assert one == other, words


async def by_definition(
    database: Database, scope: Scope, words: Sequence[str], k: int
) -> list[tuple[str, int]]:
    """Return ids and counts of the best: most words, then the densest, then by id, of all texts of the scope."""
    async with database.transaction(scope.user_id) as connection:
        rows = await connection.execute("select id::text, text from chunks")
        texts = [(row[0], lowercase(row[1])) async for row in rows]
    best = []
    for one, text in texts:
        held = [word for word in words if word in text]
        density = sum(len(word.encode()) for word in held) / len(text.encode())
        best.append((-len(held), -density, one))
    return [(one, -number) for number, _, one in sorted(best)[:k] if number]


def counts(found: Scored) -> list[tuple[str, int]]:
    return [(one, int(score)) for one, score in zip(found.ids, found.scores, strict=True)]


async def test_what_is_found_is_what_the_texts_hold_in_the_same_order(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    texts = mixed(2 * LARGE, 1)
    await ingest(scope, texts, vectors_of(texts))
    assert await counted(database, scope) == len(texts)
    chunks = ChunkStore(database)
    questions = asked(2, 100)
    for words in questions[:25]:
        found = await chunks.keyword_matches(scope, words, 20)
        assert counts(found) == await by_definition(database, scope, words, 20), words
    await assert_the_same_when_all_is_read(database, scope, questions)


async def test_common_words_that_never_stand_together_are_read_whole_after_all(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    """Each is in half of the chunks, so a quarter would hold both if they had nothing to do with each other."""
    rare = [f"rust {'filling ' * 30}{number}" for number in range(9)]
    texts = [*(f"{('糖尿病', 'return')[number % 2]} {number}" for number in range(LARGE)), *rare]
    await ingest(scope, texts, vectors_of(texts))
    words = ["糖尿病", "return", "rust"]
    found = await ChunkStore(database).keyword_matches(scope, words, 5)
    assert counts(found) == await by_definition(database, scope, words, 5)
    assert len(found.ids) == 5
    await assert_the_same_when_all_is_read(database, scope, [words])


async def test_counts_of_other_texts_than_there_are_now_change_nothing(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    old = [f"{word} {number}" for word in COMMON for number in range(LARGE // 4)]
    await ingest(scope, old, vectors_of(old))
    new = mixed(LARGE // 2, 3)
    await ingest(scope, new, vectors_of(new))
    assert await counted(database, scope) == len(old)
    await assert_the_same_when_all_is_read(database, scope, asked(4, 60))


async def test_a_word_too_short_for_the_index_is_looked_for_beside_common_ones(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    kinds = [f"糖尿病，患者 {'filling ' * 30}", "糖尿病 %", "患者 ", "糖尿病 "]
    texts = [f"{kinds[number % 4]}{number}" for number in range(LARGE)]
    await ingest(scope, texts, vectors_of(texts))
    words = ["糖尿病", "患者", "%"]
    found = await ChunkStore(database).keyword_matches(scope, words, 20)
    assert counts(found) == await by_definition(database, scope, words, 20)


async def test_grams_are_counted_when_a_scope_is_large_and_when_it_has_doubled(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    settle = load_queries("partitions")["settle"]
    values = {
        "user_id": scope.user_id,
        "graph_id": scope.graph_id,
        "exact_below": LARGE,
        "longest": 4000,
    }

    async def common(word: str) -> list[int]:
        """In how many chunks of the sample each gram of the word is."""
        query = "select bit_count(sample) from common_grams where gram = any(%s)"
        async with database.transaction(scope.user_id) as connection:
            rows = await connection.execute(query, [salt_grams([word], 0)[0].tolist()])
            return [row[0] async for row in rows]

    few = [f"糖尿病 {number}" for number in range(LARGE - 1)]
    await ingest(scope, few, vectors_of(few))
    assert await counted(database, scope) == 0
    assert await common("糖尿病") == []

    many = ["rust", "return", *(f"糖尿病 {number}" for number in range(80))]
    await ingest(scope, many, vectors_of(many))
    assert await counted(database, scope) == len(few) + len(many)
    assert await common("糖尿病") == [len(few) + 80] * 2
    assert await common("rust") == []

    rest = [f"rust {number}" for number in range(2 * LARGE)]
    await ingest(scope, rest, vectors_of(rest))
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(settle, values)
    assert await counted(database, scope) == len(few) + len(many) + len(rest)
    assert all(500 < often < 700 for often in await common("rust"))
