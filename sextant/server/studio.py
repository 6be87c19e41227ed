"""The same keys and tokens for LangGraph's own routes, which Studio and `langgraph-sdk` use.

`langgraph.json` names `auth`. What it returns is `runtime.server_info.user` for the nodes, whose
`identity` decides whose knowledge bases a run works on (`sextant.nodes.context.scope_of`).

Threads and runs belong to who made them; stored items to a namespace that begins with the user. Schedules
(crons) are refused.
The assistants of `langgraph.json` are everybody's to use and nobody's to change; those that an
administrator makes are seen, changed and deleted by their maker alone.
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
    """Return who asks; where no login is configured, this machine's user.

    `server.edge.foreign` has let the request in already, and counted it.
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
    """Mark what is made with its owner, and show nobody anything else."""
    _require(ctx, Permission.READ)
    value.setdefault("metadata", {})
    value["metadata"]["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.assistants(actions=["read", "search"])
async def see_assistants(ctx: Auth.types.AuthContext, value: Any) -> dict[str, Any]:  # noqa: ANN401, ARG001
    """Return whoever may read sees the graphs there are, and the assistants of their own."""
    _require(ctx, Permission.READ)
    return {"$or": [{"created_by": "system"}, {"owner": ctx.user.identity}]}


@auth.on.assistants(actions=["create", "update", "delete"])
async def change_assistants(ctx: Auth.types.AuthContext, value: Any) -> dict[str, str]:  # noqa: ANN401
    """Return an administrator makes assistants, and changes and deletes those; nobody those of all users."""
    _require(ctx, Permission.ADMIN)
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        metadata.pop("created_by", None)  # would show it to all users
        metadata["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.crons.create
async def refuse_crons(ctx: Auth.types.AuthContext, value: Any) -> None:  # noqa: ANN401, ARG001
    """Refuse to make a schedule: its runs bring no key, so none of them would ever begin."""
    raise Auth.exceptions.HTTPException(
        403, "Runs of a schedule bring no key. Start runs from a scheduler of your own."
    )


@auth.on.store
async def require_owner_of_items(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    """Items are below a namespace of the user's own, whatever was asked for."""
    _require(ctx, Permission.READ)
    namespace = tuple(value.get("namespace") or ())
    if namespace[:1] != (ctx.user.identity,):
        value["namespace"] = (ctx.user.identity, *namespace)


def _require(ctx: Auth.types.AuthContext, permission: Permission) -> None:
    if permission.value not in ctx.permissions:
        raise Auth.exceptions.HTTPException(403, f"This key lacks the permission {permission}.")
