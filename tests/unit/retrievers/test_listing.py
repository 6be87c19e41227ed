"""Cursors lead back to where a list ended, and to nowhere else."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.errors import OptionInvalid
from sextant.retrievers.cursor import ListingKey

KEYS = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=["Cs"])),
        st.integers(-(2**53), 2**53),
        st.floats(allow_nan=False, allow_infinity=False),
    ),
    min_size=1,
    max_size=4,
)


@given(KEYS)
def test_a_cursor_gives_its_key_again(key: list[str | int | float]) -> None:
    listing = ListingKey.of("graphs", "ada")
    assert listing.after(listing.cursor(key), list[str | int | float]) == key


@given(KEYS, st.integers(0, 10_000), st.characters(exclude_categories=["Cs"]))
def test_a_changed_cursor_is_refused(key: list[str | int | float], place: int, put: str) -> None:
    listing = ListingKey.of("graphs", "ada")
    cursor = listing.cursor(key)
    place %= len(cursor)
    changed = cursor[:place] + put + cursor[place + 1 :]
    if decoded(changed) == decoded(cursor):
        return  # a letter has bits that say nothing
    with pytest.raises(OptionInvalid):
        listing.after(changed, list[str | int | float])


def decoded(cursor: str) -> bytes | None:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
    except ValueError:
        return None


@given(st.text())
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(OptionInvalid):
        ListingKey.of("graphs", "ada").after(text, str)


def test_a_cursor_is_of_one_list_of_one_user() -> None:
    cursor = ListingKey.of("graphs", "ada").cursor(["hr"])
    for other in (ListingKey.of("graphs", "eve"), ListingKey.of("communities", "ada")):
        with pytest.raises(OptionInvalid):
            other.after(cursor, list[str])


def test_a_key_of_another_shape_is_refused() -> None:
    listing = ListingKey.of("graphs", "ada")
    with pytest.raises(OptionInvalid):
        listing.after(listing.cursor(["hr", 1]), tuple[str])
