"""A thread or a loop learns the stamp over a line of its own, or nothing at all: never another's, never an old one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from uuid import uuid4

import pytest

from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.lines import DedicatedConnections
from sextant.stores.stamps import stamp_lines as module
from sextant.stores.stamps.stamp_lines import (
    STAMP,
    Stamp,
    request_stamp,
    stamp_connections,
    stamp_of,
)


def learnt(lines: DedicatedConnections, scope: Scope) -> Stamp | None:
    with request_stamp(lines, scope) as answer:
        return answer()


async def opened(lines: DedicatedConnections, scope: Scope) -> Stamp:
    """Return what the lines tell once there is one."""
    async with asyncio.timeout(60):
        while (stamp := await asyncio.to_thread(learnt, lines, scope)) is None:
            pass
    return stamp


async def write(database: Database, scope: Scope, text: str) -> None:
    await DocumentStore(database).register(
        scope, source=text, filename="a.md", media_type="text/markdown", content=text.encode()
    )


async def test_a_line_tells_of_every_write_and_of_every_tenant_its_own(database: Database) -> None:
    first, second = (Scope(f"user-{uuid4()}", "same") for _ in range(2))
    seen = set[Stamp]()
    for text in ("one", "two", "three"):
        await write(database, first, text)
        told = await opened(stamp_connections(database), first)
        assert told == await stamp_of(database, first)
        assert told not in seen
        seen.add(told)
        assert await opened(stamp_connections(database), second) == await stamp_of(database, second)


async def test_of_threads_that_ask_at_once_each_learns_its_own_or_nothing(
    database: Database,
) -> None:
    scopes = [Scope(f"user-{uuid4()}", "same") for _ in range(4)]
    for scope in scopes:
        await write(database, scope, scope.user_id)
    right = {scope: await stamp_of(database, scope) for scope in scopes}
    await opened(stamp_connections(database), scopes[0])
    with ThreadPoolExecutor(8) as threads:
        asked = scopes * 100
        told = list(threads.map(lambda scope: learnt(stamp_connections(database), scope), asked))
    assert any(told)
    assert all(own in {None, right[scope]} for scope, own in zip(asked, told, strict=True))


async def test_what_was_asked_and_never_read_is_not_told_to_the_next(database: Database) -> None:
    one, other = (Scope(f"user-{uuid4()}", "same") for _ in range(2))
    for scope in (one, other):
        await write(database, scope, scope.user_id)
        await opened(stamp_connections(database), scope)
    for _ in range(3):
        with request_stamp(stamp_connections(database), one):
            pass
        assert await opened(stamp_connections(database), other) == await stamp_of(database, other)


async def test_a_line_that_the_server_has_cut_is_opened_anew(database: Database) -> None:
    scope = Scope(f"user-{uuid4()}", "same")
    await write(database, scope, "one")
    stamp = await opened(stamp_connections(database), scope)
    async with database.owner() as owner:
        await owner.execute(
            "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
            " where pid <> pg_backend_pid() and query like '%scope_stamp(%'"
        )
    assert await opened(stamp_connections(database), scope) == stamp


async def test_closed_lines_tell_nothing(database: Database) -> None:
    scope = Scope(f"user-{uuid4()}", "same")
    lines = DedicatedConnections(lambda: database.app_conninfo, STAMP, 1)
    await opened(lines, scope)
    with request_stamp(lines, scope) as answer:
        lines.close()
        assert answer() == await stamp_of(database, scope)
    assert learnt(lines, scope) is None


@asynccontextmanager
async def silent(database: Database) -> AsyncIterator[None]:
    """Keep the server from telling a stamp meanwhile."""
    async with database.owner() as owner:
        await owner.execute("lock table scope_generations")
        yield


async def test_an_event_loop_goes_on_until_the_stamp_comes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TIMEOUT_SECONDS", 60)
    scope = Scope(f"user-{uuid4()}", "same")
    await write(database, scope, "one")
    stamp = await opened(stamp_connections(database), scope)
    with ExitStack() as line:
        async with silent(database):
            answer = line.enter_context(request_stamp(stamp_connections(database), scope))
            asked = asyncio.create_task(answer.receive())
            for _ in range(3):
                await asyncio.sleep(0)
            assert not asked.done()
        assert await asked == stamp


async def test_a_server_that_does_not_answer_at_once_is_not_waited_for(database: Database) -> None:
    scope = Scope(f"user-{uuid4()}", "same")
    await write(database, scope, "one")
    stamp = await opened(stamp_connections(database), scope)
    async with silent(database):
        with request_stamp(stamp_connections(database), scope) as answer:
            assert await answer.receive() is None
    assert await opened(stamp_connections(database), scope) == stamp
