"""PDF: outline and inferred headings, paragraphs over line and page breaks, tables, running heads."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from sextant.domain.documents import HeadingSource
from sextant.domain.errors import FileBroken, FileEmpty, FileEncrypted, FileUnsafe
from sextant.ingestion.parsing.blocks import Blocks, HeadingBlock, Image, Paragraph, Table
from sextant.ingestion.parsing.formats.pdf import parse
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.recognised import OcrLine, OcrPage
from sextant.ingestion.parsing.structure import build_structure
from tests.pdf_writer import (
    Area,
    Drawn,
    Field,
    Item,
    OutlineItem,
    PdfNote,
    PdfPicture,
    PdfText,
    Rule,
    draw_ruled_table,
    write_pdf,
)

LIMITS = Limits()
CHINESE = "糖尿病是一组由胰岛素分泌缺陷和胰岛素作用障碍引起的代谢性疾病，长期高血糖可造成器官损害"


def read(pages: Sequence[Sequence[Item]], outline: Sequence[OutlineItem] = ()) -> Blocks:
    return parse(write_pdf(pages, outline=outline), LIMITS)


def lines(
    texts: Sequence[str], top: float = 760, left: float = 70, pitch: float = 18
) -> list[Drawn]:
    return [PdfText(left, top - pitch * number, text) for number, text in enumerate(texts)]


def full_lines(count: int) -> list[str]:
    """Return lines of equal width and different words: PDFium drops a text that is drawn twice."""
    return [(CHINESE[turn:] + CHINESE[:turn])[:40].replace("，", "又") for turn in range(count)]


def headings(parsed: Blocks) -> list[tuple[int, str, int | None]]:
    return [(b.level, b.text, b.page) for b in parsed.blocks if isinstance(b, HeadingBlock)]


def prose(parsed: Blocks) -> list[str]:
    return [block.text for block in parsed.blocks if isinstance(block, Paragraph)]


def tables(parsed: Blocks) -> list[list[list[str]]]:
    return [
        [list(row) for row in block.rows] for block in parsed.blocks if isinstance(block, Table)
    ]


class TestReadingOrder:
    def test_what_stands_above_is_read_before_whenever_it_is_drawn(self) -> None:
        foot = lines(["All prices are in euros.", "Payable within ten days."], top=90)
        body = lines([f"We have delivered {'goods and ' * 7}services."], top=500)
        sender = lines(["Heron Works", "7 Quay Street"], top=780)
        number = lines(["Invoice 4711", "3 May 2025"], top=780, left=350)

        words = " ".join(prose(read([[*foot, *body, *number, *sender]])))

        places = [words.index(one) for one in ("Invoice", "Quay", "delivered", "All prices")]
        assert places[0] < places[2] > places[1]
        assert places[2] < places[3]

    def test_a_page_may_be_drawn_from_below_upwards(self) -> None:
        written = ["Heron Works", "7 Quay Street", "10115 Berlin", "Germany"]

        assert " ".join(prose(read([lines(written)[::-1]]))) == " ".join(written)

    def test_text_beside_the_part_that_is_shown_is_not_read_and_counted(self) -> None:
        parsed = read([[*lines(["The pump stands still."]), PdfText(70, 860, "Proof of May")]])

        assert prose(parsed) == ["The pump stands still."]
        assert parsed.omissions is not None
        assert parsed.omissions.left_out == {"out of sight": 10}

    def test_what_ocr_lays_beside_the_scan_is_read(self) -> None:
        texts = [(860, "Pump"), (700, "The gate is open")]
        page = [PdfText(70, height, text, is_hidden=True) for height, text in texts]

        assert prose(read([page])) == ["Pump", "The gate is open"]

    def test_a_formula_in_a_column_leaves_the_columns_as_they_are_drawn(self) -> None:
        left = lines([f"The left column has line {one}." for one in "abcdef"])
        formula = [PdfText(90, 610, "x + y"), PdfText(95, 618, "2 a"), PdfText(95, 602, "b")]
        end = lines(["The left column ends."], top=580)
        right = lines([f"The right column has line {one}." for one in "abcdef"], left=330)

        words = " ".join(prose(read([[*left, *formula, *end, *right]])))

        assert words.index("The left column ends.") < words.index("The right column")


def test_text_that_ocr_laid_over_a_scan_has_neither_sizes_nor_fonts_nor_gaps() -> None:
    words = [
        ["The ferry", "crosses the strait", "eight times a day in all of the"],
        ["summer months,", "and in a", "storm it stays on the other side."],
    ]
    page = [
        PdfText(left, 700 - 14 * row, text, size, bold=row == 0, mono=True, is_hidden=True)
        for row, texts in enumerate(words)
        for left, text, size in zip((70, 160, 320), texts, (9, 11, 8.5), strict=True)
    ]

    parsed = read([page])

    assert prose(parsed) == [" ".join(text for texts in words for text in texts)]


class TestParagraphs:
    def test_chinese_lines_are_joined_without_a_space(self) -> None:
        first, second = full_lines(2)

        assert prose(read([lines([first, second, "末行。"])])) == [f"{first}{second}末行。"]

    def test_english_lines_are_joined_with_a_space_and_hyphens_closed_up(self) -> None:
        parsed = read(
            [
                lines(
                    [
                        "The torque filter of the motion controller used a window of five milli-",
                        "seconds instead of fifty, which nobody had noticed before the release",
                        "because the test bench has no tilt axes. MC-",
                        "200 and KX-",
                        "90. are affected.",
                    ]
                )
            ]
        )

        only = build_structure(parsed.blocks).text
        assert "five milliseconds instead" in only
        assert "release because" in only
        assert only.endswith("MC-200 and KX-90. are affected.")

    def test_a_gap_an_indent_and_a_short_line_each_end_a_paragraph(self) -> None:
        a, b, c, d, e, f = full_lines(6)
        page = [
            *lines([a, b]),
            *lines([c], top=690),  # a gap
            *lines([d], top=672, left=92),  # an indent
            *lines([e, "短句", f], top=654),  # a short line
        ]

        assert prose(read([page])) == [a + b, c, f"{d}{e}短句", f]

    def test_a_line_over_both_columns_parts_no_lines_of_the_first(self) -> None:
        over = "between Larkfield Systems Ltd, Dublin, and Brightwater Hosting GmbH, Frankfurt"
        first = [
            "The agreement begins on 1 May",
            "and runs for 36 months. It is",
            "renewed for a year at a time",
            "unless notice is given before.",
        ]
        second = [
            "The monthly fee is EUR 8,450.",
            "Electricity is billed by use at",
            "EUR 0.31 per kWh. Invoices are",
            "due within 21 days in any case.",
        ]
        page = [*lines([over]), *lines(first, top=720), *lines(second, top=720, left=330)]

        assert prose(read([page])) == [over, " ".join(first), " ".join(second)]

    def test_a_sentence_goes_on_over_the_page_and_keeps_its_first_page(self) -> None:
        parsed = read([lines([CHINESE[:40]]), lines(["到下一页才结束。", "新的一段。"])])

        assert prose(parsed)[0].startswith(CHINESE[:40] + "到下一页才结束。")
        first = parsed.blocks[0]
        assert isinstance(first, Paragraph)
        assert first.page == 1

    def test_a_sentence_goes_on_behind_the_notes_at_the_foot_of_its_page(self) -> None:
        first = (
            "The reserve fund holds more than the yearly budget of the whole office, so that the"
        )
        note = PdfText(70, 90, "1 See the report of the committee for the year before.", 8)

        parsed = read([[*lines([first], top=130), note], lines(["fee is not raised this year."])])

        assert prose(parsed) == [f"{first} fee is not raised this year.", note.text]

    def test_the_foot_of_a_form_does_not_run_on_into_the_next(self) -> None:
        weights = {5001: 4120, 5002: 3980, 5003: 870}
        pages = [
            [
                *lines([f"Delivery note {note}"]),
                *lines([f"Weight {weight} kg"], top=60, left=400),
            ]
            for note, weight in weights.items()
        ]

        texts = prose(read(pages))
        assert not [text for text in texts if "kg Delivery" in text or "kg\nDelivery" in text]
        assert "Weight 4120 kg" in texts

    def test_list_items_stay_lines_of_one_block(self) -> None:
        parsed = read([lines(["• 多饮；", "• 多尿；", "1. 体重下降。"])])

        assert prose(parsed) == ["• 多饮；\n• 多尿；\n1. 体重下降。"]

    def test_records_below_each_other_stay_lines(self) -> None:
        entries = [
            f"Entry {number} paid to supplier {number % 5} {number * 9}.00"
            for number in range(8, 14)
        ]

        parsed = read([[PdfText(70, 760 - 20 * at, text) for at, text in enumerate(entries)]])

        assert "\n".join(prose(parsed)).split("\n") == entries


class TestRunningHeads:
    def test_heads_feet_and_page_numbers_go_and_the_chapters_own_title_stays(self) -> None:
        pages = [
            [
                PdfText(70, 810, "第一章 总则", 8),
                *([PdfText(70, 780, "第一章 总则", 18)] if number == 0 else []),
                *lines([f"{CHINESE[number:30]}。"]),
                PdfText(280, 30, f"第 {number + 1} 页 共 5 页", 8),
                PdfText(70, 45, f"Edition 4.2 / {number}", 8),
            ]
            for number in range(5)
        ]

        parsed = read(pages)

        assert headings(parsed) == [(1, "第一章 总则", 1)]
        assert len(prose(parsed)) == 5
        assert "Edition" not in "".join(prose(parsed))

    def test_a_caption_that_stands_at_an_edge_by_chance_and_within_other_pages_stays(self) -> None:
        pages = [
            [PdfText(72, 815, "Duties:", 11), *lines([f"Berth {number} is kept clear."])]
            for number in range(3)
        ]
        pages += [[*lines([CHINESE]), PdfText(72, 400, "Duties:", 11)] for _ in range(4)]
        assert "".join(prose(read(pages))).count("Duties:") == 7

    def test_pages_of_one_line_each_that_differ_in_a_number_are_kept(self) -> None:
        pages = [
            [PdfText(70, 810, "Scanned", 8), *lines([f"Turbine {number} was checked."])]
            for number in range(5)
        ]

        assert prose(read(pages)) == [f"Turbine {number} was checked." for number in range(5)]

    def test_a_document_of_nothing_but_one_running_head_has_no_text(self) -> None:
        assert prose(read([[PdfText(70, 810, "Scanned with a phone", 8)] for _ in range(5)])) == []

    def test_contents_lines_are_rows_and_no_headings(self) -> None:
        parsed = read(
            [
                lines(["第一章 总则 ........................ 11", "第二章 付款……………… 12"]),
                [PdfText(70, 760, "第一章 总则", 16), PdfText(70, 735, "正文。")],
                [PdfText(70, 760, "第二章 付款", 16), PdfText(70, 735, "正文二。")],
            ]
        )

        assert prose(parsed) == ["第一章 总则 11\n第二章 付款 12", "正文。", "正文二。"]
        assert [text for _, text, _ in headings(parsed)] == ["第一章 总则", "第二章 付款"]

    def test_a_price_list_with_leaders_stays(self) -> None:
        parsed = read([lines(["Canteen menu", "Fish and chips ........ 12", "Apple pie ..... 5"])])

        assert prose(parsed)[-1] == "Fish and chips 12\nApple pie 5"

    def test_a_title_does_not_go_on_over_the_page(self) -> None:
        parsed = read(
            [
                [PdfText(70, 760, "Contents", 16, bold=True)],
                [PdfText(70, 760, "Scope", 16, bold=True), *lines(["The rules hold."], 730)],
            ]
        )

        assert [text for _, text, _ in headings(parsed)] == ["Contents", "Scope"]

    @pytest.mark.parametrize("title", ["Invoice {}", "Week {}", "Record no. {}"])
    def test_pages_that_look_alike_keep_what_differs(self, title: str) -> None:
        pages = [
            [
                *lines([title.format(number + 1)], top=800),
                *lines(["We delivered the goods in your order."], top=700),
                *lines(
                    [f"Net {80 + 7 * number}.50 EUR", f"Total: {95 + 9 * number}.50 EUR"], top=60
                ),
            ]
            for number in range(4)
        ]

        parsed = read(pages)

        text = "\n".join([*prose(parsed), *(title for _, title, _ in headings(parsed))])
        for number in range(4):
            assert title.format(number + 1) in text
            assert f"Total: {95 + 9 * number}.50 EUR" in text
        assert parsed.warnings == ()

    def test_a_running_head_beside_its_page_number_goes_and_the_first_line_of_each_page_stays(
        self,
    ) -> None:
        chapters = ["CHAPTER 1. INTRODUCTION"] * 3 + ["CHAPTER 2. PAYMENT"] * 4
        pages = [
            [
                PdfText(72, 800, head),
                PdfText(500, 800, str(number + 1)),
                *lines([f"Paragraph {number}. The supplier delivers the goods in time."]),
            ]
            for number, head in enumerate(chapters)
        ]

        parsed = read(pages)

        assert prose(parsed) == [
            f"Paragraph {number}. The supplier delivers the goods in time." for number in range(7)
        ]
        assert tuple(map(str, parsed.warnings)) == (
            "Left out as page headers and footers: “CHAPTER 1. INTRODUCTION”, “CHAPTER 2. PAYMENT”",
        )

    def test_a_stamp_across_the_text_goes_and_a_label_along_the_edge_stays(self) -> None:
        page = [
            *lines(["The boiler is inspected once every two years."]),
            PdfText(150, 300, "SPECIMEN", 60, angle=30),
            PdfText(40, 400, "Pressure in bar", 10, angle=90),
            PdfText(300, 500, "rising", 10, angle=45),
        ]

        parsed = read([page])

        assert set(prose(parsed)) == {
            "The boiler is inspected once every two years.", "Pressure in bar", "rising",
        }  # fmt: skip
        assert tuple(map(str, parsed.warnings)) == (
            "Left out as page headers and footers: “SPECIMEN”",
        )

    def test_a_page_that_was_scanned_aslant_keeps_its_title(self) -> None:
        page = [
            PdfText(70, 760 - 40 * number, text, size, angle=2)
            for number, (text, size) in enumerate(
                [("Rules", 24), *((line, 11) for line in full_lines(3))]
            )
        ]

        assert "Rules" in [
            block.text for block in read([page]).blocks if not isinstance(block, Table | Image)
        ]

    def test_a_clause_in_the_text_of_every_page_stays(self) -> None:
        clause = "The deposit is returned within thirty days."
        pages = [lines([f"{CHINESE[number:30]}。", clause], top=780) for number in range(4)]

        assert "\n".join(prose(read(pages))).count(clause) == 4

    def test_figures_at_the_foot_that_happen_to_count_the_pages_stay(self) -> None:
        """Page 1 has 1,284 and page 3 has 3: both would be "the page's place plus one"."""
        told = [("Employees", "1,284"), ("Sites", "17"), ("Accidents", "3")]
        large = [
            [PdfText(70, 760, title, 24), PdfText(200, 500, "at the end of the year"), PdfText(70, 40, figure, 40)]
            for title, figure in told
        ]  # fmt: skip
        assert [figure for _, figure in told if figure in prose(read(large))] == [
            "1,284",
            "17",
            "3",
        ]
        small = [[PdfText(70, 760, title), PdfText(70, 40, figure)] for title, figure in told[:2]]
        assert "1,284" in " ".join(prose(read(small)))

    def test_codes_that_count_with_the_pages_stay(self) -> None:
        pages = [
            [PdfText(70, 800, f"No. R-{501 + at}"), *lines([f"Paid by {name}."], 600)]
            for at, name in enumerate(("Ann", "Bob", "Cid"))
        ]
        assert [text for text in prose(read(pages)) if "R-" in text] == [
            "No. R-501", "No. R-502", "No. R-503",
        ]  # fmt: skip

    def test_page_numbers_behind_the_letters_of_a_part_go(self) -> None:
        pages = [
            [*lines(["The lake is clean."], 600), PdfText(300, 40, f"ES-{at}")] for at in (8, 9, 10)
        ]
        assert not [text for text in prose(read(pages)) if "ES" in text]

    def test_a_lone_number_near_an_edge_stays(self) -> None:
        assert "2026" in prose(read([[PdfText(70, 800, "2026"), *lines(["Annual report."], 600)]]))


class TestRaised:
    def test_notes_below_each_other_and_the_marks_of_names_are_told_apart(self) -> None:
        page = [
            PdfText(70, 760, "Ada Heron", 9),
            PdfText(111, 765, "a,b", 6),
            PdfText(122, 760, "and Cid Rook", 9),
            PdfText(174.5, 765, "b", 6),
            PdfText(70, 735, "a", 6),
            PdfText(73.5, 731, "School of Rivers and Estuaries, University of Seaford", 9),
            PdfText(70, 724, "b", 6),
            PdfText(73.5, 720, "Institute of Harbours, Seaford", 9),
        ]

        assert prose(read([page])) == [
            "Ada Heron [note a, b] and Cid Rook [note b]",
            "[note a] School of Rivers and Estuaries, University of Seaford",
            "[note b] Institute of Harbours, Seaford",
        ]

    def test_an_accent_that_is_drawn_over_a_letter_is_one_character_with_it(self) -> None:
        parsed = read(
            [
                [
                    PdfText(70, 700, "By Ferna"),
                    PdfText(109.7, 700, "´"),  # over the last letter
                    PdfText(114.6, 700, "ndez, in `new` rooms and halls of the town."),
                ]
            ]
        )
        assert prose(parsed) == ["By Fernández, in `new` rooms and halls of the town."]

        upright = [PdfText(300, 400, "l´age d´or", angle=90), *lines(["It lasted for years."], 600)]
        assert "l´age d´or" in prose(read([upright]))

    def test_a_narrow_gap_between_words_is_a_blank_and_letters_set_wide_are_a_word(self) -> None:
        words = [
            PdfText(70, 700, "harbour"),
            PdfText(109.3, 700, "master"),
            PdfText(146.3, 700, "waits"),
        ]
        assert prose(read([words])) == ["harbour master waits"]

        places = (70, 77.5, 85, 90.1, 97.6, 105.1, 112.6, 120.9)
        wide = [
            PdfText(x, 700, text) for x, text in zip(places, [*"harbour", "waits"], strict=True)
        ]
        assert prose(read([wide])) == ["harbour waits"]

    def test_a_mark_at_the_end_of_a_line_keeps_the_words_apart(self) -> None:
        first = "The delta grew by more than forty square kilometres in a year"
        page = [
            PdfText(70, 760, first),
            PdfText(376, 765, "4", 7),
            PdfText(70, 745, "and then it shrank again, as the dams upstream were finished."),
        ]

        assert prose(read([page]))[0].startswith("The delta grew")
        assert "4 and then it shrank" in prose(read([page]))[0]

    def test_an_exponent_keeps_apart_and_tears_no_paragraph(self) -> None:
        page = [
            PdfText(70, 760, "The plant makes 10"), PdfText(164, 765, "6", 7), PdfText(171, 760, "units a year."),
        ]  # fmt: skip

        assert prose(read([page])) == ["The plant makes 10^6 units a year."]

    def test_a_reference_to_a_note_is_no_part_of_a_figure(self) -> None:
        page = [
            PdfText(70, 760, "New staff get 25"), PdfText(151, 765, "1", 7), PdfText(159, 760, "days."),
            PdfText(70, 90, "1", 6), PdfText(75, 86, "after the time of probation", 9),
        ]  # fmt: skip

        assert prose(read([page])) == [
            "New staff get 25 days [note 1].",
            "[note 1] after the time of probation",
        ]

    def test_brackets_of_a_reference_go_with_it_and_a_name_counts_nothing(self) -> None:
        page = [
            PdfText(70, 760, "They ranked by BM25"), PdfText(176, 765, "(1)", 7), PdfText(187, 760, "scores alone."),
            PdfText(70, 90, "1", 6), PdfText(75, 86, "of the words", 9),
        ]  # fmt: skip

        assert prose(read([page]))[0] == "They ranked by BM25 [note 1] scores alone."

    def test_a_letter_that_refers_to_a_note_is_no_part_of_a_figure(self) -> None:
        page = [
            PdfText(70, 760, "Wheat 1,250"), PdfText(131, 764, "a", 7), PdfText(137, 760, "tonnes, 3a of rye."),
            PdfText(70, 90, "a", 6), PdfText(75, 86, "before the harvest", 9),
        ]  # fmt: skip

        assert prose(read([page])) == [
            "Wheat 1,250 tonnes [note a], 3a of rye.",
            "[note a] before the harvest",
        ]

    def test_a_lowered_figure_stays_in_its_formula(self) -> None:
        page = [
            PdfText(70, 760, "Add H"),
            PdfText(101.5, 757, "2", 7),
            PdfText(105.5, 760, "O slowly."),
        ]

        assert prose(read([page])) == ["Add H2O slowly."]


class TestRowsAndColumns:
    def test_rows_of_words_that_no_rules_enclose_stay_lines(self) -> None:
        rows = [("Name", "Team"), ("Ann Poe", "Hydraulics"), ("Bob Fry", "Travel")]
        page = [
            PdfText(70 + 90 * column, 700 - 18 * row, cell)
            for row, cells in enumerate(rows)
            for column, cell in enumerate(cells)
        ]

        assert prose(read([page])) == ["Name Team\nAnn Poe Hydraulics\nBob Fry Travel"]

    def test_columns_that_are_drawn_row_by_row_are_read_one_after_the_other(self) -> None:
        left = [
            "The committee reviewed the annual",
            "report in April and noted that the",
            "reserve fund holds 2.4 million EUR,",
            "which is more than the year before.",
        ]
        right = [
            "Members may borrow tools for nine",
            "days at most. Late returns cost two",
            "EUR for each day. The tool shed is",
            "open on Saturdays from ten to one.",
        ]
        page = [
            PdfText(x, 760 - 14 * number, text, 10)
            for number, texts in enumerate(zip(left, right, strict=True))
            for x, text in zip((60, 300), texts, strict=True)
        ]

        assert prose(read([page])) == [" ".join(left), " ".join(right)]

    def test_code_keeps_its_lines_and_its_indentation(self) -> None:
        code = [(72, "server:"), (96, "port: 8080"), (96, "limits:"), (120, "requests: 100")]
        page: list[Drawn] = [
            *lines(["Write these lines into the file and restart the service afterwards, please."]),
            *(PdfText(x, 720 - 12 * at, text, 10, mono=True) for at, (x, text) in enumerate(code)),
        ]

        assert prose(read([page]))[1] == (
            "server:\n    port: 8080\n    limits:\n        requests: 100"
        )

    def test_fields_stay_lines(self) -> None:
        assert prose(read([lines(["Employee: Ann Poe", "Bank: Eastbank"])])) == [
            "Employee: Ann Poe\nBank: Eastbank"
        ]


class TestForms:
    def test_what_is_filled_in_stands_behind_its_label(self) -> None:
        page: list[Item] = [
            PdfText(72, 730, "Name:"), PdfText(72, 700, "Department:"),
            Field(160, 725, "Alice Example"), Field(160, 695, "Hydraulics"),
        ]  # fmt: skip

        assert prose(read([page])) == ["Name: Alice Example\nDepartment: Hydraulics"]

    def test_a_box_that_is_ticked_is_told_from_one_that_is_not(self) -> None:
        page: list[Item] = [
            PdfText(72, 730, "Urgent"), Field(160, 727, "4", is_on=True),
            PdfText(72, 700, "Renewal"), Field(160, 697, "4", is_on=False),
        ]  # fmt: skip

        assert "".join(prose(read([page]))).split() == ["Urgent", "☒", "Renewal", "☐"]

    def test_a_comment_comes_behind_the_text_of_its_page(self) -> None:
        pages: list[list[Item]] = [[*lines(["First."]), PdfNote("Ask Bob.")], [*lines(["Second."])]]

        assert prose(read(pages)) == ["First.", "Ask Bob.", "Second."]


class TestHeadings:
    def test_an_outline_gives_titles_levels_and_pages(self) -> None:
        pages = [
            [PdfText(70, 780, "1 Safety", 11), *lines(["Press the button."], top=740)],
            [
                *lines(["More about it."]),
                PdfText(70, 700, "1.1 Use", 11),
                *lines(["Indoors only."], top=680),
            ],
        ]
        outline = [
            OutlineItem("Safety", 0, 0, 800),
            OutlineItem("1.1 Use", 1, 1, 720),
            OutlineItem("Not printed", 1, 1, 690),
        ]

        parsed = read(pages, outline)

        assert headings(parsed) == [(1, "1 Safety", 1), (2, "1.1 Use", 2), (2, "Not printed", 2)]
        assert {b.source for b in parsed.blocks if isinstance(b, HeadingBlock)} == {
            HeadingSource.OUTLINE
        }
        assert prose(parsed) == ["Press the button.", "More about it.", "Indoors only."]

    def test_without_outline_size_weight_and_numbers_tell(self) -> None:
        body = [f"{CHINESE[:38]}。", f"{CHINESE[3:38]}。"]
        page = [
            PdfText(70, 800, "糖尿病诊疗指南", 24),
            PdfText(70, 760, "第一章 定义", 16), *lines(body, top=735),
            PdfText(70, 680, "1.1 诊断标准", 11), *lines(body, top=660),
            PdfText(70, 610, "第二章 症状", 16), *lines(body, top=585),
            PdfText(70, 540, "注意事项", 11, bold=True), *lines(body, top=520),
        ]  # fmt: skip

        parsed = read([page])

        found = [(level, text) for level, text, _ in headings(parsed)]
        assert [text for _, text in found] == [
            "糖尿病诊疗指南",
            "第一章 定义",
            "1.1 诊断标准",
            "第二章 症状",
            "注意事项",
        ]
        levels = {text: level for level, text in found}
        assert levels["糖尿病诊疗指南"] == 0
        assert levels["第一章 定义"] == levels["第二章 症状"] == 1
        assert levels["1.1 诊断标准"] > 1

    def test_pages_that_are_forms_of_one_kind_are_sections(self) -> None:
        slips = [("孙立", 9800), ("吴桐", 8600)]
        pages = [
            [*lines([f"姓名：{name}", f"应发：{pay}", f"工龄 {pay // 4000} 年。"], pitch=40)]
            for name, pay in slips
        ]

        assert headings(read(pages)) == [(1, "姓名：孙立", 1), (1, "姓名：吴桐", 2)]

    def test_pages_of_text_are_no_forms(self) -> None:
        pages = [
            lines([f"{line}。" for line in full_lines(9)[at : at + 4]], pitch=40) for at in (0, 5)
        ]

        assert headings(read(pages)) == []

    def test_words_in_bold_at_a_lines_beginning_make_no_heading(self) -> None:
        page = [
            PdfText(70, 760, "ACTION:", bold=True), PdfText(120, 760, "Notice of proposed rulemaking that"),
            PdfText(70, 746, "supersedes an older directive for all airplanes."),
        ]  # fmt: skip

        parsed = read([page])

        assert headings(parsed) == []
        assert len(prose(parsed)) == 1


class TestTables:
    def test_a_background_and_a_frame_around_the_page_are_no_table(self) -> None:
        around: list[Drawn] = [
            Area(0, 0, 595, 842),
            *(Rule(40, y, 555, y) for y in (40, 802)),
            *(Rule(x, 40, x, 802) for x in (40, 555)),
        ]
        rows = [["Item", "Price"], ["Pump P-20", "480 EUR"]]
        page: list[Drawn] = [*around, *lines(["Price list 2026"]), *draw_ruled_table(70, 700, rows)]

        parsed = read([page])

        assert tables(parsed) == [rows]
        assert prose(parsed) == ["Price list 2026"]

    def test_a_box_to_be_ticked_is_no_cell_of_the_table_around_it(self) -> None:
        rows = [["Is there a standard?", "     yes"], ["Is it kept?", "     no"]]
        boxes = [Area(192, y, 8, 8, is_outline=True) for y in (686, 666)]

        assert tables(read([[*draw_ruled_table(70, 700, rows), *boxes]])) == [
            [["Is there a standard?", "yes"], ["Is it kept?", "no"]]
        ]

    def test_figures_below_each_other_in_one_cell_are_rows_without_rules(self) -> None:
        rules = [Rule(70, y, 310, y) for y in (700, 680, 600)]
        rules += [Rule(x, 600, x, 700) for x in (70, 190, 310)]
        cells = [["State", "2005"], ["Maine", "12,950"], ["Vermont", "6,779"], ["Ohio", "116,500"]]
        texts = [
            PdfText(74 + 120 * column, 686 - 24 * row, cell, 9)
            for row, texts in enumerate(cells)
            for column, cell in enumerate(texts)
        ]

        assert tables(read([[*rules, *texts]])) == [cells]

    def test_a_title_in_a_merged_cell_stands_above_the_table(self) -> None:
        rules: list[Drawn] = [
            *(Rule(70, y, 310, y) for y in (700, 680, 660, 640)),
            Rule(70, 640, 70, 700),
        ]
        rules += [Rule(310, 640, 310, 700), Rule(110, 640, 110, 680), Rule(190, 640, 190, 680)]
        texts: list[Drawn] = [
            PdfText(74, 686, "Prices of hydraulic pumps", 9),
            PdfText(74, 666, "Item", 9),
        ]
        texts += [PdfText(114, 666, "Price", 9), PdfText(194, 666, "Stock", 9)]
        texts += [
            PdfText(74, 646, "P-20", 9),
            PdfText(114, 646, "480", 9),
            PdfText(194, 646, "12", 9),
        ]

        parsed = read([[*rules, *texts]])

        assert prose(parsed) == ["Prices of hydraulic pumps"]
        assert tables(parsed) == [[["Item", "Price", "Stock"], ["P-20", "480", "12"]]]

    def test_a_unit_above_the_last_column_leaves_the_names_their_row(self) -> None:
        rows = [["State", "1961", "1971"], ["Assam", "34.98", "34.95"], ["Goa", "7.77", "34.77"]]
        page: list[Drawn] = [
            PdfText(70 + 120 * column, 660 - 16 * row, text, 9)
            for row, texts in enumerate(rows)
            for column, text in enumerate(texts)
        ]

        parsed = read([[PdfText(310, 676, "(Per cent)", 9), *page]])

        assert next(one for one in parsed.blocks if isinstance(one, Table)).header_rows == 1
        assert prose(parsed) == ["(Per cent)"]
        assert tables(parsed) == [rows]

    def test_names_reach_down_to_where_a_merged_one_ends(self) -> None:
        cells = {(0, 0): "Crop", (0, 1): "Harvest", (1, 1): "2012", (1, 2): "2013", (2, 1): "(a)"}
        cells |= {(2, 2): "(b)", (3, 0): "Rice", (3, 1): "120", (3, 2): "131"}
        rules = [Rule(70, y, 310, y) for y in (700, 640, 620)]
        rules += [Rule(150, y, 310, y) for y in (680, 660)]
        rules += [Rule(x, 620, x, 700) for x in (70, 150, 310)] + [Rule(230, 620, 230, 680)]
        height = {0: 686, 1: 666, 2: 646, 3: 626}
        texts = [PdfText(74 + 80 * at, height[row], text, 9) for (row, at), text in cells.items()]

        table = next(one for one in read([[*rules, *texts]]).blocks if isinstance(one, Table))

        assert table.header_rows == 3

    def test_the_next_form_of_one_kind_is_a_table_of_its_own(self) -> None:
        labels = ["Order", "Name", "Phone", "Make", "Total"]
        forms = [
            [[label, f"{label} of {owner}"] for label in labels] for owner in ("Diaz", "Wayne")
        ]

        assert tables(read([draw_ruled_table(70, 700, form) for form in forms])) == forms

    def test_ruled_cells_are_read_and_the_text_around_them_stays_in_place(self) -> None:
        table = draw_ruled_table(70, 700, [["型号", "价格"], ["苍鹭 3", "386,000"], ["XL", ""]])

        parsed = read(
            [[*lines(["Before the table."]), *table, *lines(["After the table."], top=600)]]
        )

        assert tables(parsed) == [[["型号", "价格"], ["苍鹭 3", "386,000"], ["XL", ""]]]
        assert prose(parsed) == ["Before the table.", "After the table."]

    def test_missing_rules_mean_merged_cells(self) -> None:
        table = [
            item
            for item in draw_ruled_table(
                70, 700, [["城市", "限额", ""], ["", "旺季", "淡季"], ["上海", "650", "500"]]
            )
            if not (
                isinstance(item, Rule) and item.x1 == item.x2 == 310
            )  # between the last columns
        ]
        table += [Rule(310, 680, 310, 640)]  # which are divided below the first row only

        assert tables(read([table])) == [
            [["城市", "限额", "限额"], ["", "旺季", "淡季"], ["上海", "650", "500"]]
        ]

    def test_a_table_that_goes_on_over_the_page_is_one_without_its_repeated_header(self) -> None:
        header = [["代码", "含义"], ["code", "meaning"]]

        parsed = read(
            [
                draw_ruled_table(70, 200, [*header, ["E41", "a"]]),
                draw_ruled_table(70, 700, [*header, ["E42", "b"]]),
            ]
        )

        assert tables(parsed) == [[*header, ["E41", "a"], ["E42", "b"]]]
        assert parsed.omissions is not None
        assert parsed.omissions.left_out == {"in running heads and feet": 15}

    def test_equal_rows_of_figures_below_a_repeated_header_are_kept(self) -> None:
        header, same = ["Part", "Price"], ["Valve", "10"]

        parsed = read(
            [
                draw_ruled_table(70, 200, [header, same, ["Gate", "20"]]),
                draw_ruled_table(70, 700, [header, same, ["Pipe", "30"]]),
            ]
        )

        assert tables(parsed) == [[header, same, ["Gate", "20"], same, ["Pipe", "30"]]]

    def test_a_frame_or_an_underline_is_no_table(self) -> None:
        frame = [
            Rule(60, 780, 400, 780),
            Rule(60, 740, 400, 740),
            Rule(60, 740, 60, 780),
            Rule(400, 740, 400, 780),
        ]

        parsed = read([[*frame, *lines(["In a frame."]), Rule(70, 600, 300, 600)]])

        assert tables(parsed) == []
        assert prose(parsed) == ["In a frame."]


class TestRefused:
    def test_a_file_that_needs_a_password_is_refused(self) -> None:
        with pytest.raises(FileEncrypted):
            parse(write_pdf([lines(["secret"])], password="hush"), LIMITS)

    def test_a_file_of_one_page_too_many_is_refused(self) -> None:
        pages = [lines([f"Page {number}."]) for number in range(6)]

        assert parse(write_pdf(pages), Limits(pdf_pages=6)).page_count == 6
        with pytest.raises(FileUnsafe, match="6 pages"):
            parse(write_pdf(pages), Limits(pdf_pages=5))

    def test_a_file_of_images_only_is_refused(self) -> None:
        with pytest.raises(FileEmpty, match="only images"):
            read([[PdfPicture()], [PdfPicture()]])

    def test_letters_without_meaning_are_refused(self) -> None:
        glyphs = "".join(chr(ord(char) - 29) for char in "The supplier delivers the goods.")
        content = write_pdf([[PdfText(70, 700, f"\u0100{glyphs}")]])
        content = content.replace(b"/UniGB-UTF16-H", b"/Identity-H   ")
        content = content.replace(b"/Ordering(GB1)", b"/Ordering(Own)")

        with pytest.raises(FileEmpty, match="which letters"):
            parse(content, LIMITS)

    def test_letters_of_a_font_of_signs_are_these_signs(self) -> None:
        content = write_pdf([[PdfText(70, 700, "x", mono=True), PdfText(84, 700, "paid by card")]])
        content = content.replace(b"/BaseFont/Courier", b"/BaseFont/Wingdings")

        assert prose(parse(content, LIMITS)) == ["☒ paid by card"]

    def test_names_in_capitals_have_no_letters_with_a_wrong_meaning(self) -> None:
        names = [
            [PdfText(70, 700, "GIẤY CHỨNG NHẬN ĐĂNG KÝ"), PdfText(70, 680, "ŠŤASTNÝ, ŻÓŁĆ, ŽŪKŲ")]
        ]

        assert read(names).warnings == ()

    def test_radicals_are_the_ideographs_that_they_look_like(self) -> None:
        assert prose(read([[PdfText(70, 700, "⽤户⻛险⻚", 12)]])) == ["用户风险页"]

    def test_letters_with_a_wrong_meaning_are_left_to_ocr_or_counted(self) -> None:
        text = "The gate opeŶs for ǁalkiŶg aŶd cyĐliŶg at siǆ."
        content = write_pdf([[PdfText(70, 700, f"\u0100{text}")]])

        parsed = parse(content, LIMITS)
        assert prose(parsed)[0].endswith("at siǆ.")
        assert tuple(map(str, parsed.warnings)) == ("5 unreadable characters",)
        waiting = parse(content, Limits(reads=True))
        assert (prose(waiting), waiting.unread_pages) == (prose(parsed), (1,))
        read = OcrPage(
            600,
            800,
            (OcrLine("The gate opens.", 1.0, ((70, 90), (300, 90), (300, 110), (70, 110))),),
        )
        known = Limits(reads=True, recognised={"1": read.to_json()})
        assert prose(parse(content, known)) == ["The gate opens."]

    def test_some_letters_without_meaning_are_counted(self) -> None:
        parsed = read([[*lines(["The gate opens at six."]), PdfText(70, 700, "每天\0点关门。")]])

        assert prose(parsed) == ["The gate opens at six.", "每天\ufffd点关门。"]
        assert tuple(map(str, parsed.warnings)) == ("1 unreadable characters",)

    def test_some_images_are_warned_about(self) -> None:
        [warning] = read([[PdfPicture()], lines(["Text."])]).warnings
        assert str(warning).startswith("1 of 2 pages hold only images and were not read (1). ")

    @pytest.mark.parametrize("content", [b"%PDF-1.7\ngarbage", b"%PDF-"])
    def test_a_damaged_file_is_refused(self, content: bytes) -> None:
        with pytest.raises(FileBroken):
            parse(content, LIMITS)


def test_a_damaged_page_costs_no_other() -> None:
    content = write_pdf([lines([f"Topic {at} is told here."]) for at in range(3)])
    [kids] = re.findall(rb"/Kids\s*\[([^\]]*)\]", content)
    first, second, third = re.findall(rb"\d+ 0 R", kids)
    torn = content.replace(kids, b" ".join([first, b"1 0 R".rjust(len(second)), third]))

    found = parse(torn, LIMITS)

    assert prose(found) == ["Topic 0 is told here.", "Topic 2 is told here."]
    assert [block.page for block in found.blocks] == [1, 3]
    assert [str(warning) for warning in found.warnings] == ["Not read: 1 damaged page (page 2)"]
    with pytest.raises(FileBroken):
        parse(content.replace(kids, b"1 0 R".rjust(len(kids))), LIMITS)
