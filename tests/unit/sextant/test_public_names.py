"""The public names: listed once, importable, and the same from the folders of a checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import sextant

ROOT = Path(__file__).parents[3]


def test_what_is_listed_is_what_can_be_imported() -> None:
    names: dict[str, object] = {}
    exec("from sextant import *", names)  # noqa: S102 - only a module may import all names
    assert {"Sextant", "GraphRetriever", "create_query_workflow"} <= names.keys()
    for name in names.keys() - {"__builtins__"}:
        assert getattr(names[name], "__name__", "") == name


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'sextant' has no attribute 'Sextent'"):
        sextant.Sextent  # noqa: B018


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("graph", "create_query_workflow"),
        ("retrievers", "GraphRetriever"),
        ("retrievers", "EntitySearch"),
        ("nodes", "AnswerGenerator"),
    ],
)
def test_the_folders_of_a_checkout_give_the_same_objects(folder: str, name: str) -> None:
    program = f"import sextant, {folder}; assert {folder}.{name} is sextant.{name}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
