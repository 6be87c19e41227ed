from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from sextant.domain.settings import Settings
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.factory import build_chat_model
from sextant.testing.openai_server import Script, ScriptedOpenAI

ChatWith = Callable[..., Any]


def settings_for(server: ScriptedOpenAI, **changes: Any) -> Settings:
    return Settings(
        _env_file=None,
        **{
            "chat_model": "scripted",
            "embedding": "openai:scripted",
            "openai_base_url": server.base_url,
            "openai_api_key": "sk-secret",
            **changes,
        },
    )


@pytest.fixture(name="settings_for")
def settings_for_fixture() -> Callable[..., Settings]:
    return settings_for


@pytest.fixture
async def chat_with() -> AsyncIterator[ChatWith]:
    """Start an endpoint that follows a script and builds its chat model from settings."""
    async with AsyncExitStack() as stack:

        async def start(script: Script, **changes: Any) -> tuple[ScriptedOpenAI, ChatModel]:
            server = await stack.enter_async_context(ScriptedOpenAI(script))
            chat = build_chat_model(settings_for(server, **changes))
            assert chat is not None
            stack.push_async_callback(chat.close)
            return server, chat

        yield start
