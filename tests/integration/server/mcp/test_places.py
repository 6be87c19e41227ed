"""The tools search in places as HTTP does."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import cast

from sextant.server.lifespan import Serving
from sextant.server.mcp.server import PROBLEM
from tests.integration.server.mcp.clients import OWNER, client_of, told
from tests.integration.server.served import Served


async def test_without_a_free_place_a_search_is_refused(
    served: Served, keys: dict[str, str]
) -> None:
    serving = cast("Serving", served.app.state.serving)
    async with client_of(served, keys[OWNER]) as client:
        async with AsyncExitStack() as taken:
            for _ in range(serving.settings.http.searches):
                await taken.enter_async_context(serving.searches.slot("somebody"))
            refused = await client.call_tool("kb.search", {"query": "付款节点"})
        assert refused.is_error
        assert (refused.meta or {})[PROBLEM]["code"] == "overloaded"
        assert told(await client.call_tool("kb.search", {"query": "付款节点"}))["results"]
