"""A data folder of an earlier version is brought up to date with what lies in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString
from uuid import UUID, uuid4

import pytest
import pytest_asyncio
from psycopg import AsyncConnection, ConnectionInfo, sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from sextant.domain.errors import DatabaseUnavailable
from sextant.domain.graph import CO_OCCURS
from sextant.stores.chunks.grams import lowercase, salt_grams
from sextant.stores.graph.ids import relation_id
from sextant.stores.postgresql import database as opening
from sextant.stores.postgresql import migrations, queue_schema
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries

TEXTS = ["糖尿病患者的血糖控制", "Ownership moves when a value is assigned", "-"]


@pytest_asyncio.fixture
async def empty(database: Database) -> AsyncIterator[AsyncConnection[Any]]:
    """Yield the owner's connection to a database of the test server without any schema."""
    async with made(database) as connection:
        yield connection


@asynccontextmanager
async def made(
    database: Database, encoding: LiteralString = "UTF8"
) -> AsyncIterator[AsyncConnection[Any]]:
    """Provide the owner's connection to a new database, which is dropped at the end."""
    name = sql.Identifier(f"old-{uuid4()}")
    create = sql.SQL("create database {} encoding {} locale 'C' template template0")
    async with database.owner() as connection:
        await connection.set_autocommit(True)
        await connection.execute(create.format(name, sql.Literal(encoding)))
        own = make_conninfo(connection.info.dsn, dbname=name.as_string()[1:-1])
        async with await AsyncConnection.connect(own, autocommit=True) as opened:
            yield opened
        await connection.execute(sql.SQL("drop database {}").format(name))


async def migrate_to(
    connection: AsyncConnection[Any], version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bring a database to the schema of before `version`, as an older folder has it."""
    older = [one for one in migrations.migrations() if one.version < version]
    with monkeypatch.context() as then:
        then.setattr(migrations, "migrations", lambda: older)
        await migrations.migrate(connection)
    await connection.execute("set search_path = sextant, public")


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
async def test_a_database_that_does_not_hold_every_text_is_left_as_it_is(
    database: Database, encoding: LiteralString
) -> None:
    async with made(database, encoding) as narrow:
        with pytest.raises(DatabaseUnavailable, match=f"{encoding}.* ENCODING 'UTF8'"):
            await migrations.migrate(narrow)
        found = await narrow.execute("select to_regnamespace('sextant')")
        assert await found.fetchone() == (None,)


async def test_a_pooler_that_hides_how_the_server_writes_text_is_no_obstacle(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may tell each client as a connection begins only some of what the server says then."""
    monkeypatch.setattr(ConnectionInfo, "parameter_status", lambda *_: None)
    await migrations.migrate(empty)
    found = await empty.execute("select to_regnamespace('sextant') is not null")
    assert await found.fetchone() == (True,)


async def test_grams_of_the_first_version_become_those_of_this_one(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate_to(empty, 3, monkeypatch)
    scope_id = 131_072 + 70_000  # its low bits set the sign
    for text in TEXTS:
        await empty.execute(
            "insert into chunk_grams values (%s, gen_random_uuid(), 'u', %s, %s::bigint[])",
            [scope_id, text, [scope_id << 32 | hashed for hashed in wide_hashes(text)]],
        )
    await migrations.migrate(empty)
    stored = await empty.execute("select folded, grams from chunk_grams")
    found = {text: set(grams) async for text, grams in stored}
    expected = salt_grams([lowercase(text) for text in TEXTS], scope_id)
    assert found == {text: set(own.tolist()) for text, own in zip(TEXTS, expected, strict=True)}


def wide_hashes(text: str) -> list[int]:
    """Return 32-bit hashes as the first version stored them: of pairs in Chinese and triples in English."""
    folded, found = lowercase(text), []
    for at in range(len(folded)):
        width = 2 if ord(folded[at]) >= 0x3400 else 3
        window = folded[at : at + width]
        if len(window) == width and window.isalnum():
            packed = 0
            for char in window:
                packed = packed << 21 | ord(char)
            packed ^= packed >> 32
            found.append((packed * 0x9E3779B97F4A7C15 >> 32) & 0xFFFFFFFF)
    return found


async def test_entities_of_an_older_folder_are_found_by_full_text_afterwards(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate_to(empty, 10, monkeypatch)
    await empty.execute("set sextant.user_id = 'u'")
    await empty.execute("insert into graphs (user_id, graph_id) values ('u', 'g')")
    for name, said, mentions in (
        ("糖尿病", "代谢性疾病", 2), ("Insulin", "Lowers sugar", 5), ("once", "sugar", 1),
        ("长" * 3000, "sugar", 2),
    ):  # fmt: skip
        await empty.execute(
            "insert into entities (scope_id, id, user_id, name, entity_type, description,"
            " mention_count, asserted_count, degree)"
            " select scope_id, gen_random_uuid(), 'u', %s, 'X', %s, %s, 0, 0 from graphs",
            [name, said, mentions],
        )
    await migrations.migrate(empty)
    wanted = {"lowered": {"Insulin"}, "糖尿病": {"糖尿病"}, "sugars": {"Insulin", "长" * 3000}}
    for asked, names in wanted.items():
        rows = await empty.execute("select name from fulltext_search_entities(%s, 'u')", [asked])
        assert {row[0] async for row in rows} == names


async def test_entities_of_an_older_folder_are_mentioned_once_by_a_passage_afterwards(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate_to(empty, 46, monkeypatch)
    await empty.execute("set sextant.user_id = 'u'")
    await empty.execute("insert into graphs (user_id, graph_id) values ('u', 'g')")
    await empty.execute("insert into graph_versions select scope_id, 'u', 7, true from graphs")
    whole, short, title, term = (uuid4() for _ in range(4))
    one, other = uuid4(), uuid4()
    said = [
        (whole, one, "term"), (short, one, "term"), (title, one, "title"), (title, one, "model"),
        (title, other, "title"), (term, one, "term"), (term, other, "term"),
    ]  # fmt: skip
    for entity, chunk, kind in said:
        await empty.execute(
            "insert into mentions select scope_id, %s, %s, %s, 0, 'u', gen_random_uuid(), 'n', 'X',"
            " '', null, 0, 0 from graphs",
            [entity, chunk, kind],
        )
    await empty.execute(
        "insert into entity_merges (scope_id, from_id, into_id, root_id, user_id, reason)"
        " select scope_id, %s, %s, %s, 'u', '' from graphs",
        [short, whole, whole],
    )
    for entity, mentions, asserted in ((whole, 2, 0), (title, 3, 3), (term, 2, 0)):
        await empty.execute(
            "insert into entities (scope_id, id, user_id, name, entity_type, description,"
            " mention_count, asserted_count, degree)"
            " select scope_id, %s, 'u', 'n', 'X', '', %s, %s, 1 from graphs",
            [entity, mentions, asserted],
        )
    for node, neighbour, outgoing in ((whole, term, True), (term, whole, False)):
        await empty.execute(
            "insert into adjacency select scope_id, %s, true, 1, %s, %s, %s, 'u', 'R', 1, 1 from graphs",
            [node, whole, neighbour, outgoing],
        )
    await migrations.migrate(empty)

    rows = await empty.execute("select id, mention_count, shown from entities")
    expected = {(whole, 1, False), (title, 2, True), (term, 2, True)}
    assert set(await rows.fetchall()) == expected
    rows = await empty.execute("select shown from adjacency")
    assert await rows.fetchall() == [(False,), (False,)]
    rows = await empty.execute(
        "select version, (select array_agg(kind) from graph_outbox) from graph_versions"
    )
    assert await rows.fetchall() == [(8, ["everything"])]


async def test_relations_of_an_older_folder_are_found_by_their_ids_afterwards(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One as a passage states it, two that only a statement about a merged entity counts for."""
    await migrate_to(empty, 51, monkeypatch)
    await empty.execute("set sextant.user_id = 'u'")
    await empty.execute("insert into graphs (user_id, graph_id) values ('u', 'g')")
    root, gone, end, far = (uuid4() for _ in range(4))
    await empty.execute(
        "insert into entity_merges (scope_id, from_id, into_id, root_id, user_id, reason)"
        " select scope_id, %s, %s, %s, 'u', '' from graphs",
        [gone, root, root],
    )
    for source, target, *stated in (
        (end, far, end, far),
        (root, end, gone, end),
        (far, root, far, gone),
    ):
        await empty.execute(
            "insert into relation_evidence select scope_id, relation_key(%s, %s, 'R'),"
            " gen_random_uuid(), 'u', gen_random_uuid(), %s, %s, 'R', 'said', 1 from graphs",
            [*stated, *stated],
        )
        for node, neighbour in ((source, target), (target, source)):
            await empty.execute(
                "insert into adjacency select scope_id, %s, true, 1, relation_key(%s, %s, 'R'), %s, %s,"
                " 'u', 'R', 1, 1 from graphs",
                [node, source, target, neighbour, node == source],
            )
    before = await (await empty.execute("select * from adjacency order by node_id")).fetchall()
    await migrations.migrate(empty)

    rows = await empty.execute("select * from adjacency order by node_id")
    assert await rows.fetchall() == before
    keys = {"scope_id": 1, "nil": UUID(int=0), "co_occurs": CO_OCCURS}
    for source, target in ((end, far), (root, end), (far, root)):
        asked = [relation_id(source, target, "R")]
        found = await empty.execute(
            load_queries("graph_reads")["relations"], {**keys, "ids": asked}
        )
        ((key, *ends, _, _, description, _),) = await found.fetchall()
        assert (key, *ends, description) == (*asked, source, target, "said")


async def test_what_has_no_direction_goes_one_way_in_an_older_folder_afterwards(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A merge had turned it: beside one that goes the right way, and alone."""
    await migrate_to(empty, 58, monkeypatch)
    await empty.execute("set sextant.user_id = 'u'")
    await empty.execute("insert into graphs (user_id, graph_id) values ('u', 'g')")
    low, root, other, gone = sorted(uuid4() for _ in range(4))
    for one, degree in ((low, 2), (root, 3), (other, 1)):
        await empty.execute(
            "insert into entities (scope_id, id, user_id, name, entity_type, description,"
            " mention_count, asserted_count, degree)"
            " select scope_id, %s, 'u', %s, 'TERM', '', 0, 1, %s from graphs",
            [one, str(one), degree],
        )
    await empty.execute(
        "insert into entity_merges (scope_id, from_id, into_id, root_id, user_id, reason)"
        " select scope_id, %s, %s, %s, 'u', '' from graphs",
        [gone, root, root],
    )
    # `low` with `root` in its own words, and with `gone` by way of an id below it in another passage.
    for source, target, *stated in (
        (low, root, low, root),
        (root, low, gone, low),
        (other, root, other, gone),
    ):
        await empty.execute(
            "insert into relation_evidence select scope_id, relation_key(%s, %s, 'CO_OCCURS'),"
            " gen_random_uuid(), 'u', gen_random_uuid(), %s, %s, 'CO_OCCURS', '', 2 from graphs",
            [*stated, *stated],
        )
        for node, neighbour in ((source, target), (target, source)):
            await empty.execute(
                "insert into adjacency select scope_id, %s, true, 2,"
                " relation_key(%s, %s, 'CO_OCCURS'), %s, %s, 'u', 'CO_OCCURS', 2, 1 from graphs",
                [node, source, target, neighbour, node == source],
            )
    await migrations.migrate(empty)

    rows = await empty.execute(
        "select node_id, neighbour_id, relation_id, outgoing, shown, weight, evidence_count"
        " from adjacency"
    )
    near, far = (relation_id(one, two, CO_OCCURS) for one, two in ((low, root), (root, other)))
    assert set(await rows.fetchall()) == {
        (low, root, near, True, True, 4.0, 2),
        (root, low, near, False, True, 4.0, 2),
        (root, other, far, True, True, 2.0, 1),
        (other, root, far, False, True, 2.0, 1),
    }
    degrees = await empty.execute("select id, degree from entities")
    assert dict(await degrees.fetchall()) == {low: 1, root: 2, other: 1}
    sources = await empty.execute("select id, source_id from merged_relations")
    assert dict(await sources.fetchall()) == {near: low, far: root}


async def test_grams_of_a_large_scope_of_an_older_folder_are_counted_afterwards(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate_to(empty, 68, monkeypatch)
    await empty.execute("insert into graphs (user_id, graph_id) values ('a', 'g')")
    await empty.execute("create table chunk_vectors_1 as select generate_series(1, 40) as chunk_id")
    await empty.execute("analyze chunk_vectors_1")
    await empty.execute("update graphs set partition_key = 1")
    ((common, often, rare),) = [salt_grams(["return"], 1)[0].tolist()[:3]]
    query = """insert into chunk_grams (scope_id, chunk_id, user_id, folded, grams)
        select 1, gen_random_uuid(), 'a', '', %s::int[] from generate_series(1, %s)"""
    for grams, number in (([common, often], 20), ([common], 11), ([rare, common], 9)):
        await empty.execute(query, [grams, number])

    await migrations.migrate(empty)
    found = await empty.execute("select gram, bit_count(sample) from common_grams")
    unsalted = {common & 32767: 40, often & 32767: 20}
    assert dict([row async for row in found]) == unsalted
    counted = await empty.execute("select counted_chunks from graphs")
    assert await counted.fetchone() == (40,)


async def test_vectors_of_an_older_folder_are_put_into_blocks(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrate_to(empty, 69, monkeypatch)
    await empty.execute("insert into graphs (user_id, graph_id) values ('a', 'g'), ('b', 'h')")
    await empty.execute("""insert into chunk_vectors (partition_key, scope_id, chunk_id, user_id, embedding)
        select 0, scope_id, gen_random_uuid(), user_id, (select array_agg(random()) from generate_series(1, 384))::vector
        from graphs cross join generate_series(1, 12 * scope_id)""")
    await migrations.migrate(empty)
    sizes = await empty.execute(
        "select scope_id, cardinality(ids) from vector_blocks order by 1, 2"
    )
    assert await sizes.fetchall() == [(1, 2), (1, 10), (2, 4), (2, 10), (2, 10)]
    held = await empty.execute("select unnest(ids) from vector_blocks order by 1")
    stored = await empty.execute("select chunk_id from chunk_vectors order by 1")
    assert await held.fetchall() == await stored.fetchall()


async def test_the_queue_follows_the_versions_of_its_library(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "migrations").mkdir()
    (tmp_path / "schema.sql").write_text("create table first_jobs ()")
    (tmp_path / "migrations" / "01_first.sql").write_text("create table never_run ()")
    monkeypatch.setattr(queue_schema, "_folder", lambda: tmp_path)
    queue_schema.library_migrations.cache_clear()
    await migrations.migrate(empty)

    (tmp_path / "migrations" / "02_second.sql").write_text("create table second_jobs ()")
    queue_schema.library_migrations.cache_clear()
    await migrations.migrate(empty)
    await migrations.migrate(empty)

    queue_schema.library_migrations.cache_clear()
    tables = await empty.execute(
        "select table_name::text from information_schema.tables where table_schema = 'sextant_queue'"
    )
    assert {name async for (name,) in tables} == {
        "applied_migrations",
        "first_jobs",
        "second_jobs",
    }


async def test_whoever_waits_for_another_s_migration_gives_up_in_the_end(
    database: Database, empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = make_conninfo(empty.info.dsn, dbname=empty.info.dbname)
    async with await AsyncConnection.connect(dsn, autocommit=True) as other:
        await other.execute("select pg_advisory_lock(%s)", [migrations._LOCK])
        with monkeypatch.context() as now:
            now.setattr(migrations, "_LOCK_SECONDS", 0.0)
            with pytest.raises(DatabaseUnavailable, match="migrating the database for more than"):
                await migrations.migrate(empty)
    await migrations.migrate(empty)


async def test_opening_ends_where_the_database_does_not_come_to_an_answer(
    database: Database, empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrations.migrate(empty)
    monkeypatch.setattr(opening, "_OPENING_SECONDS", 0.05)
    dsn = make_conninfo(empty.info.dsn, dbname=empty.info.dbname)
    settings = database.settings.model_copy(update={"database_url": SecretStr(dsn)})
    async with empty.transaction():
        await empty.execute("lock table sextant.schema_migrations in access exclusive mode")
        with pytest.raises(DatabaseUnavailable, match=r"longer than 0\.05 s"):
            await Database.open(settings)
