"""The chat model as a reranker: it gives passages marks from 0 to 10."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from pydantic import BaseModel, Field, model_validator

import prompts
from domain.errors import ModelOutputInvalid, SettingsInvalid
from domain.settings import Settings
from domain.text import language_of
from models.batches import in_batches
from models.chat.chat_model import ChatModel
from models.protocols import Reranker
from models.reranker import build_reranker

CHAT = "llm"

# A listwise prompt loses track of more, and a batch's passages share one failure.
_BATCH = 10
_AT_ONCE = 4
_BEST_MARK = 10.0


class Mark(BaseModel):
    """One passage's mark."""

    passage: int
    score: float


class Marks(BaseModel):
    """The chat model's marks for a batch of passages, numbered from 1."""

    scores: list[Mark] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _as_models_write_it(cls, given: object) -> object:
        """Bare numbers in order, and marks by number, are read as what they mean."""
        scores = given.get("scores") if isinstance(given, Mapping) else None
        if isinstance(scores, Mapping):
            pairs = list(scores.items())
        elif isinstance(scores, Sequence) and not any(isinstance(one, Mapping) for one in scores):
            pairs = list(enumerate(scores, start=1))
        else:
            return given
        return {"scores": [{"passage": place, "score": score} for place, score in pairs]}


class ChatReranker:
    """Asks a chat model for marks, ten passages a call, four calls at a time.

    Marks are on one scale, so those of different calls compare. A passage that the model leaves out
    gets 0: models skip what does not fit.
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """The chat model's name."""
        return self._chat.name

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """One mark per text, 0..10, in order.

        Raises:
            ModelUnavailable: the chat model gives no answer.
            ModelOutputInvalid: its answer marks none of the passages.
        """
        marked = await in_batches(partial(self._marks, query), texts, size=_BATCH, at_once=_AT_ONCE)
        return [mark for batch in marked for mark in batch]

    async def _marks(self, query: str, texts: Sequence[str]) -> list[float]:
        messages = prompts.RERANK.messages(
            language_of(query), question=query, passages=prompts.numbered(texts)
        )
        marks, _ = await self._chat.structured(messages, Marks, patient=False)
        given = {one.passage: one.score for one in marks.scores if 1 <= one.passage <= len(texts)}
        if not given:
            raise ModelOutputInvalid(
                f"The chat model {self.name} marked none of the passages.",
                next_step="Try again, or choose a larger chat model.",
            )
        return [_within_scale(given.get(number, 0.0)) for number in range(1, len(texts) + 1)]


def _within_scale(mark: float) -> float:
    return min(max(mark, 0.0), _BEST_MARK) if math.isfinite(mark) else 0.0


def open_reranker(settings: Settings, chat: ChatModel | None) -> Reranker | None:
    """The reranker that the settings name, over this chat model if they name it; None: none.

    Raises:
        SettingsInvalid: the setting is of no known form, or there is no chat model to ask.
    """
    if settings.reranker != CHAT:
        return build_reranker(settings)
    if chat is None:
        raise SettingsInvalid(
            "The reranker is the chat model, but there is none.",
            next_step="Set SEXTANT_CHAT_MODEL, or choose another SEXTANT_RERANKER.",
            field="reranker",
        )
    return ChatReranker(chat)
