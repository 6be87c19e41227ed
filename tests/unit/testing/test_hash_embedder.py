from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.testing.hash_embedder import HashEmbedder, hash_vector


@given(text=st.text(), dimension=st.integers(8, 400))
def test_every_text_has_one_unit_vector(text: str, dimension: int) -> None:
    vector = hash_vector(text, dimension)
    assert vector.shape == (dimension,)
    assert vector.dtype == np.float32
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)
    np.testing.assert_array_equal(vector, hash_vector(text, dimension))


async def test_texts_that_share_words_are_nearer_than_others() -> None:
    embedder = HashEmbedder(256)
    passages = await embedder.embed_passages(
        ["糖尿病的主要症状", "合同的付款节点", "Rust ownership"]
    )
    nearest = int(np.argmax(passages @ await embedder.embed_query("糖尿病有什么症状？")))
    assert nearest == 0


def test_vectors_are_the_same_in_every_process() -> None:
    known = [-0.548, 0, 0, -0.365, 0.183, 0.73, 0, 0]
    assert hash_vector("糖尿病", 8).tolist() == pytest.approx(known, abs=1e-3)
