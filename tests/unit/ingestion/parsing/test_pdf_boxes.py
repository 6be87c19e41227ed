"""Every word of a PDF's text knows where it stands on its page."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sextant.domain.page_boxes import PageBox, find_boxes
from sextant.ingestion.parsing.child import parse
from sextant.ingestion.parsing.draft import DocumentDraft, from_wire, to_wire
from sextant.ingestion.parsing.formats.pdf_characters import Characters
from sextant.ingestion.parsing.limits import Limits
from tests.pdf_writer import Item, PdfNote, PdfText, draw_ruled_table, write_pdf

WIDTH, HEIGHT = 595, 842


def read(*pages: Sequence[Item]) -> DocumentDraft:
    return from_wire(to_wire(parse(write_pdf(pages), "a.pdf", Limits())))


def boxes_of(made: DocumentDraft, quote: str) -> list[PageBox]:
    start = made.text.index(quote)
    return find_boxes(made.boxes, start, start + len(quote))


def is_around(box: PageBox, x: float, y: float) -> bool:
    """Return whether a box begins at a point in PDF's own points, as the letters of a line do."""
    return box.x0 * WIDTH == pytest.approx(x, abs=1) and box.y0 < 1 - y / HEIGHT <= box.y1


def test_a_quote_over_two_lines_has_a_box_on_each() -> None:
    made = read(
        [
            PdfText(
                70, 760, "The belt of the conveyor has to be changed after nine hundred hours of"
            ),
            PdfText(70, 742, "work, or earlier where dust has settled on it. The filter stays."),
        ]
    )

    first, second = boxes_of(
        made, "The belt of the conveyor has to be changed after nine hundred hours of work"
    )

    assert is_around(first, 70, 760)
    assert is_around(second, 70, 742)
    assert second.x1 < 0.2 < first.x1


def test_a_chinese_quote_is_boxed_from_its_first_to_its_last_character() -> None:
    made = read([PdfText(100, 700, "公司应当在三日内答复。员工可以申诉。", size=20)])

    [box] = boxes_of(made, "员工可以申诉")

    assert box.x0 * WIDTH == pytest.approx(100 + 11 * 20, abs=2)
    assert box.x1 * WIDTH == pytest.approx(100 + 17 * 20, abs=2)


def test_a_row_of_a_table_is_boxed_where_it_stands() -> None:
    rows = [["part", "price"], ["belt", "900"], ["filter", "71"], ["hose", "900"]]
    made = read([*draw_ruled_table(70, 700, rows)])

    below, above = boxes_of(made, "| hose | 900 |"), boxes_of(made, "| belt | 900 |")

    assert [box.x0 for box in below] == pytest.approx([box.x0 for box in above], abs=0.02)
    assert min(box.y0 for box in below) > max(box.y1 for box in above)


def test_the_words_of_a_note_are_boxed_at_its_annotation() -> None:
    made = read(
        [PdfText(70, 760, "Nothing here."), PdfNote("Ask the maintenance department first")]
    )

    assert boxes_of(made, "Ask the maintenance department first")[0].page == 1


def test_the_page_of_a_box_is_that_of_its_words() -> None:
    made = read(
        [PdfText(70, 760, "First page says this.")], [PdfText(70, 500, "Second page says that.")]
    )

    [box] = boxes_of(made, "Second page says that.")

    assert box.page == 2
    assert is_around(box, 70, 500)


def test_other_formats_have_no_boxes() -> None:
    assert parse(b"# Title\n\nText.\n", "a.md", Limits()).boxes == b""


@pytest.mark.parametrize("angle", [90, 270])
def test_a_page_whose_text_runs_sideways_is_read_upright_and_boxed_as_it_is_shown(
    angle: float,
) -> None:
    rows = [["Region", "2024", "2025"], ["North", "480", "512"], ["South", "95", "88"]]
    rows += [["East", "310", "299"], ["West", "77", "70"]]
    sign = 1 if angle == 90 else -1
    made = read(
        [
            PdfText(300 + sign * 20 * row, 400 + sign * 120 * (column - 1), text, angle=angle)
            for row, texts in enumerate(rows)
            for column, text in enumerate(texts)
        ]
    )

    assert "| South | 95 | 88 |" in made.text
    [box] = boxes_of(made, "512")
    assert box.x0 < (300 + sign * 20) / WIDTH < box.x1
    start = 1 - (400 + sign * 120) / HEIGHT
    assert (box.y1 if sign > 0 else box.y0) == pytest.approx(start, abs=0.005)


def test_boxes_are_as_high_as_the_letters_whatever_their_font_claims(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sides_of = Characters.find_sides

    def claim(characters: Characters, first: int, last: int) -> tuple[float, ...]:
        left, high, right, low, left2, high2, right2, low2 = sides_of(characters, first, last)
        return left, high + 40, right, low - 20, left2, high2 + 40, right2, low2 - 20

    monkeypatch.setattr(Characters, "find_sides", claim)
    made = read([PdfText(70, 700, "The door opens at six.", 10)])

    [box] = boxes_of(made, "The door opens at six.")
    assert is_around(box, 70, 700)
    assert (box.y1 - box.y0) * HEIGHT < 15
