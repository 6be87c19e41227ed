"""Boxes of words: packed for storage, and found again by a span of the text."""

from __future__ import annotations

import pytest

from sextant.domain.page_boxes import PageBox, PlacedText, find_boxes, pack_boxes

FIRST = PlacedText(0, 5, 1, 0.1, 0.1, 0.2, 0.12)  # "Motor"
SECOND = PlacedText(6, 10, 1, 0.21, 0.1, 0.3, 0.12)  # "runs"
BELOW = PlacedText(11, 15, 1, 0.1, 0.13, 0.18, 0.15)  # "well"
NEXT_PAGE = PlacedText(17, 20, 2, 0.1, 0.1, 0.16, 0.12)  # "End"
PACKED = pack_boxes([BELOW, FIRST, NEXT_PAGE, SECOND])


def test_words_of_one_line_are_one_box_and_those_of_two_are_two() -> None:
    assert find_boxes(PACKED, 0, 15) == [
        PageBox(1, 0.1, 0.1, 0.3, 0.12),
        PageBox(1, 0.1, 0.13, 0.18, 0.15),
    ]


def test_a_span_over_a_page_break_has_boxes_on_both_pages() -> None:
    assert [box.page for box in find_boxes(PACKED, 11, 20)] == [1, 2]


def test_a_word_that_the_span_cuts_is_boxed_by_its_characters() -> None:
    [box] = find_boxes(PACKED, 6, 8)

    assert (box.x0, box.x1) == pytest.approx((0.21, 0.255))


def test_a_span_between_words_has_no_box() -> None:
    assert find_boxes(PACKED, 15, 17) == []


def test_cells_far_apart_in_one_row_have_a_box_each() -> None:
    cells = [FIRST, PlacedText(6, 8, 1, 0.7, 0.1, 0.75, 0.12)]

    assert len(find_boxes(pack_boxes(cells), 0, 8)) == 2


def test_a_document_without_boxes_packs_to_nothing() -> None:
    assert pack_boxes([]) == b""
    assert find_boxes(b"", 0, 100) == []


def test_words_of_a_long_document_are_found_in_every_block() -> None:
    words = [PlacedText(5 * n, 5 * n + 4, n // 500 + 1, 0.1, 0.1, 0.2, 0.12) for n in range(9000)]
    packed = pack_boxes(words)

    pages = [find_boxes(packed, 5 * n, 5 * n + 4)[0].page for n in range(0, 9000, 250)]

    assert pages == [n // 500 + 1 for n in range(0, 9000, 250)]
    assert len(packed) < 3 * len(words)


def test_a_box_that_reaches_beyond_the_page_ends_at_its_edge() -> None:
    packed = pack_boxes([PlacedText(0, 3, 1, -0.2, 0.1, 1.3, 0.12)])

    assert find_boxes(packed, 0, 3) == [PageBox(1, 0.0, 0.1, 1.0, 0.12)]
