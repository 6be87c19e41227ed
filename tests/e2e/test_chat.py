"""`sextant chat` answers line after line, and remembers what was said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import SAMPLES, Sextant

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module", autouse=True)
def ingested(sextant: Sextant) -> None:
    sextant(
        "ingest", SAMPLES / "documents" / "rust-ownership.md", "--graph", "chat", "--json"
    ).json()


def chat(
    environment: dict[str, str],
    folder: Path,
    graph: str,
    *lines: str,
    options: tuple[str, ...] = (),
    status: int = 0,
) -> tuple[str, str]:
    """Return what a conversation prints, on standard output and error."""
    done = subprocess.run(
        [sys.executable, "-m", "sextant", "chat", "--graph", graph, *options],
        cwd=folder,
        env=environment,
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == status, done.stderr
    return done.stdout, done.stderr


def test_a_question_may_lean_on_the_one_before(environment: dict[str, str], tmp_path: Path) -> None:
    first, second = "How many owners does a value have in Rust?", "And when is it freed?"
    together, _ = chat(environment, tmp_path, "chat", first, second, "Exit", "never asked")
    assert "exactly one owner" in together
    assert together.count("mode ") == 2
    alone, said = chat(environment, tmp_path, "chat", first, "/new", "/help", second)
    assert together.split("mode ")[1] != alone.split("mode ")[1]
    assert "exit or Ctrl-D" in said


def test_what_goes_wrong_is_said_and_the_conversation_goes_on(
    environment: dict[str, str], tmp_path: Path
) -> None:
    out, err = chat(environment, tmp_path, "nobody-made-this", "What is owned?", "What is lent?")
    assert err.count("nobody-made-this") == 2
    assert "mode " not in out


def test_a_conversation_that_has_a_name_goes_on_in_another_process(
    environment: dict[str, str], tmp_path: Path
) -> None:
    first, second = "How many owners does a value have in Rust?", "And when is it freed?"
    for line in (first, second):
        out, _ = chat(environment, tmp_path, "chat", line, options=("--thread", "owners"))
        assert out.count("mode ") == 1
    chat(environment, tmp_path, "chat", "hello", "/new", options=("--thread", "gone"))
    listed, _ = chat(environment, tmp_path, "chat", options=("--list",))
    assert f"owners  {first}" in listed
    assert "gone" not in listed
    renaming = ("--thread", "owners", "--title")
    said, _ = chat(environment, tmp_path, "chat", options=(*renaming, "Owners of a value"))
    assert "owners has its new title" in said
    for nothing in ("", " "):
        out, err = chat(
            environment, tmp_path, "chat", first, options=(*renaming, nothing), status=2
        )
        assert (out, "at least one character" in err) == ("", True)
    listed, _ = chat(environment, tmp_path, "chat", options=("--list",))
    assert "owners  Owners of a value" in listed
