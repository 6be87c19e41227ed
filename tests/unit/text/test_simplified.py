"""Traditional characters read as simplified ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.text.characters import simplify


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("臺北辦公室位於內湖區", "台北办公室位于内湖区"),
        ("後面的頭髮", "后面的头发"),
        ("台北办公室位于内湖区", "台北办公室位于内湖区"),
        ("Taipei office, 88 號", "Taipei office, 88 号"),
    ],
)
def test_traditional_characters_become_simplified_ones(text: str, expected: str) -> None:
    assert simplify(text) == expected


@given(st.text())
def test_every_offset_stays_and_reading_again_changes_nothing(text: str) -> None:
    assert len(simplify(text)) == len(text)
    assert simplify(simplify(text)) == simplify(text)
