"""Back up a whole database to one file, and restore it: users, knowledge bases, keys and waiting jobs.

Both use PostgreSQL's programs, which come with the embedded server and can connect to any server. A
backup is a consistent snapshot, taken while others work (`pg_dump`). A restore is one transaction, so a
truncated file or one from a newer Sextant changes nothing. The projection in Neo4j is rebuilt afterwards.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, LiteralString

from psycopg import OperationalError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sextant.domain.errors import ConflictError, DatabaseUnavailable, OptionInvalid
from sextant.stores.embedded.server_user import binary
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.migrations import QUEUE_SCHEMA as QUEUE
from sextant.stores.postgresql.migrations import migrations
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import require_answer, server_answers

_SQL = load_queries("backup")
_PIECE = 1 << 20  # bytes
# A backup ends with this mark and the SHA-256 of everything before it; pg_restore ignores both.
_SEAL = b"\nSEXTANT-SHA256\n"
_SEAL_BYTES = len(_SEAL) + 32
_SCHEMAS = ("sextant", QUEUE)

# The first statement of pg_restore since PostgreSQL 17, and one that older servers accept.
_SET_TIMEOUT = b"SET transaction_timeout = 0;"
_SET_TIMEOUT_IF_KNOWN = (
    b"SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'transaction_timeout';"
)

# Errors of writing to an open file, which do not name it.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}

OnBytes = Callable[[int], None]


@contextmanager
def write_atomically(out: Path) -> Iterator[Path]:
    """Yield a temporary path next to `out`, which replaces `out` unless the block fails.

    Each writer has its own path: of two concurrent writers, the last one's file remains.

    Raises:
        OptionInvalid: the file cannot be written, or is a folder, a device or a pipe.
    """
    # A link to what is open, such as /dev/stdout, is not replaced.
    is_open = out.is_symlink() and out.readlink().is_relative_to("/proc")
    if is_open or (out.exists() and not out.is_file()):
        raise OptionInvalid(
            f"{out} cannot be written: it is not a file.", next_step="Name a file.", field="out"
        )
    part = out.with_name(f"{out.name}.{token_hex(4)}.part")
    try:
        yield part
        part.replace(out)
    except OSError as error:
        if str(error.filename) != str(part) and error.errno not in _UNWRITABLE:
            raise
        raise OptionInvalid(
            f"{out} cannot be written: {error.strerror}.",
            next_step="Name another file.",
            field="out",
        ) from error
    finally:
        with suppress(OSError):
            part.unlink()


async def backup(database: Database, out: Path, on_bytes: OnBytes | None = None) -> int:
    """Write the whole database to `out`, which appears when it is complete.

    Args:
        database: the database, which may be in use.
        out: the file, in PostgreSQL's custom format, compressed, followed by a checksum.
        on_bytes: called with the bytes written so far.

    Returns:
        The size of the file in bytes.

    Raises:
        OptionInvalid: the file cannot be written.
        DatabaseUnavailable: the server does not answer, or the user may not read every row.
    """
    schemas = [f"--schema={name}" for name in _SCHEMAS]
    written = 0
    # For its owner only: it holds the documents of all users, and hashes of keys.
    with (
        write_atomically(out) as part,
        os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file,
    ):
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
        await asyncio.to_thread(_flush_to_disk, file)
    return written + _SEAL_BYTES


async def restore(
    database: Database, source: Path, *, replace: bool = False, on_bytes: OnBytes | None = None
) -> None:
    """Replace the content of the database by that of `source`.

    Reopen the database afterwards, since the backup may come from an older version.

    Args:
        database: the target; no other process of Sextant may use it.
        source: a file written by `backup` of this or an older version.
        replace: whether existing knowledge bases may be deleted.
        on_bytes: called with the bytes of SQL sent so far.

    Raises:
        OptionInvalid: the file is no backup, is truncated or damaged.
        ConflictError: the database is not empty or in use, or the backup is of a version that is newer than this one
            or too old for it.
        DatabaseUnavailable: the server does not answer.
    """
    if not await asyncio.to_thread(source.is_file):
        raise OptionInvalid(
            f"There is no file {source}.", next_step="Name a backup.", field="source"
        )
    await asyncio.to_thread(_require_undamaged, source)
    await _require_free(database, replace=replace)
    oldest, newest = migrations()[0].version, migrations()[-1].version
    async with (
        _program(None, "pg_restore", "--no-owner", "--file=-", str(source)) as reading,
        _program(database, "psql", "--quiet", "--no-psqlrc", "--single-transaction",
                 "--set=ON_ERROR_STOP=1", f"--command=set sextant.oldest = {oldest}",
                 f"--command=set sextant.newest = {newest}",
                 f"--command={_SQL['make_room']}", "--file=-",
                 f"--command={_SQL['require_known']}", reads=True) as writing,
    ):  # fmt: skip
        assert writing.stdin is not None  # noqa: S101 - asked for
        try:
            await _send(reading, writing.stdin, on_bytes)
        except (BrokenPipeError, ConnectionResetError):
            await _check_exit(writing, "Nothing was restored")
        # The end of the input commits, so it must not end unless the file was complete.
        await _require_readable(reading, source)
        writing.stdin.close()
        await _check_exit(writing, "Nothing was restored")


def _require_undamaged(source: Path) -> None:
    """Compare a backup with its checksum.

    Raises:
        OptionInvalid: they differ, or the file has none.
    """
    digest, remaining = hashlib.sha256(), source.stat().st_size - _SEAL_BYTES
    with source.open("rb") as file:
        while remaining > 0 and (piece := file.read(min(_PIECE, remaining))):
            digest.update(piece)
            remaining -= len(piece)
        seal = file.read(_SEAL_BYTES + 1)
    if seal != _SEAL + digest.digest():
        raise OptionInvalid(
            f"{source} is damaged or no backup: its checksum does not match its content.",
            next_step="Use another copy of it, or an earlier backup. Nothing was changed.",
            field="source",
        )


async def _require_free(database: Database, *, replace: bool) -> None:
    if others := await _others(database):
        # They have cached parts of the schema that is dropped.
        raise ConflictError(
            f"The database is in use by other processes of Sextant: {others}.",
            next_step="Stop its servers, workers and commands, then restore.",
        )
    if not replace and await count_graphs(database):
        raise ConflictError(
            "The database has knowledge bases, which a restore would replace.",
            next_step="Restore into an empty data folder, or add --replace.",
        )


async def _send(reading: Process, to: asyncio.StreamWriter, on_bytes: OnBytes | None) -> None:
    """Send the output of a program, with one statement changed for older servers."""
    sent = 0
    async for piece in _pieces(reading):
        to.write(piece if sent else piece.replace(_SET_TIMEOUT, _SET_TIMEOUT_IF_KNOWN, 1))
        await to.drain()
        sent += len(piece)
        if on_bytes is not None:
            on_bytes(sent)


def _flush_to_disk(file: BinaryIO) -> None:
    """Flush the file to disk."""
    file.flush()
    os.fsync(file.fileno())


async def count_graphs(database: Database) -> int:
    """Count the knowledge bases of all users."""
    return await _count(database, _SQL["count_graphs"])


async def _others(database: Database) -> int:
    """Count other processes of Sextant; wait a moment, since the server lists ended connections."""
    for wait in (0.1, 0.4, 1.0):
        if not await _count(database, _SQL["others"]):
            return 0
        await asyncio.sleep(wait)
    return await _count(database, _SQL["others"])


async def _count(database: Database, query: LiteralString) -> int:
    async with database.owner() as connection:
        row = await (await connection.execute(query)).fetchone()
    return int(row[0]) if row else 0


@asynccontextmanager
async def _program(
    database: Database | None, name: str, *arguments: str, reads: bool = False
) -> AsyncIterator[Process]:
    """Run a program of PostgreSQL, connected as the schema's owner; kill it if the block ends early.

    Raises:
        DatabaseUnavailable: the server has stopped answering, for which the program would wait without end.
    """
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    if database is not None:
        parts = conninfo_to_dict(database.owner_conninfo)
        # Not on the command line, which every user of the machine can see.
        environment["PGPASSWORD"] = str(parts.pop("password", "") or "")
        arguments = (f"--dbname={make_conninfo('', **parts)}", *arguments)
    process = await asyncio.create_subprocess_exec(
        str(binary(name)), *arguments,
        stdin=PIPE if reads else asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE,
        env=environment,
    )  # fmt: skip
    watch = None if database is None else asyncio.create_task(_kill_when_silent(process, database))
    try:
        yield process
    except DatabaseUnavailable as error:
        if database is None or await server_answers(database.owner_conninfo):
            raise
        raise Database.silence() from error
    finally:
        if watch is not None:
            watch.cancel()
        if process.returncode is None:
            process.kill()
            # Not `wait`, which never ends if the output pipe is full (python/cpython#119710).
            await process.communicate()


async def _kill_when_silent(process: Process, database: Database) -> None:
    """Kill a program once its server has stopped answering; PostgreSQL's programs know no such limit."""
    with suppress(OperationalError):
        while True:
            await asyncio.sleep(database.settings.database_timeout)
            await server_answers(database.owner_conninfo)
            await require_answer(database.owner_conninfo)
    process.kill()


async def _pieces(process: Process) -> AsyncIterator[bytes]:
    assert process.stdout is not None  # noqa: S101 - asked for
    while piece := await process.stdout.read(_PIECE):
        yield piece


async def _require_readable(process: Process, source: Path) -> None:
    _, stderr = await process.communicate()
    if process.returncode:
        raise OptionInvalid(
            f"{source} is not a complete backup: {_last_line(stderr)}",
            next_step="Name a file written by `sextant backup`. Nothing was changed.",
            field="source",
        )


async def _check_exit(process: Process, otherwise: str) -> None:
    _, stderr = await process.communicate()
    if process.returncode:
        reason = _last_line(stderr)
        if "backup_is_newer" in reason:
            raise ConflictError(
                "The backup comes from a newer Sextant than this one; nothing was restored.",
                next_step="Install that version.",
            )
        if "backup_is_older" in reason:
            raise ConflictError(
                "The backup comes from a Sextant before the first release, which this one cannot migrate; "
                "nothing was restored.",
                next_step="Ingest the documents again.",
            )
        raise DatabaseUnavailable(
            f"{otherwise}: {reason}",
            next_step="The database user must be the schema's owner and read past row-level security "
            "(BYPASSRLS or superuser); no server or worker may be at work during a restore.",
        )


def _last_line(stderr: bytes) -> str:
    lines = stderr.decode(errors="replace").strip().splitlines()
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["no reason was given"])[0]
