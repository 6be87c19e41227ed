"""An empty database gets the schema, an older one is migrated to it with its data."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, LiteralString
from uuid import uuid4

import pytest
import pytest_asyncio
from psycopg import AsyncConnection, ConnectionInfo, sql
from psycopg.conninfo import make_conninfo
from pydantic import SecretStr

from sextant.domain.errors import ConflictError, DatabaseUnavailable
from sextant.domain.settings import Settings
from sextant.stores.postgresql import database as opening
from sextant.stores.postgresql import migrations
from sextant.stores.postgresql.database import Database


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


OLDEST = migrations.migrations()[0].version - 1
# Functions that reset_vectors was made of until the migrations became one schema.
WRAPPED = (
    "reset_all_vectors",
    "reset_projected_vectors",
    "reset_record_vectors",
    "reset_chunk_vectors",
)
# Functions of the oldest version that are no more.
GONE: tuple[LiteralString, ...] = (
    "chunk_stamp(text, text)",
    "told_chunks(text, text, bytea, int)",
    "told_entities(text, text, uuid[])",
    "nearest_told(text, text, vector, int, int)",
)
# What functions were called at the oldest version, by their names of today.
OLD_NAMES = {
    "current_tenant": "own_tenant",
    "keyword_matches": "held_chunks",
    "note_write": "note_written",
    "note_rows": "note_touched",
    "note_document_names": "note_told",
}


async def make_older(connection: AsyncConnection[Any], version: int) -> None:
    """Create the schema as it was at `version`, as far as that differs from today's, with a knowledge base."""
    await migrations.migrate(connection)
    await connection.execute("set search_path = sextant, public")
    await connection.execute("truncate schema_migrations")
    await connection.execute(
        "insert into schema_migrations (version, name, sha256) values (%s, 'old', 'x')", [version]
    )
    await connection.execute(
        "create or replace function reset_vectors(new_name text, new_dimension int) "
        "returns void language sql as 'select 1'"
    )
    for name in WRAPPED:
        create = "create function {}(text, int) returns void language sql as 'select 1'"
        await connection.execute(sql.SQL(create).format(sql.Identifier(name)))
    for signature in GONE:
        create = "create function {} returns bytea language sql as 'select null::bytea'"
        await connection.execute(sql.SQL(create).format(sql.SQL(signature)))
    await name_functions_as_before(connection)
    await connection.execute("drop table ocr_pages")
    await connection.execute("alter table document_versions drop column boxes")
    await connection.execute("alter table document_versions drop column coverage cascade")
    for table in ("documents", "document_copies"):  # with the view that shows the first
        drop = sql.SQL("alter table {} drop column parent_id cascade")
        await connection.execute(drop.format(sql.Identifier(table)))
    await connection.execute("insert into graphs (user_id, graph_id) values ('u', 'g')")


async def name_functions_as_before(connection: AsyncConnection[Any]) -> None:
    for new, old in OLD_NAMES.items():
        rename = sql.SQL("alter function {} rename to {}")
        await connection.execute(rename.format(sql.Identifier(new), sql.Identifier(old)))
        callers = await connection.execute(
            "select pg_get_functiondef(oid) from pg_proc "
            "where pronamespace = 'sextant'::regnamespace and prosrc ~ %s",
            [rf"\m{new}\M"],
        )
        for (definition,) in await callers.fetchall():
            await connection.execute(re.sub(rf"\b{new}\b", old, definition))
    await connection.execute(
        "alter trigger note_document_names on document_versions rename to note_told"
    )


async def functions(connection: AsyncConnection[Any]) -> list[Any]:
    """Return the definitions of all functions of the schema."""
    found = await connection.execute(
        "select pg_get_functiondef(oid) from pg_proc where pronamespace = 'sextant'::regnamespace order by 1"
    )
    return await found.fetchall()


def settings_of(database: Database, connection: AsyncConnection[Any]) -> Settings:
    """Return settings that name the connection's database."""
    dsn = make_conninfo(connection.info.dsn, dbname=connection.info.dbname)
    return database.settings.model_copy(update={"database_url": SecretStr(dsn)})


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


async def test_a_database_of_the_last_version_before_the_schema_is_taken_over_with_its_data(
    database: Database, empty: AsyncConnection[Any]
) -> None:
    await make_older(empty, OLDEST)
    await migrations.migrate(empty)
    graphs = await empty.execute("select user_id, graph_id from graphs")
    assert await graphs.fetchall() == [("u", "g")]
    async with made(database) as fresh:
        await migrations.migrate(fresh)
        assert await functions(empty) == await functions(fresh)
    async with await Database.open(settings_of(database, empty)) as opened:
        assert await opened.is_current()


async def test_an_older_database_is_refused_and_stays_as_it_is(
    empty: AsyncConnection[Any],
) -> None:
    await make_older(empty, OLDEST - 1)
    before = await functions(empty)
    with pytest.raises(ConflictError, match=f"version {OLDEST - 1}.*before") as caught:
        await migrations.migrate(empty)
    assert "Ingest the documents again" in caught.value.next_step
    assert await functions(empty) == before


async def test_each_step_is_taken_once_and_a_new_database_has_taken_all(
    database: Database, empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await migrations.migrate(empty)
    step = migrations.Migration(9998, "9998_next.sql", "create table next_release ()")
    steps = (*migrations.migrations(), step)
    monkeypatch.setattr(migrations, "migrations", lambda: steps)
    whole = {**migrations.schema(), "99_next.sql": step.sql}
    monkeypatch.setattr(migrations, "schema", lambda: whole)
    migrations.schema_digest.cache_clear()
    async with made(database) as fresh:
        for one in (empty, empty, fresh):
            await migrations.migrate(one)
            rows = await one.execute(
                "select to_regclass('sextant.next_release') is not null, max(version) from sextant.schema_migrations"
            )
            assert await rows.fetchall() == [(True, 9998)]
    migrations.schema_digest.cache_clear()


async def test_the_queue_follows_the_versions_of_its_library(
    empty: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "migrations").mkdir()
    (tmp_path / "schema.sql").write_text("create table first_jobs ()")
    (tmp_path / "migrations" / "01_first.sql").write_text("create table never_run ()")
    monkeypatch.setattr(migrations, "_folder", lambda: tmp_path)
    migrations.library_migrations.cache_clear()
    await migrations.migrate(empty)

    (tmp_path / "migrations" / "02_second.sql").write_text("create table second_jobs ()")
    migrations.library_migrations.cache_clear()
    await migrations.migrate(empty)
    await migrations.migrate(empty)

    migrations.library_migrations.cache_clear()
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
    settings = settings_of(database, empty)
    async with empty.transaction():
        await empty.execute("lock table sextant.schema_migrations in access exclusive mode")
        with pytest.raises(DatabaseUnavailable, match=r"longer than 0\.05 s"):
            await Database.open(settings)
