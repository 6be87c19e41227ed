"""A verb and its irregular forms are one word."""

from __future__ import annotations

import pytest

from sextant.text.word_forms import inflection_patterns


def _has(asked: str, text: str) -> bool:
    """Return whether `text` has a form of `asked`."""
    return any(form.search(text) for _, form in inflection_patterns(asked))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("tear", "the belt tore"),
        ("written", "she wrote it"),
        ("won", "she wins"),
        ("stopped", "to stop"),
        ("stop", "it stopped"),
        ("cancelled", "you can cancel"),
        ("founded", "he co-founded it"),
    ],
)
def test_forms_of_a_word_stand_for_each_other(asked: str, said: str) -> None:
    assert _has(asked, said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("fast", "fast-track"),
        ("cancel", "order.cancelled"),
    ],
)
def test_a_part_of_a_longer_name_is_no_form(asked: str, said: str) -> None:
    assert not _has(asked, said)
