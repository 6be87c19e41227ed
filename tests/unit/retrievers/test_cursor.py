"""Cursors: what is put in comes out, and only for the same search."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.retrievers.cursor import ListingKey, Position

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SEARCH = ListingKey.of(Scope("u", "g"), "question")

POSITIONS = st.builds(
    Position,
    st.integers(-(10**15), 4 * 10**15).map(lambda us: EPOCH + timedelta(microseconds=us)),
    st.floats(allow_nan=False, allow_infinity=False),
    st.uuids(),
)


@given(POSITIONS)
def test_a_position_comes_back_exactly(position: Position) -> None:
    cursor = SEARCH.cursor(position)
    assert SEARCH.after(cursor, Position) == position
    assert cursor.isascii()
    assert not set(cursor) & set("+/= ")


@given(POSITIONS, st.data())
def test_a_changed_cursor_is_refused_or_says_the_same(
    position: Position, data: st.DataObject
) -> None:
    cursor = SEARCH.cursor(position)
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.sampled_from("ABCxyz019-_").filter(lambda char: char != cursor[place]))
    with suppress(OptionInvalid):  # the last character may have bits that say nothing
        assert SEARCH.after(cursor[:place] + other + cursor[place + 1 :], Position) == position


@given(st.text(max_size=80))
def test_any_text_is_refused_and_never_an_exception_of_another_kind(text: str) -> None:
    with pytest.raises(OptionInvalid):
        SEARCH.after(text, Position)


def ended(score: float, own: int) -> Position:
    return Position(datetime(2026, 1, 1, tzinfo=UTC), score, UUID(int=own))


def test_a_page_goes_on_behind_its_last_result_whatever_that_scores_by_now() -> None:
    ids = [str(UUID(int=own)) for own in (7, 3, 5, 9)]
    for scores in ([0.9, 0.6, 0.4, 0.1], [0.9, 0.6 + 1e-9, 0.4, 0.1], [0.5, 0.3, 0.2, 0.05]):
        assert ended(0.6, 3).end_in(ids, scores) == 2


@pytest.mark.parametrize(
    ("score", "own", "end"), [(0.9, 8, 1), (0.6, 2, 1), (0.6, 4, 2), (0.6, 6, 3), (0.0, 1, 4)]
)
def test_where_its_last_result_is_gone_behind_what_scores_as_much(
    score: float, own: int, end: int
) -> None:
    """Of equal scores the lesser id comes first."""
    ids = [str(UUID(int=one)) for one in (7, 3, 5, 9)]
    assert ended(score, own).end_in(ids, [0.9, 0.6, 0.6, 0.1]) == end
    assert ended(score, own).end_in([], []) == 0


def test_a_cursor_belongs_to_one_search() -> None:
    position = Position(datetime(2026, 1, 1, tzinfo=UTC), 0.5, UUID(int=1))
    cursor = SEARCH.cursor(position)
    for parts in ((Scope("v", "g"), "question"), (Scope("u", "g"), "questions")):
        with pytest.raises(OptionInvalid):
            ListingKey.of(*parts).after(cursor, Position)


@pytest.mark.parametrize("moment", [2**63 - 1, -(2**63), "0000-01-01", "10000-01-01", None])
def test_a_cursor_made_for_a_moment_that_cannot_be_is_refused(moment: object) -> None:
    """The seal keeps no secret, so whoever knows it can write any number."""
    forged = SEARCH.cursor({"taken_at": moment, "score": 0.5, "id": UUID(int=0)})
    with pytest.raises(OptionInvalid):
        SEARCH.after(forged, Position)


@pytest.mark.parametrize("cursor", [5, b"x", ["x"]])
def test_what_is_no_text_is_refused(cursor: Any) -> None:
    with pytest.raises(OptionInvalid):
        SEARCH.after(cursor, Position)
