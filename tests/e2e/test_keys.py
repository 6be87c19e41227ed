"""`sextant keys`, and a server that does not listen to the world without them."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sextant.stores.embedded.server import EmbeddedServer
from tests.e2e.conftest import Sextant

pytestmark = pytest.mark.e2e


@pytest.fixture
def without_keys() -> Iterator[dict[str, str]]:
    """Yield a data folder in which no key was ever made, whose server stays up."""
    with tempfile.TemporaryDirectory(prefix="sxt-", ignore_cleanup_errors=True) as name:
        server = EmbeddedServer.start(Path(name))
        yield {"SEXTANT_DATA_DIR": name}
        server.stop()


def test_a_key_is_made_listed_replaced_and_ended(
    sextant: Sextant, without_keys: dict[str, str]
) -> None:
    made = sextant(
        "keys", "create", "--user", "alice", "--scope", "ingest", "--expires", "90d",
        "--name", "crawler", "--json", **without_keys,
    ).json()  # fmt: skip
    assert re.fullmatch(r"sxt_[0-9a-f]{12}_[\w-]{43}", made["secret"])
    assert made["secret"].startswith(made["id"])
    assert (made["user_id"], made["permissions"], made["name"]) == ("alice", ["ingest"], "crawler")

    listed = sextant("keys", "list", "--all", **without_keys)
    assert made["id"] in listed.out
    assert made["secret"] not in listed.out
    assert sextant("keys", "list", "--json", **without_keys).json() == []
    assert "keys list --all" in sextant("keys", "list", **without_keys).err

    new = sextant("keys", "rotate", made["id"], "--json", **without_keys).json()
    assert new["secret"] != made["secret"]
    assert (new["user_id"], new["permissions"], new["name"]) == ("alice", ["ingest"], "crawler")
    assert new["expires_at"] is not None

    ended = sextant("keys", "revoke", new["id"], "--json", **without_keys).json()
    assert ended["revoked_at"] is not None
    states = {
        key["id"]: key["revoked_at"] is not None
        for key in sextant("keys", "list", "--user", "alice", "--json", **without_keys).json()
    }
    assert states == {made["id"]: True, new["id"]: True}
    again = sextant("keys", "rotate", new["id"], "--json", **without_keys)
    assert (again.status, again.error()["code"]) == (2, "option_invalid")


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (["create", "--scope", "everything"], "scope"),
        (["create", "--expires", "soon"], "expires"),
        (["create", "--expires", "0d"], "expires"),
        (["create", "--expires", "99999d"], "expires"),
        (["create", "--user", ""], "user_id"),
        (["create", "--user", "a" * 201], "user_id"),
        (["revoke", "sxt_000000000000"], "key"),
        (["rotate", "sxt_000000000000"], "key"),
        (["rotate", "sxt_000000000000", "--grace", "x"], "grace"),
    ],
)
def test_what_makes_no_sense_is_refused(sextant: Sextant, arguments: list[str], field: str) -> None:
    ran = sextant("keys", *arguments, "--json")
    assert ran.status == 2
    assert ran.error()["field"] == field
    assert ran.error()["next_step"]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "sextant.example", ""])  # noqa: S104
def test_without_a_login_no_server_listens_to_others(
    sextant: Sextant, without_keys: dict[str, str], host: str
) -> None:
    ran = sextant("serve", "--host", host, "--port", "0", **without_keys)
    assert ran.status == 2
    assert "sextant keys create" in ran.err
