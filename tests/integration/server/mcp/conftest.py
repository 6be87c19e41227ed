"""A server with two users' documents, and a key of each."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest_asyncio

from sextant.domain.scope import Permission
from sextant.facade import Sextant
from sextant.stores.api_keys import ApiKeyStore
from tests.integration.own_database import short_folder
from tests.integration.server.mcp.clients import OTHER, OWNER
from tests.integration.server.served import Served, serving_with

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
# Tests ask faster than anybody may.
WIDE = {"auth": {"required": True}, "quota": {"requests_per_second": 1e4, "burst": 10_000}}


@pytest_asyncio.fixture(scope="package")
async def served() -> AsyncIterator[Served]:
    """Yield a server that asks for keys, with a contract of one user and a secret of another."""
    with short_folder() as folder:
        async with serving_with(folder, **WIDE) as served:
            rag: Sextant = served.app.state.serving.rag
            for user, name, text in ((OWNER, "合同.md", CONTRACT), (OTHER, "plan.md", SECRET)):
                file = folder / name
                file.write_text(text, encoding="utf-8")
                await rag.as_user(user).ingest([file])
            yield served


@pytest_asyncio.fixture(scope="package")
async def keys(served: Served) -> dict[str, str]:
    """Return a key of each user."""
    store = ApiKeyStore(served.app.state.serving.rag.database)
    made = {}
    for user in (OWNER, OTHER):
        _, secret = await store.create(user, [Permission.READ])
        made[user] = secret.text
    return made
