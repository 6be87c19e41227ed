"""`/docs`: the reference of this interface, made of its own OpenAPI document and of nothing else."""

from __future__ import annotations

from importlib.resources import files

from fastapi.responses import HTMLResponse, Response

from sextant.server.routing.router import router as new_router

router = new_router("reference")

# Read once: they are a few kilobytes, and nothing of a request decides which.
_PAGES = files("sextant.server") / "static" / "reference"
_HTML = (_PAGES / "index.html").read_text("utf-8")
_SCRIPT = (_PAGES / "reference.js").read_text("utf-8")
_STYLE = (_PAGES / "reference.css").read_text("utf-8")


@router.get("/docs", include_in_schema=False)
async def reference() -> HTMLResponse:
    """Return the page; it loads nothing from elsewhere."""
    return HTMLResponse(_HTML)


@router.get("/docs/reference.js", include_in_schema=False)
async def reference_script() -> Response:
    """Return what fills the page."""
    return Response(_SCRIPT, media_type="text/javascript")


@router.get("/docs/reference.css", include_in_schema=False)
async def reference_style() -> Response:
    """Return how it looks."""
    return Response(_STYLE, media_type="text/css")
