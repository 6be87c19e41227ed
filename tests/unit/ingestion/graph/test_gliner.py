"""A GLiNER export in a folder is run for real where the extra is installed; what is wrong with one is said."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

from sextant.domain.errors import ModelUnavailable
from sextant.domain.settings import ExtractionSettings, IngestionSettings, Settings
from sextant.ingestion.graph.extraction.gliner import Gliner, is_gliner
from sextant.ingestion.graph.extraction.taggers import GlinerTagger, Tag, build_tagger
from tests.unit.ingestion.graph.tiny_gliner import TYPES, write_gliner

INSTALLED = importlib.util.find_spec("tokenizers") is not None
pytestmark = pytest.mark.skipif(not INSTALLED, reason="the [ner] extra is not installed")
TEXT = "Ada Marsh of Halden Works left Cork."
FOUND = [(0, 9, 0), (13, 25, 1), (31, 35, 2)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(write_gliner(tmp_path / "tiny"))


def test_names_of_the_types_asked_for_are_found(folder: Path) -> None:
    model = Gliner(str(folder), TYPES)
    texts = ["", "Ben or Ada or Works.", TEXT, "他在上海见了Cork，\n上海。"]
    assert model.find(texts) == [[], [], FOUND, [(2, 4, 2), (6, 10, 2), (12, 14, 2)]]
    assert Gliner(str(folder), ["place"]).find([TEXT]) == [[(31, 35, 0)]]


@pytest.mark.parametrize(("words", "tokens"), [(4, 512), (384, 14)])
def test_a_longer_text_is_read_in_windows(tmp_path: Path, words: int, tokens: int) -> None:
    """With four words at once none of the names is cut; with fourteen tokens, ten go to the types."""
    long = write_gliner(tmp_path / "short", most_words=words, most_tokens=tokens)
    text = "Ada Marsh is by Cork and Ada Marsh , " * 20
    whole = Gliner(write_gliner(tmp_path / "whole"), TYPES).find([text])[0]
    assert len(whole) == 60
    assert Gliner(long, TYPES).find([text, TEXT])[0][:2] == whole[:2]


def test_the_settings_say_which_types(folder: Path) -> None:
    settings = Settings(
        _env_file=None,
        ingestion=IngestionSettings(ner_model=str(folder)),
        extraction=ExtractionSettings(entity_types="Place, PERSON"),
    )
    tagger = build_tagger(settings)
    assert isinstance(tagger, GlinerTagger)
    assert tagger.tag([TEXT, "| Ada | Marsh |"]) == [
        (Tag("Ada Marsh", 0, "PERSON"), Tag("Cork", 31, "PLACE")),
        (),
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("urchade/gliner_small-v2.1", True),
        ("en_core_web_sm", False),
        ("/no/such", False),
        ("./a", False),
    ],
)
def test_a_name_at_the_hub_is_one_of_gliner(name: str, *, expected: bool) -> None:
    assert is_gliner(name) is expected


def test_a_model_in_the_cache_of_the_hub_needs_no_hub(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = tmp_path / "hub" / "models--acme--tiny"
    shutil.copytree(folder, cached / "snapshots" / ("1" * 40))
    (cached / "refs").mkdir()
    (cached / "refs" / "main").write_text("1" * 40)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    assert GlinerTagger("acme/tiny", ["place"]).tag([TEXT]) == [(Tag("Cork", 31, "PLACE"),)]


def test_a_folder_without_an_export_says_how_to_make_one(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    with pytest.raises(ModelUnavailable) as caught:
        GlinerTagger(str(folder), ["place"]).tag([TEXT])
    assert str(folder) in str(caught.value)
    assert "export_to_onnx" in caught.value.next_step


def test_another_kind_of_model_is_refused_by_name(folder: Path) -> None:
    from sextant.models.embedding.e5.onnx_model import ModelWriter, TensorValue

    writer = ModelWriter()
    same = writer.node("Identity", "input_ids")
    model = writer.model([TensorValue("input_ids", (-1, -1))], TensorValue(same, (-1, -1)))
    (folder / "onnx" / "model.onnx").write_bytes(model)
    with pytest.raises(ModelUnavailable, match="of a kind that is not supported"):
        GlinerTagger(str(folder), ["place"]).tag([TEXT])


def test_what_is_damaged_is_told_without_a_stack(folder: Path) -> None:
    (folder / "onnx" / "model.onnx").write_bytes(b"no model")
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        GlinerTagger(str(folder), ["place"]).tag([TEXT])
