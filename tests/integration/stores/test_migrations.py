"""An empty database gets the schema, an older one is migrated to it with its data."""

from __future__ import annotations

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


OLDEST = migrations.migrations()[0].version


async def record_version(connection: AsyncConnection[Any], version: int) -> None:
    """Let the database say that it has the schema of `version`."""
    await connection.execute(
        "delete from sextant.schema_migrations where version > (select min(version) from sextant.schema_migrations)"
    )
    await connection.execute("update sextant.schema_migrations set version = %s", [version])


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


async def test_a_database_of_the_initial_schema_is_opened_with_its_data(
    database: Database, empty: AsyncConnection[Any]
) -> None:
    await migrations.migrate(empty)
    await empty.execute("insert into sextant.graphs (user_id, graph_id) values ('u', 'g')")
    async with await Database.open(settings_of(database, empty)) as opened:
        assert await opened.is_current()
    graphs = await empty.execute("select user_id, graph_id from sextant.graphs")
    assert await graphs.fetchall() == [("u", "g")]


async def test_an_older_database_is_refused_and_stays_as_it_is(
    empty: AsyncConnection[Any],
) -> None:
    await migrations.migrate(empty)
    await record_version(empty, OLDEST - 1)
    with pytest.raises(ConflictError, match=f"version {OLDEST - 1}.*before") as caught:
        await migrations.migrate(empty)
    assert "Ingest the documents again" in caught.value.next_step
    found = await empty.execute("select max(version) from sextant.schema_migrations")
    assert await found.fetchall() == [(OLDEST - 1,)]


async def test_the_oldest_schema_loses_what_is_not_needed_and_gets_what_is(
    empty: AsyncConnection[Any],
) -> None:
    await migrations.migrate(empty)
    await empty.execute(
        "create function sextant.search_names(int, bigint[]) returns int language sql as 'select 1'"
    )
    await empty.execute(
        "create policy owner_searches on sextant.entity_names for select to current_user using (true)"
    )
    await empty.execute(
        "alter table sextant.entity_names add column tokens bigint[] not null default '{}'"
    )
    await empty.execute("create table sextant.idempotent_answers (user_id text)")
    await empty.execute(
        "create function sextant.forget_idempotent_answers(interval) returns int language sql as 'select 1'"
    )
    # No value of an enumeration can be dropped.
    await empty.execute("alter type sextant.mention_kind rename value 'name' to 'unused'")
    await record_version(empty, OLDEST)
    await migrations.migrate(empty)
    found = await empty.execute("select 'name'::sextant.mention_kind > 'term'")
    assert await found.fetchall() == [(True,)]
    found = await empty.execute("select to_regclass('sextant.idempotent_answers')")
    assert await found.fetchall() == [(None,)]
    found = await empty.execute(
        "select count(*) from information_schema.columns"
        " where table_name = 'entity_names' and column_name = 'tokens'"
    )
    assert await found.fetchall() == [(0,)]


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
    monkeypatch.setattr(opening, "_OPENING_SECONDS", 1.0)
    settings = settings_of(database, empty)
    async with empty.transaction():
        await empty.execute("lock table sextant.schema_migrations in access exclusive mode")
        with pytest.raises(DatabaseUnavailable, match=r"longer than 1 s"):
            await Database.open(settings)
