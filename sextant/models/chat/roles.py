"""Which chat model does which work: what the settings name for a role, where it is asked, and what was opened.

Importing this loads no LangChain, which whoever takes documents in without a chat model has no use for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from sextant.domain.errors import OptionInvalid
from sextant.domain.settings import ModelSettings, Settings

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from sextant.models.chat.chat_model import ChatModel
    from sextant.models.chat.pictures import VisionModel

    AnyChatModel = BaseChatModel | ChatModel
    """What may be given instead of a model that the settings name."""

OPENAI = "openai"
"""The provider of names without prefix: any endpoint that speaks OpenAI's chat API."""

EXTRAS: Mapping[str, str | None] = {
    OPENAI: None,
    "azure_openai": None,  # its package is in the base
    "anthropic": "anthropic",
    "deepseek": "deepseek",
    "google_genai": "google",
    "mistralai": "mistral",
    "ollama": "ollama",
    **dict.fromkeys(
        (
            "anthropic_bedrock", "azure_ai", "baseten", "bedrock", "bedrock_converse", "cohere", "fireworks",
            "google_anthropic_vertex", "google_vertexai", "groq", "huggingface", "ibm", "litellm", "nvidia",
            "openrouter", "perplexity", "together", "upstage", "xai",
        )
    ),
}  # fmt: skip
"""The providers of LangChain's `init_chat_model`, and the extra that brings each; None: its package is had apart."""

# Where providers are asked that need no base URL.
_ADDRESSES: Mapping[str, str] = {
    OPENAI: "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "deepseek": "https://api.deepseek.com/v1",
    "google_genai": "https://generativelanguage.googleapis.com",
    "mistralai": "https://api.mistral.ai/v1",
    "ollama": "http://127.0.0.1:11434",
}


class Role(StrEnum):
    """What a chat model is asked for."""

    ANSWER = "answer"
    JUDGE = "judge"
    EXTRACT = "extract"
    VISION = "vision"


_PARAMETERS = ("temperature", "reasoning_effort", "max_tokens")


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A chat model, its endpoint and its parameters. Roles whose specs are equal share one model.

    `settings` are the variables that choose name, key and base URL, as errors name them.
    """

    provider: str
    name: str
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = None
    reasoning_effort: str | None = None
    max_tokens: int | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    role: Role = field(default=Role.ANSWER, compare=False)
    settings: tuple[str, str, str] = field(default=("", "", ""), compare=False)

    @property
    def address(self) -> str | None:
        """Return the URL of its endpoint; None where its package alone knows that."""
        return self.base_url or _ADDRESSES.get(self.provider)

    @property
    def field(self) -> str:
        """Return the setting of the name as errors name a field: `models.judge.name`."""
        return self.settings[0].removeprefix("SEXTANT_").lower().replace("__", ".")


def resolve_spec(settings: Settings, role: Role) -> ModelSpec | None:
    """Return the model that a role is done with, or None where the settings name none for it.

    A role without a name has the model of `answer`, with parameters of its own laid over that one's; only
    `vision` has none then. A name with the provider of `answer` is asked at that one's endpoint, unless the role
    has another. A key goes to the endpoint that it was given for and to no other.
    """
    own: ModelSettings = getattr(settings.models, role)
    answer = None if role is Role.ANSWER else resolve_spec(settings, Role.ANSWER)
    name, variable = _find_name(settings, role)
    inherited = None if name or role is Role.VISION else answer
    if inherited is not None:
        provider, model, variable = inherited.provider, inherited.name, inherited.settings[0]
    elif name:
        provider, model = split_provider(name)
    else:
        return None
    endpoint = _find_endpoint(settings, role, provider, answer)
    parameters: dict[str, Any] = {
        name: getattr(inherited, name, None) if getattr(own, name) is None else getattr(own, name)
        for name in _PARAMETERS
    }
    extra = {**(inherited.extra_body if inherited else {}), **(own.extra_body or {})}
    return ModelSpec(
        provider,
        model,
        endpoint.base_url,
        endpoint.api_key,
        extra_body=extra,
        role=role,
        settings=(variable, endpoint.key_setting, endpoint.url_setting),
        **parameters,
    )


def _find_name(settings: Settings, role: Role) -> tuple[str | None, str]:
    """Return the name that a role's own settings give its model, and the variable that says so."""
    name = getattr(settings.models, role).name
    if not name and role is Role.ANSWER:
        return settings.chat_model, "SEXTANT_CHAT_MODEL"
    if not name and role is Role.VISION:
        return settings.vision_model, "SEXTANT_VISION_MODEL"
    return name, _variable(role, "name")


@dataclass(frozen=True, slots=True)
class _Endpoint:
    base_url: str | None
    api_key: SecretStr | None
    key_setting: str
    url_setting: str


def _find_endpoint(
    settings: Settings, role: Role, provider: str, answer: ModelSpec | None
) -> _Endpoint:
    """Return where a role's model of this provider is asked, and with which key."""
    own: ModelSettings = getattr(settings.models, role)
    key_setting, url_setting = _variable(role, "api_key"), _variable(role, "base_url")
    if answer is not None and answer.provider == provider:
        shared = _Endpoint(answer.base_url, answer.api_key, *answer.settings[1:])
    elif provider == OPENAI:
        url, key = settings.openai_base_url or None, settings.openai_api_key
        shared = _Endpoint(url, key, "OPENAI_API_KEY", "OPENAI_BASE_URL")
    else:
        shared = _Endpoint(None, None, key_setting, url_setting)
    is_elsewhere = bool(own.base_url) and own.base_url != shared.base_url
    return _Endpoint(
        own.base_url or shared.base_url,
        own.api_key or (None if is_elsewhere else shared.api_key),
        key_setting if own.api_key or is_elsewhere else shared.key_setting,
        url_setting if own.base_url else shared.url_setting,
    )


def _variable(role: Role, setting: str) -> str:
    return f"SEXTANT_MODELS__{role}__{setting}".upper()


def distinct_specs(settings: Settings) -> dict[Role, ModelSpec]:
    """Return the models that the settings name, each once, under the first role that it has."""
    by_model = dict[tuple[object, ...], tuple[Role, ModelSpec]]()
    for role in Role:
        spec = resolve_spec(settings, role)
        if spec is not None:
            by_model.setdefault(
                (spec.provider, spec.name, spec.base_url, spec.api_key), (role, spec)
            )
    return dict(by_model.values())


def split_provider(name: str) -> tuple[str, str]:
    """Return provider and name of a model; many names have a colon of their own (`qwen3:8b`)."""
    provider, _, model = name.partition(":")
    return (provider, model) if model and provider in EXTRAS else (OPENAI, name)


class ChatModels:
    """The chat models of one event loop by role; each is opened when it is first asked for.

    Roles that the settings give the same model share one.

    Args:
        settings: name the models.
        given: models that stand in for those of the settings: one for all roles that read and write, or some by role.

    Raises:
        OptionInvalid: a role is unknown, or what is given for it is no chat model.
    """

    def __init__(
        self, settings: Settings, given: AnyChatModel | Mapping[str, AnyChatModel] | None = None
    ) -> None:
        self._settings = settings
        self._given = _read_given(given)
        self._opened: list[tuple[ModelSpec, ChatModel]] = []
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    def has(self, role: Role) -> bool:
        """Return whether there is a model for a role."""
        return self._find_given(role) is not None or resolve_spec(self._settings, role) is not None

    async def get(self, role: Role) -> ChatModel | None:
        """Return the model of a role, or None where there is none; it stays this object's to close.

        Raises:
            SettingsInvalid: a model is named that cannot be set up.
        """
        if (given := self._find_given(role)) is not None:
            return given
        spec = resolve_spec(self._settings, role)
        if spec is None:
            return None
        async with self._opening:
            opened = next((chat for known, chat in self._opened if known == spec), None)
            if opened is None:
                from sextant.models.chat.factory import open_chat_model

                opened = await open_chat_model(self._settings, self._stack, role)
                assert opened is not None  # noqa: S101 - it has a spec
                self._opened.append((spec, opened))
            return opened

    async def vision(self) -> VisionModel | None:
        """Return what looks at images, or None where no model does.

        Raises:
            SettingsInvalid: a model is named that cannot be set up.
        """
        chat = await self.get(Role.VISION)
        if chat is None:
            return None
        from sextant.models.chat.pictures import VisionModel

        return VisionModel(chat)

    async def close(self) -> None:
        """Close what was opened here."""
        await self._stack.aclose()

    def _find_given(self, role: Role) -> ChatModel | None:
        """Return what was given for a role: as in the settings, only an answer's model does other roles' work."""
        if role is not Role.VISION and role not in self._given:
            named = getattr(self._settings.models, role).name
            return None if named else self._given.get(Role.ANSWER)
        return self._given.get(role)


def _read_given(
    given: AnyChatModel | Mapping[str, AnyChatModel] | None,
) -> Mapping[Role, ChatModel]:
    if given is None:
        return {}
    from sextant.models.chat.chat_model import as_chat_model

    by_role = given if isinstance(given, Mapping) else {Role.ANSWER: given}
    known = set(map(str, Role))
    for role in by_role:
        if role not in known:
            raise OptionInvalid(
                f"There is no role {role!r} for a chat model.",
                next_step=f"Give models for {', '.join(Role)}.",
                field="chat",
            )
    return {Role(role): as_chat_model(model) for role, model in by_role.items()}
