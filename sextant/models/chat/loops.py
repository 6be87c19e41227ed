"""Calls of a LangChain model, whichever event loop used its client before.

LangChain keeps one HTTP client for all models of an endpoint, in whatever loop they are asked: in turns by
`generate` and `agenerate`, say, or by two `asyncio.run`. Of the connections that it keeps open those of
another loop fail when they are next used, and are gone then.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig

_MOST_IDLE = 100  # connections that such clients keep


# Its client keeps an open response in a cycle of references, so that nothing else closes the connection.
_HOLDS_RESPONSES, _UNWOUND = "langchain_google_genai", 0.5  # seconds until nobody uses it any more


async def invoke_on_loop(
    llm: Runnable[Any, Any],
    prompt: list[BaseMessage],
    config: RunnableConfig,
    options: dict[str, Any],
) -> AIMessage:
    """Return the whole answer of `llm`, a chat model or one with a schema bound to it."""
    for _ in range(_MOST_IDLE):
        try:
            return _message_of(await llm.ainvoke(prompt, config, **options))
        except NotImplementedError:
            # Somebody listens for tokens, so that LangChain streams what cannot be streamed.
            if not isinstance(llm, BaseChatModel) or llm.disable_streaming is True:
                raise
            llm = llm.model_copy(update={"disable_streaming": True})
        except RuntimeError as error:
            if not _is_of_another_loop(error):
                raise
    return _message_of(await llm.ainvoke(prompt, config, **options))


def _message_of(answer: AIMessage | Mapping[str, AIMessage]) -> AIMessage:
    return answer["raw"] if isinstance(answer, Mapping) else answer


async def stream_on_loop(
    llm: BaseChatModel, prompt: list[BaseMessage], config: RunnableConfig, options: dict[str, Any]
) -> AsyncGenerator[AIMessage]:
    """Yield the answer of `llm` chunk by chunk, whole where it streams none; closing the generator closes the model's."""
    left, begun = _MOST_IDLE, False
    while True:
        answer = cast("AsyncGenerator[AIMessageChunk]", llm.astream(prompt, config, **options))
        try:
            async with aclosing(answer) as chunks:
                async for chunk in chunks:
                    begun = True
                    yield chunk
        except NotImplementedError:
            if begun:
                raise
            yield await invoke_on_loop(llm, prompt, config, options)
            return
        except GeneratorExit:
            if type(llm).__module__.startswith(_HOLDS_RESPONSES):
                asyncio.get_running_loop().call_later(_UNWOUND, gc.collect)
            raise
        except RuntimeError as error:
            if begun or not left or not _is_of_another_loop(error):
                raise
            left -= 1
        else:
            return


def _is_of_another_loop(error: RuntimeError) -> bool:
    """Return whether asyncio says so; it has neither a class nor a code for that."""
    message = str(error)
    return (
        "different event loop" in message
        or "different loop" in message
        or message == "Event loop is closed"
    )
