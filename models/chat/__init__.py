"""Chat and vision models of an OpenAI-compatible endpoint: retries, typed errors, limits, and what they used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.chat.chat_model import ChatModel as ChatModel
    from models.chat.chat_model import build_chat_model as build_chat_model

__all__ = ["ChatModel", "build_chat_model"]


def __getattr__(name: str) -> object:
    """Import the chat model, and with it LangChain, when it is first asked for."""
    if name in __all__:
        from models.chat import chat_model

        return getattr(chat_model, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
