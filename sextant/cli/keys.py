"""`sextant keys`: create, list, revoke and rotate the API keys of a server."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.session import AsJson, ListByDefault
from sextant.domain.errors import OptionInvalid

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from typing import TypeVar

    from sextant.domain.scope import ApiKey, NewSecret, Permission
    from sextant.stores.api_keys import ApiKeyStore

    T = TypeVar("T")

app = typer.Typer()
keys = typer.Typer(cls=ListByDefault, help="API keys of a server: make, list, end, replace.")
app.add_typer(keys, name="keys")

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_DURATION = re.compile(r"(\d{1,5})([mhd])", re.ASCII)
# A hundred years; PostgreSQL and Python cannot represent much later moments.
_LONGEST = timedelta(days=36_500)

KeyId = Annotated[
    str, typer.Argument(metavar="KEY", help="Its beginning, from `sextant keys list`.")
]
User = Annotated[
    str | None, typer.Option("--user", "-u", help="Whose; by default the setting user_id.")
]


@keys.command("create")
def create_key(
    *,
    user: User = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            "-s",
            metavar="SCOPE",
            help="read, ingest (with read) or admin (with both); may be repeated.",
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(help="How long it is good for, like 90d, 12h; by default for ever."),
    ] = None,
    name: Annotated[str, typer.Option(help="What it is for, to be shown in the list.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a key, and show it once. By default it may only read."""
    from sextant.domain.scope import Permission

    permissions = [_permission(one) for one in scope or [Permission.READ]]
    lifetime = _duration(expires, "expires") if expires is not None else None
    _show_new(
        _with_keys(lambda store, owner: store.create(
            owner if user is None else user, permissions, name=name, lifetime=lifetime
        )),
        as_json=as_json,
    )  # fmt: skip


@keys.command("list")
def list_keys(
    *,
    user: User = None,
    everybody: Annotated[bool, typer.Option("--all", help="Those of all users.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the keys, without their secrets."""
    listed = _with_keys(
        lambda store, owner: store.list_keys(None if everybody else owner if user is None else user)
    )
    terminal.show(listed, _print_keys, as_json=as_json)
    if not (listed or everybody or as_json):
        terminal.note("None of this user. `sextant keys list --all` shows those of all users.")


def _print_keys(listed: Sequence[ApiKey]) -> None:
    rows = [
        (
            key.id,
            key.user_id,
            ", ".join(key.permissions),
            _state(key),
            terminal.date(key.expires_at),
            terminal.date(key.last_used_at),
            key.name,
        )
        for key in listed
    ]
    terminal.table(("KEY", "USER", "SCOPES", "STATE", "EXPIRES", "LAST USED", "NAME"), rows)


@keys.command("revoke")
def revoke_key(key: KeyId, *, as_json: AsJson = False) -> None:
    """Revoke a key; running servers refuse it within seconds."""
    ended = _with_keys(lambda store, _: store.revoke(key))
    message = f"{ended.id} of {ended.user_id} is revoked."
    terminal.print_result(message, ended, as_json=as_json)


@keys.command("rotate")
def rotate_key(
    key: KeyId,
    *,
    grace: Annotated[
        str, typer.Option(help="How long the old key goes on working, like 24h.")
    ] = "0m",
    as_json: AsJson = False,
) -> None:
    """Replace a key. The new one has the same rights, and is shown once."""
    overlap = _duration(grace, "grace")
    _show_new(_with_keys(lambda store, _: store.rotate(key, overlap)), as_json=as_json)


def _with_keys(work: Callable[[ApiKeyStore, str], Awaitable[T]]) -> T:
    """Return the result of `work` with the store of keys and the user of the settings."""
    import asyncio

    from sextant.domain.configuration import load_settings
    from sextant.stores.api_keys import open_keys

    async def run() -> T:
        settings = await asyncio.to_thread(load_settings)
        async with open_keys(settings) as store:
            return await work(store, settings.user_id)

    return asyncio.run(run())


def _show_new(made: tuple[ApiKey, NewSecret], *, as_json: bool) -> None:
    key, secret = made
    if as_json:
        from dataclasses import asdict

        terminal.emit(asdict(key) | {"secret": secret.text})
        return
    terminal.note(
        f"A key of {key.user_id} that may {', '.join(key.permissions)}. It is shown once:"
    )
    terminal.say(secret.text)


def _state(key: ApiKey) -> str:
    if key.revoked_at is not None:
        return "revoked"
    return "expired" if key.ended else "good"


def _permission(text: str) -> Permission:
    from sextant.domain.scope import Permission

    try:
        return Permission(text.strip().lower())
    except ValueError:
        raise OptionInvalid(
            f"There is no scope {text!r:.40}.",
            next_step="Choose read, ingest or admin.",
            field="scope",
        ) from None


def _duration(text: str, field: str) -> timedelta:
    found = _DURATION.fullmatch(text.strip())
    length = timedelta(**{_UNITS[found[2]]: int(found[1])}) if found else None
    if length is None or length > _LONGEST:
        raise OptionInvalid(
            f"{text!r:.40} is not a length of time.",
            next_step=f"Write --{field} 90d, 12h or 30m.",
            field=field,
        )
    return length
