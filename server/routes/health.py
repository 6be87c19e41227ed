"""Whether the server lives."""

from __future__ import annotations

from fastapi import APIRouter

from server.schemas.wire import Wire

router = APIRouter(tags=["health"])


class Alive(Wire):
    """The process answers."""

    status: str = "ok"


@router.get("/healthz")
async def healthz() -> Alive:
    """Whether the process answers; what it depends on is `/readyz`."""
    return Alive()
