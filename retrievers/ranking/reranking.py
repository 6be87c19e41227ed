"""Rerank the best passages by a model that reads question and passage together.

The chat model can be the reranker, too: it gives passages marks from 0 to 10.
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
from sextant.domain.concurrency import release_slot
from sextant.domain.errors import (
    ModelOutputInvalid,
    ModelUnavailable,
    SettingsInvalid,
    Wording,
    describe_reason,
)
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

# Scores of reranked passages are 0.5 to 1, those of the others lie below.
_LOWEST = 0.5


@dataclass(frozen=True, slots=True)
class RerankLimits:
    """Limits of a reranker.

    Attributes:
        seconds: time after which it is cancelled.
        pairs: number of passages that it reads, the best ones.
        chars: characters that it reads of each passage; a cross-encoder reads 512 tokens.

    Raises:
        OptionInvalid: a limit is not above 0.
    """

    seconds: float = 5.0
    pairs: int = 50
    chars: int = 2000

    def __post_init__(self) -> None:
        """Check the limits."""
        require_positive(self.seconds, "seconds")
        in_range(self.pairs, "pairs")
        in_range(self.chars, "chars")

    @classmethod
    def of(cls, settings: RetrievalSettings) -> RerankLimits:
        """Return the limits of the settings."""
        return cls(settings.rerank_timeout, settings.rerank_pairs, settings.rerank_chars)


@dataclass(frozen=True, slots=True)
class Judgement:
    """The reranker's scores of the passages that it read, in their order; or a warning and no scores."""

    scores: tuple[float, ...] = ()
    warning: CodedWarning | None = None


async def judge(
    reranker: Reranker, question: str, texts: Sequence[str], limits: RerankLimits
) -> Judgement:
    """Let the reranker score the first passages; if it is late or fails there are no scores.

    A late reranker is cancelled: requests are dropped, a local model stops after its present batch.
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
    except Exception as error:  # any failure of the model is a warning
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
    """Return the results in the reranker's order as (position before, new score), scores descending.

    Scored results come first, with 1 for the best down to 0.5 for the worst; the others follow in their order.

    Args:
        scores: the reranker's, of the first results.
        before: scores of all results, above 0, descending.
    """
    share = min_max(scores)
    best_first = sorted(range(len(scores)), key=lambda index: (-scores[index], index))
    first = [(index, _LOWEST + (1 - _LOWEST) * float(share[index])) for index in best_first]
    rest = range(len(scores), len(before))
    return [*first, *((n, _LOWEST / 2 * before[n] / before[len(scores)]) for n in rest)]


@dataclass(frozen=True, slots=True)
class Reranked:
    """Items in their new order, or in the old order with a warning."""

    items: list[RetrievedItem]
    warning: CodedWarning | None = None


async def rerank(
    reranker: Reranker, question: str, items: Sequence[RetrievedItem], limits: RerankLimits
) -> Reranked:
    """Return the items in the reranker's order; its own score and rank are in `lanes`."""
    judgement = await judge(reranker, question, [item.text for item in items], limits)
    if not judgement.scores:
        return Reranked(list(items), judgement.warning)
    order = reorder(judgement.scores, [item.score for item in items])
    reranked = list[RetrievedItem]()
    for rank, (index, score) in enumerate(order, start=1):
        item = items[index]
        if index >= len(judgement.scores):
            reranked.append(rescore(item, score))
            continue
        # No lane contributes to the reranker's score.
        lanes = {name: replace(lane, contribution=0.0) for name, lane in item.lanes.items()}
        lanes[RERANK] = LaneScore(rank, judgement.scores[index], contribution=score)
        reranked.append(replace(item, score=score, lanes=lanes))
    return Reranked(reranked)


CHAT = "llm"

# Passages of one call, and calls at the same time: models lose track of longer lists.
_BATCH, _AT_ONCE = 10, 4
_BEST_MARK = 10.0
# Estimated tokens that it reads of a passage; RankGPT (arXiv 2304.09542) reads 300 words.
_PASSAGE_TOKENS = 250
# A reply that marks a smaller share of the passages is invalid.
_MIN_MARKED = 0.5


class Mark(ModelReply):
    """The mark of one passage."""

    passage: Annotated[int, WithJsonSchema({"type": "integer", "minimum": 1, "maximum": _BATCH})]
    score: Annotated[float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 10})]


class Marks(ModelReply):
    """The chat model's marks for a batch of passages, which are numbered from 1."""

    scores: Annotated[list[Mark], Field(min_length=1, json_schema_extra={"maxItems": _BATCH})]

    @model_validator(mode="before")
    @classmethod
    def _number_marks(cls, given: object) -> object:
        """Return marks as objects, from numbers in order or an object with a mark under each passage's number."""
        scores = given.get("scores") if isinstance(given, Mapping) else None
        if isinstance(scores, Mapping):
            pairs = list(scores.items())
        elif isinstance(scores, Sequence) and not any(isinstance(one, Mapping) for one in scores):
            pairs = list(enumerate(scores, start=1))
        else:
            return given
        return {"scores": [{"passage": passage, "score": mark} for passage, mark in pairs]}


@cache
def marks_of(passages: int) -> type[Marks]:
    """Return the reply whose schema asks for a mark of each of so many passages, in order."""
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

    A passage that the model leaves out gets 0: models skip irrelevant ones. Usage is charged by
    `sextant.models.chat.call_limits`.
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
        # The call is charged even if it fails.
        size = sum(estimate_tokens(text) for _, text in messages)
        sent = Usage(1, size, estimated=True).of_model(self._chat.name)
        try:
            reply = marks_of(len(texts))
            marks, usage = await self._chat.structured(messages, reply, patient=False)
        except (ModelUnavailable, ModelOutputInvalid) as error:
            charge(error.usage or sent)
            raise
        except asyncio.CancelledError:
            charge(sent)
            raise
        charge(usage)
        given = {one.passage: one.score for one in marks.scores if 1 <= one.passage <= len(texts)}
        if len(given) < _MIN_MARKED * len(texts):
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


def _beginning(text: str) -> str:
    """Return the first `_PASSAGE_TOKENS` of a passage."""
    tokens = estimate_tokens(text)
    return text if tokens <= _PASSAGE_TOKENS else text[: len(text) * _PASSAGE_TOKENS // tokens]


def _clamp_mark(mark: float) -> float:
    return min(max(mark, 0.0), _BEST_MARK) if math.isfinite(mark) else 0.0


def open_reranker(settings: Settings, chat: ChatModel | None) -> Reranker | None:
    """Return the reranker of the settings, which may be the chat model; None if there is none.

    Raises:
        SettingsInvalid: the setting is invalid, or names a chat model that there is not.
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
