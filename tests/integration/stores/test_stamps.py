"""The stamp of a knowledge base is another one exactly when something of it is, and never one of before."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, LiteralString
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg import Rollback

from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, RelationRow
from sextant.stores.graph.record import EntityVectors
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import KnowledgeBases, entity_stamp, stamp_of
from tests.integration.stored_state import GraphRecord

KINDS = ("passages", "graph", "reports", "entities")
PASSAGES, GRAPH = {"passages"}, {"graph", "entities"}

Write = Callable[[], Awaitable[object]]


async def stamps(database: Database, scope: Scope) -> dict[str, str]:
    """Everything that a reader may compare, by kind."""
    stamp = await stamp_of(database, scope)
    entities = await entity_stamp(database, scope)
    return {
        "passages": stamp.passages,
        "graph": stamp.graph,
        "reports": stamp.reports,
        "entities": entities.version if entities else "",
    }


async def moved(database: Database, scope: Scope, write: Write) -> set[str]:
    """Return which kinds have another stamp after a write."""
    before = await stamps(database, scope)
    await write()
    after = await stamps(database, scope)
    return {kind for kind in KINDS if before[kind] != after[kind]}


@asynccontextmanager
async def writing(database: Database, scope: Scope) -> AsyncIterator[tuple[Connection, int]]:
    """Provide a transaction of its own, with the number of the scope."""
    async with database.transaction(scope.user_id) as connection:
        row = await (
            await connection.execute(
                "select scope_id from graphs where graph_id = %s", [scope.graph_id]
            )
        ).fetchone()
        assert row is not None
        yield connection, row[0]


async def execute(
    database: Database, scope: Scope, statement: LiteralString, **values: object
) -> None:
    """One statement by the serving role, past every store."""
    async with writing(database, scope) as (connection, scope_id):
        await connection.execute(statement, {"scope_id": scope_id, **values})


async def make(database: Database, scope: Scope) -> None:
    """Make the knowledge base, with nothing in it."""
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            "insert into graphs (user_id, graph_id) values (%s, %s)",
            [scope.user_id, scope.graph_id],
        )


BOTH: LiteralString = "select scope_stamp(%s, %s), (select count(*) from documents)"
ADD: LiteralString = """insert into documents (user_id, scope_id, source)
values (current_setting('sextant.user_id'), %s, %s)"""


@dataclass(frozen=True)
class Given:
    """A knowledge base of one document and two entities."""

    scope: Scope
    document: Any
    chunk: Chunk
    entities: Sequence[Any]


@pytest.fixture
async def known(database: Database, scope: Scope) -> Given:
    documents, record = DocumentStore(database), GraphRecord(database)
    opened = await documents.register(
        scope, source="a", filename="a", media_type="text/plain", content=uuid4().bytes
    )
    section = Section(uuid4(), None, "", 0, 0, 0, 3)
    chunk = Chunk(uuid4(), section.id, 0, 0, 3, "one")
    parsed = ParsedDocument("A", "one", "en", (section,), (chunk,))
    await documents.begin(scope, opened.document_id, parsed)
    await documents.add_chunks(scope, opened.document_id, [chunk], np.eye(1, 384, dtype=np.float32))
    await documents.publish(scope, opened.document_id)
    ids = (uuid4(), uuid4())
    await record.add(scope, evidence(chunk, ids))
    return Given(scope, opened.document_id, chunk, ids)


def evidence(chunk: Chunk, ids: Sequence[Any], weight: float = 1.0) -> GraphEvidence:
    return GraphEvidence(
        [
            MentionRow(one, chunk.id, MentionKind.TITLE, f"Name {number}", "THING")
            for number, one in enumerate(ids)
        ],
        [RelationRow(ids[0], ids[1], "KNOWS", chunk.id, weight)],
    )


async def test_each_write_of_a_store_is_told_and_tells_of_nothing_else(
    database: Database, known: Given
) -> None:
    scope, documents, record = known.scope, DocumentStore(database), GraphRecord(database)
    vectors = EntityVectors(database)

    async def embed() -> None:
        texts = await vectors.to_embed(scope)
        assert texts
        await vectors.store(scope, texts, np.eye(len(texts), 384, dtype=np.float32))

    async def register() -> None:
        await documents.register(
            scope, source="b", filename="b", media_type="text/plain", content=uuid4().bytes
        )

    writes: list[tuple[Write, set[str]]] = [
        (embed, {"entities"}),
        (lambda: record.add(scope, evidence(known.chunk, known.entities, 2.0)), GRAPH),
        (lambda: record.add(scope, evidence(known.chunk, known.entities, 2.0)), set()),
        (register, PASSAGES),
        (lambda: documents.delete(scope, known.document), PASSAGES | GRAPH),
    ]
    for write, kinds in writes:
        assert await moved(database, scope, write) == kinds


@pytest.mark.parametrize(
    ("statement", "kinds"),
    [
        ("update chunks set text = 'x' where scope_id = %(scope_id)s", PASSAGES),
        ("update chunk_grams set folded = 'x' where scope_id = %(scope_id)s", PASSAGES),
        ("delete from chunk_vectors where scope_id = %(scope_id)s", PASSAGES),
        ("update documents set source = 'x' where scope_id = %(scope_id)s", PASSAGES),
        ("update document_versions set title = 'x' where scope_id = %(scope_id)s", PASSAGES),
        ("update document_versions set language = 'x' where scope_id = %(scope_id)s", set()),
        ("update entities set name = 'x' where scope_id = %(scope_id)s", GRAPH),
        ("delete from relation_evidence where scope_id = %(scope_id)s", GRAPH),
        ("update adjacency set weight = 2 where scope_id = %(scope_id)s", GRAPH),
        (
            """insert into communities (scope_id, id, user_id, level, title, summary, findings, rating)
            values (%(scope_id)s, gen_random_uuid(), current_setting('sextant.user_id'), 0, 't', 's',
              '[]', 1)""",
            {"reports"},
        ),
        (
            """insert into community_members
            values (%(scope_id)s, gen_random_uuid(), gen_random_uuid(), current_setting('sextant.user_id'))""",
            {"reports"},
        ),
        ("select count(*) from chunks where scope_id = %(scope_id)s", set()),
        ("update graph_versions set projected = true where scope_id = %(scope_id)s", set()),
    ],
)
async def test_statements_past_every_store_are_told_too(
    database: Database, known: Given, statement: LiteralString, kinds: set[str]
) -> None:
    assert (
        await moved(database, known.scope, lambda: execute(database, known.scope, statement))
        == kinds
    )


async def test_what_is_written_to_one_knowledge_base_is_not_told_of_another(
    database: Database, known: Given
) -> None:
    beside = replace(known.scope, graph_id="beside")
    await make(database, beside)
    record = GraphRecord(database)

    async def write() -> None:
        await record.add(known.scope, evidence(known.chunk, known.entities, 3.0))
        await KnowledgeBases(database).delete(known.scope)

    assert await moved(database, beside, write) == set()


async def test_a_stamp_is_another_when_the_write_is_seen_and_not_before(
    database: Database, known: Given
) -> None:
    before = await stamps(database, known.scope)
    async with writing(database, known.scope) as (connection, scope_id):
        await connection.execute(ADD, [scope_id, "b"])
        assert await stamps(database, known.scope) == before
    assert await stamps(database, known.scope) != before


async def test_what_is_rolled_back_is_not_told(database: Database, known: Given) -> None:
    async def nothing() -> None:
        async with writing(database, known.scope) as (connection, scope_id):
            await connection.execute(ADD, [scope_id, "b"])
            raise Rollback

    async def half() -> None:
        async with writing(database, known.scope) as (connection, scope_id):
            async with connection.transaction():
                await connection.execute(ADD, [scope_id, "b"])
                raise Rollback
            await connection.execute(ADD, [scope_id, "c"])

    assert await moved(database, known.scope, nothing) == set()
    assert await moved(database, known.scope, half) == PASSAGES


async def test_writers_of_two_knowledge_bases_in_either_order_wait_for_nobody(
    database: Database, scope: Scope
) -> None:
    beside = replace(scope, graph_id="beside")
    await make(database, scope)
    await make(database, beside)
    for _ in range(3):
        async with (
            writing(database, scope) as (one, first),
            writing(database, beside) as (other, second),
        ):
            for connection, scope_id in (
                (one, first),
                (other, second),
                (one, second),
                (other, first),
            ):
                await connection.execute("set local lock_timeout = '5s'")
                await connection.execute(ADD, [scope_id, str(uuid4())])
    async with database.transaction(scope.user_id) as connection:
        rows = await connection.execute("select count(*) from scope_generations group by scope_id")
        assert await rows.fetchall() == [(2,), (2,)]  # as many as writers have met


async def test_a_knowledge_base_of_the_same_name_has_no_stamp_of_the_one_before(
    database: Database, scope: Scope
) -> None:
    seen: set[tuple[str, str]] = set()
    for _ in range(3):
        own: set[tuple[str, str]] = set()
        await make(database, scope)
        for source in ("a", "b"):
            async with writing(database, scope) as (connection, scope_id):
                await connection.execute(ADD, [scope_id, source])
            told = await stamps(database, scope)
            own |= {(kind, told[kind]) for kind in KINDS}
        assert not own & seen
        seen |= own
        await KnowledgeBases(database).delete(scope)
    async with database.transaction(scope.user_id) as connection:
        rows = await connection.execute("select from scope_generations")
        assert await rows.fetchall() == []


async def test_many_writers_at_once_leave_no_more_rows_than_they_are(
    database: Database, scope: Scope
) -> None:
    """A reader beside them sees as many documents as there were when it kept that stamp."""
    await make(database, scope)
    kept: dict[str, int] = {}

    async def write() -> None:
        for _ in range(15):
            async with writing(database, scope) as (connection, scope_id):
                await connection.execute(ADD, [scope_id, str(uuid4())])

    async def read() -> None:
        async with database.transaction(scope.user_id, snapshot=True) as connection:
            rows = await connection.execute(BOTH, [scope.user_id, scope.graph_id])
            [(stamp, number)] = await rows.fetchall()
        assert kept.setdefault(stamp, number) == number

    writers = asyncio.gather(*(write() for _ in range(6)))
    while not writers.done():
        await read()
    await writers
    await read()
    assert max(kept.values()) == 90
    async with database.transaction(scope.user_id) as connection:
        rows = await connection.execute("select from scope_generations")
        assert 1 <= len(await rows.fetchall()) <= 6


@dataclass(frozen=True)
class Step:
    """What happens next: which of the writers, and what it does."""

    writer: int
    does: str


STEPS = st.lists(
    st.builds(Step, st.integers(0, 2), st.sampled_from(["write", "commit", "roll back", "save"])),
    min_size=4,
    max_size=25,
)


class Writer:
    """A transaction at a time that adds documents, or changes or deletes them."""

    def __init__(self, database: Database, scope: Scope, number: int) -> None:
        self._database, self._scope, self._number = database, scope, number
        self._open = AsyncExitStack()
        self._at: tuple[Connection, int] | None = None
        self._count = 0

    async def take(self, does: str) -> None:
        if does in ("write", "save"):
            if self._at is None:
                self._at = await self._open.enter_async_context(
                    writing(self._database, self._scope)
                )
            async with AsyncExitStack() as inner:
                if does == "save":
                    await inner.enter_async_context(self._at[0].transaction())
                await self._write(*self._at)
        elif self._at is not None:
            undone = (Rollback, Rollback(), None) if does == "roll back" else (None, None, None)
            await self._open.__aexit__(*undone)
            self._at = None

    async def _write(self, connection: Connection, scope_id: int) -> None:
        self._count += 1
        own = f"{self._number} %"
        statements: tuple[tuple[LiteralString, list[object]], ...] = (
            (ADD, [scope_id, f"{self._number} {uuid4()}"]),
            (
                "update documents set status = %s where scope_id = %s and source like %s",
                [str(uuid4()), scope_id, own],
            ),
            ("delete from documents where scope_id = %s and source like %s", [scope_id, own]),
        )
        await connection.execute(*statements[(0, 1, 0, 2)[self._count % 4]])


async def content(database: Database, scope: Scope) -> list[Any]:
    """Return what a reader sees of the documents."""
    async with database.transaction(scope.user_id) as connection:
        rows = await connection.execute("select source, status from documents order by source")
        return await rows.fetchall()


@settings(
    max_examples=25,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=STEPS)
async def test_what_is_kept_under_a_stamp_is_what_is_there_as_long_as_the_stamp_is(
    database: Database, steps: list[Step]
) -> None:
    """Writers come, meet, commit and roll back in any order; after each step somebody reads.

    A reader takes the stamp first and the content then, as the indexes in memory do, and asks for
    the stamp again before it trusts what it has kept.
    """
    scope = Scope(user_id=f"user-{uuid4()}", graph_id="default")
    await make(database, scope)
    kept: dict[str, list[Any]] = {}
    writers = [Writer(database, scope, number) for number in range(3)]
    for step in [*steps, *(Step(number, "commit") for number in range(3))]:
        await writers[step.writer].take(step.does)
        stamp = (await stamp_of(database, scope)).passages
        now = await content(database, scope)
        assert kept.setdefault(stamp, now) == now
