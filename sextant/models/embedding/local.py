"""Embeddings from any sentence-transformers model, on this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from sextant.models.embedding.prefixes import Prefixes, prefixes_in, prefixes_of
from sextant.models.embedding.remote import LearnedDimension
from sextant.models.protocols import Vectors
from sextant.models.reranker import LocalModel, is_on_accelerator

# An H100 embeds 2,050 passages a second by 32 and 3,560 by 256; a processor gains nothing beyond 32.
_BATCH, _BATCH_ON_ACCELERATOR = 32, 256

Kind = Literal["query", "passage"]

# What a model computes with; a card or a script beside it does not change its vectors.
_WEIGHTS = frozenset({".json", ".safetensors", ".bin", ".onnx", ".txt", ".model"})
_READ = 1_000_000  # bytes of each end of a file


class LocalEmbedder(LearnedDimension):
    """A sentence-transformers model by name or path (the `[local]` extra, which brings torch).

    It loads on first use, or by `warm_up`, and runs in a thread of its own. Prefixes are those of
    the model's own configuration (`prompts`), or else those known for its name; of a folder, for the names
    that it says itself.

    Args:
        model: a name at the model hub, which names the vector space, or a path: a folder is known by what is
            in it, so that one that was moved is the same model.
    """

    def __init__(self, model: str) -> None:
        self._local = LocalModel("SentenceTransformer", model)

    @cached_property
    def name(self) -> str:
        """Name of the vector space."""
        folder = Path(self._local.name)
        return f"folder:{_fingerprint(folder)}" if folder.is_dir() else self._local.name

    @cached_property
    def prefixes(self) -> Prefixes | None:
        """Return what is written before questions and passages; None where nothing says what to write."""
        folder = Path(self._local.name)
        return prefixes_in(folder) if folder.is_dir() else prefixes_of(self._local.name)

    def use_prefixes(self, query: str, passage: str) -> None:
        """Write what the stored vectors were made with, whatever the folder is called today."""
        self.prefixes = Prefixes(query, passage)

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimension,).

        Raises:
            ModelUnavailable: the extra is not installed, or the model cannot be loaded.
        """
        vector: Vectors = (await self._embed([text], "query"))[0]
        return vector

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages, shape (len(texts), dimension).

        Raises:
            ModelUnavailable: the extra is not installed, or the model cannot be loaded.
        """
        if not texts:
            return await self._no_vectors()
        return await self._embed(texts, "passage")

    async def _embed(self, texts: Sequence[str], kind: Kind) -> Vectors:
        prefix = getattr(self.prefixes or Prefixes(), kind)
        vectors = await self._local.run(lambda model: _encode_texts(model, prefix, texts, kind))
        self._dimension = vectors.shape[1]
        return vectors


def _fingerprint(folder: Path) -> str:
    """Return a digest of a model's files: all of small ones, size, beginning and end of large ones."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in _WEIGHTS and path.is_file():
            size = path.stat().st_size
            digest.update(f"{path.relative_to(folder).as_posix()} {size}\n".encode())
            with path.open("rb") as file:
                digest.update(file.read(_READ))
                file.seek(max(size - _READ, 0))
                digest.update(file.read(_READ))
    return digest.hexdigest()[:16]


def _encode_texts(model: Any, prefix: str, texts: Sequence[str], kind: Kind) -> Vectors:  # noqa: ANN401
    batch = _BATCH_ON_ACCELERATOR if is_on_accelerator(model) else _BATCH
    options = {"batch_size": batch, "normalize_embeddings": True, "show_progress_bar": False}
    if any(model.prompts.values()):
        encode = model.encode_query if kind == "query" else model.encode_document
        vectors = encode(list(texts), **options)
    else:
        vectors = model.encode([prefix + text for text in texts], **options)
    return np.asarray(vectors, np.float32)
