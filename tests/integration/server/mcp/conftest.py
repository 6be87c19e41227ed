"""A server with two users' documents, and the official client in both eras of the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from domain.api_keys import Permission
from sextant.facade import Sextant
from stores.api_keys import ApiKeyStore
from tests.integration.own_database import short_folder
from tests.integration.server.streaming.conftest import Served, serving_with

CONTRACT = """# 合同

## 第1章 总则

本合同由北京云图科技有限公司与上海远航物流有限公司签订。

## 第3章 付款

付款节点分为预付款、到货款和验收款三个节点，甲方在每个节点完成后三十日内付款。

### 3.1 发票

上海远航物流有限公司在每个付款节点前开具增值税专用发票。

## 第4章 物流

上海远航物流有限公司负责运输，并在到货后三日内通知。
"""
SECRET = "# Plan\n\nThe canary sings at midnight in the Zanzibar office.\n"
OWNER, OTHER = "mcp-owner", "mcp-other"
# Tests ask faster than anybody may.
WIDE = {"auth": {"required": True}, "quota": {"requests_per_second": 1e4, "burst": 10_000}}

# The handshake of 2025, and the requests of 2026 that stand alone.
ERAS = ["legacy", "2026-07-28"]


@pytest.fixture(scope="package")
def mcp_folder() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder


@pytest_asyncio.fixture(scope="package")
async def served(mcp_folder: Path) -> AsyncIterator[Served]:
    """A server that asks for keys, with a contract of one user and a secret of another."""
    async with serving_with(mcp_folder, **WIDE) as served:
        rag: Sextant = served.app.state.serving.rag
        for user, name, text in ((OWNER, "合同.md", CONTRACT), (OTHER, "plan.md", SECRET)):
            file = mcp_folder / name
            file.write_text(text, encoding="utf-8")
            await rag.as_user(user).ingest([file])
        yield served


@pytest_asyncio.fixture(scope="package")
async def keys(served: Served) -> dict[str, str]:
    """A key of each user."""
    store = ApiKeyStore(served.app.state.serving.rag.database)
    made = {}
    for user in (OWNER, OTHER):
        _, secret = await store.create(user, [Permission.READ])
        made[user] = secret.text
    return made


@asynccontextmanager
async def client_of(
    served: Served, key: str | None, *, era: str = "legacy", path: str = "/mcp"
) -> AsyncIterator[Client]:
    """The official client over TCP."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30) as http,
        Client(
            streamable_http_client(served.base_url + path, http_client=http), mode=era
        ) as client,
    ):
        yield client


def told(result: CallToolResult) -> dict[str, Any]:
    """What a successful call has returned."""
    assert not result.is_error, result.content
    content: dict[str, Any] | None = result.structured_content
    assert content is not None
    return content


def text_of(result: CallToolResult) -> str:
    """The text of a result."""
    [block] = result.content
    assert block.type == "text"
    return block.text
