"""Codes of the sentences that say what is missing of a document."""

from __future__ import annotations

from string import Formatter

import pytest

from sextant.domain.documents import Missing, code_of


@pytest.mark.parametrize("one", Missing)
def test_the_code_of_a_sentence_follows_from_it_whatever_fills_its_gaps(one: Missing) -> None:
    gaps = {name for _, name, _, _ in Formatter().parse(one.value) if name}
    filled = dict.fromkeys(gaps, "3 (of {these},\nin a line of its own)")
    assert code_of(one.told(**filled)) == one.name.lower()


def test_another_sentence_has_no_code() -> None:
    assert code_of("3 unreadable characters and more") is None
