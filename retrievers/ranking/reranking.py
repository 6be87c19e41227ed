"""Ordering the best passages anew by a model that reads question and passage together.

Also here: the chat model as a reranker, which gives passages marks from 0 to 10.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    describe_reason,
)
from sextant.domain.fair_semaphore import release_slot
from sextant.domain.questions import in_range, require_positive
from sextant.domain.retrieval import LaneScore, RetrievedItem, rescore
from sextant.domain.settings import RetrievalSettings, Settings
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.models.chat.call_limits import charge
from sextant.models.chat.chat_model import ChatModel
from sextant.models.chat.structured import ModelReply
from sextant.models.endpoint import in_batches
from sextant.models.protocols import Reranker
from sextant.models.reranker import build_reranker
from sextant.retrievers.arrays import min_max
from sextant.stores.postgresql.watched import with_deadline
from sextant.text.characters import estimate_tokens, language_of

logger = logging.getLogger(__name__)

RERANK = "rerank"

# The worst of the reranked still ranks above all that were not.
_LOWEST = 0.5


@dataclass(frozen=True, slots=True)
class RerankLimits:
    """What a reranking model may cost.

    Attributes:
        seconds: after which its work is cancelled.
        pairs: passages that it reads at most, the best ones.
        chars: of each passage. A cross-encoder reads 512 tokens and takes time for each.

    Raises:
        OptionInvalid: one is not above 0.
    """

    seconds: float = 5.0
    pairs: int = 50
    chars: int = 2000

    def __post_init__(self) -> None:
        """Refuse what would leave nothing to read, or no time to read it."""
        require_positive(self.seconds, "seconds")
        in_range(self.pairs, "pairs")
        in_range(self.chars, "chars")

    @classmethod
    def of(cls, settings: RetrievalSettings) -> RerankLimits:
        """Return those that the settings name."""
        return cls(settings.rerank_timeout, settings.rerank_pairs, settings.rerank_chars)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The model's scores of the passages it read, in their order; or none, and the reason."""

    scores: tuple[float, ...] = ()
    warning: CodedWarning | None = None


async def judge(
    reranker: Reranker, question: str, texts: Sequence[str], limits: RerankLimits
) -> Judgement:
    """Let the model score the first passages; a model that is late or fails scores none.

    Late work is cancelled: requests are dropped, a local model stops after the batch it is at.
    """
    read = [text[: limits.chars] for text in texts[: limits.pairs]]
    if not read:
        return Judgement()
    try:
        async with release_slot():
            given = await with_deadline(limits.seconds, reranker.score(question, read))
        scores = tuple(map(float, given))
    except TimeoutError:
        logger.warning("%s has no scores after %g s", reranker.name, limits.seconds)
        return Judgement(
            warning=CodedWarning(WarningCode.RERANKING_TIMED_OUT, {"seconds": limits.seconds})
        )
    except Exception as error:  # anyone's model: its failure is a warning
        logger.warning("reranking failed", exc_info=error)
        reason = describe_reason(error)
        return Judgement(warning=CodedWarning(WarningCode.RERANKING_FAILED, {"reason": reason}))
    if len(scores) != len(read) or not all(map(math.isfinite, scores)):
        usable = sum(map(math.isfinite, scores))
        logger.warning("%s gave %d scores for %d passages", reranker.name, usable, len(read))
        params = {"model": reranker.name}
        return Judgement(warning=CodedWarning(WarningCode.RERANKING_INCOMPLETE, params))
    return Judgement(scores)


def reorder(scores: Sequence[float], before: Sequence[float]) -> list[tuple[int, float]]:
    """Return the order that a model's scores give: (place before, new score), scores descending.

    What was scored comes first, from 1 for the best down to a half for the worst; then the rest as it
    was, below.

    Args:
        scores: of the first results.
        before: scores of all results, above 0, descending.
    """
    share = min_max(scores)
    best_first = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    first = [(index, _LOWEST + (1 - _LOWEST) * float(share[index])) for index in best_first]
    rest = range(len(scores), len(before))
    # Not to the very half, which the worst of the scored may have.
    return [*first, *((n, _LOWEST / 2 * before[n] / before[len(scores)]) for n in rest)]


@dataclass(frozen=True, slots=True)
class Reranked:
    """Items in their new order; in the old one where there is a warning."""

    items: list[RetrievedItem]
    warning: CodedWarning | None = None


async def rerank(
    reranker: Reranker, question: str, items: Sequence[RetrievedItem], limits: RerankLimits
) -> Reranked:
    """Put the first items into the reranker's order; the others follow as they were.

    `lanes` keeps the model's own score, and the rank that it gives.
    """
    judgement = await judge(reranker, question, [item.text for item in items], limits)
    if not judgement.scores:
        return Reranked(list(items), judgement.warning)
    order = reorder(judgement.scores, [item.score for item in items])
    return Reranked(
        [
            _apply_score(items[index], score, rank, judgement.scores[index])
            if index < len(judgement.scores)
            else rescore(items[index], score)
            for rank, (index, score) in enumerate(order, start=1)
        ]
    )


def _apply_score(item: RetrievedItem, score: float, rank: int, given: float) -> RetrievedItem:
    """Return an item whose score comes from the model alone."""
    lanes = {name: replace(lane, contribution=0.0) for name, lane in item.lanes.items()}
    lanes[RERANK] = LaneScore(rank, given, contribution=score)
    return replace(item, score=score, lanes=lanes)


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
    bounds them (`sextant.models.chat.call_limits`).
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
