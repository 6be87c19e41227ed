"""A model folder is known by what is in it."""

from __future__ import annotations

import shutil
from pathlib import Path

from sextant.models.embedding.local import LocalEmbedder


def make_model(folder: Path, weights: bytes) -> Path:
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "config.json").write_text('{"hidden_size": 4}')
    (folder / "1_Pooling" / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def test_a_moved_folder_is_the_same_model_and_other_weights_are_another(tmp_path: Path) -> None:
    here = make_model(tmp_path / "here", b"\x01" * 3_000_000)
    other = make_model(tmp_path / "other", b"\x01" * 2_999_999 + b"\x02")
    before = LocalEmbedder(str(here)).name
    assert LocalEmbedder(str(other)).name != before

    moved = shutil.move(here, tmp_path / "moved")
    (tmp_path / "moved" / "README.md").write_text("A card.")
    assert LocalEmbedder(str(moved)).name == before


def test_a_model_of_the_hub_is_known_by_its_name() -> None:
    assert LocalEmbedder("intfloat/e5-small").name == "intfloat/e5-small"
