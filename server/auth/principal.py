"""The caller of a request, and what a route demands of one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from fastapi import Depends, Request

from domain.errors import Forbidden
from server.serving import serving_of
from sextant.facade import Sextant


class Permission(StrEnum):
    """What a key may do. `admin` includes the others, `ingest` includes `read`."""

    READ = "read"
    INGEST = "ingest"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class Principal:
    """Whose data a request works on, and what it may do with them."""

    user_id: str
    permissions: frozenset[Permission]
    key_id: str | None = None


async def principal_of(request: Request) -> Principal:
    """Return the caller; without any login configured, the one user there is."""
    return Principal(serving_of(request).settings.user_id, frozenset(Permission))


def requires(permission: Permission) -> Callable[[Request], Awaitable[Principal]]:
    """A dependency that lets through only callers who have `permission`."""

    async def check(request: Request) -> Principal:
        principal = await principal_of(request)
        if permission not in principal.permissions:
            raise Forbidden(
                f"This key may not do that: it lacks the permission {permission.value!r}.",
                next_step="Make one that may: `sextant keys create --scope ...`.",
            )
        return principal

    return check


Reader = Annotated[Principal, Depends(requires(Permission.READ))]
Writer = Annotated[Principal, Depends(requires(Permission.INGEST))]
Admin = Annotated[Principal, Depends(requires(Permission.ADMIN))]


def rag_of(request: Request, principal: Principal) -> Sextant:
    """The knowledge bases of the caller."""
    return serving_of(request).rag.as_user(principal.user_id)
