"""What OCR read, put in order and into the text: columns, paragraphs, tables, turned pages, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from typing import Any

import docx
import pytest
from PIL import Image

from sextant.domain.documents import Modality
from sextant.domain.errors import FileEmpty, FileUnsafe
from sextant.domain.page_boxes import find_boxes
from sextant.ingestion.parsing.child import parse
from sextant.ingestion.parsing.draft import DocumentDraft, from_wire, to_wire
from sextant.ingestion.parsing.formats.pdf_lines import PdfLine
from sextant.ingestion.parsing.formats.pdf_rows import arrange
from sextant.ingestion.parsing.formats.scans import lines_of
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.recognised import OcrLine, OcrPage, page_ranges
from sextant.models.chat import pictures
from tests.pdf_writer import PdfPicture, PdfText, write_pdf
from tests.pictures import picture

READING = Limits(images=10, describes=False, reads=True)
HEIGHT = 20.0
LEFT = [
    "The gate of the yard opens",
    "at six in the morning and",
    "closes when the last van",
    "has left for the north.",
]
RIGHT = ["Visitors sign the book at", "the desk before they enter", "and carry a badge that the", "guard hands out to them."]  # fmt: skip


def line(
    text: str,
    left: float,
    top: float,
    width: float = 0,
    *,
    height: float = HEIGHT,
    sure: float = 0.99,
) -> OcrLine:
    right, bottom = left + (width or 10.0 * len(text)), top + height
    return OcrLine(text, sure, ((left, top), (right, top), (right, bottom), (left, bottom)))


def column(texts: Sequence[str], left: float, top: float, *, shift: float = 0) -> list[OcrLine]:
    return [line(text, left, top + shift + 24 * at, 260) for at, text in enumerate(texts)]


GARDEN = [("Item", "Pieces", "Price"), ("Garden work", "28", "120.00"), ("Disposal", "1", "307.35")]


def table(rows: Sequence[Sequence[str]], *, step: float = 200) -> list[OcrLine]:
    return [
        line(text, 20 + step * at, 60 + 26.0 * row)
        for row, texts in enumerate(rows)
        for at, text in enumerate(texts)
    ]


def page(*lines: OcrLine, turn: int = 0) -> OcrPage:
    return OcrPage(600, 800, lines, turn)


def recognised(**pages: OcrPage) -> Mapping[str, Mapping[str, Any]]:
    return {key.strip("_"): one.to_json() for key, one in pages.items()}


def rows(lines: Sequence[OcrLine]) -> list[str]:
    """Return what stands on the rows of a page in reading order."""
    items = arrange(lines_of({1: page(*lines)})[1])
    return [item.text for item in items if isinstance(item, PdfLine)]


def scan(pages: int = 1) -> bytes:
    """Return a PDF of pages without text, each a picture of itself."""
    sheets = [Image.new("RGB", (600, 800), "white") for _ in range(pages)]
    written = BytesIO()
    sheets[0].save(written, "PDF", save_all=True, append_images=sheets[1:])
    return written.getvalue()


def read(content: bytes, name: str, limits: Limits = READING, **pages: OcrPage) -> DocumentDraft:
    return from_wire(to_wire(parse(content, name, replace(limits, recognised=recognised(**pages)))))


class TestReadingOrder:
    @pytest.mark.parametrize("shift", [-9, -2, 9])
    def test_columns_are_read_one_after_the_other(self, shift: float) -> None:
        lines = [
            line("A heading over both of the columns", 20, 10, 540),
            *column(LEFT, 20, 60),
            *column(RIGHT, 310, 60, shift=shift),
            line("A line below both of the two columns", 20, 300, 540),
        ]
        heading, *columns, last = lines
        assert rows([last, *reversed(columns), heading]) == [one.text for one in lines]

    def test_cells_of_a_table_stay_in_their_rows(self) -> None:
        cells = [
            ("Item", "Price"),
            ("Garden work in spring", "120.00"),
            ("Disposal of cuttings", "307.35"),
        ]
        lines = [
            line(text, 300.0 * at, 30.0 * row + at)
            for row, texts in enumerate(cells)
            for at, text in enumerate(texts)
        ]
        assert rows(lines) == [*map(" ".join, cells)]

    def test_what_runs_up_the_page_comes_last(self) -> None:
        stamp = line("arXiv:2206.01062", 5, 100, 12, height=300)
        assert rows([stamp, *column(LEFT, 40, 300)])[-1] == "arXiv:2206.01062"

    def test_one_column_is_no_two(self) -> None:
        assert rows(column([*LEFT, *RIGHT], 20, 60)) == [*LEFT, *RIGHT]


class TestUpright:
    @pytest.mark.parametrize(
        ("turn", "box", "upright"),
        [
            (90, (10, 100, 30, 300), (500, 10, 700, 30)),
            (180, (490, 770, 590, 790), (10, 10, 110, 30)),
            (270, (10, 500, 30, 700), (500, 570, 700, 590)),
        ],
    )
    def test_a_turned_page_is_turned_back(
        self, turn: int, box: tuple[float, ...], upright: tuple[float, ...]
    ) -> None:
        left, top, right, bottom = box
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        turned = OcrPage(600, 800, (OcrLine("Word", 0.9, corners),), turn).upright()
        assert (turned.width, turned.height) == ((600, 800) if turn == 180 else (800, 600))
        [line] = turned.lines
        assert line.box == upright
        assert line.corners[0] == upright[:2]
        assert line.height == 20

    def test_leaning_lines_are_levelled(self) -> None:
        leaning = [
            OcrLine(
                text,
                0.9,
                (
                    (20, 60.0 + 24 * at),
                    (420, 74.0 + 24 * at),
                    (419, 94.0 + 24 * at),
                    (19, 80.0 + 24 * at),
                ),
            )
            for at, text in enumerate(LEFT)
        ]
        for one in page(*leaning).upright().lines:
            (_, left), (_, right), *_ = one.corners
            assert abs(left - right) < 1

    def test_it_survives_storage(self) -> None:
        stored = OcrPage(600, 800, (line("每天关门。", 20, 20, sure=0.7),), 90, unsure=2)
        assert OcrPage.from_json(stored.to_json()) == stored
        assert stored.confidence == pytest.approx(0.7)


def test_page_numbers_are_written_as_ranges() -> None:
    assert page_ranges([7, 2, 5, 6, 12]) == "2, 5–7, 12"


class TestPdf:
    def test_pages_without_text_wait_for_ocr(self) -> None:
        assert read(scan(2), "a.pdf").unread_pages == (1, 2)

    def test_lines_become_paragraphs_of_scans(self) -> None:
        made = read(scan(), "a.pdf", _1=page(*column(LEFT, 20, 60)))
        assert made.text == " ".join(LEFT)
        assert [(cut.modality, cut.page) for cut in made.cuts] == [(Modality.SCAN, 1)]
        assert made.metadata["ocr"] == {"pages": 1, "pictures": 0, "confidence": 0.99}
        assert not made.unread_pages
        assert not made.warnings

    def test_chinese_lines_are_joined_without_blanks(self) -> None:
        lines = [
            line("仓库每天早上六点开门，晚上十点关", 20, 60, 480),
            line("门，周日休息。", 20, 84, 210),
        ]
        assert (
            read(scan(), "a.pdf", _1=page(*lines)).text
            == "仓库每天早上六点开门，晚上十点关门，周日休息。"
        )

    def test_a_table_has_its_rows_its_boxes_and_is_known_as_read_by_ocr(self) -> None:
        made = read(scan(), "a.pdf", _1=page(*table(GARDEN), line("Thank you.", 20, 300)))
        assert made.text == (
            "| Item | Pieces | Price |\n"
            "| --- | --- | --- |\n"
            "| Garden work | 28 | 120.00 |\n"
            "| Disposal | 1 | 307.35 |\n\n"
            "Thank you."
        )
        assert [cut.modality for cut in made.cuts] == [Modality.SCANNED_TABLE, Modality.SCAN]
        start = made.text.index("307.35")
        [box] = find_boxes(made.boxes, start, start + 6)
        assert (box.x0, box.y0) == pytest.approx((420 / 600, 112 / 800), abs=0.001)

    def test_cells_in_chinese_on_a_page_that_lies_on_its_side_are_a_table(self) -> None:
        cells = [("项目", "结果", "单位"), ("白细胞", "6.2", "10^9/L"), ("血糖", "5.1", "mmol/L")]
        lying = [
            replace(one, corners=tuple((y, 800 - x) for x, y in (*one.corners[1:], one.corners[0])))
            for one in table(cells)
        ]
        made = read(scan(), "a.pdf", _1=page(*lying, turn=90))
        assert "| 血糖 | 5.1 | mmol/L |" in made.text

    def test_cells_whose_boxes_touch_are_parted(self) -> None:
        cells = [("Product Code", "Location", "Expected"), ("SKU-8847", "A-12", "450"), ("SKU-4563", "D-22", "180")]  # fmt: skip
        made = read(scan(), "a.pdf", _1=page(*table(cells, step=118)))
        assert "| Product Code | Location | Expected |" in made.text

    @pytest.mark.parametrize(
        "lines",
        [
            table([("1500", "109"), ("1000", "497"), ("500", "1103"), ("0", "642")]),
            [*column(LEFT, 20, 60), *column(RIGHT, 310, 60)],
            [
                replace(one, corners=tuple((x, y + x / 15) for x, y in one.corners)) if row else one
                for row in range(len(GARDEN))
                for one in table(GARDEN)[3 * row : 3 * row + 3]
            ],
        ],
        ids=["the figures of a chart", "two columns of text", "a crooked photograph"],
    )
    def test_what_has_no_clear_rows_below_named_columns_stays_text(
        self, lines: list[OcrLine]
    ) -> None:
        made = read(scan(), "a.pdf", _1=page(*lines))
        assert {cut.modality for cut in made.cuts} == {Modality.SCAN}

    def test_larger_letters_make_a_heading_and_uneven_ones_do_not(self) -> None:
        title = line("Opening hours", 20, 10, 300, height=34)
        uneven = replace(line(LEFT[1], 20, 84, 260, height=22))
        texts = [line(LEFT[0], 20, 60, 260), uneven, *column(LEFT[2:], 20, 108)]
        made = read(scan(), "a.pdf", _1=page(title, *texts))
        assert made.text == f"Opening hours\n\n{' '.join(LEFT)}"

    @pytest.mark.parametrize("turn", [0, 90, 180, 270])
    def test_words_are_boxed_on_the_page_as_it_is_shown(self, turn: int) -> None:
        boxes = {
            0: (0.1, 0.1, 0.3, 0.125),
            90: (0.1, 0.7, 0.125, 0.9),
            180: (0.7, 0.875, 0.9, 0.9),
            270: (0.875, 0.1, 0.9, 0.3),
        }
        left, top, right, bottom = (
            side * length for side, length in zip(boxes[turn], (800, 800) * 2, strict=True)
        )
        corners = ((left, top), (right, top), (right, bottom), (left, bottom))
        turned = OcrPage(800, 800, (OcrLine("Half way", 0.99, corners),), turn)
        made = read(scan(), "a.pdf", _1=turned)
        [word] = find_boxes(made.boxes, 5, 8)
        x0, y0, x1, y1 = boxes[turn]
        start = 5 / 8
        expected = {
            0: (x0 + start * (x1 - x0), y0, x1, y1),
            90: (x0, y0, x1, y1 - start * (y1 - y0)),
            180: (x0, y0, x1 - start * (x1 - x0), y1),
            270: (x0, y0 + start * (y1 - y0), x1, y1),
        }[turn]
        assert (word.x0, word.y0, word.x1, word.y1) == pytest.approx(expected, abs=0.001)

    def test_scanned_and_written_pages_are_not_mixed_in_a_passage(self) -> None:
        written = [PdfText(60, 700, "The written page.")]
        content = write_pdf([written, [PdfPicture(0, 0, 800)]])
        made = read(content, "a.pdf", _2=page(line("The scanned page.", 20, 60)))
        assert [(cut.modality, cut.page) for cut in made.cuts] == [
            (Modality.TEXT, 1),
            (Modality.SCAN, 2),
        ]

    def test_a_scan_with_a_stamp_is_a_scan(self) -> None:
        content = write_pdf([[PdfPicture(0, 0, 800), PdfText(60, 20, "Page 1")]])
        assert read(content, "a.pdf").unread_pages == (1,)

    def test_what_the_file_has_as_text_on_a_scan_stays_as_it_is(self) -> None:
        content = write_pdf([[PdfPicture(0, 0, 800), PdfText(60, 20, "Page MC-200")]])
        stamp = line("Paqe MC-2OO", 60, 842 - 34, 60, height=18)
        scanned = OcrPage(595, 842, (line("The scanned page.", 60, 100), stamp))
        made = read(content, "a.pdf", _1=scanned)
        assert made.text == "The scanned page.\n\nPage MC-200"

    def test_a_scan_with_its_text_behind_it_is_not_read_again(self) -> None:
        texts = [
            PdfText(60, 750 - 14 * at, "The text that a scanner wrote over the page.")
            for at in range(40)
        ]
        made = read(write_pdf([[PdfPicture(0, 0, 800), *texts]]), "a.pdf")
        assert not made.unread_pages
        assert not made.images

    def test_a_picture_beside_text_is_read_as_a_picture(self) -> None:
        content = write_pdf([[PdfText(60, 700, "The sign says:"), PdfPicture(60, 200, 200)]])
        limits = replace(READING, smallest_edge=1)
        [image] = read(content, "a.pdf", limits).images
        words = page(line("No entry", 20, 20)).to_json()
        made = parse(content, "a.pdf", replace(limits, recognised={image.sha256: words}))
        assert made.text == "The sign says:\n\nNo entry"
        assert made.cuts[-1].modality is Modality.SCAN

    def test_pages_that_nobody_reads_are_named(self) -> None:
        content = write_pdf([[PdfPicture()], [PdfText(60, 700, "Text.")], [PdfPicture()]])
        [warning] = parse(content, "a.pdf", Limits()).warnings
        assert "2 of 3 pages hold only images and were not read (1, 3)." in str(warning)
        assert "`ocr`" in str(warning)
        assert "（第 1, 3 页）" in warning.in_language("zh")

    def test_without_ocr_a_scan_is_refused_and_the_extra_named(self) -> None:
        with pytest.raises(FileEmpty) as caught:
            parse(scan(), "a.pdf", Limits())
        assert "`ocr`" in caught.value.message
        assert ".[ocr]" in caught.value.next_step

    def test_a_scan_in_which_nothing_is_found_is_refused(self) -> None:
        with pytest.raises(FileEmpty, match="OCR found no text"):
            read(scan(), "a.pdf", _1=page())


class TestImageFiles:
    def test_each_page_of_a_tiff_is_read(self) -> None:
        sheets = [Image.new("1", (600, 800), 1) for _ in range(3)]
        written = BytesIO()
        sheets[0].save(
            written, "TIFF", save_all=True, append_images=sheets[1:], compression="group4"
        )
        assert read(written.getvalue(), "fax.tif").unread_pages == (1, 2, 3)
        made = read(
            written.getvalue(),
            "fax.tif",
            _1=page(*column(LEFT, 20, 60)),
            _3=page(*column(RIGHT, 20, 60)),
        )
        assert made.text == f"{' '.join(LEFT)}\n\n{' '.join(RIGHT)}"
        assert (made.page_count, made.unread_pages) == (3, (2,))
        assert {cut.modality for cut in made.cuts} == {Modality.SCAN}

    @pytest.mark.parametrize("kind", ["BMP", "PNG", "JPEG", "WEBP"])
    def test_an_image_file_is_read(self, kind: str) -> None:
        written = BytesIO()
        Image.new("RGB", (300, 200), "white").save(written, kind)
        name = f"a.{kind.lower()}"
        assert read(written.getvalue(), name).unread_pages == (1,)
        assert read(written.getvalue(), name, _1=page(line("No entry", 20, 20))).text == "No entry"

    def test_a_page_of_too_many_pixels_is_refused_before_it_is_decoded(self) -> None:
        sheets = [Image.new("1", size, 1) for size in ((100, 100), (20_000, 20_000))]
        written = BytesIO()
        sheets[0].save(
            written, "TIFF", save_all=True, append_images=sheets[1:], compression="group4"
        )
        with pytest.raises(FileUnsafe, match="pixels"):
            parse(written.getvalue(), "bomb.tiff", READING)


class TestPictures:
    @staticmethod
    def _document(*colors: str) -> bytes:
        document = docx.Document()
        document.add_paragraph("Before the pictures.")
        for color in colors:
            document.add_picture(BytesIO(picture(color)))
        written = BytesIO()
        document.save(written)
        return written.getvalue()

    def test_the_words_of_a_picture_stand_where_it_stands(self) -> None:
        content = self._document("red", "blue")
        _, image = parse(content, "a.docx", READING).images
        words = {image.sha256: page(*column(LEFT, 20, 60)).to_json()}
        made = parse(content, "a.docx", replace(READING, recognised=words))
        assert made.text == f"Before the pictures.\n\n{' '.join(LEFT)}"
        assert [cut.modality for cut in made.cuts] == [Modality.TEXT, Modality.SCAN]
        # In the other one are no words, and nobody else looks at it.
        assert [str(warning)[:24] for warning in made.warnings] == ["1 image not read: no vis"]

    @pytest.mark.parametrize("kind", ["TIFF", "BMP"])
    def test_pictures_of_scanners_are_found(self, kind: str) -> None:
        written, scanned = BytesIO(), docx.Document()
        Image.new("L", (300, 200), 255).save(written, kind)
        scanned.add_picture(written)
        content = BytesIO()
        scanned.save(content)
        assert len(parse(content.getvalue(), "a.docx", READING).images) == 1

    def test_pictures_over_the_limit_are_counted(self) -> None:
        made = parse(self._document("red", "blue", "green"), "a.docx", replace(READING, images=2))
        assert len(made.images) == 2
        assert "1 image not read: the limit is 2 per document." in str(made.warnings[0])


@pytest.mark.parametrize(("limits", "step"), [(READING, "OCR found no words"), (Limits(), "[ocr]")])
def test_an_image_without_words_says_what_is_left_to_do(limits: Limits, step: str) -> None:
    known = replace(limits, recognised=recognised(_1=page()))
    with pytest.raises(FileEmpty, match="No text") as refusal:
        parse(picture(), "photo.png", known)
    assert step in refusal.value.next_step
    assert "SEXTANT_VISION_MODEL" in refusal.value.next_step


def test_an_image_past_the_memory_is_not_said_to_be_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(pictures, "_upright", fail)
    with pytest.raises(FileUnsafe, match="memory"):
        pictures.decode_page(picture(), 1, pictures.PictureLimits())
