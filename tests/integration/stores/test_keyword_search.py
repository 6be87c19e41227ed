"""The keyword lane finds what ILIKE finds, with the same counts, in the same order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID, uuid4

import numpy as np
import pytest
import pytest_asyncio
from hypothesis import given, settings
from hypothesis import strategies as st

from sextant.domain.errors import EmbeddingModelChanged
from sextant.domain.scope import Scope
from sextant.stores.chunks import chunk_store
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.chunks.grams import salt_grams
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import Scored
from tests.integration.chunk_hits import keyword_hits

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]

# The definition, in PostgreSQL's own words; \ escapes what a pattern would read as a wildcard.
ORACLE = r"""
select c.text, count(*) from chunks c join graphs g using (scope_id)
cross join unnest(%s::text[]) as word
where g.graph_id = %s and c.text ilike '%%' || regexp_replace(word, '([\\%%_])', '\\\1', 'g') || '%%'
group by c.id, c.text
"""

GRAMS: LiteralString = "select count(*) from search_grams(%s, array['rust'], '{}', '{}')"

PIECES = st.sampled_from(
    [
        "糖尿病",
        "患者",
        "胰岛素",
        "机器学习",
        "器学",
        "GPU加速",
        "Rust",
        "ownership",
        "own",
        "30%",
        "50_a",
        "a_b",
        "C++",
        "\\n",
        "\\",
        "%",
        "_",
        "的",
        "x",
        "AI",
        "Straße",
        "ΣΊΣΥΦΟΣ",
        "İstanbul",
        "2型",
        "日本語テスト",
        "payment,",
        "付款节点。",
        "𠀀𠀁",
        "🙂",
        "e\u0301",
        "ﬁ",
    ]
)


@dataclass(frozen=True)
class Corpus:
    scope: Scope
    texts: list[str]


@pytest_asyncio.fixture
async def corpus(ingest: Ingest, scope: Scope) -> Corpus:
    """Return a scope with forty mixed texts, beside one of another graph that holds the same words."""
    pieces = "糖尿病 患者 Rust ownership 30% a_b C++ \\n AI 2型 GPU加速 İstanbul ΣΊΣΥΦΟΣ 日本語テスト 付款节点。"
    words, rng = pieces.split(" "), np.random.default_rng(11)
    texts = [
        "".join(rng.choice(words) + rng.choice(["", " ", "，", "\n"]) for _ in range(size)) + str(n)
        for n, size in enumerate(rng.integers(1, 12, 40))
    ]
    vectors = np.asarray(np.eye(40, 384), np.float32)
    await ingest(scope, texts, vectors)
    await ingest(Scope(scope.user_id, "beside"), texts[:20], vectors[:20])
    return Corpus(scope, texts)


def part_of(text: str) -> st.SearchStrategy[str]:
    """Return a piece cut out of a text, so that most keywords are somewhere."""
    ends = st.tuples(st.integers(0, len(text)), st.integers(1, 6))
    return ends.map(lambda cut: text[cut[0] : cut[0] + cut[1]])


async def test_every_keyword_list_gives_what_ilike_gives(
    database: Database, corpus: Corpus
) -> None:
    chunks = ChunkStore(database)
    keyword = st.sampled_from(corpus.texts).flatmap(part_of) | PIECES | st.just("absent")
    examples: list[list[str]] = []

    @settings(max_examples=150, database=None, derandomize=True)
    @given(st.lists(keyword.map(swap_case), min_size=1, max_size=8))
    def collect(words: list[str]) -> None:
        examples.append(words)

    collect()
    for words in examples:
        expected = await ilike(database, corpus.scope, words)
        hits = await keyword_hits(chunks, corpus.scope, words, 100)
        found = {hit.chunk.text: int(hit.score) for hit in hits}
        assert found == expected, words
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        first = await keyword_hits(chunks, corpus.scope, words, 3)
        assert [hit.chunk.id for hit in first] == [hit.chunk.id for hit in hits[:3]]
        bare = await chunks.keyword_matches(corpus.scope, words, 3)
        assert bare.ids == [str(hit.chunk.id) for hit in first]
        assert bare.scores == pytest.approx([hit.score for hit in first])


def swap_case(word: str) -> str:
    """Return keywords come in any case; case pairs that are not one to one are left alone."""
    return word.swapcase() if len(word.swapcase()) == len(word) and word.isascii() else word


async def ilike(database: Database, scope: Scope, words: list[str]) -> dict[str, int]:
    distinct = list({word.lower(): word for word in words if word}.values())
    async with database.transaction(scope.user_id) as connection:
        rows = await connection.execute(ORACLE, [distinct, scope.graph_id])
        return {text: count async for text, count in rows}


async def test_denser_texts_come_first_among_equals(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    texts = ["糖尿病" + "很" * 50, "糖尿病", "糖尿病与胰岛素" + "很" * 99]
    await ingest(scope, texts, np.asarray(np.eye(3, 384), np.float32))
    hits = await keyword_hits(ChunkStore(database), scope, ["糖尿病", "胰岛素"], 10)
    assert [hit.chunk.text for hit in hits] == [texts[2], texts[1], texts[0]]
    assert [int(hit.score) for hit in hits] == [2, 1, 1]


async def test_texts_that_the_index_names_wrongly_do_not_hide_those_that_hold_the_word(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    """Two grams with one hash: short texts with the other one look denser than all that hold it."""
    word, other = colliding()
    wrong = [f"{other}，{number}" for number in range(400)]
    right = [f"{word}，{'很' * 40}，{number}" for number in range(30)]
    texts = [*wrong, *right, "糖尿病"]
    vectors = np.asarray(np.eye(384, dtype=np.float32)[np.arange(len(texts)) % 384])
    await ingest(scope, texts, vectors)
    found = await keyword_hits(ChunkStore(database), scope, [word], 20)
    assert {hit.chunk.text for hit in found} <= set(right)
    assert len(found) == 20
    everything = await keyword_hits(ChunkStore(database), scope, [word, "糖尿病"], 100)
    assert {hit.chunk.text for hit in everything} == {*right, "糖尿病"}
    assert everything[0].chunk.text == "糖尿病"
    assert [hit.chunk.id for hit in everything[1:21]] == [hit.chunk.id for hit in found]


def colliding() -> tuple[str, str]:
    """Return two pairs of ideographs with the same gram in the index."""
    seen: dict[int, str] = {}
    for code in range(0x4E00, 0x9FFF):
        pair = f"机{chr(code)}"
        (gram,) = salt_grams([pair], 1)[0].tolist()
        if gram in seen:
            return seen[gram], pair
        seen[gram] = pair
    raise AssertionError("no two grams fall together")


async def test_more_words_than_a_bound_can_tell_apart_are_counted_all_the_same(
    database: Database, corpus: Corpus
) -> None:
    words = [*(f"absent{number}" for number in range(70)), "糖尿病", "rust"]
    hits = await keyword_hits(ChunkStore(database), corpus.scope, words, 100)
    expected = await ilike(database, corpus.scope, ["糖尿病", "rust"])
    assert {hit.chunk.text: int(hit.score) for hit in hits} == expected


async def test_a_stranger_who_knows_the_number_of_a_scope_finds_nothing_in_it(
    database: Database, corpus: Corpus
) -> None:
    async with database.transaction(corpus.scope.user_id) as connection:
        row = await (await connection.execute("select min(scope_id) from graphs")).fetchone()
    assert row is not None
    async with database.transaction(corpus.scope.user_id) as connection:
        own = await (await connection.execute(GRAMS, row)).fetchone()
    async with database.transaction(f"user-{uuid4()}") as connection:
        foreign = await (await connection.execute(GRAMS, row)).fetchone()
    assert own is not None
    assert own[0] > 0
    assert foreign == (0,)


async def test_a_lane_that_fails_does_not_take_the_other_along(
    database: Database, corpus: Corpus
) -> None:
    chunks, words, vector = (
        ChunkStore(database),
        ["糖尿病", "rust"],
        np.eye(384, dtype=np.float32)[3],
    )
    held = await chunks.keyword_matches(corpus.scope, words, 5)
    failed, still = await asyncio.gather(
        chunks.nearest(corpus.scope, vector[:7], 5),
        chunks.keyword_matches(corpus.scope, words, 5),
        return_exceptions=True,
    )
    assert isinstance(failed, EmbeddingModelChanged)
    assert isinstance(still, Scored)
    assert len(still.ids) == 5
    assert still == held


async def test_what_is_not_sure_by_the_texts_looked_into_at_first_is_looked_for_deeper(
    database: Database, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks, words = ChunkStore(database), ["糖尿病", "rust", "机器学习"]
    found = await chunks.keyword_matches(corpus.scope, words, 20)
    monkeypatch.setattr(chunk_store, "_TEXTS_PER_HIT", 1)
    assert await chunks.keyword_matches(corpus.scope, words, 20) == found
    assert await chunks.keyword_matches(corpus.scope, words, 1) == Scored(
        found.ids[:1], found.scores[:1]
    )


async def test_texts_and_grams_lie_apart_however_short_so_that_rows_are_narrow(
    database: Database, corpus: Corpus
) -> None:
    """A search reads a hundred rows of those that the index names from one page."""
    inside = """select count(*) from chunk_grams join graphs using (scope_id) where grams <> '{}'
        and (pg_column_toast_chunk_id(grams) is null
          or pg_column_toast_chunk_id(folded) is null and octet_length(folded) > 100)"""
    async with database.transaction(corpus.scope.user_id) as connection:
        row = await (await connection.execute(inside)).fetchone()
    assert row == (0,)


HOSTILE = (
    *(
        "x" * 2000,
        "糖" * 2000,
        "糖尿病" + "\n" * 1997,
        "%" * 2000,
        "_",
        "%",
        "\\",
        "\\%",
        "\\_",
        "'",
        '"',
    ),
    *(
        "{}",
        "{a,b}",
        'a","b',
        "NULL",
        "null",
        "\n",
        "\t",
        " ",
        "ß",
        "ẞ",
        "SS",
        "ı",
        "İ",
        "i",
        "I",
        "ſ",
    ),
    *(
        "🙂",
        "👨\u200d👩\u200d👧",
        "\ufeff",
        "\u202e",
        "$1",
        "%s",
        "%(k)s",
        "):*",
        "a&b",
        "型",
        "𠀀",
        "ǅ",
        "ŉ",
        "Ω",
    ),
)


async def test_hostile_keywords_are_looked_for_as_they_are_written(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    texts = [*HOSTILE, *(f"a{word}b" for word in HOSTILE), "aNULLb {a,b}", "STRASSE Straße ẞ"]
    await ingest(scope, texts, np.asarray(np.eye(len(texts), 384), np.float32))
    chunks = ChunkStore(database)
    for word in (*HOSTILE, "ss", "nullb", "straße", "STRASSE"):
        hits = await keyword_hits(chunks, scope, [word], 200)
        assert {hit.chunk.text: int(hit.score) for hit in hits} == await ilike(
            database, scope, [word]
        ), word


async def test_what_postgresql_cannot_store_is_in_no_text(
    database: Database, corpus: Corpus
) -> None:
    chunks = ChunkStore(database)
    for word in ("\0", "糖尿病\0", "\0" * 2000, "\ud800", "糖\udfff尿"):
        assert len((await chunks.keyword_matches(corpus.scope, [word], 5)).ids) == 0
        both = await chunks.keyword_matches(corpus.scope, [word, "糖尿病"], 5)
        alone = await chunks.keyword_matches(corpus.scope, ["糖尿病"], 5)
        assert both.ids == alone.ids
