"""`sextant ask --confirm` and `chat --confirm` ask at the terminal, or take the decision from a pipe."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Ran, Sextant
from tests.integration.sextant.test_decisions import MERCURY, OTHERS, QUESTION

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module", autouse=True)
def imported(sextant: Sextant, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("sky") / "sky.jsonl"
    file.write_text("\n".join(map(json.dumps, [*MERCURY, *OTHERS])))
    sextant("import", file, "--graph", "sky", "--json").json()


def ask(environment: dict[str, str], folder: Path, typed: str, *options: str) -> Ran:
    """Return what a question comes to whose decisions are typed."""
    return run(environment, folder, typed, "ask", QUESTION, *options)


def run(environment: dict[str, str], folder: Path, typed: str, *command: str) -> Ran:
    done = subprocess.run(
        [sys.executable, "-m", "sextant", *command, "--graph", "sky"],
        cwd=folder,
        env=environment,
        input=typed,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def test_the_meaning_that_was_typed_is_answered_about(
    environment: dict[str, str], tmp_path: Path
) -> None:
    done = ask(environment, tmp_path, "7\nquicksilver\n", "--confirm")
    assert done.status == 0, done.err
    assert "may mean several things" in done.err
    assert "chooses none of the 2" in done.err  # and it may be decided again
    assert "melts at -39 degrees" in done.out


def test_where_nobody_decides_the_question_is_the_error(
    environment: dict[str, str], tmp_path: Path, sextant: Sextant
) -> None:
    done = ask(environment, tmp_path, "", "--confirm", "--json")
    assert done.status == 1
    assert done.error()["code"] == "decision_needed"
    assert "ask-" not in sextant("chat", "--list").out  # nothing of it is kept


def test_a_conversation_asks_too_and_goes_on(
    environment: dict[str, str], tmp_path: Path, sextant: Sextant
) -> None:
    typed = f"{QUESTION}\n7\nquicksilver\n{QUESTION}\n"  # nobody decides the second
    done = run(environment, tmp_path, typed, "chat", "--confirm")
    assert done.status == 0, done.err
    assert "chooses none of the 2" in done.err
    assert "melts at -39 degrees" in done.out
    assert done.out.count("mode mix") == 1
    assert (
        done.err.count("may mean several things") == 3
    )  # twice asked, and said of the one left open
    assert "chat-" not in sextant("chat", "--list").out
