"""The application with logins, over a database of its own, and callers of every kind."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from typing import Any

import httpx
import jwt
import pytest
import pytest_asyncio
from fastapi import APIRouter, FastAPI

from sextant.domain.scope import Permission
from sextant.domain.settings import AuthSettings, QuotaSettings, Settings
from sextant.server.app import create_app
from sextant.server.routing import AdminRag, Reader, WriterRag
from sextant.stores.api_keys import ApiKeyStore
from sextant.stores.postgresql.database import Database
from tests.integration.own_database import settings_over, short_folder
from tests.integration.server.calling import calling

SECRET = "a secret of the tests, longer than 32 bytes"
ISSUER, AUDIENCE = "https://login.test", "sextant"


probes = APIRouter(prefix="/probe")


@probes.get("/read")
async def read(principal: Reader) -> dict[str, Any]:
    """Return whom the server takes the caller for."""
    return {"user": principal.user_id, "permissions": sorted(principal.permissions)}


@probes.post("/ingest")
async def ingest(rag: WriterRag) -> str:
    return rag.user_id


@probes.delete("/admin")
async def admin(rag: AdminRag) -> str:
    return rag.user_id


def token(secret: str = SECRET, algorithm: str = "HS256", **claims: Any) -> str:
    """Return a token that holds, but for what is said otherwise; a claim that is None is left out."""
    whole = {
        "sub": "alice",
        "iss": ISSUER,
        "aud": AUDIENCE,
        "exp": time.time() + 600,
        "scope": "admin",
    } | claims
    told = {name: value for name, value in whole.items() if value is not None}
    return jwt.encode(told, secret, algorithm=algorithm)


@pytest_asyncio.fixture(scope="session")
async def with_logins() -> AsyncIterator[Settings]:
    """Yield settings of a server that takes tokens, over a data folder where keys are made."""
    with short_folder() as folder:
        login = AuthSettings(
            jwt_secret=SECRET,
            jwt_issuer=ISSUER,
            jwt_audience=AUDIENCE,
            key_cache_seconds=0,
            wrong_keys=10_000,
        )
        plenty = QuotaSettings(requests_per_second=10_000, burst=10_000)
        settings = settings_over(folder).model_copy(update={"auth": login, "quota": plenty})
        async with await Database.open(settings):  # keeps the server up
            yield settings


@pytest_asyncio.fixture(scope="session")
async def guarded(with_logins: Settings) -> AsyncIterator[FastAPI]:
    """Yield the running application."""
    created = create_app(with_logins)
    created.include_router(probes)
    async with created.router.lifespan_context(created):
        yield created


@pytest_asyncio.fixture(scope="session")
async def keys(with_logins: Settings) -> AsyncIterator[ApiKeyStore]:
    async with await Database.open(with_logins) as database:
        yield ApiKeyStore(database)


@pytest.fixture(scope="session")
def caller(guarded: FastAPI) -> Callable[[dict[str, str]], httpx.AsyncClient]:
    """Return a client with these headers."""
    return lambda headers: calling(guarded, headers)


async def key_for(
    keys: ApiKeyStore,
    user_id: str,
    *permissions: Permission,
    lifetime: timedelta | None = None,
) -> str:
    """Return a new key of a user."""
    _, secret = await keys.create(user_id, permissions or tuple(Permission), lifetime=lifetime)
    return secret.text
