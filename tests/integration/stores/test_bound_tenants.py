"""Functions of the database that pass by row-level security, or are told whose rows are meant, believe no caller."""

from __future__ import annotations

from typing import Any, LiteralString
from uuid import uuid4

import numpy as np
import psycopg
import pytest

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from sextant.stores.postgresql.database import Database
from tests.integration.stored_state import GraphRecord
from tests.integration.stores.conftest import Ingest

# Functions that name no tenant: what they tell or do is everybody's, or is found by a secret.
_OF_NOBODY = {
    "api_keys_exist",
    "queue_overview",
    "refresh_statistics",
    "schema_version",
    "tidy_gram_index",
    "use_api_key",
}
# A call of each other one about a tenant; it gives something, or changes what `_STATE` shows.
_CALLS: dict[str, LiteralString] = {
    "scope_stamp": "select scope_stamp(%(user)s, %(graph)s)",
    "nearest_chunks": "select nearest_chunks(%(user)s, %(graph)s, %(vector)s, 5, 100)",
    "keyword_matches": "select keyword_matches(%(user)s, %(graph)s, array['rust'], '{}', '{}', array['rust'], 9, 5)",
    "search_grams": "select count(*) from search_grams(%(scope)s, array['rust'], '{}', '{}')",
    "rank_entities": "select count(*) from rank_entities(array[%(scope)s], 'rust', 9)",
    "job_backlog": "select count(*) from job_backlog('1 hour', %(user)s)",
    "fill_blocks": "select fill_blocks(%(scope)s)",
    "promote_scope": "select promote_scope(%(scope)s)",
    "count_grams": "select count_grams(%(scope)s)",
}
_STATE: LiteralString = """
select (select count(*) from vector_blocks where scope_id = g.scope_id), g.partition_key, g.counted_chunks
from graphs g where g.scope_id = %(scope)s
"""
# As many blocks that are not full as are filled.
_SPLIT: LiteralString = """
insert into vector_blocks (scope_id, user_id, ids, halves)
select %(scope)s, %(user)s, '{}', '{}' from generate_series(1, 20)
"""


async def names_of_functions(database: Database) -> set[str]:
    """Return those that the serving role may call, and that run as the owner or have a user as an argument."""
    async with database.transaction("anybody") as connection:
        found = await connection.execute(
            "select proname from pg_proc p join pg_namespace n on n.oid = pronamespace"
            " where nspname = 'sextant' and has_function_privilege(p.oid, 'execute')"
            " and (prosecdef or 'of_user' = any(proargnames)) and proname <> 'bind_tenant'"
        )
        return {name async for (name,) in found}


@pytest.fixture
async def known(database: Database, scope: Scope, ingest: Ingest) -> dict[str, Any]:
    """Return a tenant with something for each function to tell or change, and what a stranger may have learnt of it."""
    await ingest(scope, ["Rust"], np.eye(1, 384, dtype=np.float32))
    await DocumentStore(database).register(
        scope, source="waits", filename="waits", media_type="text/plain", content=b"waits"
    )
    rust = entity_id(scope, "Rust")
    mention = MentionRow(rust, None, MentionKind.IMPORT, "Rust", "concept", "A language.")
    await GraphRecord(database).add(scope, GraphEvidence([mention], []))
    key = {"user": scope.user_id, "graph": scope.graph_id, "entity": rust}
    async with database.transaction(scope.user_id) as connection:
        cursor = await connection.execute(
            "select g.scope_id, uuid_send((select id from chunks c where c.scope_id = g.scope_id limit 1))"
            " from graphs g where graph_id = %(graph)s",
            key,
        )
        number, chunk = await cursor.fetchone() or (0, b"")
    async with database.owner() as connection:
        await connection.execute(_SPLIT, key | {"scope": number})
    vector = np.eye(1, 384, dtype=np.float32)[0]
    return key | {"scope": number, "chunk": chunk, "vector": vector}


async def has_effect(
    database: Database, user_id: str, call: LiteralString, known: dict[str, Any]
) -> bool:
    """Return whether a call of the serving role, for a user or (empty) for none, gives or changes anything."""
    before = await state(database, known)
    try:
        async with database.transaction(user_id) as connection:
            row = await (await connection.execute(call, known)).fetchone()
    except psycopg.errors.InsufficientPrivilege:
        row = None
    return any(row or ()) or await state(database, known) != before


async def state(database: Database, known: dict[str, Any]) -> object:
    async with database.transaction(known["user"]) as connection:
        return await (await connection.execute(_STATE, known)).fetchone()


async def test_each_function_is_known_to_the_test_below(database: Database) -> None:
    """Whoever adds one says here that it is of nobody, or how it is called for a tenant."""
    assert await names_of_functions(database) == _OF_NOBODY | set(_CALLS)


async def test_no_function_serves_a_tenant_whom_the_session_does_not_name(
    database: Database, known: dict[str, Any]
) -> None:
    calls = _CALLS.items()
    foreign = f"user-{uuid4()}"

    served = [name for name, call in calls if await has_effect(database, foreign, call, known)]
    own = [name for name, call in calls if await has_effect(database, known["user"], call, known)]

    assert served == []
    assert own == list(_CALLS)


async def test_what_runs_as_the_owner_does_nothing_where_no_tenant_is_named(
    database: Database, known: dict[str, Any]
) -> None:
    async with database.owner() as connection:
        found = await connection.execute("select proname from pg_proc where prosecdef")
        owners = {name async for (name,) in found}

    served = [
        name
        for name, call in _CALLS.items()
        if name in owners and await has_effect(database, "", call, known)
    ]

    assert served == []


async def test_a_job_is_claimed_for_the_sessions_tenant_alone(
    database: Database, known: dict[str, Any]
) -> None:
    call: LiteralString = "select count(*) from claim_job('w', '1 hour', null, %(user)s)"
    assert not await has_effect(database, f"user-{uuid4()}", call, known)
    assert not await has_effect(database, "", call, known)
    assert await has_effect(database, known["user"], call, known)
