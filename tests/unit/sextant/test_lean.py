"""A command starts without what its answer does not use."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sextant.cli.lean import DeferringFinder

_PACKAGE = """
from waiting_package.part import SMALL
import ran
ran.times += 1
BIG = SMALL * 1000
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Yield `waiting_package`, which counts in `ran.times` how often it was opened."""
    folder = tmp_path / "waiting_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(_PACKAGE)
    (folder / "part.py").write_text("SMALL = 2\n")
    (tmp_path / "ran.py").write_text("times = 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "meta_path", [DeferringFinder(["waiting_package"]), *sys.meta_path])
    yield
    for name in ("waiting_package", "waiting_package.part", "ran"):
        sys.modules.pop(name, None)


def times_opened() -> int:
    times: int = importlib.import_module("ran").times
    return times


@pytest.mark.usefixtures("package")
def test_a_submodule_of_a_deferred_package_is_imported_without_opening_the_package() -> None:
    assert importlib.import_module("waiting_package.part").SMALL == 2

    assert times_opened() == 0


@pytest.mark.usefixtures("package")
def test_a_deferred_package_opens_once_when_something_of_it_is_used() -> None:
    module = importlib.import_module("waiting_package")

    assert (module.BIG, module.part.SMALL, module.BIG) == (2000, 2, 2000)
    assert times_opened() == 1


@pytest.mark.usefixtures("package")
def test_what_a_deferred_package_does_not_have_is_missing_as_anywhere() -> None:
    module = importlib.import_module("waiting_package")

    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = module.nothing
    assert times_opened() == 1


def test_answering_imports_neither_the_tracing_services_models_nor_a_dictionary() -> None:
    code = (
        "from sextant.cli.lean import start_lean\nstart_lean()\n"
        "import sys, sextant.graph.streaming, sextant.graph.workflow\n"
        "print(*{'httpx', 'rjieba', 'openai', 'langsmith.types.run', 'sextant.graph.workflow'} & set(sys.modules))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["sextant.graph.workflow"]
