"""The public names: known to type checkers, importable, and the same from the folders of a checkout."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import sextant
from sextant import facade, graph, nodes, retrievers

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("package", [sextant, facade, graph, nodes, retrievers])
def test_type_checkers_see_the_names_that_are_loaded(package: ModuleType) -> None:
    tree = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    typed = {name.asname: node.module for node in imports for name in node.names if name.asname}
    assert package.__all__ == sorted(typed)
    for name, module in typed.items():
        assert getattr(package, name) is getattr(import_module(str(module)), name)


def test_all_public_names_can_be_imported_at_once() -> None:
    names: dict[str, object] = {}
    exec("from sextant import *", names)  # noqa: S102 - only a module may import all names
    assert names.keys() >= set(sextant.__all__) >= {"Sextant", "rrf", "create_query_workflow"}


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
