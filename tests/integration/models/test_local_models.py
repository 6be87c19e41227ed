"""Models of the `[local]` extra, run for real on a tiny one that the test makes itself.

The extra brings torch, which the base install and its tests do without: where it is not installed,
only the error that says so is tested here.
"""

from __future__ import annotations

import asyncio
import importlib.util
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.models.embedding.local import LocalEmbedder
from sextant.models.reranker import LocalReranker

INSTALLED = importlib.util.find_spec("sentence_transformers") is not None
needs_extra = pytest.mark.skipif(not INSTALLED, reason="the [local] extra is not installed")
WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "query",
    "passage",
    ":",
    "糖",
    "尿",
    "病",
    "a",
    "b",
]


@pytest.mark.skipif(INSTALLED, reason="the [local] extra is installed")
async def test_without_the_extra_the_error_says_how_to_install_it() -> None:
    for call in (LocalEmbedder("x").embed_query("q"), LocalReranker("x").score("q", ["a"])):
        with pytest.raises(ModelUnavailable, match="not installed") as caught:
            await call
        assert "-e '.[local]'" in caught.value.next_step


def tiny_bert(folder: Path, kind: str, labels: tuple[str, ...] = ("relevant",)) -> Any:
    """Return a BERT with random weights and thirteen words, saved to `folder`; it tells `labels` apart."""
    import torch
    import transformers

    torch.manual_seed(0)
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    transformers.BertTokenizerFast(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=64, id2label=dict(enumerate(labels)),
    )  # fmt: skip
    getattr(transformers, kind)(config).save_pretrained(folder)


@pytest.fixture(scope="session")
def e5_like(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("hub") / "tiny-e5-test"
    folder.mkdir()
    tiny_bert(folder, "BertModel")
    return str(folder)


@pytest.fixture(scope="session")
def with_prompts(e5_like: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(e5_like, prompts={"query": "a ", "document": "b "})
    folder = str(tmp_path_factory.mktemp("hub") / "tiny")
    model.save(folder)
    return folder


@needs_extra
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


@needs_extra
async def test_prefixes_known_for_the_name_are_added(e5_like: str) -> None:
    from sentence_transformers import SentenceTransformer

    expected = SentenceTransformer(e5_like).encode(["query: 糖"], normalize_embeddings=True)[0]
    np.testing.assert_allclose(await LocalEmbedder(e5_like).embed_query("糖"), expected, atol=1e-5)


@needs_extra
async def test_the_models_own_prompts_come_first(with_prompts: str) -> None:
    from sentence_transformers import SentenceTransformer

    plain = SentenceTransformer(with_prompts)
    query, passage = plain.encode(["a 糖", "b 糖"], prompt="", normalize_embeddings=True)
    embedder = LocalEmbedder(with_prompts)
    np.testing.assert_allclose(await embedder.embed_query("糖"), query, atol=1e-5)
    np.testing.assert_allclose((await embedder.embed_passages(["糖"]))[0], passage, atol=1e-5)


@needs_extra
async def test_the_event_loop_goes_on_while_a_model_loads_and_runs(e5_like: str) -> None:
    embedder = LocalEmbedder(e5_like)
    ran_in: set[int] = set()
    await asyncio.gather(
        embedder.warm_up(), embedder._local.run(lambda _: ran_in.add(threading.get_ident()))
    )
    assert ran_in
    assert threading.get_ident() not in ran_in


@needs_extra
async def test_a_model_that_cannot_be_found_is_a_typed_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelUnavailable, match="cannot be loaded") as caught:
        await LocalEmbedder(str(tmp_path / "nothing")).embed_query("a")
    assert "path" in caught.value.next_step


@needs_extra
async def test_a_local_cross_encoder_scores_every_text(tmp_path: Path) -> None:
    tiny_bert(tmp_path, "BertForSequenceClassification")
    reranker = LocalReranker(str(tmp_path))
    scores = await reranker.score("糖", ["a", "b", "a"])
    assert scores[0] == pytest.approx(scores[2], abs=1e-5)
    assert scores[0] != scores[1]
    assert await reranker.score("糖", []) == []


@needs_extra
async def test_an_entailment_model_scores_whether_the_text_entails_the_claim(
    tmp_path: Path,
) -> None:
    from sentence_transformers import CrossEncoder

    labels = ("contradiction", "entailment", "neutral")
    tiny_bert(tmp_path, "BertForSequenceClassification", labels)
    [said] = CrossEncoder(str(tmp_path)).predict([("a b", "糖")], apply_softmax=True)
    assert said.sum() == pytest.approx(1, abs=1e-5)
    [score] = await LocalReranker(str(tmp_path)).score("糖", ["a b"])
    assert score == pytest.approx(float(said[1]), abs=1e-5)


@needs_extra
async def test_a_model_of_other_classes_is_refused_by_their_number(tmp_path: Path) -> None:
    tiny_bert(tmp_path, "BertForSequenceClassification", ("good", "bad", "ugly"))
    with pytest.raises(ModelUnavailable, match="3 classes"):
        await LocalReranker(str(tmp_path)).score("糖", ["a"])
