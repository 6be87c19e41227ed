"""The page at `/`: ask, watch, read, open a citation, add documents. It loads nothing from elsewhere."""

from __future__ import annotations

from importlib.resources import files

from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from server.routing import router as new_router

router = new_router("page")

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
# Read once: they are a few kilobytes each.
_FILES = {
    file.name: file.read_text("utf-8")
    for file in (files("server") / "static" / "page").iterdir()
    if file.is_file()
}


@router.get("/", include_in_schema=False)
async def page() -> HTMLResponse:
    """The page itself."""
    return HTMLResponse(_FILES["index.html"])


@router.get("/static/{name}", include_in_schema=False)
async def part(name: str) -> Response:
    """Its style, its icon and its scripts."""
    media_type = _TYPES.get(name.rpartition(".")[2])
    if name not in _FILES or media_type is None:
        raise HTTPException(404, "There is no such part of the page.")
    return Response(_FILES[name], media_type=media_type)
