"""Where no login is configured, only this machine's own user is served.

Three things could stand between: another machine (the address says so), a page in the user's browser
that sends requests here (Origin and Sec-Fetch-Site say so), and such a page whose own name was made to
point here, which makes it same-origin (DNS rebinding: the Host header says so).
"""

from __future__ import annotations

from collections.abc import Container
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from sextant.domain.errors import Forbidden
from sextant.domain.loopback import is_loopback


def require_local(connection: HTTPConnection, pages: Container[str] = ()) -> None:
    """Let through what the user of this machine asks.

    Args:
        connection: the request.
        pages: origins of other sites whose pages may ask all the same.

    Raises:
        Forbidden: it comes from elsewhere, or through a page of somebody else's.
    """
    if connection.client is None or not is_loopback(connection.client.host):
        raise _forbidden("comes from another machine")
    host = connection.headers.get("host", "").lower()
    if not is_loopback(_name(host)):
        raise _forbidden("is meant for another host name")
    origin = connection.headers.get("origin")
    if origin in pages:
        return
    if origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}:
        raise _forbidden("comes from a page of another site")
    if connection.headers.get("sec-fetch-site", "none") not in {"none", "same-origin"}:
        raise _forbidden("comes from a page of another site")


def _name(host: str) -> str:
    """Return a host without its port; nothing where it is none."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _forbidden(why: str) -> Forbidden:
    return Forbidden(
        f"This server has no login, so it serves this machine only, and the request {why}.",
        next_step="Make a key with `sextant keys create`; from then on keys are asked for.",
    )
