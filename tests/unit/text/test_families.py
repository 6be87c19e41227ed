"""A verb, its noun and its irregular forms are one word."""

from __future__ import annotations

import pytest

from sextant.text.word_forms import kin_of


def _has(asked: str, text: str) -> bool:
    """Return whether `text` has a word of the family of `asked`."""
    return any(form.search(text) for _, form in kin_of(asked))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("authenticate", "authentication"),
        ("authentication", "authenticates"),
        ("resign", "a resignation"),
        ("resignation", "whoever resigns"),
        ("decided", "decision: no"),
        ("paid", "payments"),
        ("payment", "it is paid"),
        ("approve", "his approval"),
        ("maintain", "maintenance"),
        ("subscribe", "the subscription"),
        ("deliver", "delivery on monday"),
        ("tear", "the belt tore"),
        ("written", "she wrote it"),
        ("won", "she wins"),
        ("stopped", "to stop"),
        ("stop", "it stopped"),
        ("cancelled", "you can cancel"),
        ("founded", "he co-founded it"),
    ],
)
def test_words_of_one_family_stand_for_each_other(asked: str, said: str) -> None:
    assert _has(asked, said)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("depart", "the department"),
        ("form", "the formation of clouds"),
        ("plant", "a plantation"),
        ("product", "in production"),
        ("commit", "a commission"),
        ("state", "the station"),
        ("fast", "fast-track"),
        ("cancel", "order.cancelled"),
    ],
)
def test_words_that_only_look_alike_are_told_apart(asked: str, said: str) -> None:
    assert not _has(asked, said)
