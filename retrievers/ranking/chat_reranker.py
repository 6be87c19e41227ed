"""The chat model as a reranker: it gives passages marks from 0 to 10."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Annotated, cast

from pydantic import Field, WithJsonSchema, create_model, model_validator

from sextant import prompts
from sextant.domain.answers import Usage
from sextant.domain.errors import (
    ModelOutputInvalid,
    ModelUnavailable,
    SettingsInvalid,
    Wording,
)
from sextant.domain.settings import Settings
from sextant.models.chat.allowance import charge
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.structured import ModelReply
from sextant.models.endpoint import in_batches
from sextant.models.protocols import Reranker
from sextant.models.reranker import build_reranker
from sextant.text.characters import estimate_tokens, language_of

CHAT = "llm"

# A listwise prompt loses track of more, and a batch's passages share one failure.
_BATCH = 10
_AT_ONCE = 4
_BEST_MARK = 10.0
# Estimated tokens of a passage that it reads: what a passage is about shows early (RankGPT, arXiv 2304.09542,
# reads 300 words of each).
_PASSAGE_TOKENS = 250
# A reply that marks a smaller share of the passages ranks nothing.
_LEAST_MARKED = 0.5


class Mark(ModelReply):
    """One passage's mark."""

    passage: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": _BATCH})]
    score: Annotated[float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 10})]


class Marks(ModelReply):
    """The chat model's marks for a batch of passages, numbered from 1."""

    scores: Annotated[list[Mark], Field(min_length=1, json_schema_extra={"maxItems": _BATCH})]

    @model_validator(mode="before")
    @classmethod
    def _as_models_write_it(cls, given: object) -> object:
        """Return bare numbers in order, and marks by number, are read as what they mean."""
        scores = given.get("scores") if isinstance(given, Mapping) else None
        if isinstance(scores, Mapping):
            pairs = list(scores.items())
        elif isinstance(scores, Sequence) and not any(isinstance(one, Mapping) for one in scores):
            pairs = list(enumerate(scores, start=1))
        else:
            return given
        return {"scores": [{"passage": passage, "score": score} for passage, score in pairs]}


@cache
def marks_of(passages: int) -> type[Marks]:
    """Return the marks of so many passages, as the model is told of them: one number each, in order."""
    marks = {
        "type": "array",
        "items": {"type": "number", "minimum": 0, "maximum": _BEST_MARK},
        "minItems": passages,
        "maxItems": passages,
    }
    scores = Annotated[list[Mark], Field(min_length=1), WithJsonSchema(marks)]
    return cast("type[Marks]", create_model("Marks", __base__=Marks, scores=(scores, ...)))


class ChatReranker:
    """Asks a chat model for marks, ten passages a call, four calls at a time.

    Marks are on one scale, so those of different calls compare. A passage that the model leaves out
    gets 0, if it marks the others: models skip what does not fit. What the calls use is charged to whoever
    bounds them (`sextant.models.chat.allowance`).
    """

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    @property
    def name(self) -> str:
        """Return the chat model's name."""
        return self._chat.name

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one mark per text, 0..10, in order.

        Raises:
            ModelUnavailable: the chat model gives no answer.
            ModelOutputInvalid: its answer marks fewer than half of the passages of a call.
        """
        marked = await in_batches(partial(self._marks, query), texts, size=_BATCH, at_once=_AT_ONCE)
        return [mark for batch in marked for mark in batch]

    async def _marks(self, query: str, texts: Sequence[str]) -> list[float]:
        messages = prompts.RERANK.messages(
            language_of(query),
            question=query,
            passages=prompts.number_texts(map(_beginning, texts)),
        )
        marks = await self._request_marks(messages, len(texts))
        given = {one.passage: one.score for one in marks.scores if 1 <= one.passage <= len(texts)}
        if len(given) < _LEAST_MARKED * len(texts):
            raise ModelOutputInvalid(
                f"The chat model {self.name} marked only {len(given)} of {len(texts)} passages.",
                next_step="Choose a larger chat model, or another SEXTANT_RERANKER.",
                translations={
                    "zh": Wording(
                        f"聊天模型 {self.name} 只给 {len(texts)} 个段落中的 {len(given)} 个打了分。",
                        "请换用更大的聊天模型，或另设 SEXTANT_RERANKER。",
                    )
                },
            )
        return [_clamp_mark(given.get(number, 0.0)) for number in range(1, len(texts) + 1)]

    async def _request_marks(self, messages: prompts.Messages, passages: int) -> Marks:
        """Return the model's marks; whatever comes of it, what the call used is charged."""
        size = sum(estimate_tokens(text) for _, text in messages)
        sent = Usage(1, size, estimated=True).of_model(self._chat.name)
        try:
            marks, usage = await self._chat.structured(messages, marks_of(passages), patient=False)
        except (ModelUnavailable, ModelOutputInvalid) as error:
            charge(error.usage or sent)
            raise
        except asyncio.CancelledError:
            charge(sent)
            raise
        charge(usage)
        return marks


def _beginning(text: str) -> str:
    """As much of a passage as the model reads."""
    tokens = estimate_tokens(text)
    return text if tokens <= _PASSAGE_TOKENS else text[: len(text) * _PASSAGE_TOKENS // tokens]


def _clamp_mark(mark: float) -> float:
    return min(max(mark, 0.0), _BEST_MARK) if math.isfinite(mark) else 0.0


def open_reranker(settings: Settings, chat: ChatModel | None) -> Reranker | None:
    """Return the reranker that the settings name, over this chat model if they name it; None: none.

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
