"""Opening a database, and what the role that serves may see."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import numpy as np
import psycopg
import pytest
import pytest_asyncio

from sextant.domain.errors import ConflictError, DatabaseUnavailable, SettingsInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.chunks.chunk_store import ChunkStore, Vectors
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.embedded.server import SUPERUSER, EmbeddedServer
from sextant.stores.postgresql.database import Database
from tests.integration.chunk_hits import keyword_hits, vector_hits
from tests.integration.stored_state import is_running

Ingest = Callable[[Scope, Sequence[str], Vectors], Awaitable[UUID]]
OPEN = """
import asyncio, sys
from pathlib import Path
from sextant.domain.settings import Settings
from sextant.stores.postgresql.database import Database
async def main():
    settings = Settings(_env_file=None, data_dir=Path(sys.argv[1]), database_url=None)
    async with await Database.open(settings) as database:
        print((await database.role_rights()).safe)
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedServer]:
    """Yield a PostgreSQL of its own, in which tests make databases."""
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    started = EmbeddedServer.start(folder)
    yield started
    started.stop()
    shutil.rmtree(folder, ignore_errors=True)


def new_database(server: EmbeddedServer, owner: str = SUPERUSER) -> str:
    name = f"db{uuid4().hex}"
    execute(server, f"create database {name} owner {owner}")
    return name


def execute(server: EmbeddedServer, *statements: str, database: str = "postgres") -> None:
    with psycopg.connect(**server.conninfo(SUPERUSER, database), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def url_settings(server: EmbeddedServer, user: str, database: str) -> Settings:
    url = f"postgresql://{user}@/{database}?host={server.socket_dir}"
    return Settings(_env_file=None, database_url=url, data_dir=server.data_dir)


@pytest_asyncio.fixture
async def managed(server: EmbeddedServer) -> AsyncIterator[Database]:
    """As in a managed PostgreSQL: the owner is no superuser, and pgvector is there already."""
    execute(server, "create role team login createrole")
    name = new_database(server, "team")
    with psycopg.connect(**server.conninfo(SUPERUSER, name), autocommit=True) as connection:
        connection.execute("create extension vector")
    async with await Database.open(url_settings(server, "team", name)) as opened:
        yield opened


async def test_the_serving_role_is_bound_by_row_level_security_on_every_table(
    database: Database,
) -> None:
    rights = await database.role_rights()
    assert rights.role == "sextant_app"
    assert rights.safe


async def test_no_table_answers_without_a_tenant_or_to_a_strange_one(
    database: Database, ingest: Ingest, scope: Scope
) -> None:
    await ingest(scope, ["secret"], np.asarray(np.eye(1, 384), np.float32))
    async with database.owner() as owner:
        rows = await owner.execute(
            "select relname from pg_class where relnamespace = 'sextant'::regnamespace"
            " and relkind in ('r', 'p') and relrowsecurity and relforcerowsecurity"
        )
        tables = [row[0] async for row in rows]
    assert {"chunks", "chunk_vectors", "chunk_vectors_small", "documents"} <= set(tables)
    async with await psycopg.AsyncConnection.connect(database.app_conninfo, autocommit=True) as app:
        for tenant in ("", str(uuid4())):
            await app.execute("select set_config('sextant.user_id', %s, false)", [tenant])
            for table in tables:
                assert await count_or_denied(app, table) == 0


async def count_or_denied(app: psycopg.AsyncConnection[tuple[int, ...]], table: str) -> int:
    try:
        row = await (await app.execute(f"select count(*) from {table}".encode())).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        return 0
    assert row is not None
    return row[0]


async def test_a_tenant_cannot_write_rows_of_another(database: Database, scope: Scope) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        async with database.transaction(scope.user_id) as connection:
            await connection.execute(
                "insert into graphs (user_id, graph_id) values (%s, 'x')", [f"user-{uuid4()}"]
            )


async def test_the_tenant_does_not_outlive_its_transaction(
    database: Database, scope: Scope
) -> None:
    seen = set()
    for _ in range(20):
        async with database.transaction(scope.user_id):
            pass
        async with database.transaction("") as connection:
            row = await (
                await connection.execute("select current_setting('sextant.user_id', true)")
            ).fetchone()
            seen.add(row)
    assert seen == {("",)}


async def test_a_statement_that_reads_sees_its_tenant_and_leaves_nothing_behind(
    database: Database, scope: Scope
) -> None:
    tenant = "select current_setting('sextant.user_id', true) as tenant"
    assert await database.read(scope.user_id, tenant, {}) == [{"tenant": scope.user_id}]
    with pytest.raises(psycopg.errors.DivisionByZero):
        await database.read(scope.user_id, "select 1 / 0", {})
    async with (await database._pools.current()).connection() as connection:
        row = await (await connection.execute(tenant)).fetchone()
    assert row in [("",), (None,)]


async def test_a_statement_that_fails_spoils_none_that_are_asked_later(
    database: Database, scope: Scope
) -> None:
    """The driver prepares what it has sent five times, also when the server gave that up unread."""

    async def told(number: int) -> list[dict[str, object]]:
        return await database.read(scope.user_id, "select %(number)s::int as n", {"number": number})

    async def fails() -> object:
        with pytest.raises(psycopg.errors.DivisionByZero):
            await database.read(scope.user_id, "select 1 / 0 as gone", {})
        return None

    for _ in range(4):
        await told(0)
    for round_ in range(12):
        _, *rows = await asyncio.gather(fails(), *(told(number) for number in range(3)))
        assert rows == [[{"n": number}] for number in range(3)], round_


async def test_a_reader_that_goes_spoils_no_statement_asked_later(
    database: Database, scope: Scope
) -> None:
    tenant = "select current_setting('sextant.user_id') as tenant"
    for _ in range(12):
        slow = asyncio.ensure_future(database.read(scope.user_id, "select pg_sleep(60)", {}))
        beside = asyncio.ensure_future(database.read(scope.user_id, tenant, {}))
        await _asleep(database)
        slow.cancel()
        beside.cancel()
        await asyncio.wait({slow, beside})
        assert await database.read(scope.user_id, tenant, {}) == [{"tenant": scope.user_id}]


async def _asleep(database: Database) -> None:
    """Until the server is at the statement that takes long."""
    asleep = "select from pg_stat_activity where wait_event = 'PgSleep'"
    async with database.owner() as connection:
        await connection.set_autocommit(True)
        while not (await connection.execute(asleep)).rowcount:
            pass


async def test_calls_that_fail_leave_their_connections_to_the_next(
    database: Database, scope: Scope
) -> None:
    """More fail than there are connections: one that did not come back would be missed."""
    for _ in range(database.settings.database_pool + 1):
        with pytest.raises(psycopg.errors.DivisionByZero):
            await database.call(scope, "nullif(%s, %s)::bytea, 1 / 0")
    said = await database.call(scope, "convert_to(concat(%s::text, ' ', %s::text), 'UTF8')")
    assert said == f"{scope.user_id} {scope.graph_id}".encode()


async def test_who_finds_all_connections_in_use_is_told_so(
    settings: Settings, scope: Scope
) -> None:
    few = settings.model_copy(update={"database_pool": 1, "database_timeout": 1})
    async with await Database.open(few) as database, database.transaction(scope.user_id):
        with pytest.raises(DatabaseUnavailable, match="are in use") as told:
            async with database.transaction(scope.user_id):
                pass
    assert "SEXTANT_DATABASE_POOL" in told.value.next_step


async def test_everything_works_where_the_owner_is_no_superuser(
    managed: Database, scope: Scope
) -> None:
    rights = await managed.role_rights()
    assert (rights.role, rights.safe) == ("sextant_app", True)

    class Space:
        name, dimension = "test", 384

    await check_space(managed, Space())
    documents, chunks = DocumentStore(managed), ChunkStore(managed)
    opened = await documents.register(
        scope, source="a", filename="a", media_type="text/plain", content=b"a"
    )
    assert opened.job_id is not None
    async with managed.transaction(scope.user_id) as connection:
        claimed = await connection.execute(
            "select id from claim_job('w', interval '1 s', null, %s)", [scope.user_id]
        )
        assert await claimed.fetchone() == (opened.job_id,)
        row = await (await connection.execute("select scope_id from graphs")).fetchone()
        assert row is not None
        promoted = await connection.execute("select promote_scope(%s), tidy_gram_index()", row)
        assert (await promoted.fetchone() or (None,))[0] is True
    assert await keyword_hits(chunks, scope, ["a"], 5) == []
    assert await vector_hits(chunks, scope, np.ones(384, np.float32), 5) == []


async def test_processes_that_open_a_new_database_at_once_all_succeed() -> None:
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    processes = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", OPEN, str(folder), stdout=subprocess.PIPE, env=environment
        )
        for _ in range(3)
    ]
    outputs = [(await process.communicate())[0] for process in processes]
    assert outputs == [b"True\n"] * 3
    shutil.rmtree(folder, ignore_errors=True)


async def test_a_newer_database_and_a_schema_changed_without_a_migration_are_refused(
    server: EmbeddedServer,
) -> None:
    name = new_database(server)
    settings = url_settings(server, SUPERUSER, name)
    await (await Database.open(settings)).close()
    await (await Database.open(settings)).close()
    newer = "insert into sextant.schema_migrations values (9999, 'new', 'x')"
    execute(server, newer, database=name)
    with pytest.raises(ConflictError, match="9999"):
        await Database.open(settings)
    changed = "update sextant.schema_migrations set sha256 = 'other'"
    execute(server, "delete from sextant.schema_migrations where version = 9999", database=name)
    execute(server, changed, database=name)
    with pytest.raises(ConflictError, match=r"stores/sql/schema differ"):
        await Database.open(settings)


async def test_a_server_that_goes_away_is_a_typed_error_and_one_that_comes_back_serves_again(
    server: EmbeddedServer, scope: Scope
) -> None:
    documents = DocumentStore(
        database := await Database.open(url_settings(server, SUPERUSER, new_database(server)))
    )
    assert await documents.list(scope) == []
    break_off = (
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'sextant_app'"
    )
    execute(server, break_off)
    assert await documents.list(scope) == []
    await database.close()
    with pytest.raises(DatabaseUnavailable, match="closed") as refused:
        await documents.list(scope)
    assert "Open Sextant again" in refused.value.next_step


async def test_a_connection_that_breaks_in_a_transaction_is_a_typed_error(
    server: EmbeddedServer, scope: Scope
) -> None:
    settings = url_settings(server, SUPERUSER, new_database(server))

    async def broken_off(database: Database) -> None:
        async with database.transaction(scope.user_id) as connection:
            execute(server, f"select pg_terminate_backend({connection.info.backend_pid})")
            await connection.execute("select 1")

    async with await Database.open(settings) as database:
        with pytest.raises(DatabaseUnavailable, match="sextant doctor"):
            await broken_off(database)


async def test_an_embedded_server_that_dies_is_started_again_at_the_next_call(
    scope: Scope,
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    settings = Settings(
        _env_file=None, data_dir=folder, database_url=None, database_timeout=3, database_pool=2
    )
    try:
        async with await Database.open(settings) as database:
            documents = DocumentStore(database)
            await documents.register(
                scope, source="kept", filename="kept", media_type="text/plain", content=b"kept"
            )
            pid = int((folder / "postgres" / "postmaster.pid").read_text().split()[0])
            os.kill(pid, signal.SIGKILL)
            # Its children may answer once more before they notice.
            with pytest.raises(DatabaseUnavailable, match="sextant doctor"):
                await asyncio.wait_for(_list_for_ever(documents, scope), 30)
            at_once = await asyncio.gather(*(documents.list(scope) for _ in range(3)))
            assert [[one.source for one in listed] for listed in at_once] == [["kept"]] * 3
            async with database.owner() as connection:
                assert await (await connection.execute("select 1")).fetchone() == (1,)
        assert not is_running(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def _list_for_ever(documents: DocumentStore, scope: Scope) -> None:
    while True:
        await documents.list(scope)


async def test_all_who_wait_in_vain_at_the_same_time_try_one_connection_more_together(
    settings: Settings, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, connect = list[str](), psycopg.AsyncConnection.connect

    async def slow(conninfo: str, **options: Any) -> psycopg.AsyncConnection[Any]:
        tried.append(conninfo)
        await asyncio.sleep(3)  # until the last has waited in vain, on a busy machine, too
        return await connect(conninfo, **options)

    few = settings.model_copy(update={"database_pool": 1, "database_timeout": 1})
    async with await Database.open(few) as database, database.transaction(scope.user_id):
        monkeypatch.setattr(psycopg.AsyncConnection, "connect", slow)
        documents = [DocumentStore(database).list(scope) for _ in range(8)]
        ended = await asyncio.gather(*documents, return_exceptions=True)

    assert all(isinstance(one, DatabaseUnavailable) for one in ended)
    assert tried.count(database.app_conninfo) == 1  # other tests' pools may connect meanwhile


async def test_a_server_that_has_gone_is_not_taken_for_one_whose_connections_are_in_use(
    scope: Scope,
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="sxt-"))
    gone = EmbeddedServer.start(folder)
    settings = url_settings(gone, SUPERUSER, new_database(gone))
    brief = settings.model_copy(update={"database_timeout": 1})
    async with await Database.open(brief) as database:
        gone.stop()
        shutil.rmtree(folder, ignore_errors=True)
        with pytest.raises(DatabaseUnavailable, match="does not answer"):
            await DocumentStore(database).list(scope)


async def test_no_server_at_the_url_is_a_typed_error_with_the_next_step() -> None:
    url = "postgresql://nobody@127.0.0.1:1/none"
    settings = Settings(_env_file=None, database_url=url)
    with pytest.raises(DatabaseUnavailable, match="sextant doctor"):
        await Database.open(settings)


async def test_a_url_that_cannot_be_read_is_a_typed_error_without_its_password() -> None:
    settings = Settings(_env_file=None, database_url="postgresql+x://u:hunter2@here/there")
    with pytest.raises(SettingsInvalid, match="postgresql://user") as caught:
        await Database.open(settings)
    assert "hunter2" not in "".join(traceback.format_exception(caught.value))
