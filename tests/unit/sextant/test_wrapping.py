"""Where lines of prose are broken on a terminal."""

from __future__ import annotations

import io
import os
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.cli.terminal import Wrapping, columns, width_of_terminal, wrap_text


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("It costs 12400 euros", ["It costs", "12400", "euros"]),
        ("价格是一万二千四百。好", ["价格是一", "万二千四", "百。好"]),
        ("价格是一万。好", ["价格是一", "万。好"]),
        ("一二三四。", ["一二三", "四。"]),
        ("averylongword is", ["averylongword", "is"]),
        ("one\n\ntwo three", ["one", "", "two three"]),
    ],
)
def test_lines_end_between_words_and_begin_with_no_stop(text: str, lines: list[str]) -> None:
    assert wrap_text(text, 9).split("\n") == lines


def test_lines_after_the_first_stand_behind_the_indent() -> None:
    assert wrap_text("  “one two three”", 9, "  ") == "  “one\n  two\n  three”"


def test_a_word_that_comes_in_two_pieces_is_not_broken() -> None:
    written: list[str] = []
    lines = Wrapping(written.append, 10)
    for piece in ("It costs 12", "400", " euros."):
        lines.add(piece)
    lines.end()
    assert "".join(written) == "It costs\n12400\neuros."


@pytest.mark.parametrize("text", ["12\u202f400 €, 10\u00a0km", "\u3000\u3000第一段", "a\u2003b"])
def test_spaces_of_every_kind_stay(text: str) -> None:
    assert wrap_text(text, 40) == text


def test_what_is_no_terminal_gets_the_text_as_it_comes() -> None:
    assert wrap_text("one two  three\n", 0) == "one two  three\n"


def test_the_width_is_that_of_the_terminal_that_is_written_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Note on standard error were as wide as 80 columns where standard output was a pipe."""
    monkeypatch.delenv("COLUMNS", raising=False)
    near, far = os.openpty()
    with os.fdopen(near), os.fdopen(far, "w") as terminal:
        termios.tcsetwinsize(far, (20, 37))
        assert width_of_terminal(terminal) == 37
        monkeypatch.setenv("COLUMNS", "50")
        assert width_of_terminal(terminal) == 50
        monkeypatch.setenv("COLUMNS", "wide")
        assert width_of_terminal(terminal) == 37
    assert width_of_terminal(io.StringIO()) == 0


@given(st.text(alphabet="ab，。一二 \n", max_size=60), st.integers(6, 20))
def test_nothing_is_lost_and_lines_without_long_words_fit(text: str, width: int) -> None:
    told = wrap_text(text, width)
    assert "".join(told.split()) == "".join(text.split())
    for line in told.split("\n"):
        assert columns(line) <= width or " " not in line.strip()
