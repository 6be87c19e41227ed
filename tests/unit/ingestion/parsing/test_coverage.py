"""What of a file is stored is counted, and what its parser loses is seen from outside the parser."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from email.message import EmailMessage
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from sextant.domain.documents import Coverage
from sextant.domain.warnings import CodedWarning, WarningCode, count
from sextant.ingestion.parsing import child
from sextant.ingestion.parsing import coverage as coverage_module
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, Table
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.draft import from_wire, to_wire
from sextant.ingestion.parsing.formats import Parser, parser_for
from sextant.ingestion.parsing.limits import Limits
from tests.document_writer import book, open_document
from tests.ole_writer import write_ole
from tests.pdf_writer import PdfText, write_pdf
from tests.unit.ingestion.parsing.office_files import Related, word, xml

WORDS = [
    "alpha",
    "bravo",
    "charlie",
    "delta",
    "echo",
    "foxtrot",
    "golf",
    "hotel",
    "india",
    "kilo",
    "lima",
]
LINES = [f"Rule {at}: {name} is kept in room {at * 37}." for at, name in enumerate(WORDS)]
PAIRS = [[f"Item {line.split()[2]}", str(at * 1000 + 7)] for at, line in enumerate(LINES)]


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def as_docx() -> bytes:
    document: Any = docx.Document()
    for line in LINES:
        document.add_paragraph(line)
    return saved(document)


def as_pptx() -> bytes:
    deck: Any = pptx.Presentation()
    for line in LINES:
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.placeholders[1].text = line
    return saved(deck)


def as_xlsx() -> bytes:
    book: Any = openpyxl.Workbook()
    for at, line in enumerate(LINES):
        sheet = book.create_sheet(f"Part {at}")
        sheet.append(["Rule", "Room"])
        sheet.append([line, at])
    return saved(book)


def as_eml() -> bytes:
    message = EmailMessage()
    message["Subject"] = "Rules"
    message.set_content("\n\n".join(LINES))
    message.add_alternative(as_html().decode(), "html")
    return message.as_bytes()


def as_msg() -> bytes:
    body = {"__substg1.0_1000001F": "\n\n".join(LINES).encode("utf-16-le")}
    return write_ole({"__properties_version1.0": bytes(32), **body})


def as_html() -> bytes:
    return f"<html><body>{''.join(f'<p>{line}</p>' for line in LINES)}</body></html>".encode()


def as_csv() -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer).writerows([["Item", "Room"], *PAIRS])
    return buffer.getvalue().encode()


def as_pdf() -> bytes:
    return write_pdf([[PdfText(70, 740 - 40 * at, line) for at, line in enumerate(LINES)]])


def as_xml() -> bytes:
    return f"<rules>{''.join(f'<rule>{line}</rule>' for line in LINES)}</rules>".encode()


def as_notebook() -> bytes:
    cells = [{"cell_type": "markdown", "source": [f"## Part\n{line}"]} for line in LINES]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


FILES: dict[str, Callable[[], bytes]] = {
    "a.docx": as_docx,
    "a.pptx": as_pptx,
    "a.xlsx": as_xlsx,
    "a.pdf": as_pdf,
    "a.html": as_html,
    "a.eml": as_eml,
    "a.msg": as_msg,
    "a.md": lambda: "\n\n".join(LINES).encode(),
    "a.txt": lambda: "\n\n".join(LINES).encode(),
    "a.csv": as_csv,
    "a.odt": lambda: open_document("text", "".join(f"<text:p>{line}</text:p>" for line in LINES)),
    "a.epub": lambda: book(one="".join(f"<p>{line}</p>" for line in LINES)),
    "a.xml": as_xml,
    "a.ipynb": as_notebook,
    "a.json": lambda: json.dumps({"rules": LINES}).encode(),
    "lists.json": lambda: json.dumps([[line] for line in LINES]).encode(),
    "a.jsonl": lambda: "\n".join(json.dumps({"rule": line}) for line in LINES).encode(),
}


def coverage_of(content: bytes, filename: str) -> tuple[Coverage, list[str]]:
    made = from_wire(to_wire(child.parse(content, filename, Limits())))
    assert made.coverage is not None
    return made.coverage, [str(warning) for warning in made.warnings]


def without_half(block: Block) -> Block:
    """Return a block as a parser that loses every other word, cell or row makes it."""
    match block:
        case Table() if len(block.rows) > 2:
            return replace(block, rows=block.rows[: len(block.rows) // 2])
        case Table():
            return replace(block, rows=[[*row[:-2], "", row[-1]] for row in block.rows])
        case Paragraph() | HeadingBlock():
            return replace(block, text=" ".join(block.text.split()[::2]))
        case _:
            return block


def parse_half(parse: Parser) -> Parser:
    def parse_badly(content: bytes, limits: Limits) -> Blocks:
        blocks = parse(content, limits)
        return replace(blocks, blocks=[*map(without_half, blocks.blocks)])

    return parse_badly


@pytest.mark.parametrize("filename", FILES)
def test_of_a_file_that_is_read_nothing_is_missing(filename: str) -> None:
    coverage, warnings = coverage_of(FILES[filename](), filename)

    assert coverage.found
    assert coverage.missing == 0
    assert sum(coverage.stored.values()) >= coverage.found
    assert not [warning for warning in warnings if "not read" in warning]


@pytest.mark.parametrize("filename", FILES)
def test_what_a_parser_loses_in_silence_is_warned_of(
    filename: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "parser_for", lambda kind: parse_half(parser_for(kind)))

    coverage, warnings = coverage_of(FILES[filename](), filename)

    assert coverage.found is not None
    assert coverage.missing > 0.2 * coverage.found
    assert any(
        "% of the file's text" in warning and "was not read" in warning for warning in warnings
    )


def test_the_parts_that_are_lost_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def parse_two_slides(content: bytes, limits: Limits) -> Blocks:
        blocks = parser_for(FileType.PPTX)(content, limits)
        return replace(blocks, blocks=[one for one in blocks.blocks if one.page not in {3, 9}])

    monkeypatch.setattr(child, "parser_for", lambda _: parse_two_slides)

    _, warnings = coverage_of(as_pptx(), "a.pptx")

    assert [one for one in warnings if "slide3.xml" in one and "slide9.xml" in one]
    assert not [one for one in warnings if "slide4.xml" in one]


def test_each_kind_of_text_is_counted_by_itself() -> None:
    note = xml(
        "w:footnotes",
        '<w:footnote w:id="2"><w:p><w:r><w:t>see below</w:t></w:r></w:p></w:footnote>',
    )
    head = xml("w:hdr", "<w:p><w:r><w:t>House rules</w:t></w:r></w:p>")
    content = word(
        '<w:p><w:pPr><w:outlineLvl w:val="0"/></w:pPr><w:r><w:t>Pets</w:t></w:r></w:p>'
        '<w:p><w:r><w:t>No dogs</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        "<w:r><w:rPr><w:strike/></w:rPr><w:t>or cats</w:t></w:r></w:p>"
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Fee</w:t></w:r></w:p></w:tc>"
        "<w:tc><w:p><w:r><w:t>12</w:t></w:r></w:p></w:tc></w:tr></w:tbl>"
        '<w:sectPr><w:headerReference r:id="h"/></w:sectPr>',
        {
            "f": Related("footnotes", "footnotes.xml", note),
            "h": Related("header", "header1.xml", head),
        },
    )

    coverage, warnings = coverage_of(content, "a.docx")

    stored = coverage.stored
    assert (stored["heading"], stored["table"], stored["margin"]) == (4, 5, 10)
    assert stored["note"] == len("[note1]seebelow")
    assert coverage.left_out == {"struck through": 6}
    assert coverage.missing == 0
    assert any("6 struck through" in warning for warning in warnings)


def test_what_surrounds_a_page_is_told_where_it_is_much() -> None:
    menu = "".join(f"<a href='/{at}'>Chapter number {at}</a> " for at in range(9))
    page = f"<html><body><nav>{menu}</nav><p>{LINES[0]}</p><form>Name: <input value='Ann'></form></body></html>"

    coverage, warnings = coverage_of(page.encode(), "a.html")

    assert coverage.left_out == {"in menus and feet of the page": 9 * len("Chapternumber0")}
    assert coverage.stored["field"] == 3
    assert coverage.missing == 0
    [warning] = warnings
    assert "126 in menus and feet of the page" in warning


def test_a_merged_cell_counts_once() -> None:
    book: Any = openpyxl.Workbook()
    for row in (["Team", "Person"], ["Maintenance", "Ann"], [None, "Bob"]):
        book.active.append(row)
    book.active.merge_cells("A2:A3")

    coverage, _ = coverage_of(saved(book), "a.xlsx")

    assert coverage.stored["table"] == len("TeamPersonMaintenanceAnnBob")


def test_numbers_that_are_shown_as_words_are_not_missing() -> None:
    book: Any = openpyxl.Workbook()
    for at in range(60):
        book.active.append([f"Shift {at}", 45000 + at])
        book.active.cell(at + 1, 2).number_format = "dddd"

    coverage, warnings = coverage_of(saved(book), "a.xlsx")

    assert (coverage.missing, warnings) == (0, [])


def test_noughts_that_are_shown_as_dashes_are_not_missing() -> None:
    book: Any = openpyxl.Workbook()
    book.active.append(["Item", *(f"Week {at}" for at in range(9))])
    for name in ("Rent", "Power", "Water", "Paper", "Travel"):
        book.active.append([name, *[0] * 8, 12])
    for row in book.active.iter_rows(min_row=2, min_col=2):
        for cell in row:
            cell.number_format = '_($* #,##0_);_($* (#,##0);_($* "-"??_)'

    coverage, warnings = coverage_of(saved(book), "a.xlsx")

    assert (coverage.missing, [*warnings]) == (0, [])


@pytest.mark.parametrize(
    "code", [WarningCode.TEXT_MISSING, WarningCode.PARTS_MISSING, WarningCode.FURNITURE_LEFT_OUT]
)
def test_a_warning_is_worded_in_both_languages(code: WarningCode) -> None:
    characters = [count(9, "in menus and feet of the page")]
    params = {"percent": 12, "number": 300, "parts": [3, "…"], "characters": characters}
    warning = CodedWarning(code, params)

    assert "12 %" in warning.in_language("en")
    assert "12%" in warning.in_language("zh")
    assert "menus" not in warning.in_language("zh")


def test_a_second_count_that_fails_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: bytes) -> str:
        raise KeyError

    monkeypatch.setattr(coverage_module, "_READERS", {FileType.TXT: fail})

    coverage, warnings = coverage_of(FILES["a.txt"](), "a.txt")

    assert (coverage.found, coverage.missing, warnings) == (None, 0, [])
    assert coverage.stored


def test_what_a_mail_hides_in_its_html_is_left_out_for_a_reason() -> None:
    message = EmailMessage()
    message["Subject"] = "News"
    hidden = "Words that are there for programs, and that nobody who reads the mail can see."
    message.set_content(
        f"<html><body><div style='display:none'>{hidden}</div><p>{LINES[0]}</p></body></html>",
        "html",
    )

    coverage, warnings = coverage_of(message.as_bytes(), "a.eml")

    assert coverage.missing == 0
    assert coverage.left_out == {"out of sight": len("".join(hidden.split()))}
    assert any("out of sight" in warning for warning in warnings)
