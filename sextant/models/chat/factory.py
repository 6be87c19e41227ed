"""The chat model that the settings name for a role."""

from __future__ import annotations

import asyncio
import math
import warnings
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr, ValidationError

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import Settings
from sextant.domain.system import install_extra
from sextant.models.chat import dialect, endpoint_memory
from sextant.models.chat.chat_model import ChatModel, stop_between_chunks
from sextant.models.chat.roles import EXTRAS, OPENAI, ModelSpec, Role, resolve_spec
from sextant.models.endpoint import MOST_REDIRECTS, check_redirect, connect_seconds
from sextant.models.failures import Service, redact
from sextant.models.retries import Retries

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


async def open_chat_model(
    settings: Settings, stack: AsyncExitStack, role: Role = Role.ANSWER
) -> ChatModel | None:
    """Return what `build_chat_model` builds, off the event loop; `stack` closes its connections.

    Raises:
        SettingsInvalid: a model is named that cannot be set up.
    """
    await asyncio.to_thread(
        endpoint_memory.MEMORY.remember_in, settings.data_dir / "endpoints.json"
    )
    chat = await asyncio.to_thread(build_chat_model, settings, role)
    if chat is not None:
        stack.push_async_callback(chat.close)
    return chat


def build_chat_model(settings: Settings, role: Role = Role.ANSWER) -> ChatModel | None:
    """Return the chat model that the settings name for a role, or None when they name none.

    The first call imports the provider's client (about a second): call it off the event loop.
    Connections belong to the loop that first uses them, so build one model per event loop.

    Raises:
        SettingsInvalid: a model is named that cannot be set up: its endpoint or a package is missing, or an option
            does not fit.
    """
    spec = resolve_spec(settings, role)
    if spec is None:
        return None
    tokens = spec.max_tokens or settings.limits.answer_tokens
    if spec.provider == OPENAI:
        llm, close = _openai_endpoint(spec, settings)
    else:
        llm, close = _other_provider(spec, settings, tokens), None
    name_setting, key_setting, url_setting = spec.settings
    is_vision = role is Role.VISION
    return ChatModel(
        llm,
        retries=Retries.of(settings.model_retries, settings.model_timeout),
        timeout=settings.model_timeout,
        patience=settings.longest_silence,
        answer_tokens=tokens,
        concurrency=settings.model_concurrency,
        service=Service(
            f"{'vision' if is_vision else 'chat'} model {spec.name}",
            name_setting,
            key_setting,
            url_setting,
            label_zh=f"{'视觉' if is_vision else '聊天'}模型 {spec.name}",
            secret=_secret(spec),
        ),
        on_close=close,
    )


def _openai_endpoint(
    spec: ModelSpec, settings: Settings
) -> tuple[BaseChatModel, Callable[[], Awaitable[None]]]:
    """Return LangChain's client of the model, and what closes its connections."""
    if spec.api_key is None and not spec.base_url:
        name_setting, key_setting, url_setting = spec.settings
        raise SettingsInvalid(
            f"{name_setting} is {spec.name}, but there is no endpoint to ask.",
            next_step=f"Set {key_setting}, or {url_setting} for a server of your own, "
            f"or clear {name_setting} to work offline.",
            field=spec.field,
        )
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient, Timeout

    from sextant.models.chat.openai_client import PlainStreams

    # `ChatModel` times silence itself.
    timeout = Timeout(settings.longest_silence, connect=connect_seconds(settings.model_timeout))
    # A client of our own: LangChain keeps its clients for the process's life, in whatever loop.
    client = DefaultAsyncHttpxClient(
        timeout=timeout,
        max_redirects=MOST_REDIRECTS,
        event_hooks={"response": [check_redirect]},
    )
    # A server of one's own often wants no key, but the SDK insists on one.
    key = spec.api_key or SecretStr("none")
    endpoint = PlainStreams(
        api_key=key.get_secret_value(),
        base_url=spec.base_url,
        http_client=client,
        timeout=timeout,
        max_retries=0,
    )
    llm = ChatOpenAI(
        model=spec.name,
        base_url=spec.base_url,
        api_key=key,
        root_async_client=endpoint,
        async_client=endpoint.chat.completions,
        timeout=timeout,
        max_retries=0,
        stream_usage=True,
        temperature=spec.temperature,
        reasoning_effort=spec.reasoning_effort,
        extra_body=dict(spec.extra_body) or None,
        # Its wait swallows cancellations on Python 3.11; `ChatModel.stream` times silence itself.
        stream_chunk_timeout=0,
    )
    return llm, client.aclose


# What of LangChain's common arguments a provider's class calls otherwise.
_RENAMED: Mapping[str, Mapping[str, str]] = {
    "azure_openai": {"base_url": "azure_endpoint"},
    "google_genai": {"reasoning_effort": "thinking_level"},
    "ollama": {"max_tokens": "num_predict", "reasoning_effort": "reasoning"},
}


def _other_provider(spec: ModelSpec, settings: Settings, tokens: int) -> BaseChatModel:
    """Return LangChain's client of a provider, by `init_chat_model`.

    Raises:
        SettingsInvalid: its package is missing, it lacks a setting, or has no use for one.
    """
    from langchain.chat_models import init_chat_model

    names = _RENAMED.get(spec.provider, {})
    chosen = {
        "temperature": spec.temperature,
        "reasoning_effort": spec.reasoning_effort,
        "max_tokens": tokens,
        "base_url": spec.base_url,
    }
    options: dict[str, Any] = {
        names.get(name, name): value for name, value in chosen.items() if value is not None
    }
    options |= spec.extra_body
    common = {"timeout": math.ceil(settings.longest_silence), "max_retries": 0} | _key_option(spec)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # of arguments that it passes on, which is what is meant
            llm = init_chat_model(spec.name, model_provider=spec.provider, **common | options)
    except ImportError as error:
        raise _without_package(spec, error) from None
    except Exception as error:  # noqa: BLE001 - each provider has its own
        raise _unfit_settings(spec, error) from None
    _require_key(llm, spec)
    return stop_between_chunks(_pass_on(llm, options, spec))


def _require_key(llm: BaseChatModel, spec: ModelSpec) -> None:
    """Do nothing where a provider's own address is asked with a key, or needs none.

    Raises:
        SettingsInvalid: its class wants a key, and there is none.
    """
    keys = {name: env for name, env in llm.lc_secrets.items() if name.endswith("api_key")}
    given = [getattr(llm, name, None) for name in keys]
    has_key = any(key.get_secret_value() for key in given if isinstance(key, SecretStr))
    if spec.base_url or has_key or not keys:
        return
    raise SettingsInvalid(
        f"{spec.settings[0]} is {spec.provider}:{spec.name}, but there is no key for it.",
        next_step=f"Set {spec.settings[1]}, or export {' or '.join(keys.values())} to the process.",
        field=spec.field,
    )


def _key_option(spec: ModelSpec) -> dict[str, Any]:
    if spec.api_key is None:
        return {}
    if spec.provider == "ollama":  # which LangChain knows no key for
        bearer = f"Bearer {spec.api_key.get_secret_value()}"
        return {"client_kwargs": {"headers": {"authorization": bearer}}}
    return {"api_key": spec.api_key}


def _pass_on(llm: BaseChatModel, options: Mapping[str, Any], spec: ModelSpec) -> BaseChatModel:
    """Return the model with options in its requests' bodies that its class has no name for.

    Raises:
        SettingsInvalid: the class would drop one without a word.
    """
    fields = type(llm).model_fields
    known = fields.keys() | {info.alias for info in fields.values() if info.alias}
    unknown = options.keys() - known
    if dialect.speaks_openai(llm):
        # Its client takes no unknown argument, and what the token limit is called is learnt (`Dialect`).
        body = {name: options[name] for name in unknown} | (getattr(llm, "extra_body", None) or {})
        changes = {"extra_body": body or None, "model_kwargs": {}, "max_tokens": None}
        return llm.model_copy(update=changes)
    if not unknown or "model_kwargs" in fields:
        return llm
    raise SettingsInvalid(
        f"{type(llm).__name__} takes no {', '.join(sorted(unknown))}.",
        next_step=f"Take it out of SEXTANT_MODELS__{spec.role.upper()}__…; LangChain's page of {spec.provider} "
        "has what it takes.",
        field=f"models.{spec.role}.extra_body",
    )


def _without_package(spec: ModelSpec, error: ImportError) -> SettingsInvalid:
    extra = EXTRAS[spec.provider]
    package = f"the extra sextant-rag[{extra}]" if extra else "a package of LangChain"
    step = install_extra(extra) if extra else redact(str(error), _secret(spec))
    return SettingsInvalid(
        f"{spec.settings[0]} is {spec.provider}:{spec.name}, which needs {package}, and that is not installed.",
        next_step=step,
        field=spec.field,
    )


def _unfit_settings(spec: ModelSpec, error: Exception) -> SettingsInvalid:
    """Return what a provider's class finds wrong with its arguments; pydantic would quote the key."""
    if isinstance(error, ValidationError):
        found = error.errors(include_url=False, include_input=False, include_context=False)
        reason = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in found[:4])
    else:
        reason = str(error) or type(error).__name__
    return SettingsInvalid(
        f"The chat model {spec.provider}:{spec.name} cannot be set up: {redact(reason, _secret(spec))[:300]}",
        next_step=f"Look at {spec.settings[1]}, {spec.settings[2]} and what LangChain's page of {spec.provider} "
        "asks for.",
        field=spec.field,
    )


def _secret(spec: ModelSpec) -> str:
    return spec.api_key.get_secret_value() if spec.api_key else ""
