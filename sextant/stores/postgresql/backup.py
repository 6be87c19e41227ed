"""A whole database as one file, and back: all users, all knowledge bases, keys and waiting jobs.

By PostgreSQL's own programs, which the embedded server brings along and which reach any other server
too. A backup is a consistent snapshot taken beside running work (`pg_dump`); a restore is one
transaction, so that a file that breaks off or comes from a newer Sextant leaves everything as it was.
Neo4j holds a projection, which is rebuilt from what was restored.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, LiteralString

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sextant.domain.errors import ConflictError, DatabaseUnavailable, OptionInvalid
from sextant.stores.array_files import write_atomically
from sextant.stores.embedded.server_user import binary
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.migrations import migrations
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.queue_schema import SCHEMA as QUEUE

_SQL = load_queries("backup")
_PIECE = 1 << 20  # bytes
# What ends a backup, behind all that pg_restore reads: a mark, and the SHA-256 of what stands before it.
_SEAL = b"\nSEXTANT-SHA256\n"
_SEAL_BYTES = len(_SEAL) + 32
# Waits for connections that are ending, which do not count as the database being in use.
_ENDING_SECONDS = (0.1, 0.4, 1.0)
_SCHEMAS = ("sextant", QUEUE)

# What pg_restore begins with from PostgreSQL 17 on, and what older servers understand, too.
_NEWER = b"SET transaction_timeout = 0;"
_EITHER = (
    b"SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout';"
)

OnBytes = Callable[[int], None]


async def backup(database: Database, out: Path, on_bytes: OnBytes | None = None) -> int:
    """Write everything to `out`, which appears when it is whole.

    Args:
        database: what to save; it may be in use.
        out: the file, in PostgreSQL's custom format, compressed, with a checksum behind it.
        on_bytes: called with the bytes written so far.

    Returns:
        The size of the file in bytes.

    Raises:
        OptionInvalid: the file cannot be written.
        DatabaseUnavailable: the server is gone, or the database user may not read every row.
    """
    schemas = [f"--schema={name}" for name in _SCHEMAS]
    written = 0
    with write_atomically(out) as part, _private(part) as file:
        async with _program(database, "pg_dump", "--format=custom", *schemas) as dump:
            digest = hashlib.sha256()
            async for piece in _pieces(dump):
                digest.update(piece)
                await asyncio.to_thread(file.write, piece)
                written += len(piece)
                if on_bytes is not None:
                    on_bytes(written)
            await _check_exit(dump, "The backup was not made")
        file.write(_SEAL + digest.digest())
        await asyncio.to_thread(_settle, file)
    return written + _SEAL_BYTES


async def restore(
    database: Database, source: Path, *, replace: bool = False, on_bytes: OnBytes | None = None
) -> None:
    """Put what `source` holds in the place of everything that the database has.

    Open the database again afterwards: the backup may come from an older version.

    Args:
        database: where to; no other process of Sextant may use it.
        source: a file that `backup` wrote, by this version or an older one.
        replace: also when the database has knowledge bases, which are then gone.
        on_bytes: called with the bytes of SQL sent so far.

    Raises:
        OptionInvalid: the file is no backup, broke off, or is damaged.
        ConflictError: the database is not empty, is in use, or the backup is of a newer version.
        DatabaseUnavailable: the server is gone.
    """
    if not await asyncio.to_thread(source.is_file):
        raise OptionInvalid(
            f"There is no file {source}.", next_step="Name a backup.", field="source"
        )
    await asyncio.to_thread(_require_undamaged, source)
    await _require_free(database, replace=replace)
    async with (
        _program(None, "pg_restore", "--no-owner", "--file=-", str(source)) as reading,
        _program(database, "psql", "--quiet", "--no-psqlrc", "--single-transaction",
                 "--set=ON_ERROR_STOP=1", f"--command=set sextant.newest = {_newest()}",
                 f"--command={_SQL['make_room']}", "--file=-",
                 f"--command={_SQL['not_newer']}", reads=True) as writing,
    ):  # fmt: skip
        assert writing.stdin is not None  # noqa: S101 - asked for
        try:
            await _send(reading, writing.stdin, on_bytes)
        except (BrokenPipeError, ConnectionResetError):
            await _check_exit(writing, "Nothing was restored")
        # The end of its input is the commit: it must not see one unless the file was whole.
        await _readable(reading, source)
        writing.stdin.close()
        await _check_exit(writing, "Nothing was restored")


def _require_undamaged(source: Path) -> None:
    """Compare a backup with the checksum at its end; those of older versions have none.

    Raises:
        OptionInvalid: it is not what was written.
    """
    with source.open("rb") as file:
        size = file.seek(0, os.SEEK_END) - _SEAL_BYTES
        if size < 0:
            return
        file.seek(max(0, size - _PIECE))
        tail = file.read()
        seal = tail[-_SEAL_BYTES:]
        # A bit of the mark itself may have flipped, or something may be missing or stand behind it: that makes
        # no backup of an older version of it.
        alike = sum(one == other for one, other in zip(seal, _SEAL, strict=False))
        if alike < len(_SEAL) // 2 and _SEAL[1:8] not in tail:
            return
        file.seek(0)
        digest, left = hashlib.sha256(), size
        while left and (piece := file.read(min(_PIECE, left))):
            digest.update(piece)
            left -= len(piece)
    if digest.digest() != seal[len(_SEAL) :]:
        raise OptionInvalid(
            f"{source} is damaged: its checksum does not fit what it holds.",
            next_step="Take another copy of it, or an earlier backup. Nothing was changed.",
            field="source",
        )


async def _require_free(database: Database, *, replace: bool) -> None:
    if others := await _others(database):
        # They would go on using what they remember of the schema that is dropped.
        raise ConflictError(
            f"The database is in use by other processes of Sextant: {others}.",
            next_step="Stop its servers, workers and commands, and restore then.",
        )
    if not replace and await count_graphs(database):
        raise ConflictError(
            "The database has knowledge bases, which a restore would replace.",
            next_step="Restore into an empty data folder, or say --replace.",
        )


async def _send(reading: Process, to: asyncio.StreamWriter, on_bytes: OnBytes | None) -> None:
    """Send what a program writes, in words that older servers understand, too."""
    sent = 0
    async for piece in _pieces(reading):
        to.write(piece if sent else piece.replace(_NEWER, _EITHER, 1))
        await to.drain()
        sent += len(piece)
        if on_bytes is not None:
            on_bytes(sent)


def _private(path: Path) -> BinaryIO:
    """Return a new file that is its owner's alone: it holds every user's documents, and the hashes of keys."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")


def _settle(file: BinaryIO) -> None:
    """Flush what was written to the disk."""
    file.flush()
    os.fsync(file.fileno())


async def count_graphs(database: Database) -> int:
    """Return the number of knowledge bases of all users together."""
    return await _count(database, _SQL["count_graphs"])


async def _others(database: Database) -> int:
    """Return processes of ours beside this one; the server sees connections for a moment after their end."""
    for wait in _ENDING_SECONDS:
        if not await _count(database, _SQL["others"]):
            return 0
        await asyncio.sleep(wait)
    return await _count(database, _SQL["others"])


async def _count(database: Database, query: LiteralString) -> int:
    async with database.owner() as connection:
        row = await (await connection.execute(query)).fetchone()
    return int(row[0]) if row else 0


def _newest() -> int:
    return max(one.version for one in migrations())


@asynccontextmanager
async def _program(
    database: Database | None, name: str, *arguments: str, reads: bool = False
) -> AsyncIterator[Process]:
    """Provide a program of PostgreSQL's, connected as the schema's owner; killed if it is left running."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if database is not None:
        parts = conninfo_to_dict(database.owner_conninfo)
        # Command lines are seen by every user of the machine.
        environment["PGPASSWORD"] = str(parts.pop("password", "") or "")
        arguments = (f"--dbname={make_conninfo('', **parts)}", *arguments)
    process = await asyncio.create_subprocess_exec(
        str(binary(name)), *arguments,
        stdin=PIPE if reads else asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE,
        env=environment,
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            # Not only `wait`: where its output is full it waits for ever (python/cpython#119710).
            await process.communicate()


async def _pieces(process: Process) -> AsyncIterator[bytes]:
    assert process.stdout is not None  # noqa: S101 - asked for
    while piece := await process.stdout.read(_PIECE):
        yield piece


async def _readable(process: Process, source: Path) -> None:
    _, said = await process.communicate()
    if process.returncode:
        raise OptionInvalid(
            f"{source} is not a whole backup: {_last_line(said)}",
            next_step="Name a file that `sextant backup` wrote. Nothing was changed.",
            field="source",
        )


async def _check_exit(process: Process, otherwise: str) -> None:
    _, said = await process.communicate()
    if process.returncode:
        reason = _last_line(said)
        if "backup_is_newer" in reason:
            raise ConflictError(
                "The backup comes from a newer Sextant than this one; nothing was restored.",
                next_step="Install that version.",
            )
        raise DatabaseUnavailable(
            f"{otherwise}: {reason}",
            next_step="The database user must be the schema's owner and read past row-level security "
            "(BYPASSRLS or superuser); no server or worker may be at work during a restore.",
        )


def _last_line(said: bytes) -> str:
    lines = said.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no reason was given"])[0]
