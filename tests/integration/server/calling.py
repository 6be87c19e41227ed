"""Clients of an application in this process, without a socket between."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx
from fastapi import FastAPI

ADDRESS = "http://127.0.0.1"


def bearer(credential: str) -> dict[str, str]:
    """Return the header of a caller who has this key or token."""
    return {"Authorization": f"Bearer {credential}"}


def calling(
    app: FastAPI, headers: Mapping[str, str] | None = None, address: str = "127.0.0.1"
) -> httpx.AsyncClient:
    """Return a client of a running application, at an address."""
    transport = httpx.ASGITransport(app, client=(address, 123))
    return httpx.AsyncClient(transport=transport, base_url=ADDRESS, headers=dict(headers or {}))


@asynccontextmanager
async def started(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """Provide a client of an application that runs meanwhile."""
    async with app.router.lifespan_context(app), calling(app) as client:
        yield client
