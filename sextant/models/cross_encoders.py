"""Cross-encoders that a caller has loaded, of sentence-transformers or LangChain, as rerankers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import cast

from langchain_core.cross_encoders import BaseCrossEncoder

from sextant.domain.errors import OptionInvalid
from sextant.models.protocols import Reranker


class LoadedReranker:
    """A cross-encoder that the caller has loaded, in threads.

    Args:
        model: what it is called after.
        predict: scores (question, passage) pairs, in order.
    """

    def __init__(
        self, model: object, predict: Callable[[list[tuple[str, str]]], Iterable[float]]
    ) -> None:
        self.name = type(model).__name__
        self._predict = predict

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return one score per text, in order."""
        pairs = [(query, text) for text in texts]
        return [float(score) for score in await asyncio.to_thread(self._predict, pairs)]


def as_reranker(model: object) -> Reranker:
    """`model` itself, or a `CrossEncoder` of sentence-transformers or LangChain wrapped.

    Raises:
        OptionInvalid: it scores nothing.
    """
    if isinstance(model, BaseCrossEncoder):
        return LoadedReranker(model, model.score)
    if callable(predict := getattr(model, "predict", None)):
        return LoadedReranker(model, predict)
    if not callable(getattr(model, "score", None)):
        raise OptionInvalid(
            f"{type(model).__name__} is not a reranking model.",
            next_step="Give a CrossEncoder of sentence-transformers or LangChain, or anything with "
            "`name` and `async score(query, texts)`.",
            field="reranker",
        )
    return cast("Reranker", model)
