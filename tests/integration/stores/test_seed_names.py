"""The tables and functions of docs/entity-search.md, as somebody with psql or Supabase calls them, under row-level security."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, LiteralString
from uuid import uuid4

import numpy as np
import pytest
import pytest_asyncio
from psycopg.rows import dict_row

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow, entity_id
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.conftest import Ingest

Row = dict[str, Any]


class Session:
    """Statements of one user, as `set sextant.user_id` lets them see."""

    def __init__(self, database: Database, user_id: str) -> None:
        self._database, self.user_id = database, user_id

    async def rows(self, query: LiteralString, **values: object) -> list[Row]:
        async with self._database.transaction(self.user_id) as connection:
            cursor = connection.cursor(row_factory=dict_row)
            await cursor.execute(query, values)
            return await cursor.fetchall()


def unit(axis: int, towards: float = 0.0) -> np.ndarray[Any, np.dtype[np.float32]]:
    vector = np.zeros(384, np.float32)
    vector[axis], vector[-1] = np.cos(towards), np.sin(towards)
    return vector


async def fill(database: Database, scope: Scope) -> None:
    names = {"所有权系统": "Rust的核心内存管理机制。", "Rust": "Memory safety.", "Seen once": ""}
    mentions = [
        MentionRow(entity_id(scope, name), None, MentionKind.IMPORT, name, "concept", said)
        for name, said in names.items()
    ]
    part = RelationRow(
        entity_id(scope, "所有权系统"), entity_id(scope, "Rust"), "part_of", None, 2.5
    )
    await GraphRecord(database).add(scope, GraphEvidence(mentions, [part]))
    vectors = EntityVectors(database)
    texts = await vectors.to_embed(scope)
    places = {"所有权系统": 0.1, "Rust": 0.9, "Seen once": 1.5}
    rows = [unit(0, places[text.text.split("\n")[0]]) for text in texts]
    await vectors.store(scope, texts, np.stack(rows))


@pytest_asyncio.fixture
async def me(database: Database, scope: Scope) -> AsyncIterator[Session]:
    await fill(database, scope)
    await fill(database, Scope(scope.user_id, "second"))
    yield Session(database, scope.user_id)


@pytest.fixture
def stranger(database: Database) -> Session:
    return Session(database, f"user-{uuid4()}")


async def test_vector_search_entities_has_the_seeds_columns_defaults_and_threshold(
    me: Session,
) -> None:
    """数据库函数 vector_search_entities: cosine > 0.5, nearest first, at most match_count."""
    query: LiteralString = (
        "select * from vector_search_entities(query_embedding => %(v)s, user_id => %(u)s,"
        " graph_id => 'default')"
    )
    near, far = await me.rows(query, v=unit(0), u=me.user_id)
    assert list(near) == ["id", "name", "description", "entity_type", "similarity"]
    assert (near["name"], far["name"]) == ("所有权系统", "Rust")
    assert (near["similarity"], far["similarity"]) == pytest.approx(
        (np.cos(0.1), np.cos(0.9)), abs=1e-5
    )
    seeds: LiteralString = "select name from vector_search_entities(%(v)s, %(u)s, %(k)s, %(t)s)"
    rows = await me.rows(seeds, v=unit(0), u=me.user_id, k=10, t=0.9)
    assert [row["name"] for row in rows] == ["所有权系统", "所有权系统"]  # of both graphs
    assert len(await me.rows(seeds, v=unit(0), u=me.user_id, k=100, t=-1.0)) == 6
    assert await me.rows(seeds, v=unit(0), u=me.user_id, k=-1, t=0.0) == []


async def test_fulltext_search_entities_ranks_by_cover_density_in_both_languages(
    me: Session,
) -> None:
    """数据库函数 fulltext_search_entities: all words, or any; rank is ts_rank_cd."""
    query: LiteralString = "select * from fulltext_search_entities(%(q)s, %(u)s, 20, 'default')"
    rust, owned = await me.rows(query, q="rust", u=me.user_id)
    assert list(rust) == ["id", "name", "description", "entity_type", "rank"]
    assert (rust["name"], owned["name"]) == ("Rust", "所有权系统")
    assert (rust["rank"], owned["rank"]) == pytest.approx((1.0, 0.1))
    for asked in ("Rust 内存", "rust & 内存", "Rust内存"):
        assert [row["name"] for row in await me.rows(query, q=asked, u=me.user_id)] == [
            "所有权系统"
        ]
    assert [row["name"] for row in await me.rows(query, q="memories", u=me.user_id)] == ["Rust"]
    both: LiteralString = "select name from fulltext_search_entities(%(q)s, %(u)s)"
    assert len(await me.rows(both, q="rust", u=me.user_id)) == 4
    for asked in ("", "the", "' | '", "!:*&|()<->", "\\", "#1", "🙂"):
        assert await me.rows(both, q=asked, u=me.user_id) == []


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("rust & memory", {"Rust"}),
        ("rust | 内存", {"Rust", "所有权系统"}),
        ("内存 & !rust", set()),
        ("rust & !memory", {"所有权系统"}),
        ("(memory | nothing) & safety", {"Rust"}),
        ("memory <-> safety", {"Rust"}),
        ("memor:*", {"Rust"}),
        ("rust &", {"Rust", "所有权系统"}),
    ],
)
async def test_fulltext_search_entities_takes_a_tsquery(
    me: Session, asked: str, names: set[str]
) -> None:
    query: LiteralString = "select name from fulltext_search_entities(%(q)s, %(u)s, 20, 'default')"
    assert {row["name"] for row in await me.rows(query, q=asked, u=me.user_id)} == names


async def test_the_seeds_own_statements_run_as_they_stand(me: Session) -> None:
    """向量相似度搜索, 全文搜索 and the traversal's query, with our type of user_id."""
    nearest = await me.rows(
        "select id, name, description, entity_type, 1 - (embedding <=> %(v)s) as similarity"
        " from knowledge_entity where user_id = %(u)s and embedding is not null"
        " order by embedding <=> %(v)s limit 2",
        v=unit(0), u=me.user_id,
    )  # fmt: skip
    assert {row["name"] for row in nearest} == {"所有权系统"}
    found = await me.rows(
        "select id, name, description, entity_type, ts_rank_cd(fts_vector, query) as rank"
        " from knowledge_entity, plainto_tsquery('english', %(q)s) query"
        " where user_id = %(u)s and fts_vector @@ query order by rank desc limit 5",
        q="memory safety", u=me.user_id,
    )  # fmt: skip
    assert {row["name"] for row in found} == {"Rust"}
    start = [row["id"] for row in nearest]
    related = await me.rows(
        "select target_entity_id, relation_type, weight from relates_to"
        " where source_entity_id = any(%(ids)s) and user_id = %(u)s",
        ids=start, u=me.user_id,
    )  # fmt: skip
    assert {(row["relation_type"], row["weight"]) for row in related} == {("part_of", 2.5)}


async def test_another_users_id_gives_nothing(me: Session, stranger: Session) -> None:
    """The function's user_id is checked by row-level security, not believed."""
    for own, asked in (
        (stranger, me.user_id),
        (me, stranger.user_id),
        (stranger, stranger.user_id),
    ):
        vector: LiteralString = "select * from vector_search_entities(%(v)s, %(u)s, 10, -1)"
        assert await own.rows(vector, v=unit(0), u=asked) == []
        words: LiteralString = "select * from fulltext_search_entities('rust', %(u)s)"
        assert await own.rows(words, u=asked) == []
    views: tuple[LiteralString, ...] = (
        "select * from knowledge_entity",
        "select * from relates_to",
        "select * from document_sections",
        "select * from scope_generations",
    )
    for view in views:
        assert await stranger.rows(view) == []
    scopes = [row["scope_id"] for row in await me.rows("select scope_id from graphs")]
    ranked: LiteralString = "select * from rank_entities(%(s)s, 'rust', 9)"
    assert await stranger.rows(ranked, s=scopes) == []
    assert len(await me.rows(ranked, s=scopes)) == 4


async def test_sections_of_live_versions_are_a_table(
    database: Database, scope: Scope, ingest: Ingest, stranger: Session
) -> None:
    document_id = await ingest(scope, ["one", "two"], np.eye(2, 384, dtype=np.float32))
    query: LiteralString = "select * from document_sections where document_id = %(d)s"
    (section,) = await Session(database, scope.user_id).rows(query, d=document_id)
    assert (section["user_id"], section["graph_id"]) == (scope.user_id, scope.graph_id)
    assert section["parent_section_id"] is None
    assert {"section_id", "title", "summary", "tags", "keywords", "path"} <= set(section)
    assert await stranger.rows(query, d=document_id) == []


async def test_without_a_user_the_views_show_nothing(database: Database, me: Session) -> None:
    nobody = Session(database, "")
    assert await me.rows("select 1 from knowledge_entity limit 1")
    assert await nobody.rows("select 1 from knowledge_entity") == []
    assert await nobody.rows("select * from fulltext_search_entities('rust', '')") == []


async def test_a_name_as_long_as_can_be_costs_no_more_than_a_name(
    database: Database, scope: Scope
) -> None:
    name = "".join(chr(0x4E00 + number % 20_000) for number in range(100_000))
    mention = MentionRow(entity_id(scope, name), None, MentionKind.IMPORT, name, "x", "一种病")
    await GraphRecord(database).add(scope, GraphEvidence([mention]))
    mine = Session(database, scope.user_id)
    query: LiteralString = "select name from fulltext_search_entities(%(q)s, %(u)s)"
    assert [row["name"] for row in await mine.rows(query, q=name[:4], u=scope.user_id)] == [name]
    assert (
        len(await mine.rows("select * from knowledge_entity where length(fts_vector) < 1100")) == 1
    )
