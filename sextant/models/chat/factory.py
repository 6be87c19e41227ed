"""The chat model that the settings name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from pydantic import SecretStr

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import Settings
from sextant.models.chat import dialect
from sextant.models.chat.chat_model import ChatModel
from sextant.models.failures import Retries, Service

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI

_CONNECT_SECONDS = 5.0  # an endpoint that is there takes connections at once


async def open_chat_model(settings: Settings, stack: AsyncExitStack) -> ChatModel | None:
    """Return what `build_chat_model` builds, off the event loop; `stack` closes its connections.

    Raises:
        SettingsInvalid: a model is named, but neither a key nor a base URL.
    """
    await asyncio.to_thread(dialect.MEMORY.remember_in, settings.data_dir / "endpoints.json")
    chat = await asyncio.to_thread(build_chat_model, settings)
    if chat is not None:
        stack.push_async_callback(chat.close)
    return chat


def build_chat_model(settings: Settings, *, vision: bool = False) -> ChatModel | None:
    """Return the chat model that the settings name, or None when they name none: Sextant is offline then.

    The first call imports `langchain_openai` (about a second): call it off the event loop.
    Connections belong to the loop that first uses them, so build one model per event loop.

    Args:
        settings: name the model and its endpoint.
        vision: build the one that looks at images (`vision_model`) instead.

    Raises:
        SettingsInvalid: a model is named, but neither a key nor a base URL.
    """
    field = "vision_model" if vision else "chat_model"
    named, variable = getattr(settings, field), f"SEXTANT_{field.upper()}"
    if not named:
        return None
    if settings.openai_api_key is None and not settings.openai_base_url:
        raise SettingsInvalid(
            f"{variable} is {named}, but there is no endpoint to ask.",
            next_step="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own, "
            f"or clear {variable} to work offline.",
            field=field,
        )
    llm, close = _endpoint(settings, named)
    return ChatModel(
        llm,
        retries=Retries(settings.model_retries),
        timeout=settings.model_timeout,
        answer_tokens=settings.limits.answer_tokens,
        service=Service(
            f"{'vision' if vision else 'chat'} model {named}",
            variable,
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            label_zh=f"{'视觉' if vision else '聊天'}模型 {named}",
        ),
        on_close=close,
    )


def _endpoint(settings: Settings, model: str) -> tuple[ChatOpenAI, Callable[[], Awaitable[None]]]:
    """Return LangChain's client of the model, and what closes its connections."""
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient, Timeout

    from sextant.models.chat.openai_client import PlainStreams

    timeout = Timeout(settings.model_timeout, connect=_CONNECT_SECONDS)
    # A client of our own: LangChain keeps its clients for the process's life, in whatever loop.
    client = DefaultAsyncHttpxClient(timeout=timeout)
    # A server of one's own often wants no key, but the SDK insists on one.
    key = settings.openai_api_key or SecretStr("none")
    endpoint = PlainStreams(
        api_key=key.get_secret_value(),
        base_url=settings.openai_base_url,
        http_client=client,
        timeout=timeout,
        max_retries=0,
    )
    llm = ChatOpenAI(
        model=model,
        base_url=settings.openai_base_url,
        api_key=key,
        root_async_client=endpoint,
        async_client=endpoint.chat.completions,
        timeout=timeout,
        max_retries=0,
        stream_usage=True,
        # Its wait swallows cancellations on Python 3.11; `ChatModel.stream` times silence itself.
        stream_chunk_timeout=0,
    )
    return llm, client.aclose
