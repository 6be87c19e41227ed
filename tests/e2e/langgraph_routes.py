"""Prints what `langgraph dev` mounts beside our own routes: [path, method] pairs as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

from starlette.routing import BaseRoute


def foreign_routes(
    routes: Iterable[BaseRoute], own: Sequence[BaseRoute], prefix: str = ""
) -> Iterator[tuple[str, str]]:
    """Yield the template and each method of every route, also of those within a mount."""
    for route in routes:
        if any(route is one for one in own):
            continue
        path = prefix + getattr(route, "path", "")
        if inner := getattr(route, "routes", None):
            yield from foreign_routes(inner, own, path)
        else:
            # What is mounted, and a WebSocket, name no methods.
            for method in getattr(route, "methods", None) or ("GET", "POST"):
                yield path, method


def _print_routes() -> None:
    root = Path(__file__).parents[2]
    configured = json.loads((root / "langgraph.json").read_text(encoding="utf-8"))
    with import_module("langgraph_api.cli").patch_environment(
        MIGRATIONS_PATH="__inmem",
        DATABASE_URI=":memory:",
        REDIS_URI="fake",
        LANGSERVE_GRAPHS="{}",
        LANGGRAPH_RUNTIME_EDITION="inmem",
        LANGGRAPH_DISABLE_FILE_PERSISTENCE="true",
        LANGGRAPH_HTTP=json.dumps(configured["http"]),
        LANGGRAPH_AUTH=json.dumps(configured["auth"]),
    ):
        app = import_module("langgraph_api.server").app

        json.dump(list(foreign_routes(app.routes, app.state.sextant_routes)), sys.stdout)


if __name__ == "__main__":
    _print_routes()
