"""The official client in both eras of the protocol, and what its calls return."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.integration.server.calling import bearer
from tests.integration.server.served import Served

OWNER, OTHER = "mcp-owner", "mcp-other"

# The handshake of 2025, and the requests of 2026 that stand alone.
ERAS = ["legacy", "2026-07-28"]


@asynccontextmanager
async def client_of(
    served: Served, key: str | None, *, era: str = "legacy", path: str = "/mcp"
) -> AsyncIterator[Client]:
    """Provide the official client over TCP."""
    headers = bearer(key) if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(
            streamable_http_client(served.base_url + path, http_client=http), mode=era
        ) as client,
    ):
        yield client


def told(result: CallToolResult) -> dict[str, Any]:
    """Return what a successful call has returned."""
    assert not result.is_error, result.content
    content: dict[str, Any] | None = result.structured_content
    assert content is not None
    return content


def text_of(result: CallToolResult) -> str:
    """Return the text of a result."""
    [block] = result.content
    assert block.type == "text"
    return block.text
