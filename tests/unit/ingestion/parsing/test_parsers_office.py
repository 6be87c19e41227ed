"""Word, PowerPoint and Excel: documents made with the libraries that write them."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from typing import Any

import docx
import openpyxl
import pptx
import pytest
import xlsxwriter
from docx.oxml import OxmlElement
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from sextant.domain.documents import HeadingSource
from sextant.domain.errors import FileBroken, FileUnsafe
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, Table
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.formats.numbering import format_number
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.structure import render_table

LIMITS = Limits()


def parse(file_type: FileType, document: Any, limits: Limits = LIMITS) -> Blocks:
    buffer = io.BytesIO()
    document.save(buffer)
    return parser_for(file_type)(buffer.getvalue(), limits)


def headings(parsed: Blocks) -> list[tuple[int, str]]:
    return [(block.level, block.text) for block in parsed.blocks if isinstance(block, HeadingBlock)]


def prose(parsed: Blocks) -> list[str]:
    return [block.text for block in parsed.blocks if isinstance(block, Paragraph)]


def tables(parsed: Blocks) -> list[list[list[str]]]:
    return [
        [list(row) for row in block.rows] for block in parsed.blocks if isinstance(block, Table)
    ]


class TestWord:
    def test_headings_by_style_and_the_title_line(self) -> None:
        document = docx.Document()
        document.core_properties.title = "From metadata"
        document.add_heading("合同", 0)
        document.add_heading("第一章 总则", 1)
        document.add_paragraph("正文。")
        document.add_heading("1.1 定义", 2)

        parsed = parse(FileType.DOCX, document)

        assert headings(parsed) == [(0, "合同"), (1, "第一章 总则"), (2, "1.1 定义")]
        assert parsed.title == "From metadata"

    def test_merged_cells_and_marked_header_rows(self) -> None:
        document = docx.Document()
        table = document.add_table(rows=4, cols=3)
        for row, texts in enumerate(
            [["阶段", "付款", ""], ["", "比例", "日期"], ["签约", "30%", "3月"], ["", "20%", "5月"]]
        ):
            for column, text in enumerate(texts):
                table.cell(row, column).text = text
        table.cell(0, 1).merge(table.cell(0, 2))
        table.cell(0, 0).merge(table.cell(1, 0))
        table.cell(2, 0).merge(table.cell(3, 0))
        for row in table.rows[:2]:
            row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))

        parsed = parse(FileType.DOCX, document)

        assert tables(parsed) == [
            [
                ["阶段", "付款", "付款"],
                ["阶段", "比例", "日期"],
                ["签约", "30%", "3月"],
                ["签约", "20%", "5月"],
            ]
        ]
        [block] = parsed.blocks
        assert isinstance(block, Table)
        assert block.header_rows == 2

    def test_a_title_across_a_table_is_no_row_of_it(self) -> None:
        document = docx.Document()
        table = document.add_table(rows=4, cols=3)
        for row, texts in enumerate(
            [["付款计划"], ["阶段", "付款", ""], ["", "比例", "日期"], ["签约", "30%", "3月"]]
        ):
            for column, text in enumerate(texts):
                table.cell(row, column).text = text
        table.cell(0, 0).merge(table.cell(0, 2))
        table.cell(1, 1).merge(table.cell(1, 2))
        table.cell(1, 0).merge(table.cell(2, 0))

        parsed = parse(FileType.DOCX, document)

        assert prose(parsed) == ["付款计划"]
        [block] = [block for block in parsed.blocks if isinstance(block, Table)]
        assert block.header_rows == 2
        assert render_table(block)[0][0] == "| 阶段 | 付款 比例 | 付款 日期 |"

    def test_a_frame_of_one_cell_is_read_as_text(self) -> None:
        document = docx.Document()
        document.add_table(rows=1, cols=1).cell(0, 0).text = "Note: boxed."

        assert prose(parse(FileType.DOCX, document)) == ["Note: boxed."]

    def test_headings_made_by_hand_are_inferred(self) -> None:
        document = docx.Document()
        for chapter in ("一、总则", "二、付款"):
            document.add_paragraph().add_run(chapter).bold = True
            document.add_paragraph("甲方应当在收到发票后三十日内付款，逾期按日计息。")
        document.add_paragraph().add_run("结语").bold = True
        document.add_paragraph("本合同自签字之日起生效，一式两份。")

        parsed = parse(FileType.DOCX, document)

        assert headings(parsed) == [(1, "一、总则"), (1, "二、付款"), (1, "结语")]
        assert {b.source for b in parsed.blocks if isinstance(b, HeadingBlock)} == {
            HeadingSource.INFERRED
        }

    def test_too_many_cells_are_refused(self) -> None:
        document = docx.Document()
        document.add_table(rows=6, cols=5)

        parse(FileType.DOCX, document, Limits(table_cells=30))
        with pytest.raises(FileUnsafe):
            parse(FileType.DOCX, document, Limits(table_cells=29))

    @pytest.mark.parametrize(
        ("value", "style", "shown"),
        [
            (4, "upperRoman", "IV"), (1994, "lowerRoman", "mcmxciv"), (28, "lowerLetter", "bb"), (3, "decimal", "3"),
            (10, "chineseCounting", "十"), (12, "chineseCounting", "十二"), (20, "chineseCounting", "二十"),
            (103, "chineseCounting", "一百零三"), (110, "chineseCounting", "一百一十"), (7, "decimalEnclosedCircle", "⑦"),
            (1050, "chineseCountingThousand", "一千零五十"), (12, "chineseLegalSimplified", "壹拾贰"),
            (21, "ideographDigital", "二一"), (23, "decimalEnclosedCircle", "㉓"), (12, "ideographZodiac", "亥"),
            (2, "ordinal", "2nd"), (112, "ordinal", "112th"), (21, "unknown", "21"),
            (7, "001, 002, 003, ...", "007"), (3, "甲, 乙, 丙, ...", "丙"),
            (28, "a", "ab"), (5, "vietnameseCounting", "5"), (0, "upperRoman", "0"),
        ],
    )  # fmt: skip
    def test_a_number_is_written_in_the_styles_of_word_and_libreoffice(
        self, value: int, style: str, shown: str
    ) -> None:
        assert format_number(value, style) == shown


class TestPowerPoint:
    def test_a_slide_is_a_section_with_its_page_texts_table_chart_and_notes(self) -> None:
        deck = pptx.Presentation()
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = "型号对比"
        box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(3), Inches(1)).text_frame
        box.text = "每小时 3,600 件"
        inner = box.add_paragraph()
        inner.text, inner.level = "误差低于 0.05%", 1
        table = slide.shapes.add_table(2, 2, Inches(1), Inches(4), Inches(3), Inches(1)).table
        for place, text in {(0, 0): "指标", (0, 1): "苍鹭", (1, 0): "出口", (1, 1): "12"}.items():
            table.cell(*place).text = text
        slide.notes_slide.notes_text_frame.text = "强调节能。"
        chart = CategoryChartData()  # type: ignore[no-untyped-call]
        chart.categories = ["2024", "2025"]
        chart.add_series("销量", (3, 4.5))  # type: ignore[no-untyped-call]
        second = deck.slides.add_slide(deck.slide_layouts[6])
        second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(3), chart)

        parsed = parse(FileType.PPTX, deck)

        assert [(block.page, block.text) for block in parsed.blocks if isinstance(block, HeadingBlock)] == [
            (1, "型号对比"), (2, "#2"),
        ]  # fmt: skip
        assert prose(parsed) == ["每小时 3,600 件\n  - 误差低于 0.05%", "备注：强调节能。"]
        assert tables(parsed) == [
            [["指标", "苍鹭"], ["出口", "12"]],
            [["", "销量"], ["2024", "3"], ["2025", "4.5"]],
        ]
        assert parsed.page_count == 2


class TestExcel:
    def test_a_sheet_is_a_section_and_blank_rows_part_its_tables(self) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        sheet.title = "价格表"
        for row in (
            [],
            ["2025 年价格"],
            ["型号", "单价", None, "折扣"],
            ["H3", 386000, None, 0.15],
            [],
            ["部件", "库存"],
            ["BM-40", 14],
        ):
            sheet.append(row)
        sheet["D4"].number_format = "0%"
        book.create_sheet("Empty")

        parsed = parse(FileType.XLSX, book)

        assert headings(parsed) == [(1, "价格表")]
        assert prose(parsed) == ["2025 年价格"]
        assert tables(parsed) == [
            [["型号", "单价", "", "折扣"], ["H3", "386000", "", "15%"]], [["部件", "库存"], ["BM-40", "14"]],
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("number", "days"),
        [(b"31", ["2024-03-15", "2024-04-01"]), (b"57", ["2024-03", "2024-04"])],
    )
    def test_formats_without_a_code_are_those_of_chinese_excel_or_general(
        self, number: bytes, days: list[str]
    ) -> None:
        book = openpyxl.Workbook()
        book.active.append(["到货日期", "数量"])
        book.active.append([dt.date(2024, 3, 15), 7])
        book.active.append([dt.date(2024, 4, 1), 9])
        book.active["A2"].number_format = book.active["A3"].number_format = "0"  # of number 1
        saved, content = io.BytesIO(), io.BytesIO()
        book.save(saved)
        with zipfile.ZipFile(saved) as source, zipfile.ZipFile(content, "w") as target:
            for inner in source.namelist():
                part = source.read(inner)
                if inner == "xl/styles.xml":
                    part = part.replace(b'numFmtId="1"', b'numFmtId="%s"' % number)
                    empty = b'<numFmts count="1"><numFmt numFmtId="0" formatCode=""/></numFmts>'
                    part = re.sub(rb"(<numFmts.*)?(?=<fonts)", empty, part, count=1)
                target.writestr(inner, part)

        parsed = parser_for(FileType.XLSX)(content.getvalue(), LIMITS)

        assert tables(parsed) == [[["到货日期", "数量"], [days[0], "7"], [days[1], "9"]]]

    def test_merged_cells_stand_in_every_row_and_a_title_across_stands_once(self) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        for row in (
            ["住宿费限额", None, None],
            ["类别", "城市", "限额"],
            ["一类", "北京", 650],
            [None, "上海", 650],
        ):
            sheet.append(row)
        sheet.merge_cells("A1:C1")
        sheet.merge_cells("A3:A4")

        parsed = parse(FileType.XLSX, book)

        assert prose(parsed) == ["住宿费限额"]
        assert tables(parsed) == [
            [["类别", "城市", "限额"], ["一类", "北京", "650"], ["一类", "上海", "650"]]
        ]

    def test_under_a_title_two_rows_may_name_the_columns(self) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        for row in (
            ["Sales of 2024", None, None, None, None],
            [None],
            ["Region", "First half", None, "Second half", None],
            [None, "Units", "Revenue", "Units", "Revenue"],
            ["North", 120, 24000, 140, 28000],
            ["South", 80, 16500, 95, 19800],
        ):
            sheet.append(row)
        for merged in ("A1:E2", "A3:A4", "B3:C3", "D3:E3"):
            sheet.merge_cells(merged)

        parsed = parse(FileType.XLSX, book)

        assert prose(parsed) == ["Sales of 2024"]
        [table] = [block for block in parsed.blocks if isinstance(block, Table)]
        lines, header_lines = render_table(table)
        assert header_lines == 2
        assert lines[0] == (
            "| Region | First half Units | First half Revenue | Second half Units | Second half Revenue |"
        )
        assert lines[2] == "| North | 120 | 24000 | 140 | 28000 |"

    def test_a_row_of_data_below_merged_cells_is_none_of_the_header(self) -> None:
        book = openpyxl.Workbook()
        sheet = book.active
        for row in (["Region", "Sales", None], ["North", 120, 24000], ["South", 80, 16500]):
            sheet.append(row)
        sheet.merge_cells("B1:C1")
        [table] = [b for b in parse(FileType.XLSX, book).blocks if isinstance(b, Table)]
        assert table.header_rows == 1

    def test_values_are_shown_as_a_reader_sees_them(self) -> None:
        book = openpyxl.Workbook()
        book.active.append(
            [
                dt.date(2025, 3, 14),
                dt.datetime(2025, 3, 14, 2, 17),  # noqa: DTZ001 - Excel knows no zones
                dt.time(5, 59),
                0.1 + 0.2,
                True,
                1e6,
                "a",
            ]
        )
        book.active.append(["x"] * 7)

        [[row, _]] = tables(parse(FileType.XLSX, book))

        assert row == [
            "2025-03-14",
            "2025-03-14 02:17:00",
            "5:59:00",
            "0.3",
            "TRUE",
            "1000000",
            "a",
        ]

    def test_the_address_of_a_link_stands_behind_its_words(self) -> None:
        book = openpyxl.Workbook()
        for row in (["Item", "Sheet"], ["Bolt", "data sheet"], ["Nut", "see Bolt"]):
            book.active.append(row)
        book.active["B2"].hyperlink = "https://parts.example/bolt?a=1&b=2"
        book.active["B3"].hyperlink = openpyxl.worksheet.hyperlink.Hyperlink(
            ref="B3", location="Sheet!A2"
        )

        assert tables(parse(FileType.XLSX, book)) == [
            [
                ["Item", "Sheet"],
                ["Bolt", "data sheet (https://parts.example/bolt?a=1&b=2)"],
                ["Nut", "see Bolt"],
            ]
        ]

    def test_formulas_whose_results_were_never_saved_are_counted(self) -> None:
        book = openpyxl.Workbook()  # it computes nothing
        for row in (["Team", "Q1", "Q2", "Sum"], ["A", 1, 2, "=B2+C2"], ["B", 3, 4, "=B3+C3"]):
            book.active.append(row)
        book.create_sheet("More").append(["=1/0", "text = no formula"])

        [warning] = parse(FileType.XLSX, book).warnings

        assert str(warning).startswith(
            "3 cells are empty because the results of their formulas were never saved"
        )
        assert warning.code == "formulas_not_computed"

    def test_noughts_of_a_program_that_computes_nothing_are_no_results(self) -> None:
        buffer = io.BytesIO()
        with xlsxwriter.Workbook(buffer) as book:
            sheet = book.add_worksheet()
            sheet.write_column(0, 0, ["Sum", 1, 2])
            sheet.write_formula(3, 0, "=SUM(A2:A3)")
            sheet.write_formula(4, 0, "=A4*2", None, 6)

        parsed = parser_for(FileType.XLSX)(buffer.getvalue(), LIMITS)

        assert [block.text for block in parsed.blocks][1:] == ["Sum\n1\n2", "6"]  # type: ignore[union-attr]
        assert [warning.params for warning in parsed.warnings] == [{"number": 1}]

    def test_struck_and_raised_text_of_cells_is_no_plain_text(self) -> None:
        buffer = io.BytesIO()
        with xlsxwriter.Workbook(buffer) as book:
            sheet = book.add_worksheet()
            raised, struck = (
                book.add_format({name: 1}) for name in ("font_script", "font_strikeout")
            )
            sheet.write_rich_string(0, 0, "10", raised, "6", " units ", struck, "gone", " a year")
            sheet.write(1, 0, 99, struck)

        parsed = parser_for(FileType.XLSX)(buffer.getvalue(), LIMITS)

        assert [block.text for block in parsed.blocks][1:] == ["10^6 units  a year"]  # type: ignore[union-attr]
        assert parsed.omissions
        assert parsed.omissions.left_out == {"struck through": 6}

    @pytest.mark.parametrize(
        "cell",
        [
            b'<c r="A1"><f>1+1</f><v>2</v></c>',
            b'<c r="A1" t="str"><f>IF(1,"")</f><v></v></c>',
            b'<c r="A1" s="0"><v>2</v></c><c r="B1"/>',
        ],
    )
    def test_what_was_computed_or_is_no_formula_is_not_warned_of(self, cell: bytes) -> None:
        book = openpyxl.Workbook()
        book.active.append(["="])
        saved = io.BytesIO()
        book.save(saved)
        rewritten = io.BytesIO()
        with zipfile.ZipFile(saved) as old, zipfile.ZipFile(rewritten, "w") as new:
            for name in old.namelist():
                xml = old.read(name)
                if name.endswith("sheet1.xml"):
                    xml = re.sub(rb"<c .*</c>", lambda _: cell, xml)
                new.writestr(name, xml)
        assert parser_for(FileType.XLSX)(rewritten.getvalue(), LIMITS).warnings == ()

    def test_a_cell_at_the_far_corner_costs_nothing(self) -> None:
        book = openpyxl.Workbook()
        book.active["A1"] = "first"
        book.active["A1048576"] = "last"

        assert prose(parse(FileType.XLSX, book)) == ["first", "last"]

    def test_too_many_cells_are_refused(self) -> None:
        book = openpyxl.Workbook()
        for _ in range(6):
            book.active.append([1, 2, 3, 4, 5])

        parse(FileType.XLSX, book, Limits(table_cells=30))
        with pytest.raises(FileUnsafe):
            parse(FileType.XLSX, book, Limits(table_cells=29))


@pytest.mark.parametrize("file_type", [FileType.DOCX, FileType.PPTX, FileType.XLSX])
def test_a_container_without_its_main_part_is_broken(file_type: FileType) -> None:
    buffer = io.BytesIO()
    book: list[Block] = []
    openpyxl.Workbook().save(buffer)
    content = buffer.getvalue().replace(b"workbook.xml", b"workbooc.xml").replace(b"xl/", b"xx/")

    with pytest.raises(FileBroken):
        book.extend(parser_for(file_type)(content, LIMITS).blocks)
