"""What kind of body comes with a request, by its headers."""

from __future__ import annotations

from starlette.requests import Request


def content_type_of(request: Request) -> str:
    """Return the type of the body in small letters, without its parameters; "" where none is told (RFC 9110, 8.3)."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def is_json(request: Request) -> bool:
    """Return whether the body is JSON, be it of a kind of its own (`application/problem+json`, RFC 6839, 3.1)."""
    kind, _, own = content_type_of(request).partition("/")
    return kind == "application" and (own == "json" or own.endswith("+json"))


def is_encoded(request: Request) -> bool:
    """Return whether the body is compressed or the like, which nothing here undoes (RFC 9110, 8.4)."""
    return request.headers.get("content-encoding", "identity") != "identity"
