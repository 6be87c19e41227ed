"""How many texts a local model gets at once: a GPU many, a processor few."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sextant.models.embedding.local import LocalEmbedder
from sextant.models.reranker import LocalReranker


class ModelOn:
    """A model of sentence-transformers as far as it is called; it notes the size of each batch."""

    config = SimpleNamespace(id2label={0: "relevant"})

    def __init__(self, device: str) -> None:
        self.device = SimpleNamespace(type=device)
        self.prompts: dict[str, str] = {}
        self.batches: list[int] = []

    def encode(self, texts: list[str], *, batch_size: int, **_: object) -> Any:
        """Return a vector for each text."""
        self.batches.append(batch_size)
        return np.ones((len(texts), 3))

    def predict(self, pairs: list[tuple[str, str]], **_: object) -> list[float]:
        """Return a score for each pair."""
        self.batches.append(len(pairs))
        return [0.5] * len(pairs)


@pytest.mark.parametrize(("device", "batch"), [("cpu", 32), ("cuda", 256), ("mps", 256)])
async def test_passages_are_embedded_in_larger_batches_on_a_gpu(device: str, batch: int) -> None:
    embedder, model = LocalEmbedder("any"), ModelOn(device)
    embedder._local._model = model
    assert (await embedder.embed_passages(["a"] * 5)).shape == (5, 3)
    assert model.batches == [batch]


@pytest.mark.parametrize(("device", "batches"), [("cpu", [8, 8, 8, 8, 8]), ("cuda", [40])])
async def test_forty_candidates_are_one_batch_on_a_gpu(device: str, batches: list[int]) -> None:
    reranker, model = LocalReranker("any"), ModelOn(device)
    reranker._local._model = model
    assert await reranker.score("q", ["a"] * 40) == [0.5] * 40
    assert model.batches == batches
