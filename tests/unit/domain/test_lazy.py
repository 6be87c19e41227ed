"""Public names that are imported when they are first asked for."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest


@pytest.mark.parametrize("package", ["graph", "nodes", "retrievers", "sextant"])
def test_a_package_gives_each_public_name_and_no_other(package: str) -> None:
    opened = importlib.import_module(package)
    for name in opened.__all__:
        assert getattr(opened, name).__name__ == name
    assert set(opened.__all__) <= set(dir(opened))
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        _ = opened.nonsense


def test_the_package_alone_imports_none_of_them() -> None:
    program = "import sys, sextant.retrievers; dir(sextant.retrievers); sys.exit('sextant.retrievers.graph_retriever' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
