"""The web page at `/` and the API reference at `/docs`; neither loads anything from other hosts."""

from __future__ import annotations

import gzip
import hashlib
from importlib.resources import files

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from starlette.exceptions import HTTPException

from sextant.server.routing import router as new_router

router = new_router("page")

_STATIC = files("sextant.server") / "static"
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_TEXTS = {
    file.name: file.read_text("utf-8") for file in (_STATIC / "page").iterdir() if file.is_file()
}
# Part of each file's URL: any change makes new URLs, so browsers may cache the files for ever.
_VERSION = hashlib.sha256("".join(_TEXTS[name] for name in sorted(_TEXTS)).encode()).hexdigest()[
    :16
]
_IMMUTABLE = {"Cache-Control": "public, max-age=31536000, immutable"}


def _page() -> str:
    """Return the page with versioned URLs, and preload links for all modules.

    Without the links, nested imports would take five round trips.
    """
    modules = sorted(name for name in _TEXTS if name.endswith(".js"))
    early = "".join(f'  <link rel="modulepreload" href="static/{name}">\n' for name in modules)
    text = _TEXTS["index.html"].replace("  <script", f"{early}  <script", 1)
    return text.replace('"static/', f'"static/{_VERSION}/')


_PACKED = {
    name: gzip.compress(text.encode(), mtime=0)
    for name, text in (_TEXTS | {"index.html": _page()}).items()
}


@router.get("/", include_in_schema=False, response_class=HTMLResponse)
async def page(request: Request) -> Response:
    """Return the web page."""
    return _send_file(request, "index.html", "text/html", {})


@router.get("/static/{version}/{name}", include_in_schema=False)
async def part(request: Request, version: str, name: str) -> Response:
    """Return a style, icon or script of the page; for another version the current one."""
    media_type = _TYPES.get(name.rpartition(".")[2])
    if name not in _PACKED or media_type is None:
        raise HTTPException(404, "There is no such part of the page.")
    return _send_file(request, name, media_type, _IMMUTABLE if version == _VERSION else {})


def _send_file(request: Request, name: str, media_type: str, headers: dict[str, str]) -> Response:
    """Return a file of the page, gzipped if the browser accepts that."""
    content, headers = _PACKED[name], headers | {"Vary": "Accept-Encoding"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        content = gzip.decompress(content)
    return Response(content, media_type=media_type, headers=headers)


_REFERENCE = {
    name: (_STATIC / "reference" / name).read_text("utf-8")
    for name in ("index.html", "reference.js", "reference.css")
}


@router.get("/docs", include_in_schema=False)
async def reference() -> HTMLResponse:
    """Return the API reference, which is rendered from the OpenAPI document."""
    return HTMLResponse(_REFERENCE["index.html"])


@router.get("/docs/reference.js", include_in_schema=False)
@router.get("/docs/reference.css", include_in_schema=False)
async def reference_part(request: Request) -> Response:
    """Return the script or the style of the reference."""
    name = request.url.path.rpartition("/")[2]
    return Response(_REFERENCE[name], media_type=_TYPES[name.rpartition(".")[2]])
