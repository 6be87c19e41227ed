"""Embedding models: the packaged one, any of sentence-transformers, or an endpoint's."""

from __future__ import annotations

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import PACKAGED_EMBEDDING, Settings
from sextant.models.embedding.cache import CachedEmbedder

__all__ = ["build_embedder"]

_CACHED_QUESTIONS = 2048  # vectors of 1.5 KB, or what the model's dimension takes


def build_embedder(settings: Settings) -> CachedEmbedder:
    """Return the embedder that `settings.embedding` names, with a cache of query vectors.

    Nothing is loaded or called yet; a missing model shows on first use.

    Raises:
        SettingsInvalid: the setting has none of its three forms.
    """
    scheme, _, model = settings.embedding.partition(":")
    if settings.embedding == PACKAGED_EMBEDDING:
        from sextant.models.embedding.packaged import PackagedEmbedder

        return CachedEmbedder(PackagedEmbedder(), _CACHED_QUESTIONS)
    if scheme == "sentence-transformers" and model:
        from sextant.models.embedding.local import LocalEmbedder

        return CachedEmbedder(LocalEmbedder(model), _CACHED_QUESTIONS)
    if scheme == "openai" and model:
        from sextant.models.embedding.remote import RemoteEmbedder

        return CachedEmbedder(RemoteEmbedder(model, settings), _CACHED_QUESTIONS)
    raise SettingsInvalid(
        f"The embedding model {settings.embedding!r} is of no known form.",
        next_step=f"Set SEXTANT_EMBEDDING to `{PACKAGED_EMBEDDING}`, "
        "`sentence-transformers:<name or path>` or `openai:<model>`.",
        field="embedding",
    )
