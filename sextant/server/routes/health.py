"""Whether the server lives."""

from __future__ import annotations

from sextant.server.openapi import answers
from sextant.server.routing.router import router as new_router
from sextant.server.schemas.wire import Wire

router = new_router("health")


class Alive(Wire):
    """The process answers."""

    status: str = "ok"


@router.get("/healthz", responses=answers({"status": "ok"}))
async def healthz() -> Alive:
    """Return whether the process answers; what it depends on is `/readyz`."""
    return Alive()
