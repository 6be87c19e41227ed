"""Embeddings from an OpenAI-compatible endpoint.

Also here: the length of vectors, where only the model itself knows it.
"""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sextant.domain.errors import ModelUnavailable, SettingsInvalid
from sextant.domain.settings import Settings
from sextant.models import wordings
from sextant.models.embedding.prefixes import Prefixes, prefixes_of
from sextant.models.endpoint import Endpoint, in_batches
from sextant.models.failures import Service
from sextant.models.protocols import Vectors
from sextant.models.retries import Retries


class LearnedDimension(ABC):
    """An embedder that knows the length of its vectors once it has made one."""

    _dimension: int | None = None

    @property
    def dimension(self) -> int:
        """Return length of one vector, known after `warm_up` or the first vector.

        Raises:
            RuntimeError: it is not known yet.
        """
        if self._dimension is None:
            raise RuntimeError("the dimension is known after warm_up() or the first embedding")
        return self._dimension

    async def warm_up(self) -> None:
        """Learn the dimension from one short text.

        Raises:
            ModelUnavailable: there is no vector to be had.
        """
        if self._dimension is None:
            await self.embed_passages(["dimension"])

    @abstractmethod
    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimension); sets the dimension."""

    async def _no_vectors(self) -> Vectors:
        """Return those of no texts."""
        await self.warm_up()
        return np.empty((0, self.dimension), np.float32)


OPENAI = "https://api.openai.com/v1"
"""Where OpenAI's API is, which OPENAI_BASE_URL may name another for."""
# The lowest limit in common use: text-embeddings-inference takes 32 inputs a request by default.
_BATCH = 32
_CONCURRENT = 4
# After a silence no question waits for the endpoint for so long; a document does.
_PAUSE_SECONDS = 30.0


class RemoteEmbedder(LearnedDimension):
    """Any model behind an OpenAI-compatible `/embeddings`.

    Texts are sent as text, 32 a request and 4 requests at a time; vectors come back normalised to
    length 1 whatever the endpoint does. The prefixes that the model was trained with are added by
    its name. Over plain HTTP rather than through the openai package, which costs most of a second
    to import and tokenises for one vendor. A document waits for as long as a call may take, a question
    for half of what one lane may, so that the lane goes on by words.

    Args:
        model: the model's name at the endpoint; also the name of the vector space.
        settings: endpoint, key, time limits and retries.

    Raises:
        SettingsInvalid: neither a key nor a base URL is set.
    """

    def __init__(self, model: str, settings: Settings) -> None:
        key, base = settings.openai_api_key, settings.openai_base_url
        if key is None and not base:
            raise SettingsInvalid(
                f"The embedding model is openai:{model}, but there is no endpoint to ask.",
                next_step="Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.",
                field="embedding",
            )
        self._model = model
        self.prefixes: Prefixes = prefixes_of(model)
        self._patience = settings.retrieval.lane_timeout / 2
        self._silent_until = 0.0
        self._endpoint = Endpoint(
            f"{(base or OPENAI).rstrip('/')}/embeddings",
            key.get_secret_value() if key else None,
            Service(
                f"embedding model {model}",
                "SEXTANT_EMBEDDING",
                "OPENAI_API_KEY",
                "OPENAI_BASE_URL",
                length_setting="SEXTANT_INGESTION__CHUNK_TOKENS",
                label_zh=f"嵌入模型 {model}",
            ),
            Retries.of(settings.model_retries, settings.model_timeout),
            settings.model_timeout,
        )

    @property
    def name(self) -> str:
        """Name of the vector space."""
        return self._model

    def use_prefixes(self, query: str, passage: str) -> None:
        """Write what the stored vectors were made with, whatever the name says today."""
        self.prefixes = Prefixes(query, passage)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimension,).

        Raises:
            ModelUnavailable: the endpoint gives no vector, or has just been silent.
        """
        if self.is_silent:
            raise self._silence()
        try:
            async with asyncio.timeout(self._patience) as limit:
                vector: Vectors = (await self._embed([self.prefixes.query + text]))[0]
        except TimeoutError as error:
            if not limit.expired():
                raise
            self._silent_until = time.monotonic() + _PAUSE_SECONDS
            raise self._silence() from error
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimension).

        Raises:
            ModelUnavailable: the endpoint gives no vectors, or not one of the same length for each.
        """
        if not texts:
            return await self._no_vectors()
        prefixed = [self.prefixes.passage + text for text in texts]
        batches = await in_batches(self._embed, prefixed, size=_BATCH, at_once=_CONCURRENT)
        return np.concatenate(batches)

    @property
    def is_silent(self) -> bool:
        """Return whether a question has just waited for it in vain."""
        return time.monotonic() < self._silent_until

    async def close(self) -> None:
        """Close the connections."""
        await self._endpoint.close()

    async def _embed(self, texts: Sequence[str]) -> Vectors:
        # An empty input is refused by most endpoints; a space is not.
        inputs = [text or " " for text in texts]
        request = {"model": self._model, "input": inputs, "encoding_format": "float"}
        answer = await self._endpoint.post(request)
        vectors = self._read(answer, len(texts))
        self._silent_until = 0.0
        if self._dimension is None:
            self._dimension = vectors.shape[1]
        if vectors.shape[1] != self._dimension:
            raise self._endpoint.unusable("its vectors changed their length")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.all(np.isfinite(lengths) & (lengths > 0)):
            raise self._endpoint.unusable("a vector is zero or not finite")
        return np.asarray(vectors / lengths, np.float32)

    def _silence(self) -> ModelUnavailable:
        service = replace(self._endpoint.service, timeout_setting="SEXTANT_RETRIEVAL__LANE_TIMEOUT")
        return service.error(ModelUnavailable, wordings.SILENT)

    def _read(self, answer: Any, expected: int) -> Vectors:  # noqa: ANN401 - JSON
        try:
            ordered = sorted(answer["data"], key=lambda item: item["index"])
            vectors = np.array([item["embedding"] for item in ordered], np.float32)
        except (KeyError, TypeError, ValueError):
            raise self._endpoint.unusable("it holds no list of embeddings") from None
        if vectors.ndim != 2 or len(vectors) != expected:
            raise self._endpoint.unusable(f"it does not hold {expected} vectors of one length")
        return vectors
