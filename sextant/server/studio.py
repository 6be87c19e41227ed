"""Authentication and authorization of LangGraph's own routes, which Studio and `langgraph-sdk` use.

`langgraph.json` names `auth`. Nodes see the authenticated user as `runtime.server_info.user`, whose `identity` decides
whose knowledge bases a run works on (`sextant.nodes.context.scope_of`).

- Threads and runs belong to the user who made them.
- Stored items lie in a namespace that begins with the user.
- Schedules (crons) are refused.
- All users may use the assistants of `langgraph.json`, and none may change them. An assistant that an administrator
  makes is visible to that administrator only.
"""

from __future__ import annotations

from typing import Any

from langgraph_sdk import Auth
from starlette.requests import Request

from sextant.domain.errors import SextantError
from sextant.domain.scope import Permission
from sextant.server.auth.authenticator import Authenticator
from sextant.server.edge.foreign import STUDIO_PAGES

auth = Auth()


@auth.authenticate
async def authenticate(request: Request) -> Auth.types.MinimalUserDict:
    """Return the caller; without a login this is the local user.

    `server.edge.foreign` has already admitted and counted the request.
    """
    from sextant.server.app import app

    authenticator: Authenticator = app.state.serving.authenticator
    try:
        principal = await authenticator.authenticate(request, STUDIO_PAGES)
    except SextantError as error:
        raise Auth.exceptions.HTTPException(error.status, str(error)) from error
    return {
        "identity": principal.user_id,
        "is_authenticated": True,
        "permissions": sorted(principal.permissions),
    }


@auth.on
async def require_owner(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, str]:
    """Store the owner with each new object, and show only the caller's own."""
    _require(ctx, Permission.READ)
    value.setdefault("metadata", {})
    value["metadata"]["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.assistants(actions=["read", "search"])
async def see_assistants(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Show the graphs of this server and the caller's own assistants."""
    _require(ctx, Permission.READ)
    return {"$or": [{"created_by": "system"}, {"owner": ctx.user.identity}]}


@auth.on.assistants(actions=["create", "update", "delete"])
async def change_assistants(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str]:  # noqa: ANN401
    """Let administrators create assistants, and change and delete their own."""
    _require(ctx, Permission.ADMIN)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("created_by", None)  # "system" would show it to all users
        metadata["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.crons.create
async def refuse_crons(ctx: Auth.types.AuthContext, value: Any) -> None:  # noqa: ANN401, ARG001
    """Refuse schedules: their runs have no key, so none would ever begin."""
    raise Auth.exceptions.HTTPException(
        403, "Runs of a schedule bring no key. Start runs from a scheduler of your own."
    )


@auth.on.store
async def require_owner_of_items(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    """Put the caller's id before the namespace of stored items."""
    _require(ctx, Permission.READ)
    namespace = tuple(value.get("namespace") or ())
    if namespace[:1] != (ctx.user.identity,):
        value["namespace"] = (ctx.user.identity, *namespace)


def _require(ctx: Auth.types.AuthContext, permission: Permission) -> None:
    if permission.value not in ctx.permissions:
        raise Auth.exceptions.HTTPException(403, f"This key lacks the permission {permission}.")
