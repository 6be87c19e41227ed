"""Which chat model does what: a role may have a model, an endpoint and parameters of its own (docs/models.md)."""

from __future__ import annotations

from typing import Any

from pydantic import Field, SecretStr

from sextant.domain.settings.limits import EndpointUrl, Group


class ModelSettings(Group):
    """The chat model of one role. What is left empty is the answer's, as far as it is the same model."""

    name: str | None = Field(
        None,
        description="Model name at an OpenAI-compatible endpoint, or `provider:model` as LangChain's `init_chat_model` takes it.",
    )
    base_url: EndpointUrl | None = Field(None, description="Base URL of its endpoint.")
    api_key: SecretStr | None = Field(
        None, description="Key of that endpoint; a key is never sent to another one."
    )
    temperature: float | None = Field(
        None, ge=0, le=2, description="Temperature; empty: the endpoint's own."
    )
    reasoning_effort: str | None = Field(
        None, min_length=1, description="How long it thinks, such as `low`; empty: as it does."
    )
    max_tokens: int | None = Field(
        None, ge=16, description="Tokens of one reply; empty: limits.answer_tokens."
    )
    extra_body: dict[str, Any] | None = Field(
        None,
        description="Further fields of each request as JSON; of another provider, arguments of LangChain's class.",
    )


class RoleSettings(Group):
    """The chat models by role."""

    answer: ModelSettings = ModelSettings()
    """Writes answers and revises them; its name is also `chat_model`."""
    judge: ModelSettings = ModelSettings()
    """Reads questions, grades passages, plans further searches, reranks; empty: that of `answer`."""
    extract: ModelSettings = ModelSettings()
    """Reads documents: entities, descriptions, reports; empty: that of `answer`."""
    vision: ModelSettings = ModelSettings()
    """Looks at images; its name is also `vision_model`. Empty: images are not looked at."""
