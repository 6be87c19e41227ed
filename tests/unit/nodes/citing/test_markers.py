"""What markers name, and how they are written."""

from __future__ import annotations

import pytest

from sextant.nodes.citing import markers
from sextant.nodes.citing.citations import escape_markers, format_label, format_marker

LABELS = {"T1": 7, "I1": 8}


@pytest.mark.parametrize(
    ("named", "places"),
    [
        ("2", [(1, "")]),
        ("1, 3", [(0, ""), (2, "")]),
        ("2-4", [(1, ""), (2, ""), (3, "")]),
        ("2 – 3、1", [(1, ""), (2, ""), (0, "")]),
        ("2, 2-3", [(1, ""), (2, "")]),
        ("4-2", []),
        ("T1", [(7, "")]),
        ("T1:r3c2；I1", [(7, "r3c2"), (8, "")]),
        ("T2", []),
    ],
)
def test_a_marker_names_passages_from_zero_and_parts_of_what_has_a_label(
    named: str, places: list[tuple[int, str]]
) -> None:
    assert markers.find_targets(named, LABELS) == places


def test_one_marker_names_no_more_than_fifty_passages() -> None:
    assert [index for index, _ in markers.find_targets("1-999", {})] == list(range(50))


def test_markers_are_written_as_they_are_read() -> None:
    for written in (
        format_marker(3),
        format_label("T1"),
        format_label("T1", "r3c2"),
    ):
        found = markers.MARKER.fullmatch(written)
        assert found is not None
        assert f"[{found[1]}]" == written


@pytest.mark.parametrize(
    ("sentence", "statement"),
    [
        (
            "The Heron 3 XL sorts 4,200 parcels, according to [1].",
            "The Heron 3 XL sorts 4,200 parcels",
        ),
        ("Leave is 20 days, based on passage 2.", "Leave is 20 days"),
        ("Leave is 20 days, as stated in passage 2.", "Leave is 20 days"),
        ("According to 1, leave is 20 days", "leave is 20 days"),
        ("Work is paid according to the plan.", "Work is paid according to the plan."),
    ],
)
def test_who_says_it_is_no_part_of_a_statement(sentence: str, statement: str) -> None:
    assert markers.statement_text(sentence).rstrip(".") == statement.rstrip(".")


def test_what_a_document_writes_like_a_marker_is_put_in_round_brackets() -> None:
    assert escape_markers("as in [3] and 【T1:r2】, not [a]") == "as in (3) and (T1:r2), not [a]"
