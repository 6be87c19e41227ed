"""Every route against every kind of caller: exactly one status each."""

from __future__ import annotations

import itertools
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts

from sextant.domain.scope import Permission, include_lesser, new_secret
from sextant.server.app import create_app
from sextant.server.routing import PUBLIC, guards_of
from sextant.stores.api_keys import ApiKeyStore
from tests.integration.server.auth.conftest import key_for, token
from tests.integration.server.auth.routes import ADMIN, GRAPH, INGEST, READ, TABLE, Ids, Row
from tests.integration.server.auth.test_logins import unsigned
from tests.integration.server.auth.world import furnish
from tests.integration.server.calling import bearer, calling

OWNER, STRANGER, NEWCOMER = "owner", "stranger", "newcomer"
GRANTED = {"read-only": READ, "ingest-only": INGEST, "admin": ADMIN}
NOBODY = (
    "none", "garbage", "expired", "revoked", "wrong key", "alg=none", "wrong aud", "expired token",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class World:
    app: FastAPI
    headers: dict[str, dict[str, str]]
    ids: Ids

    async def request(self, row: Row, who: str, ids: Ids) -> httpx.Response:
        async with calling(self.app) as client:
            sent = row.send(ids)
            headers = sent.pop("headers", {}) | self.headers[who]
            return await client.request(row.method, row.url(ids), headers=headers, **sent)


@pytest_asyncio.fixture(scope="module")
async def world(guarded: FastAPI, keys: ApiKeyStore) -> AsyncIterator[World]:
    """Yield the owner's knowledge base, and a key or token for everybody."""
    secrets = {who: await key_for(keys, OWNER, one) for who, one in GRANTED.items()}
    secrets |= {who: await key_for(keys, who, ADMIN) for who in (STRANGER, NEWCOMER)}
    expired, secret = await keys.create(OWNER, [ADMIN], lifetime=timedelta(hours=1))
    await keys.revoke(expired.id, grace=timedelta(microseconds=1))
    secrets["expired"] = secret.text
    revoked, secret = await keys.create(OWNER, [ADMIN])
    await keys.revoke(revoked.id)
    secrets["revoked"] = secret.text
    secrets |= {
        "garbage": "garbage",
        "wrong key": new_secret().text,
        "alg=none": unsigned(sub=OWNER, scope="admin"),
        "wrong aud": token(sub=OWNER, aud="another"),
        "expired token": token(sub=OWNER, exp=time.time() - 3600),
    }
    headers = {who: bearer(secret) for who, secret in secrets.items()} | {"none": {}}
    ids = await furnish(guarded, OWNER, secrets["admin"])
    yield World(guarded, headers, ids)


def named(row: Row) -> str:
    return f"{row.method} {row.path}"


def test_the_table_has_every_route_of_the_application() -> None:
    app = create_app()
    served = {
        (method, route.path or "")
        for route in iter_route_contexts(app.routes)
        for method in (route.methods or {"ANY"}) - {"HEAD"}
        if route.path not in PUBLIC
    }
    assert {(row.method, row.path) for row in TABLE} == served


def test_the_table_says_what_each_route_demands() -> None:
    app = create_app()
    demanded = {
        (method, route.path or ""): {guard.permission for guard in guards_of(route.dependant)}
        for route in iter_route_contexts(app.routes)
        if route.path not in PUBLIC
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert {(row.method, row.path): {row.permission} for row in TABLE} == demanded


@pytest.mark.parametrize("who", NOBODY)
@pytest.mark.parametrize("row", TABLE, ids=named)
async def test_who_is_nobody_is_sent_away(world: World, row: Row, who: str) -> None:
    answer = await world.request(row, who, world.ids)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("who", GRANTED)
@pytest.mark.parametrize("row", TABLE, ids=named)
async def test_a_key_opens_what_it_was_made_for(world: World, row: Row, who: str) -> None:
    may = row.permission in include_lesser([GRANTED[who]])
    ids = await disposable(world) if row.ends and may else world.ids
    answer = await world.request(row, who, ids)
    assert answer.status_code == (row.owner if may else 403)


@pytest.mark.parametrize("row", TABLE, ids=named)
async def test_a_stranger_finds_nothing_of_the_owner_s(world: World, row: Row) -> None:
    # What brings something makes a knowledge base of the same name, so another brings it.
    who = NEWCOMER if row.permission == INGEST and row.stranger < 400 else STRANGER
    answer = await world.request(row, who, world.ids)
    assert answer.status_code == row.stranger
    assert "canary" not in answer.text


@pytest.mark.parametrize("row", [row for row in TABLE if row.stranger == 404], ids=named)
async def test_what_is_another_s_and_what_is_not_there_look_the_same(
    world: World, row: Row
) -> None:
    unknown = Ids(
        document="01234567-89ab-7cde-8f01-23456789abcd",
        entity="01234567-89ab-7cde-8f01-23456789abcd",
        chunk="01234567-89ab-7cde-8f01-23456789abcd",
        run="0" * 32,
        graph=GRAPH,
        thread="of nobody",
    )
    foreign = await world.request(row, STRANGER, world.ids)
    missing = await world.request(row, STRANGER, unknown)
    assert (foreign.status_code, _plain(foreign, world.ids)) == (
        missing.status_code, _plain(missing, unknown),
    )  # fmt: skip


def _plain(answer: httpx.Response, ids: Ids) -> str:
    """Return the body without the ids that were asked for and the request's own."""
    text = answer.text.replace(answer.headers.get("x-request-id", "-"), "")
    for one in (ids.document, ids.entity, ids.chunk, ids.run, ids.thread):
        text = text.replace(one, "ID")
    return text


_numbers = itertools.count()


async def disposable(world: World) -> Ids:
    """Return a knowledge base that may be done away with."""
    key = world.headers["admin"]["Authorization"].removeprefix("Bearer ")
    ids = await furnish(world.app, OWNER, key, f"gone-{next(_numbers)}")
    return replace(ids, run=world.ids.run)


async def test_nothing_of_the_owner_s_is_gone_at_the_end(world: World) -> None:
    async with calling(world.app, world.headers["admin"]) as client:
        answer = await client.get(f"/documents/{world.ids.document}")
    assert answer.status_code == 200


def test_permissions_include_the_lesser_ones() -> None:
    assert include_lesser([ADMIN]) == frozenset(Permission)
    assert include_lesser([INGEST]) == {READ, INGEST}
    assert include_lesser([READ]) == {READ}
    assert include_lesser([]) == frozenset()
