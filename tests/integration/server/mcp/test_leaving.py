"""A host that gives up on a question stops the answer, and with it the model."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, endless
from tests.integration.server.mcp.clients import ERAS, OWNER, client_of
from tests.integration.server.served import Served, judging


@pytest.mark.parametrize("era", ERAS)
async def test_whoever_gives_up_stops_the_model(
    served: Served, keys: dict[str, str], era: str
) -> None:
    asked, usual = asyncio.Event(), judging("")

    def never_ending(request: ApiRequest) -> Reply | str:
        if request.wants_json:
            return usual(request)
        asked.set()
        return endless("付款节点 ")

    served.script = never_ending
    before = served.endpoint.disconnects

    async def ask() -> Any:
        async with client_of(served, keys[OWNER], era=era) as client:
            return await client.call_tool("kb.ask", {"query": "付款节点有哪些？"})

    asking = asyncio.create_task(ask())
    async with asyncio.timeout(60):
        await asked.wait()
        asking.cancel()
        await asyncio.wait({asking})
        await served.endpoint.wait_for_disconnects(before + 1)
        await served.endpoint.wait_for_streams(0)
    assert served.endpoint.disconnects == before + 1
