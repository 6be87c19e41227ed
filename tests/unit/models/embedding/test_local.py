"""A model folder is known by what is in it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sextant.models.embedding.local import LocalEmbedder
from sextant.models.embedding.prefixes import lacks_prefixes


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


CARD = (
    "---\ntags:\n- mteb\nmodel-index:\n- name: intfloat/multilingual-e5-small\n  results: []\n---\n"
)
E5 = ("query: ", "passage: ")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("config.json", '{"_name_or_path": "intfloat/e5-base"}'),
        ("README.md", CARD),
        ("README.md", "---\nbase_model: intfloat/multilingual-e5-base\n---\nOurs."),
        ("README.md", "---\nbase_model:\n- intfloat/multilingual-e5-small\n---\nOurs."),
        ("README.md", '---\nbase_model:\n  - ours/x\n  - "intfloat/e5"\ntags: []\n---\nOurs.'),
        ("README.md", "---\nbase_model: ['intfloat/e5-small']\n---\nOurs."),
        (
            "config_sentence_transformers.json",
            '{"prompts": {"query": "query: ", "document": "passage: "}}',
        ),
    ],
)
def test_a_folder_of_any_name_says_what_its_model_wants_to_read(
    tmp_path: Path, file: str, content: str
) -> None:
    folder = make_model(tmp_path / "renamed", b"")
    (folder / file).write_text(content)
    assert LocalEmbedder(str(folder)).prefixes == E5


def test_prompts_of_the_folder_go_before_any_name(tmp_path: Path) -> None:
    folder = make_model(tmp_path / "e5-small", b"")
    prompts = {"prompts": {"query": "Find: ", "document": ""}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    assert LocalEmbedder(str(folder)).prefixes == ("Find: ", "")


def test_a_folder_that_says_nothing_is_known_by_its_own_name_alone(tmp_path: Path) -> None:
    named = make_model(tmp_path / "multilingual-e5-small", b"")
    cached = make_model(tmp_path / "models--intfloat--e5-base" / "snapshots" / "0a1b", b"")
    other = make_model(tmp_path / "e5" / "ours", b"")
    (other / "config.json").write_text("[")
    assert LocalEmbedder(str(named)).prefixes == LocalEmbedder(str(cached)).prefixes == E5
    assert LocalEmbedder(str(other)).prefixes is None
    assert [lacks_prefixes(folder) for folder in (named, cached, other)] == [False, False, True]


def test_a_model_of_the_hub_is_known_by_its_name() -> None:
    assert LocalEmbedder("intfloat/e5-small").name == "intfloat/e5-small"
