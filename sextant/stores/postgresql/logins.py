"""Build the connection strings of the database's owner and of the serving role."""

from __future__ import annotations

import secrets
from typing import Any

from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import Settings
from sextant.stores.embedded.server import SUPERUSER, EmbeddedServer
from sextant.stores.postgresql.migrations import APP_ROLE, SEARCH_PATH

# The application name of this process's connections, by which others are recognised.
_PROCESS = f"sextant {secrets.token_hex(8)}"
_SESSION = (
    f"-c search_path={SEARCH_PATH.replace(' ', '')} -c jit=off -c client_min_messages=warning"
)


def logins(settings: Settings, server: EmbeddedServer | None) -> tuple[str, str]:
    """Return the connection strings of the owner and of the serving role."""
    if server is not None:
        owner, app = server.conninfo(SUPERUSER), server.conninfo(APP_ROLE)
    else:
        assert settings.database_url is not None  # noqa: S101 - the caller started no server
        owner = _parse_url(settings.database_url.get_secret_value())
        app = {**owner, "options": f"{owner.get('options') or ''} -c role={APP_ROLE}"}
    return _conninfo(owner, settings), _conninfo(app, settings)


def _parse_url(url: str) -> dict[str, Any]:
    try:
        return dict(conninfo_to_dict(url))
    except ProgrammingError:
        raise SettingsInvalid(
            "DATABASE_URL is not a PostgreSQL connection string.",
            next_step="Write it as postgresql://user:password@host:5432/database.",
            field="database_url",
        ) from None  # the driver's message quotes the URL, password and all


def _conninfo(login: dict[str, Any], settings: Settings) -> str:
    options = f"{login.get('options') or ''} {_SESSION}".strip()
    defaults = {
        "connect_timeout": max(2, round(settings.database_timeout)),
        "keepalives_idle": 30,
        # Dropped packets are noticed after this time, not after the kernel's 15 minutes.
        "tcp_user_timeout": round(settings.database_timeout * 1000),
    }
    return make_conninfo(**{**defaults, **login, "options": options, "application_name": _PROCESS})
