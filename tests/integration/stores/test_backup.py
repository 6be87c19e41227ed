"""A whole database as one file, and back."""

from __future__ import annotations

import asyncio
import os
import shutil
import stat
import subprocess
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from pydantic import SecretStr

from sextant.domain.errors import ConflictError, DatabaseUnavailable, OptionInvalid
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.embedded.server_user import binary, server_user
from sextant.stores.postgresql import backup as backups
from sextant.stores.postgresql.backup import backup, count_graphs, restore
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.migrations import APP_ROLE
from tests.integration.own_database import fresh_database, frozen, settings_over, short_folder

SCOPES = (Scope("ann", "notes"), Scope("bob", "notes"))


@pytest_asyncio.fixture(scope="module")
async def source() -> AsyncIterator[Database]:
    """Yield a database with a document of each of two users."""
    async with fresh_database() as opened:
        for scope in SCOPES:
            await add(opened, scope)
        yield opened


@pytest_asyncio.fixture
async def target() -> AsyncIterator[Database]:
    """Yield another server, with nothing in it."""
    async with fresh_database() as opened:
        yield opened


@pytest_asyncio.fixture
async def older() -> AsyncIterator[Database]:
    """Yield a server of PostgreSQL 16, which the package brings, too."""
    with short_folder() as folder:
        who = server_user(folder)
        if who:
            shutil.chown(folder, who["user"])
        cluster = ["-D", str(folder / "cluster")]
        encoded = ["--encoding=UTF8", "--locale=C.UTF-8", "--auth=trust", "--username=postgres"]
        heard = f"-k {folder} -c listen_addresses=''"
        await asyncio.to_thread(program_of_16, who, "initdb", *cluster, *encoded)
        run = [*cluster, "-w", "-l", str(folder / "log"), "-o", heard]
        await asyncio.to_thread(program_of_16, who, "pg_ctl", *run, "start")
        url = SecretStr(f"postgresql://postgres@/postgres?host={folder}")
        try:
            settings = settings_over(folder).model_copy(update={"database_url": url})
            async with await Database.open(settings) as opened:
                yield opened
        finally:
            program_of_16(who, "pg_ctl", *cluster, "-m", "immediate", "stop")


def program_of_16(who: dict[str, Any], name: str, *arguments: str) -> None:
    path = binary(name).parents[2] / "pginstall" / "bin" / name
    subprocess.run([path, *arguments], check=True, stdout=subprocess.DEVNULL, **who)


async def add(database: Database, scope: Scope) -> None:
    await DocumentStore(database).register(
        scope, source="a.txt", filename="a.txt", media_type="text/plain", content=uuid4().bytes
    )


async def listed(database: Database) -> list[list[tuple[str, str]]]:
    """Return what each user has. The pool's connections knew the tables that are no more: a new one is asked."""
    async with await Database.open(database.settings) as opened:
        documents = DocumentStore(opened)
        return [
            [(str(one.id), one.filename) for one in await documents.list(scope)] for scope in SCOPES
        ]


async def test_everything_of_every_user_comes_back_and_stays_theirs(
    source: Database, target: Database, tmp_path: Path
) -> None:
    size = await backup(source, tmp_path / "all.dump")
    assert size == (tmp_path / "all.dump").stat().st_size
    await restore(target, tmp_path / "all.dump")
    assert await listed(target) == await listed(source)
    async with await Database.open(target.settings) as opened:
        rights = await opened.role_rights()
        assert (rights.role, rights.safe) == (APP_ROLE, True)
        await add(opened, Scope("cat", "notes"))  # and it goes on from there


async def test_an_older_server_takes_its_backup_back(older: Database, tmp_path: Path) -> None:
    """The programs of PostgreSQL 18 say at once what 16 does not understand."""
    await add(older, SCOPES[0])
    before = await listed(older)
    await backup(older, tmp_path / "all.dump")
    await add(older, SCOPES[1])
    await restore(older, tmp_path / "all.dump", replace=True)
    assert await listed(older) == before
    assert (await older.role_rights()).server_version.startswith("16.")


async def test_a_restore_that_ends_early_ends_what_reads_for_it(
    target: Database, source: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Python 3.13 on a process whose output nobody reads is waited for for ever."""
    for _ in range(40):
        await add(source, SCOPES[0])
    await backup(source, tmp_path / "all.dump")
    monkeypatch.setitem(backups._SQL, "make_room", "select refused")
    with pytest.raises(DatabaseUnavailable, match="refused"):
        await restore(target, tmp_path / "all.dump")


async def test_a_backup_is_its_owner_s_alone(source: Database, tmp_path: Path) -> None:
    """Every account of the machine could read every user's documents in it."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(b"kept")
    (tmp_path / "saved").symlink_to(elsewhere)
    await backup(source, tmp_path / "saved")
    assert stat.S_IMODE((tmp_path / "saved").stat().st_mode) == 0o600
    assert elsewhere.read_bytes() == b"kept"


async def test_a_database_in_use_is_saved_as_of_one_moment(
    source: Database, tmp_path: Path
) -> None:
    async with source.transaction("ann") as writing:
        await writing.execute("update documents set chunk_count = chunk_count")
        await backup(source, tmp_path / "all.dump")
    left = await asyncio.to_thread(os.listdir, tmp_path)
    assert left == ["all.dump"]


async def test_a_database_that_has_something_is_replaced_only_on_demand(
    source: Database, target: Database, tmp_path: Path
) -> None:
    await backup(source, tmp_path / "all.dump")
    await add(target, Scope("zoe", "old"))
    with pytest.raises(ConflictError, match="--replace"):
        await restore(target, tmp_path / "all.dump")
    assert await count_graphs(target) == 1
    await restore(target, tmp_path / "all.dump", replace=True)
    assert await listed(target) == await listed(source)


async def test_a_file_that_broke_off_or_is_none_changes_nothing(
    source: Database, tmp_path: Path
) -> None:
    before = await listed(source)
    whole = tmp_path / "all.dump"
    await backup(source, whole)
    content = whole.read_bytes()
    for number, part in enumerate(
        (content[: len(content) // 2], content[:-1], content + b"\n", b"", b"# notes")
    ):
        broken = tmp_path / f"{number}.dump"
        broken.write_bytes(part)
        with pytest.raises(OptionInvalid):
            await restore(source, broken, replace=True)
    with pytest.raises(OptionInvalid):
        await restore(source, tmp_path / "nowhere.dump", replace=True)
    assert await listed(source) == before


async def test_one_flipped_bit_is_noticed_and_changes_nothing(
    source: Database, target: Database, tmp_path: Path
) -> None:
    await add(target, SCOPES[0])
    file = tmp_path / "all.dump"
    size = await backup(source, file)
    whole = file.read_bytes()
    assert len(whole) == size
    for place in (*range(0, size, size // 40), size - 40, size - 1):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        with pytest.raises(OptionInvalid, match="damaged"):
            await restore(target, file, replace=True)
    assert await count_graphs(target) == 1


async def test_a_backup_of_a_newer_version_changes_nothing(
    source: Database, target: Database, tmp_path: Path
) -> None:
    async with source.owner() as owner:
        await owner.execute(
            "insert into sextant.schema_migrations (version, name, sha256) values (9999, 'x', 'x')"
        )
    await backup(source, tmp_path / "all.dump")
    async with source.owner() as owner:
        await owner.execute("delete from sextant.schema_migrations where version = 9999")
    await add(target, SCOPES[0])
    with pytest.raises(ConflictError, match="newer"):
        await restore(target, tmp_path / "all.dump", replace=True)
    assert [len(documents) for documents in await listed(target)] == [1, 0]


async def test_a_backup_of_a_version_that_is_not_migrated_changes_nothing(
    source: Database, target: Database, tmp_path: Path
) -> None:
    async with source.owner() as owner:
        await owner.execute("update sextant.schema_migrations set version = version - 80")
    await backup(source, tmp_path / "all.dump")
    async with source.owner() as owner:
        await owner.execute("update sextant.schema_migrations set version = version + 80")
    await add(target, SCOPES[0])
    with pytest.raises(ConflictError, match="before the first release"):
        await restore(target, tmp_path / "all.dump", replace=True)
    assert [len(documents) for documents in await listed(target)] == [1, 0]


async def test_a_file_that_cannot_be_written_leaves_none(source: Database, tmp_path: Path) -> None:
    with pytest.raises(OptionInvalid, match="cannot be written"):
        await backup(source, tmp_path / "missing" / "all.dump")


async def test_a_cancelled_restore_changes_nothing(source: Database, tmp_path: Path) -> None:
    before = await listed(source)
    await backup(source, tmp_path / "all.dump")
    begun = asyncio.Event()
    restoring = asyncio.create_task(
        restore(source, tmp_path / "all.dump", replace=True, on_bytes=lambda _: begun.set())
    )
    waiting = asyncio.create_task(begun.wait())
    await asyncio.wait({restoring, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    restoring.cancel()
    with pytest.raises(asyncio.CancelledError):
        await restoring
    assert await listed(source) == before


async def test_a_frozen_server_ends_a_backup_and_a_restore(tmp_path: Path) -> None:
    """PostgreSQL's programs would wait for it without end."""
    async with fresh_database() as database:
        database.settings = database.settings.model_copy(update={"database_timeout": 1.0})
        await add(database, SCOPES[0])
        await backup(database, tmp_path / "all.dump")
        before = await listed(database)
        with (
            frozen(database.settings.data_dir),
            pytest.raises(DatabaseUnavailable, match="does not answer"),
        ):
            await backup(database, tmp_path / "another.dump")
        assert not (tmp_path / "another.dump").exists()
        with (
            ExitStack() as stopped,
            pytest.raises(DatabaseUnavailable, match="does not answer"),
        ):
            await restore(
                database,
                tmp_path / "all.dump",
                replace=True,
                on_bytes=lambda _: stopped.enter_context(frozen(database.settings.data_dir)),
            )
        assert await listed(database) == before
