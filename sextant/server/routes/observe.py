"""Routes of liveness, readiness and metrics."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request, Response

from sextant.domain.scope import Permission, Principal
from sextant.server.lifespan import serving_of
from sextant.server.observe.metrics import MEDIA_TYPE, is_scraper, observed_process
from sextant.server.observe.readiness import Dependency, DependencyState, is_ready
from sextant.server.openapi import Responses
from sextant.server.routing import Requires
from sextant.server.routing import router as new_router
from sextant.server.schemas.wire import Wire

router = new_router("health")


class Alive(Wire):
    """The process is alive."""

    status: str = "ok"


@router.get("/healthz")
async def healthz() -> Alive:
    """Return that the process is alive; `/readyz` checks its dependencies."""
    return Alive()


_READY: Responses = {
    503: {"description": "Something is down without which nothing can be answered."}
}


class Readiness(Wire):
    """Whether requests can be answered, and the state of each dependency."""

    status: DependencyState
    dependencies: tuple[Dependency, ...]


class Scraper(Requires):
    """Admits administrators, and clients with the token for metrics."""

    async def __call__(self, request: Request) -> Principal:
        """Return the caller; raise the errors of `Requires`."""
        if is_scraper(request, serving_of(request).settings):
            return Principal("", frozenset())
        return await super().__call__(request)


@router.get("/readyz", responses=_READY)
async def readyz(request: Request, response: Response) -> Readiness:
    """Return whether the server can answer, and the state of each dependency; the log has the reasons."""
    found = await observed_process(request).readiness.dependencies()
    ready = is_ready(found)
    response.status_code = 200 if ready else 503
    lacking = any(one.state in {DependencyState.DOWN, DependencyState.DEGRADED} for one in found)
    well = DependencyState.DEGRADED if lacking else DependencyState.UP
    return Readiness(
        status=well if ready else DependencyState.DOWN,
        dependencies=tuple(found),
    )


@router.get("/metrics", response_class=Response)
async def metrics(
    request: Request, _: Annotated[Principal, Depends(Scraper(Permission.ADMIN))]
) -> Response:
    """Return the metrics of this process in Prometheus' text format."""
    return Response(await observed_process(request).measured(), media_type=MEDIA_TYPE)
