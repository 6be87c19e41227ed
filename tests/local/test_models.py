"""Models of the `[local]` extra, run for real on tiny ones that the test makes itself."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.models.embedding.local import LocalEmbedder
from sextant.models.reranker import LocalReranker
from tests.local.tiny_models import ENTAILMENT, save_cross_encoder, save_encoder

WORDS = ["query", "passage", ":", "糖", "尿", "病", "a", "b"]


@pytest.fixture(scope="session")
def e5_like(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_encoder(tmp_path_factory.mktemp("hub") / "tiny-e5-test", WORDS)


@pytest.fixture(scope="session")
def with_prompts(e5_like: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(e5_like, prompts={"query": "a ", "document": "b "})
    folder = str(tmp_path_factory.mktemp("hub") / "tiny")
    model.save(folder)
    return folder


async def test_vectors_are_normalised_in_order_and_of_the_models_dimension(e5_like: str) -> None:
    embedder = LocalEmbedder(e5_like)
    await embedder.warm_up()
    assert embedder.dimension == 32
    texts = ["糖 尿 病", "a", "b a"] * 15
    vectors = await embedder.embed_passages(texts)
    assert vectors.shape == (45, 32)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(vectors[:3], vectors[-3:], atol=1e-5)
    assert (await embedder.embed_passages([])).shape == (0, 32)


async def test_prefixes_known_for_the_name_are_added(e5_like: str) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(e5_like).encode(["query: 糖"], normalize_embeddings=True)[0]
    np.testing.assert_allclose(await LocalEmbedder(e5_like).embed_query("糖"), expected, atol=1e-5)


async def test_the_models_own_prompts_come_first(with_prompts: str) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(with_prompts)
    query, passage = plain.encode(["a 糖", "b 糖"], prompt="", normalize_embeddings=True)
    embedder = LocalEmbedder(with_prompts)
    np.testing.assert_allclose(await embedder.embed_query("糖"), query, atol=1e-5)
    np.testing.assert_allclose((await embedder.embed_passages(["糖"]))[0], passage, atol=1e-5)


async def test_the_event_loop_goes_on_while_a_model_loads_and_runs(e5_like: str) -> None:
    embedder = LocalEmbedder(e5_like)
    ran_in: set[int] = set()
    await asyncio.gather(
        embedder.warm_up(), embedder._local.run(lambda _: ran_in.add(threading.get_ident()))
    )
    assert ran_in
    assert threading.get_ident() not in ran_in


async def test_a_model_that_cannot_be_found_is_a_typed_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="cannot be loaded") as caught:
        await LocalEmbedder(str(tmp_path / "nothing")).embed_query("a")
    assert "path" in caught.value.next_step


async def test_a_local_cross_encoder_scores_every_text(tmp_path: Path) -> None:
    reranker = LocalReranker(save_cross_encoder(tmp_path, WORDS))
    scores = await reranker.score("糖", ["a", "b", "a"])
    assert scores[0] == pytest.approx(scores[2], abs=1e-5)
    assert scores[0] != scores[1]
    assert await reranker.score("糖", []) == []


async def test_an_entailment_model_scores_whether_the_text_entails_the_claim(
    tmp_path: Path,
) -> None:
    from sentence_transformers import CrossEncoder

    model = save_cross_encoder(tmp_path, WORDS, ENTAILMENT)
    [said] = CrossEncoder(model).predict([("a b", "糖")], apply_softmax=True)
    assert said.sum() == pytest.approx(1, abs=1e-5)
    [score] = await LocalReranker(model).score("糖", ["a b"])
    assert score == pytest.approx(float(said[1]), abs=1e-5)


async def test_a_model_of_other_classes_is_refused_by_their_number(tmp_path: Path) -> None:
    model = save_cross_encoder(tmp_path, WORDS, ("good", "bad", "ugly"))
    with pytest.raises(ModelUnavailable, match="3 classes"):
        await LocalReranker(model).score("糖", ["a"])
