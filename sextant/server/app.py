"""The application: `sextant.server.app:app`, run by `sextant serve` and mounted by `langgraph.json`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from sextant import __version__
from sextant.domain.configuration import load_settings
from sextant.domain.settings import Settings
from sextant.server import edge, openapi, problems
from sextant.server.lifespan import serving
from sextant.server.mcp import server as mcp_server
from sextant.server.observe.metrics import Metrics, observing
from sextant.server.openai.routes import router as openai_router
from sextant.server.openai.schemas import describe_failure
from sextant.server.routes import documents, graphs, observe, page, query
from sextant.server.routing import require_guards

_ROUTERS = (
    observe.router,
    query.router,
    query.threads_router,
    openai_router,
    graphs.search_router,
    graphs.knowledge_router,
    documents.router,
    graphs.router,
    page.router,
    mcp_server.router,
)


def create_app(settings: Settings | None = None) -> FastAPI:
    """Build the application; its parts are opened when it starts.

    Args:
        settings: by default those of the environment and `.env`, read at the start.
    """
    metrics = Metrics()
    app = FastAPI(
        title="Sextant",
        description="Answers over a team's own documents, with citations that hold.",
        version=__version__,
        lifespan=partial(_lifespan, settings=settings, metrics=metrics),
        docs_url=None,
        redoc_url=None,
    )
    problems.install(app)
    edge.install(app, metrics)
    for router in _ROUTERS:
        app.include_router(router)
    openapi.install(app, {problems.OPENAI_PATHS: describe_failure})
    require_guards(app)
    app.state.sextant_routes = tuple(app.routes)
    return app


@asynccontextmanager
async def _lifespan(
    app: FastAPI, *, settings: Settings | None, metrics: Metrics
) -> AsyncIterator[None]:
    chosen = settings if settings is not None else await asyncio.to_thread(load_settings)
    async with (
        serving(chosen) as parts,
        mcp_server.endpoints() as tools,
        observing(parts.rag, metrics, parts.runs, parts.searches) as observed,
    ):
        app.state.serving, app.state.mcp, app.state.observed = parts, tools, observed
        yield


app = create_app()
