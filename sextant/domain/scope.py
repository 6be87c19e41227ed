"""Whose data, and which knowledge base of theirs."""

from __future__ import annotations

from dataclasses import dataclass

from sextant.domain.errors import OptionInvalid
from sextant.text.characters import clean_text

DEFAULT_USER = "local"
DEFAULT_GRAPH = "default"
LONGEST_NAME = 200  # characters


@dataclass(frozen=True, slots=True)
class Scope:
    """The key that every store call carries: a tenant and one of its knowledge bases.

    Every query binds it, and `Database.transaction` sets the tenant for row-level security besides
    (`sextant/stores/postgresql/database.py`; policies: `sextant/stores/sql/schema/01_tenants.sql`).

    Raises:
        OptionInvalid: a name is no text, blank, longer than 200 characters, or holds what no store
            can hold or U+FFFD, in whose place different bytes that are no UTF-8 would be one name.
    """

    user_id: str = DEFAULT_USER
    graph_id: str = DEFAULT_GRAPH

    def __post_init__(self) -> None:
        for field, name in (("user_id", self.user_id), ("graph_id", self.graph_id)):
            if not _is_name(name):
                raise OptionInvalid(
                    f"{field} must be a name of 1 to {LONGEST_NAME} characters.",
                    next_step="Give a name that is valid text, like `handbooks`.",
                    field=field,
                )


def _is_name(name: object) -> bool:
    return (
        isinstance(name, str)
        and 0 < len(name.strip()) <= len(name) <= LONGEST_NAME
        and clean_text(name) == name
        and "\ufffd" not in name
    )


def key_of(scope: Scope) -> dict[str, object]:
    """Return a scope as parameters of a query."""
    return {"user_id": scope.user_id, "graph_id": scope.graph_id}
