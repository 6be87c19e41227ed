"""A stamp that is requested before other work is the scope's, and nobody waits long for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from uuid import uuid4

from sextant.domain.scope import Scope
from sextant.domain.settings import RetrievalSettings, Settings
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.postgresql.database import Database
from sextant.stores.stamps.stamp_lines import Stamp, request_stamp, stamp_of


async def write(database: Database, scope: Scope, text: str) -> None:
    await DocumentStore(database).register(
        scope, source=text, filename="a.md", media_type="text/markdown", content=text.encode()
    )


async def requested(database: Database, scope: Scope) -> Stamp | None:
    with request_stamp(database, scope) as answer:
        return await answer.receive()


async def test_a_requested_stamp_tells_of_every_write_and_of_every_tenant_its_own(
    database: Database,
) -> None:
    first, second = (Scope(f"user-{uuid4()}", "same") for _ in range(2))
    seen = set[Stamp]()
    for text in ("one", "two", "three"):
        await write(database, first, text)
        told = await requested(database, first)
        assert told == await stamp_of(database, first)
        assert told not in seen
        assert told is not None
        seen.add(told)
        assert await requested(database, second) == await stamp_of(database, second)


async def test_what_was_requested_and_never_read_is_not_told_to_the_next(
    database: Database,
) -> None:
    one, other = (Scope(f"user-{uuid4()}", "same") for _ in range(2))
    for scope in (one, other):
        await write(database, scope, scope.user_id)
    right = await stamp_of(database, other)
    for turns in range(5):
        with request_stamp(database, one):
            for _ in range(turns):
                await asyncio.sleep(0)
        assert await requested(database, other) == right


@asynccontextmanager
async def silent(database: Database) -> AsyncIterator[None]:
    """Keep the server from telling a stamp meanwhile."""
    async with database.owner() as owner:
        await owner.execute("lock table scope_generations")
        yield


async def test_an_event_loop_goes_on_until_the_stamp_comes(database: Database) -> None:
    scope = Scope(f"user-{uuid4()}", "same")
    await write(database, scope, "one")
    stamp = await stamp_of(database, scope)
    with ExitStack() as request:
        async with silent(database):
            answer = request.enter_context(request_stamp(database, scope))
            asked = asyncio.create_task(answer.receive())
            for _ in range(3):
                await asyncio.sleep(0)
            assert not asked.done()
        assert await asked == stamp


async def test_a_server_that_does_not_answer_in_time_is_not_waited_for(settings: Settings) -> None:
    impatient = settings.model_copy(update={"retrieval": RetrievalSettings(lane_timeout=0.1)})
    scope = Scope(f"user-{uuid4()}", "same")
    async with await Database.open(impatient) as database, silent(database):
        assert await requested(database, scope) is None
