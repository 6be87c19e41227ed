"""Who is let in: keys and tokens that hold, and nothing else."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Callable
from datetime import timedelta

import httpx
import jwt
import pytest
from starlette.requests import HTTPConnection

from sextant.domain.scope import Permission, new_secret
from sextant.domain.settings import Settings
from sextant.server.app import create_app
from sextant.stores.api_keys import ApiKeyStore
from tests.integration.server.auth.conftest import AUDIENCE, ISSUER, SECRET, key_for, probes, token
from tests.integration.server.calling import bearer, calling

Caller = Callable[[dict[str, str]], httpx.AsyncClient]
ROUTE = "/probe/read"


async def asked(caller: Caller, headers: dict[str, str]) -> httpx.Response:
    async with caller(headers) as client:
        return await client.get(ROUTE)


@pytest.mark.parametrize("header", ["Authorization", "X-API-Key"])
async def test_a_key_opens_its_users_data(caller: Caller, keys: ApiKeyStore, header: str) -> None:
    secret = await key_for(keys, "alice")
    value = f"Bearer {secret}" if header == "Authorization" else secret
    assert (await asked(caller, {header: value})).status_code == 200


async def test_a_token_opens_its_users_data(caller: Caller) -> None:
    assert (await asked(caller, bearer(token()))).status_code == 200
    assert (await asked(caller, bearer(token(scope=["read"])))).status_code == 200


async def test_who_brings_nothing_is_told_how_to_log_in(caller: Caller) -> None:
    answer = await asked(caller, {})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "unauthorised"
    assert "sextant keys create" in answer.json()["nextStep"]


@pytest.mark.parametrize(
    "garbage",
    ["", "x", "sxt_", "sxt_0123456789ab_" + "A" * 43, "a.b.c", "....", "A" * 20_000, "\xff" * 20],
)
async def test_garbage_opens_nothing(caller: Caller, garbage: str) -> None:
    header = [("Authorization", b"Bearer " + garbage.encode("latin-1"))]
    async with caller({}) as client:
        answer = await client.get(ROUTE, headers=header)  # type: ignore[arg-type]
    assert answer.status_code == 401
    assert len(answer.content) < 500


async def test_a_key_of_which_one_character_is_wrong_opens_nothing(
    caller: Caller, keys: ApiKeyStore
) -> None:
    secret = await key_for(keys, "alice")
    wrong = secret[:-1] + ("A" if secret[-1] != "A" else "B")
    assert (await asked(caller, bearer(wrong))).status_code == 401


async def test_two_keys_at_once_open_nothing(caller: Caller, keys: ApiKeyStore) -> None:
    one, other = await key_for(keys, "alice"), await key_for(keys, "bob")
    assert (await asked(caller, bearer(one) | {"X-API-Key": other})).status_code == 401
    assert (await asked(caller, bearer(one) | {"X-API-Key": one})).status_code == 200


async def test_a_revoked_key_opens_nothing_any_more(caller: Caller, keys: ApiKeyStore) -> None:
    key, secret = await keys.create("alice", [Permission.ADMIN])
    assert (await asked(caller, bearer(secret.text))).status_code == 200
    await keys.revoke(key.id)
    assert (await asked(caller, bearer(secret.text))).status_code == 401


async def test_a_key_ends_when_it_was_said_to(caller: Caller, keys: ApiKeyStore) -> None:
    key, secret = await keys.create("alice", [Permission.ADMIN], lifetime=timedelta(hours=1))
    assert (await asked(caller, bearer(secret.text))).status_code == 200
    await keys.revoke(key.id, grace=timedelta(microseconds=1))
    [ended] = [one for one in await keys.list_keys("alice") if one.id == key.id]
    assert ended.ended
    assert (await asked(caller, bearer(secret.text))).status_code == 401


async def test_a_rotated_key_goes_on_until_its_grace_is_over(
    caller: Caller, keys: ApiKeyStore
) -> None:
    old, before = await keys.create("alice", [Permission.READ], name="ci")
    new, after = await keys.rotate(old.id, grace=timedelta(hours=1))
    assert (new.name, new.permissions, new.user_id) == ("ci", (Permission.READ,), "alice")
    for secret in (before, after):
        assert (await asked(caller, bearer(secret.text))).status_code == 200
    await keys.revoke(old.id)
    assert (await asked(caller, bearer(before.text))).status_code == 401
    assert (await asked(caller, bearer(after.text))).status_code == 200


def unsigned(algorithm: str = "none", **claims: object) -> str:
    """Return a token without signature, as RFC 7519 §6 allows and nobody should."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    whole = {"sub": "alice", "iss": ISSUER, "aud": AUDIENCE, "exp": time.time() + 600} | claims
    return f"{part({'alg': algorithm, 'typ': 'JWT'})}.{part(whole)}."


@pytest.mark.parametrize(
    "wrong",
    [
        token("another secret that is long enough, too"),
        token(algorithm="HS512"),
        token(aud="another"),
        token(aud=None),
        token(iss="https://elsewhere.test"),
        token(iss=None),
        token(exp=time.time() - 3600),
        token(exp=None),
        token(exp="soon"),
        token(exp=10**30, nbf=10**30),
        token(nbf=time.time() + 3600),
        token(iat=time.time() + 3600),
        token(sub=None),
        token(sub=""),
        token(sub=" "),
        token(sub="a" * 201),
        token(sub="a\x00b"),
        unsigned(),
        unsigned("None"),
        unsigned("nOnE"),
        unsigned("HS256"),
        jwt.encode({"sub": "alice"}, SECRET, "HS256", headers={"crit": ["exp"]}),
        token() + "x",
        token().rpartition(".")[0] + ".",
    ],
)
async def test_a_token_that_does_not_hold_opens_nothing(caller: Caller, wrong: str) -> None:
    answer = await asked(caller, bearer(wrong))
    assert answer.status_code == 401
    assert answer.json()["code"] == "unauthorised"


@pytest.mark.parametrize("scope", ["", "write", "readadmin", None, 5, {"read": True}, [1, None]])
async def test_a_token_without_scopes_may_nothing(caller: Caller, scope: object) -> None:
    answer = await asked(caller, bearer(token(scope=scope)))
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


async def test_when_a_key_was_last_used_is_noted_and_not_with_every_request(
    caller: Caller, keys: ApiKeyStore
) -> None:
    key, secret = await keys.create("carol", [Permission.READ])
    seen = []
    for _ in range(2):
        await asked(caller, bearer(secret.text))
        [listed] = await keys.list_keys("carol")
        seen.append(listed.last_used_at)
    assert seen[0] is not None
    assert seen[0] == seen[1]
    assert key.last_used_at is None


async def test_what_is_kept_of_a_key_does_not_open_anything(keys: ApiKeyStore) -> None:
    _, secret = await keys.create("dave", [Permission.READ])
    async with keys._database.owner() as connection:
        rows = await (await connection.execute("select api_keys::text from api_keys")).fetchall()
    assert all(secret.text not in row[0] for row in rows)
    assert len({new_secret().text for _ in range(1000)}) == 1000


async def test_the_serving_role_sees_no_key_but_the_one_it_can_name(keys: ApiKeyStore) -> None:
    _, secret = await keys.create("erin", [Permission.READ])
    async with keys._database.transaction("erin") as connection:
        cursor = await connection.execute("select has_table_privilege('api_keys', 'select')")
        assert await cursor.fetchone() == (False,)
    found = await keys.use(secret.digest)
    assert found is not None
    assert found.user_id == "erin"
    assert await keys.use(b"\x00" * 32) is None


async def test_whoever_brings_many_wrong_keys_is_not_heard_and_known_keys_go_on(
    with_logins: Settings, keys: ApiKeyStore
) -> None:
    """A wrong key costs a look into the database; a flood of them must not take its connections."""
    login = with_logins.auth.model_copy(update={"wrong_keys": 3})
    app = create_app(with_logins.model_copy(update={"auth": login}))
    app.include_router(probes)
    known, later = await key_for(keys, "alice"), await key_for(keys, "bob")

    async def status(key: str, address: str = "203.0.113.5") -> int:
        async with calling(app, bearer(key), address) as client:
            answer = await client.get(ROUTE)
            assert (answer.status_code == 429) == ("Retry-After" in answer.headers)
            return answer.status_code

    async with app.router.lifespan_context(app):
        assert await status(known) == 200
        wrong = new_secret().text
        assert [await status(wrong) for _ in range(10)] == [401] * 10  # looked up once
        tried = await asyncio.gather(*(status(new_secret().text) for _ in range(20)))
        assert sorted(tried) == [401] * 2 + [429] * 18
        assert await status(later) == 429
        assert await status(known) == 200
        assert await status(later, "203.0.113.6") == 200
        assert await status(later) == 200


async def test_whose_search_it_is_is_known_at_once_by_a_key_that_held(
    with_logins: Settings, keys: ApiKeyStore
) -> None:
    app = create_app(with_logins)
    app.include_router(probes)
    _, secret = await keys.create("alice", tuple(Permission))
    right, wrong = secret.text, new_secret().text

    def known(headers: dict[str, str]) -> str | None:
        brought = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        connection = HTTPConnection({"type": "http", "headers": brought})
        principal = app.state.serving.authenticator.known(connection)
        return principal.user_id if principal else None

    async with app.router.lifespan_context(app):
        assert known(bearer(right)) is None
        for key in (right, wrong):
            async with calling(app, bearer(key)) as client:
                await client.get(ROUTE)
        assert known(bearer(right)) == "alice"
        others = [{}, bearer(wrong), bearer(token(sub="carol"))]
        assert [known(headers) for headers in others] == [None] * 3
