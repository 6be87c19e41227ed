"""Settings of answers, chat models, images and tables, OCR and conversations."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, SecretStr

from sextant.domain.settings.limits import EndpointUrl, Folder, Group


class ModelSettings(Group):
    """The chat model of one role; empty settings are those of `answer` if it is the same model."""

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


class AnswerSettings(Group):
    """How questions are judged and answers are checked (docs/answers.md)."""

    judgements: Literal["auto", "always", "never"] = Field(
        "auto",
        description="Whether the chat model judges questions and passages: `auto`, where the rules are unsure and it is known to be quick enough; `always`, at each step; `never`, rules alone do.",
    )

    passage_tokens: int = Field(
        1800,
        ge=200,
        description="Tokens of passages shown for each part of a question and each round of searching, at most limits.context_tokens in all; longer passages are shown by their sentences nearest to the question.",
    )
    repair: bool = Field(
        default=True,
        description="Let the chat model revise unsupported sentences, in one call; else they stay and are marked.",
    )
    judge: str | None = Field(
        None,
        description="What judges how far a quote supports its sentence: empty, the words they share; `reranker`, the configured reranker; or another cross-encoder in the same forms.",
    )
    judge_threshold: float = Field(
        0.5, description="The judge's score from which a sentence counts as supported."
    )


class MultimodalSettings(Group):
    """Images and tables that come with a question, and images inside of documents."""

    image_dir: Folder | None = Field(
        None,
        description="Folder whose images a question may name by `img_path`; empty: none, over HTTP.",
    )
    images: int = Field(4, ge=0, le=16, description="Images of one question.")
    tables: int = Field(4, ge=0, le=16, description="Tables of one question.")
    image_bytes: int = Field(10_000_000, ge=1, description="Largest image.")
    image_pixels: int = Field(40_000_000, ge=1, description="Most pixels of an image.")
    image_edge: int = Field(
        1536, ge=64, le=8192, description="Longest edge of an image as the vision model sees it."
    )
    table_chars: int = Field(5_000_000, ge=1, description="Longest text of a table in a question.")
    seconds: float = Field(30.0, gt=0, description="Time for looking at the images of a question.")
    document_images: int = Field(
        50, ge=0, description="Images of one document that the vision model describes."
    )


class OcrSettings(Group):
    """OCR of scanned pages and of words in pictures (extra `ocr`)."""

    pages: int = Field(
        500, ge=0, description="Pages of one document that OCR reads; 0: OCR is off."
    )
    images: int = Field(
        30, ge=0, description="Pictures inside of one document whose words OCR reads."
    )
    page_seconds: int = Field(
        60, ge=1, description="CPU time for one page; one that takes longer is left out."
    )
    memory_bytes: int = Field(
        1_500_000_000,
        ge=500_000_000,
        description="Memory of the process that reads a page, beyond the models.",
    )
    concurrency: int = Field(
        0,
        ge=0,
        le=64,
        description="Pages read at a time; 0: as many as there are cores and gigabytes of free memory.",
    )
    sure: float = Field(
        0.8,
        ge=0,
        le=1,
        description="Confidence of a page's characters; below, a warning says that the page should be checked.",
    )


class ConversationSettings(Group):
    """Storage of conversations (docs/conversations.md)."""

    turns: int = Field(
        200, ge=1, description="Questions with their answers that a conversation keeps; the newest."
    )
    days: float = Field(
        90.0,
        gt=0,
        description="Days without a question after which a conversation is deleted.",
    )
