"""A local model where the `[local]` extra is not installed: the error says how to install it."""

from __future__ import annotations

import importlib.util

import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.models.embedding.local import LocalEmbedder
from sextant.models.reranker import LocalReranker

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None


@pytest.mark.skipif(INSTALLED, reason="the [local] extra is installed")
async def test_without_the_extra_the_error_says_how_to_install_it() -> None:
    for call in (LocalEmbedder("x").embed_query("q"), LocalReranker("x").score("q", ["a"])):
        with pytest.raises(ModelUnavailable, match="not installed") as caught:
            await call
        assert "-e '.[local]'" in caught.value.next_step
