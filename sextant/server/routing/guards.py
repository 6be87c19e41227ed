"""What a route demands of its caller.

    async def delete(..., principal: Writer) -> ...

Whoever may not is refused before the body is read (`guards_of`, used by `sextant.server.routing.router`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant

from sextant.domain.api_keys import Permission
from sextant.domain.errors import Forbidden
from sextant.facade import Sextant
from sextant.server.auth.caller import Principal
from sextant.server.lifespan import serving_of
from sextant.server.sse import while_connected


async def principal_of(request: Request) -> Principal:
    """Return the caller; without any login configured, the one user there is.

    Raises:
        Unauthorised: a login is needed, and this is none.
        Forbidden: there is no login, and the request does not come from this machine's user.
        Limited: the caller has asked too often.
    """
    known: Principal | None = getattr(request.state, "principal", None)
    if known is None:
        serving = serving_of(request)
        known = await serving.authenticator.authenticate(request)
        if known.login:
            serving.rates.count(known.quota_key)
        request.state.principal = known
    return known


@dataclass(frozen=True, slots=True)
class Requires:
    """A dependency that lets through only callers who have `permission`."""

    permission: Permission

    async def __call__(self, request: Request) -> Principal:
        """Return the caller; raises what `principal_of` raises, and Forbidden."""
        principal = await principal_of(request)
        if self.permission not in principal.permissions:
            raise Forbidden(
                f"This key may not do that: it lacks the permission {self.permission.value!r}.",
                next_step="Make one that may: `sextant keys create --scope ...`.",
            )
        return principal


Reader = Annotated[Principal, Depends(Requires(Permission.READ))]
Writer = Annotated[Principal, Depends(Requires(Permission.INGEST))]
Admin = Annotated[Principal, Depends(Requires(Permission.ADMIN))]


def guards_of(dependant: Dependant) -> Iterator[Requires]:
    """Yield what a route demands of its callers, wherever among its dependencies."""
    if isinstance(dependant.call, Requires):
        yield dependant.call
    for needed in dependant.dependencies:
        yield from guards_of(needed)


def rag_of(request: Request, principal: Principal) -> Sextant:
    """Return the knowledge bases of the caller."""
    return serving_of(request).rag.as_user(principal.user_id)


def search_turn(request: Request, principal: Principal) -> AbstractAsyncContextManager[None]:
    """Return a place among the searches of this process; a client that leaves waits for none.

    Raises:
        Overloaded: none was free in time.
        ClientLeft: nobody waits any longer.
    """
    patience = partial(while_connected, request.receive)
    return serving_of(request).searches.place(principal.quota_key, patience)
