"""Where no login is configured, this machine's user is served, and nobody else."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx
import pytest
import pytest_asyncio
from fastapi import FastAPI

from sextant.domain.scope import Permission
from sextant.domain.settings import AuthSettings, Settings
from sextant.server.app import create_app
from sextant.stores.api_keys import ApiKeyStore
from sextant.stores.postgresql.database import Database
from tests.integration.own_database import settings_over, short_folder
from tests.integration.server.auth.conftest import probes
from tests.integration.server.calling import bearer, started

Asking = Callable[..., httpx.AsyncClient]


@pytest_asyncio.fixture(scope="module")
async def open_server(settings: Settings) -> AsyncIterator[FastAPI]:
    created = create_app(settings)
    created.include_router(probes)
    async with created.router.lifespan_context(created):
        yield created


@pytest.fixture(scope="module")
def asking(open_server: FastAPI) -> Asking:
    """Return a client at an address, that asks for a host."""

    def made(address: str = "127.0.0.1", host: str = "127.0.0.1:8000") -> httpx.AsyncClient:
        transport = httpx.ASGITransport(open_server, client=(address, 50_000))
        return httpx.AsyncClient(transport=transport, base_url=f"http://{host}")

    return made


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "localhost", "[::1]:8000"])
async def test_this_machine_s_user_may_everything(asking: Asking, address: str, host: str) -> None:
    async with asking(address, host) as client:
        seen = (await client.get("/probe/read")).json()
    assert seen == {"user": "local", "permissions": ["admin", "ingest", "read"]}


@pytest.mark.parametrize("address", ["192.0.2.7", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "x"])
async def test_other_machines_are_refused(asking: Asking, address: str) -> None:
    async with asking(address) as client:
        answer = await client.get("/probe/read")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert "sextant keys create" in answer.json()["nextStep"]


@pytest.mark.parametrize(
    "host",
    ["sextant.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1:8000", "0.0.0.0"],  # noqa: S104
)  # fmt: skip
async def test_a_name_that_was_made_to_point_here_is_refused(asking: Asking, host: str) -> None:
    async with asking(host=host) as client:
        answer = await client.get("/probe/read")
    assert answer.status_code == 403


@pytest.mark.parametrize("host", ["", "[::1", "127.0.0.1@evil.example", "evil.example#127.0.0.1"])
async def test_a_host_that_is_none_is_refused(asking: Asking, host: str) -> None:
    async with asking() as client:
        answer = await client.get("/probe/read", headers={"Host": host})
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:3000"},
        {"Origin": "http://localhost:8000"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
async def test_pages_of_other_sites_are_refused(asking: Asking, headers: dict[str, str]) -> None:
    async with asking() as client:
        for method, path in (("GET", "/probe/read"), ("POST", "/probe/ingest")):
            answer = await client.request(method, path, headers=headers)
            assert answer.status_code == 403


async def test_pages_of_its_own_are_served(asking: Asking) -> None:
    own = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}
    async with asking() as client:
        assert (await client.post("/probe/ingest", headers=own)).status_code == 200


async def test_a_key_that_a_client_cannot_leave_out_does_no_harm(asking: Asking) -> None:
    async with asking() as client:
        assert (await client.get("/probe/read", headers=bearer("none"))).status_code == 200


async def test_a_server_that_demands_a_login_serves_nobody_until_there_is_one(
    settings: Settings,
) -> None:
    demanding = settings.model_copy(update={"auth": AuthSettings(required=True)})
    created = create_app(demanding)
    created.include_router(probes)
    async with started(created) as client:
        assert (await client.get("/probe/read")).status_code == 401
        assert (await client.get("/healthz")).status_code == 200


async def test_the_first_key_locks_a_server_that_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sextant.server.auth.authenticator._OPEN_SECONDS", 0.0)
    with short_folder() as folder:
        own = settings_over(folder)
        created = create_app(own)
        created.include_router(probes)
        async with started(created) as client, await Database.open(own) as database:
            assert (await client.get("/probe/read")).status_code == 200
            keys = ApiKeyStore(database)
            key, secret = await keys.create("alice", [Permission.READ])
            assert (await client.get("/probe/read")).status_code == 401
            seen = await client.get("/probe/read", headers=bearer(secret.text))
            assert seen.json()["user"] == "alice"
            await keys.revoke(key.id)  # the last key's end opens nothing again
            assert (await client.get("/probe/read")).status_code == 401
