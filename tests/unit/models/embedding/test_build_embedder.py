"""The setting `embedding` chooses the embedder."""

import pytest

from sextant.domain.errors import SettingsInvalid
from sextant.domain.settings import Settings
from sextant.models.embedding import build_embedder


@pytest.mark.parametrize(
    ("embedding", "name"),
    [
        ("packaged:multilingual-e5-small", "intfloat/multilingual-e5-small"),
        ("sentence-transformers:BAAI/bge-m3", "BAAI/bge-m3"),
        ("openai:text-embedding-3-small", "text-embedding-3-small"),
    ],
)
def test_each_form_names_its_vector_space(embedding: str, name: str) -> None:
    settings = Settings(embedding=embedding, openai_base_url="http://127.0.0.1:9/v1")
    assert build_embedder(settings).name == name


@pytest.mark.parametrize("embedding", ["", "bge-m3", "packaged:bge-m3", "openai:", "hub:x"])
def test_any_other_form_is_refused_with_the_three_forms(embedding: str) -> None:
    with pytest.raises(SettingsInvalid) as caught:
        build_embedder(Settings(embedding=embedding))
    assert caught.value.field == "embedding"
    for form in ("packaged:multilingual-e5-small", "sentence-transformers:", "openai:"):
        assert form in caught.value.next_step
