"""Write the binary sample documents from their sources.

Every PDF, DOCX, XLSX and PPTX in ``documents/`` has its text as Markdown in ``sources/``; the two
legacy-encoded text files have theirs in UTF-8. Run by hand after changing a source (README.md
says how); the results are committed, so nothing at run time needs this script, fpdf2 or a font.
Equal sources give equal bytes: all dates inside the files are fixed.
"""

import argparse
import re
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import docx
import openpyxl
from fpdf import FPDF, FontFace, TextStyle  # type: ignore[import-untyped]  # not in .venv
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from openpyxl.styles import Font, PatternFill
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet
from pptx import Presentation
from pptx.util import Cm, Pt

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
DOCUMENTS = HERE / "documents"
WRITTEN = datetime(2025, 4, 1, 9, 0, tzinfo=UTC)

LATIN_WORD = r"[^\s\u2e80-\u9fff\u3000-\u303f\uff00-\uffef]+"
NO_LINE_START = "，。；：、？！）》”’"
UNIT = re.compile(rf"[“（《]*(?:{LATIN_WORD}|\S)[{NO_LINE_START}]*\s*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; level 1 is the document's title, or a sheet or slide."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a list, with its bullet or number."""

    marker: str
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """Speaker's notes of a slide (a Markdown block quote)."""

    text: str


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first row is the header."""

    rows: list[list[str]]


Block = Heading | Paragraph | Item | Note | Table


# Reading


def read_blocks(name: str) -> Iterator[Block]:
    """Read a Markdown source into blocks, in order."""
    text = (SOURCES / f"{name}.md").read_text(encoding="utf-8")
    for node in SyntaxTreeNode(MarkdownIt().enable("table").parse(text)).children:
        match node.type:
            case "heading":
                yield Heading(int(node.tag[1]), _text(node))
            case "paragraph":
                yield Paragraph(_text(node))
            case "blockquote":
                yield Note(_text(node))
            case "bullet_list":
                yield from (Item("•", _text(item)) for item in node.children)
            case "ordered_list":
                yield from (Item(f"{n}.", _text(item)) for n, item in enumerate(node.children, 1))
            case "table":
                rows = [row for part in node.children for row in part.children]
                yield Table([[_text(cell) for cell in row.children] for row in rows])


def _text(node: SyntaxTreeNode) -> str:
    """Return the text of the first inline node inside."""
    return next((inner.content for inner in node.walk() if inner.type == "inline"), "")


# PDF


class Page(FPDF):  # type: ignore[misc]
    """An A4 page with a running header and a page number, and lines broken as each script wants."""

    def __init__(
        self, header: str, footer: str, fonts: tuple[Path, Path], *, chinese: bool
    ) -> None:
        super().__init__(format="A4")
        self._running, self._bottom, self._chinese = header, footer, chinese
        self.add_font("body", "", fonts[0])
        self.add_font("body", "B", fonts[1])
        self.set_creation_date(WRITTEN)
        self.set_producer("sample")
        self.set_margins(22, 25, 22)
        self.set_auto_page_break(True, margin=24)

    def header(self) -> None:
        """Draw the running header over a thin rule."""
        self.set_font("body", size=8.5)
        self.set_text_color(90)
        self.set_y(12)
        self.cell(0, 5, self._running)
        self.line(22, 18, 188, 18)
        self.set_text_color(0)
        self.set_y(25)

    def footer(self) -> None:
        """Draw the document number and the page number."""
        self.set_font("body", size=8.5)
        self.set_text_color(90)
        self.set_y(-16)
        number = f"第 {self.page_no()} 页" if self._chinese else f"Page {self.page_no()}"
        self.cell(83, 5, self._bottom)
        self.cell(83, 5, number, align="R")
        self.set_text_color(0)

    def wrap(self, text: str, width: float, indent: float = 0) -> str:
        """Break text into lines of a width in mm, between Chinese characters but not in words."""
        lines, line, room = [], "", width - indent
        for unit in UNIT.findall(text):
            if line and self.get_string_width(line + unit.rstrip()) > room:
                lines.append(line.rstrip())
                line, room = "", width
            line += unit
        return "\n".join([*lines, line.rstrip()])

    def write_paragraph(self, text: str, *, first: float = 0, left: float = 0) -> None:
        """Write wrapped lines; ``first`` indents the first line, ``left`` all of them, in mm."""
        self.set_font("body", size=10.5)
        for n, line in enumerate(self.wrap(text, self.epw - left - 1, first).split("\n")):
            self.set_x(self.l_margin + left + (0 if n else first))
            self.cell(0, 6.2, line, new_x="LMARGIN", new_y="NEXT")

    def write_table(self, rows: list[list[str]]) -> None:
        """Write a ruled table whose header row repeats on every page."""
        self.ln(1.5)
        self.set_font("body", size=9)
        widths = self._column_widths(rows)
        bold = FontFace(emphasis="BOLD", fill_color=(226, 232, 240))
        with self.table(
            col_widths=widths, line_height=5, padding=1.2, headings_style=bold, text_align="LEFT"
        ) as table:
            for cells in rows:
                row = table.row()
                for cell, width in zip(cells, widths, strict=True):
                    row.cell(self.wrap(cell, width - 5))
        self.ln(3)

    def _column_widths(self, rows: list[list[str]]) -> list[float]:
        """Share the width by each column's longest cell; none under 26 mm unless it fits in less."""
        longest = [
            max(map(self.get_string_width, column)) + 6 for column in zip(*rows, strict=True)
        ]
        widths = [min(width, 85) for width in longest]
        scale = self.epw / sum(widths)
        if scale >= 1:
            return [width * scale for width in widths]
        floors = [min(width, 26) for width in widths]
        share = (self.epw - sum(floors)) / (sum(widths) - sum(floors))
        return [low + (width - low) * share for low, width in zip(floors, widths, strict=True)]


def write_pdf(
    name: str,
    header: str,
    footer: str,
    fonts: tuple[Path, Path],
    *,
    chinese: bool = False,
    outline: bool = False,
) -> None:
    """Write one PDF, with bookmarks for its headings when ``outline`` is set."""
    pdf = Page(header, footer, fonts, chinese=chinese)
    pdf.set_title(header)
    pdf.set_lang("zh-CN" if chinese else "en")
    _set_heading_styles(pdf)
    pdf.add_page()
    for block in read_blocks(name):
        match block:
            case Heading(1, text):
                pdf.set_font("body", "B", 20)
                pdf.multi_cell(0, 11, text, align="L", new_x="LMARGIN", new_y="NEXT")
                pdf.ln(3)
            case Heading(level, text):
                _write_heading(pdf, level - 2, text, outline=outline)
            case Item(marker, text):
                pdf.write_paragraph(f"{marker} {text}", left=6)
            case Table(rows):
                pdf.write_table(rows)
            case Paragraph(text) | Note(text):
                pdf.write_paragraph(text, first=7.4 if chinese else 0)
                pdf.ln(1.8)
    pdf.output(str(DOCUMENTS / f"{name}.pdf"))


def _set_heading_styles(pdf: Page) -> None:
    chapter = TextStyle("body", "B", 15, t_margin=5, b_margin=2)
    section = TextStyle("body", "B", 12, t_margin=3, b_margin=1)
    pdf.set_section_title_styles(chapter, section)


def _write_heading(pdf: Page, depth: int, text: str, *, outline: bool) -> None:
    if pdf.will_page_break(38):  # a heading never stands alone at the foot of a page
        pdf.add_page()
    if outline:
        pdf.start_section(text, level=depth)
        return
    pdf.ln(5 - 2 * depth)
    pdf.set_font("body", "B", 15 - 3 * depth)
    pdf.multi_cell(0, 8, text, new_x="LMARGIN", new_y="NEXT")
    pdf.ln(1)


# Office formats


def write_docx(name: str) -> None:
    """Write a Word document with real heading, list and table styles."""
    document = docx.Document()
    for block in read_blocks(name):
        match block:
            case Heading(level, text):
                document.add_heading(text, level - 1)  # level 0 is Word's Title
            case Item(marker, text):
                document.add_paragraph(text, "List Bullet" if marker == "•" else "List Number")
            case Table(rows):
                _fill(document.add_table(len(rows), len(rows[0]), "Table Grid"), rows)
                document.add_paragraph()
            case Paragraph(text) | Note(text):
                document.add_paragraph(text)
    properties = document.core_properties
    properties.author, properties.title = "Yanxi Robotics", name
    properties.created = properties.modified = WRITTEN.replace(tzinfo=None)
    _save(document.save, DOCUMENTS / f"{name}.docx")


def _fill(table: Any, rows: list[list[str]]) -> None:  # noqa: ANN401 - Word's or PowerPoint's
    for r, cells in enumerate(rows):
        for c, text in enumerate(cells):
            table.cell(r, c).text = text


def write_xlsx(name: str) -> None:
    """Write a workbook with one sheet for each first-level heading; numbers become numbers."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.active)
    for block in read_blocks(name):
        match block:
            case Heading(_, text):
                sheet = workbook.create_sheet(text)
            case Table(rows):
                for row in rows:
                    sheet.append([int(cell) if cell.isdigit() else cell for cell in row])
                _style(sheet, rows)
    workbook.properties.creator = "Yanxi Robotics"
    workbook.properties.created = WRITTEN.replace(tzinfo=None)
    _save(workbook.save, DOCUMENTS / f"{name}.xlsx")


def _style(sheet: Worksheet, rows: list[list[str]]) -> None:
    for cell in sheet[1]:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="E2E8F0")
    for n, column in enumerate(zip(*rows, strict=True), start=1):
        sheet.column_dimensions[get_column_letter(n)].width = max(map(len, column)) * 1.3 + 2
    sheet.freeze_panes = "A2"


def write_pptx(name: str) -> None:
    """Write a deck with one slide for each first-level heading and its speaker's notes."""
    deck = Presentation()
    for block in read_blocks(name):
        match block:
            case Heading(_, text):
                layout = deck.slide_layouts[1 if len(deck.slides) else 0]
                slide = deck.slides.add_slide(layout)
                slide.shapes.title.text = text
                body = slide.placeholders[1]
            case Table(rows):
                body.element.getparent().remove(body.element)
                frame = slide.shapes.add_table(
                    len(rows), len(rows[0]), Cm(1.5), Cm(5), Cm(22), Cm(1.2 * len(rows))
                )
                _fill(frame.table, rows)
            case Note(text):
                slide.notes_slide.notes_text_frame.text = text
            case Item(_, text) | Paragraph(text):
                frame = body.text_frame
                line = frame.add_paragraph() if frame.text else frame.paragraphs[0]
                line.text, line.font.size = text, Pt(24)
    properties = deck.core_properties
    properties.author, properties.title = "Yanxi Robotics", name
    properties.created = properties.modified = WRITTEN.replace(tzinfo=None)
    _save(deck.save, DOCUMENTS / f"{name}.pptx")


def _save(save: Callable[[str], None], path: Path) -> None:
    """Save an office file, then pin the dates that its library took from the clock."""
    save(str(path))
    with zipfile.ZipFile(path) as archive:
        members = [(info.filename, archive.read(info)) for info in archive.infolist()]
    stamp = WRITTEN.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for filename, data in members:
            member = zipfile.ZipInfo(filename, WRITTEN.timetuple()[:6])
            pinned = re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + stamp, data)
            archive.writestr(member, pinned, zipfile.ZIP_DEFLATED)


def write_text(name: str, encoding: str) -> None:
    """Write a plain text file in an encoding that older Windows programs use."""
    text = (SOURCES / f"{name}.txt").read_text(encoding="utf-8")
    (DOCUMENTS / f"{name}.txt").write_bytes(text.replace("\n", "\r\n").encode(encoding))


def main() -> None:
    """Write every generated document."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--chinese-font", type=Path, required=True, help="wqy-microhei.ttc")
    arguments.add_argument("--latin-fonts", type=Path, required=True, help="folder of DejaVuSans")
    chosen = arguments.parse_args()
    chinese, latin = chosen.chinese_font, chosen.latin_fonts
    write_pdf(
        "糖尿病诊疗指南",
        "景和医院　糖尿病诊疗指南（2025 年第 2 版）",
        "JH-NFM-2025-02　示例文档，非医疗建议",
        (chinese, chinese),
        chinese=True,
        outline=True,
    )
    write_pdf(
        "heron-3-manual",
        "Heron 3 Sorting Station: Operation and Service Manual",
        "YX-MAN-H3-EN, edition 4.2",
        (latin / "DejaVuSans.ttf", latin / "DejaVuSans-Bold.ttf"),
    )
    write_docx("软件开发合同")
    write_docx("employee-handbook")
    write_xlsx("price-list-2025")
    write_pptx("苍鹭3产品介绍")
    write_text("仓库安全操作规程", "gb18030")
    write_text("臺北辦公室指南", "big5")


if __name__ == "__main__":
    main()
