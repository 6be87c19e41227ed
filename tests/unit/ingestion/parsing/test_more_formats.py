"""OpenDocument, RTF, EPUB, MHTML, Outlook messages, notebooks and XML, read as their readers see them."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
from dataclasses import replace

import pytest

from sextant.domain.errors import FileEncrypted, FileUnsafe
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Image, Table
from sextant.ingestion.parsing.child import ConversionNeeded, parse
from sextant.ingestion.parsing.detect import FileType, detect
from sextant.ingestion.parsing.formats import parser_for
from sextant.ingestion.parsing.limits import Limits, check_container
from tests.document_writer import NAMESPACES, PNG, book, open_document, outlook, zip_package
from tests.ole_writer import Tree, write_ole

LIMITS = Limits()


def read(file_type: FileType, content: bytes, limits: Limits = LIMITS) -> Blocks:
    assert detect(content, f"a.{file_type.value}") is file_type
    return parser_for(file_type)(content, limits)


def lines(blocks: Blocks) -> list[str]:
    """Return headings with as many `#` as their level, paragraphs, and tables by their rows."""
    return [line for block in blocks.blocks for line in _lines(block)]


def _lines(block: Block) -> list[str]:
    match block:
        case HeadingBlock():
            return [f"{'#' * block.level} {block.text}".strip()]
        case Table():
            return [" | ".join(row) for row in block.rows]
        case Image():
            return [f"image {block.alt}"]
        case _:
            return [block.text]


class TestOpenDocument:
    def test_text_has_headings_lists_with_numbers_links_and_notes(self) -> None:
        styles = (
            '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"'
            ' style:num-prefix="第" style:num-suffix="条"/></text:list-style>'
        )
        body = (
            '<text:h text:outline-level="2">Terms</text:h>'
            '<text:list text:style-name="L"><text:list-item><text:p>Pay.</text:p></text:list-item>'
            "<text:list-item><text:p>Deliver.</text:p></text:list-item></text:list>"
            '<text:p>See <text:a xlink:href="https://example.org/x">here</text:a>,<text:s text:c="2"/>soon'
            "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Or later.</text:p>"
            "</text:note-body></text:note>.</text:p>"
            "<text:table-of-content><text:index-body><text:p>Terms 1</text:p></text:index-body></text:table-of-content>"
        )
        assert lines(read(FileType.ODT, open_document("text", body, styles))) == [
            "## Terms",
            "第1条 Pay.",
            "第2条 Deliver.",
            "See here (https://example.org/x),  soon [note 1].",
            "[note 1] Or later.",
        ]

    def test_a_list_that_goes_on_with_another_counts_on(self) -> None:
        styles = (
            '<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"'
            ' style:num-suffix="."/></text:list-style>'
        )
        item = "<text:list-item><text:p>Do.</text:p></text:list-item>"
        body = (
            f'<text:list text:style-name="L" xml:id="a">{item}{item}</text:list>'
            f'<text:list text:style-name="L">{item}</text:list>'
            f'<text:list text:style-name="L" xml:id="b" text:continue-list="a">{item}</text:list>'
            f'<text:list text:style-name="L" text:continue-list="b">{item}</text:list>'
            f'<text:list text:style-name="L" text:continue-numbering="true">{item}</text:list>'
        )
        found = lines(read(FileType.ODT, open_document("text", body, styles)))
        assert found == ["1. Do.", "2. Do.", "1. Do.", "3. Do.", "4. Do.", "5. Do."]

    def test_a_row_whose_other_cells_are_empty_stays_below_merged_ones(self) -> None:
        cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
        tall = ' table:number-rows-spanned="2"'
        rows = (
            cell("", "Pump") + cell("", "Hours") + cell("", "Note"),
            cell(tall, "North") + cell("", "5") + cell(tall, "old"),
            f"<table:covered-table-cell/>{cell('', '')}<table:covered-table-cell/>",
        )
        body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
        found = lines(
            read(FileType.ODT, open_document("text", f"<table:table>{body}</table:table>"))
        )
        assert found == ["Pump | Hours | Note", "North | 5 | old", "North |  | old"]

    def test_code_keeps_its_lines_and_indentation(self) -> None:
        styles = (
            '<style:style style:name="C" style:family="paragraph"><style:text-properties'
            ' style:font-name="Liberation Mono"/></style:style>'
        )
        body = (
            '<text:p>As follows:</text:p><text:p text:style-name="C">for room in rooms:</text:p>'
            '<text:p text:style-name="C"><text:s text:c="4"/>clean(room)</text:p><text:p>Done.</text:p>'
        )
        found = lines(read(FileType.ODT, open_document("text", body, styles)))
        assert found == ["As follows:", "for room in rooms:\n    clean(room)", "Done."]

    def test_struck_hidden_and_deleted_text_is_left_out_and_counted(self) -> None:
        styles = (
            '<style:style style:name="S" style:family="text"><style:text-properties'
            ' style:text-line-through-style="solid"/></style:style>'
            '<style:style style:name="H" style:family="text"><style:text-properties text:display="none"/></style:style>'
            '<style:style style:name="U" style:family="text"><style:text-properties'
            ' style:text-position="super 58%"/></style:style>'
        )
        body = (
            "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
            "</text:changed-region></text:tracked-changes>"
            '<text:p>Fee <text:span text:style-name="S">99</text:span>79<text:span text:style-name="H">x</text:span>, '
            '10<text:span text:style-name="U">6</text:span></text:p>'
        )
        blocks = read(FileType.ODT, open_document("text", body, styles))
        assert lines(blocks) == ["Fee 79, 10^6"]
        [warning] = blocks.warnings
        for counted in ("4", "2", "1"):
            assert counted in str(warning)

    def test_tables_have_their_merged_cells_and_marked_header(self) -> None:
        body = (
            "<table:table><table:table-header-rows><table:table-row>"
            "<table:table-cell><text:p>2023</text:p></table:table-cell><table:table-cell><text:p>2024</text:p></table:table-cell>"
            "</table:table-row></table:table-header-rows><table:table-row>"
            '<table:table-cell table:number-columns-spanned="2"><text:p>1000</text:p></table:table-cell>'
            "<table:covered-table-cell/></table:table-row>"
            "<table:table-row><table:table-cell><text:p>1</text:p></table:table-cell>"
            "<table:table-cell><text:p>2</text:p></table:table-cell></table:table-row></table:table>"
        )
        [table] = read(FileType.ODT, open_document("text", body)).blocks
        assert isinstance(table, Table)
        assert table.header_rows == 1
        assert (1, 1) in table.repeated

    def test_a_cell_with_nothing_but_a_picture_says_what_that_shows(self) -> None:
        drawn = "<draw:frame><draw:image><office:binary-data>AAAA</office:binary-data></draw:image><svg:title>{}</svg:title></draw:frame>"
        rows = [["Plan", "Export"], ["Pro", drawn.format("yes")]]
        cells = (
            "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in row)
            for row in rows
        )
        body = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)

        table, _ = read(
            FileType.ODT, open_document("text", f"<table:table>{body}</table:table>")
        ).blocks

        assert isinstance(table, Table)
        assert table.rows == [["Plan", "Export"], ["Pro", "yes"]]

    def test_sheets_show_what_is_displayed(self) -> None:
        cell = '<table:table-cell office:value-type="{}" {}>{}</table:table-cell>'
        shown = cell.format("percentage", 'office:value="0.15"', "<text:p>15 %</text:p>")
        body = (
            '<table:table table:name="Rates"><table:table-row>'
            + "".join(
                cell.format("string", "", f"<text:p>{name}</text:p>")
                for name in ("Name", "Rate", "Note")
            )
            + '<table:table-cell table:number-columns-repeated="16381"/></table:table-row><table:table-row>'
            + cell.format("string", "", "<text:p>A</text:p>")
            + shown
            + "<table:table-cell><office:annotation><text:p>Check this.</text:p></office:annotation></table:table-cell>"
            '</table:table-row><table:table-row table:number-rows-repeated="2">'
            + cell.format("string", "", "<text:p>B</text:p>")
            + shown
            + '</table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
            "</table:table>"
        )
        assert lines(read(FileType.ODS, open_document("spreadsheet", body))) == [
            "# Rates", "Name | Rate | Note", "A | 15 %", "B | 15 %", "B | 15 %", "C2: Check this.",
        ]  # fmt: skip

    def test_a_sheet_that_repeats_a_cell_too_often_is_refused(self) -> None:
        body = (
            '<table:table><table:table-row table:number-rows-repeated="9999999">'
            "<table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>"
        )
        with pytest.raises(FileUnsafe):
            read(FileType.ODS, open_document("spreadsheet", body))

    def test_slides_are_sections_with_their_notes_and_tables_without_their_pictures(self) -> None:
        box = "<draw:text-box><text:p>{}</text:p></draw:text-box>"
        frame = '<draw:frame presentation:class="{}" svg:x="1cm" svg:y="{}cm" svg:width="9cm" svg:height="2cm">{}</draw:frame>'
        table = (
            "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
            "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
            '<draw:image xlink:href="Pictures/table.png"/>'
        )
        body = (
            "<draw:page>" + frame.format("outline", 12, box.format("Below")) + frame.format("table", 6, table)
            + frame.format("title", 1, box.format("Plan")) + "<office:annotation><text:p>Too long.</text:p></office:annotation>"
            + "<presentation:notes>" + frame.format("notes", 1, box.format("Say this.")) + "</presentation:notes></draw:page>"
        )  # fmt: skip
        blocks = read(FileType.ODP, open_document("presentation", body, Pictures_table__png=PNG))
        assert lines(blocks) == ["# Plan", "a | b", "Below", "Say this.", "Comment: Too long."]
        assert blocks.page_count == 1

    def test_shapes_of_a_slide_are_read_as_those_of_powerpoint_are(self) -> None:
        def frame(text: str, left: int, top: int) -> str:
            place = f'svg:x="{left}cm" svg:y="{top}cm" svg:width="4cm" svg:height="1cm"'
            return f"<draw:frame {place}><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"

        group = f"<draw:g>{frame('Low', 1, 9)}{frame('High', 1, 5)}</draw:g>"
        figures = "".join(
            frame(text, *place)
            for text, place in (
                ("12 m", (1, 1)), ("40%", (8, 1)), ("Turnover", (1, 2)), ("Share", (8, 2)),
            )
        )  # fmt: skip
        body = f"<draw:page>{group}{figures}</draw:page>"
        blocks = read(FileType.ODP, open_document("presentation", body))
        assert lines(blocks) == ["# #1", "12 m", "Turnover", "40%", "Share", "High", "Low"]

    def test_formulas_stand_in_their_line(self) -> None:
        body = '<text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame> holds.</text:p>'
        math = (
            '<math:math xmlns:math="http://www.w3.org/1998/Math/MathML"><math:msup><math:mi>r</math:mi>'
            "<math:mn>2</math:mn></math:msup></math:math>"
        )
        content = open_document("text", body, **{"Object 1_content__xml": math})
        assert lines(read(FileType.ODT, content)) == ["So r^2 holds."]

    def test_flat_files_are_read(self) -> None:
        content = (
            f'<?xml version="1.0"?><office:document {NAMESPACES}'
            ' office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>'
            "<text:p>Flat.</text:p></office:text></office:body></office:document>"
        ).encode()
        assert (
            parse(content, "a.fodt", LIMITS).text == "Flat."
        )  # and not refused for being no archive

    def test_a_password_is_named(self) -> None:
        manifest = '<m><x xmlns="u"><encryption-data/></x></m>'
        kind = "application/vnd.oasis.opendocument.text"
        with pytest.raises(FileEncrypted):
            read(
                FileType.ODT,
                zip_package(kind, content__xml=b"\x93\x01", **{"META-INF_manifest__xml": manifest}),
            )

    def test_a_document_type_is_no_danger_but_entities_are(self) -> None:
        kind = "application/vnd.oasis.opendocument.text"
        harmless = '<!DOCTYPE m PUBLIC "-//x" "Manifest.dtd"><m/>'
        check_container(
            zip_package(kind, a__xml=harmless), FileType.ODT, replace(LIMITS, zip_ratio=10_000)
        )
        bomb = '<!DOCTYPE m [<!ENTITY a "aa">]><m>&a;</m>'
        with pytest.raises(FileUnsafe):
            check_container(
                zip_package(kind, a__xml=bomb), FileType.ODT, replace(LIMITS, zip_ratio=10_000)
            )


class TestRichText:
    def test_text_has_headings_by_style_labels_links_and_notes(self) -> None:
        content = (
            rb"{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Arial;}{\f1\fcharset134 SimSun;}}"
            rb"{\stylesheet{\s1\outlinelevel0 heading 1;}}{\info{\title Manual}{\author A}}"
            rb"{\header Page {\field{\*\fldinst PAGE}{\fldrslt 1}}\par}{\header Internal\par}"
            rb"\pard\s1 Terms\par\pard\plain Na\'efve \u20013?\u25991?{\f1 \'d6\'d0} 10{\super 6}"
            rb"{\super\chftn}{\footnote{\super\chftn} Or later.}\par"
            rb"{\listtext 1.\tab}Pay.\par{\listtext\'b7\tab}Deliver.\par"
            rb'{\field{\*\fldinst{HYPERLINK "https://example.org"}}{\fldrslt here}} {\v secret}{\strike old}new\par}'
        )
        blocks = read(FileType.RTF, content)
        assert blocks.title == "Manual"
        assert lines(blocks) == [
            "# Terms",
            "Internal",
            "Naïve 中文中 10^6 [注1]",
            "[note 1] Or later.",
            "1. Pay.",
            "- Deliver.",
            "here (https://example.org) new",
        ]
        assert "6" in str(blocks.warnings[0])  # letters of what is hidden

    def test_cells_merge_by_their_edges_and_marks(self) -> None:
        row = rb"\trowd\cellx1000\cellx2000 "
        content = (
            rb"{\rtf1 " + row + rb"\pard\intbl Name\cell Amount\cell\row"
            rb"\trowd\clvmgf\cellx1000\cellx2000 \pard\intbl A\cell 1\cell\row"
            rb"\trowd\clvmrg\cellx1000\cellx2000 \pard\intbl\cell 2\cell\row"
            rb"\trowd\cellx2000 \pard\intbl All: 3\cell\row\pard After.\par}"
        )
        blocks = read(FileType.RTF, content)
        assert lines(blocks) == ["Name | Amount", "A | 1", "A | 2", "All: 3 | ", "After."]

    def test_wrapped_html_is_read_as_html(self) -> None:
        content = (
            rb"{\rtf1\ansi\fromhtml1 {\*\htmltag64 <p>}\htmlrtf {\htmlrtf0 Hello {\*\htmltag84 <b>}there"
            rb"{\*\htmltag92 </b>}\htmlrtf }\htmlrtf0{\*\htmltag72 </p>}}"
        )
        assert lines(read(FileType.RTF, content)) == ["Hello there"]

    def test_a_table_in_a_cell_and_a_comment_are_read(self) -> None:
        """Word repeats such a table for older programs, one paragraph a cell (`nonesttables`)."""
        inner = rb"{\*\nesttableprops\trowd\cellx900\cellx1800\nestrow}{\nonesttables\par}"
        content = (
            rb"{\rtf1 \trowd\cellx4000\cellx8000\pard\intbl Rooms\par "
            rb"\pard\intbl\itap2 Hall\nestcell 40\nestcell" + inner + rb"\pard\intbl\itap2 Attic\nestcell 9\nestcell"
            + inner + rb"\pard\intbl end\cell other\cell\row "
            rb"\pard Free.{\*\atnid A}{\*\atnauthor Ann}\chatn{\*\annotation\pard Since May?}\par}"
        )  # fmt: skip
        assert lines(read(FileType.RTF, content)) == [
            "Rooms\nHall, 40;\nAttic, 9;\nend | other", "Free.", "Comment (Ann): Since May?",
        ]  # fmt: skip


class TestBooks:
    def test_chapters_stand_in_the_order_of_the_spine_named_by_the_contents(self) -> None:
        content = book(
            a="<html><body><h1>High water</h1><p>Then it rises.</p><aside>Spring tides.</aside></body></html>",
            b='<html><body><p>First it falls.</p><img src="p.png" alt="A tide table"/></body></html>',
        )
        blocks = read(FileType.EPUB, content, replace(LIMITS, images=1))
        assert blocks.title == "Tides"
        assert lines(blocks) == [
            "Author: Ann Lee", "# Low water", "First it falls.", "image A tide table",
            "# High water", "Then it rises.", "Spring tides.",
        ]  # fmt: skip
        assert "lost" in str(blocks.warnings[0])

    def test_a_description_that_is_a_page_is_read_as_its_words(self) -> None:
        content, described = book(a="<html><body><p>Then it rises.</p></body></html>"), io.BytesIO()
        page = b"&lt;div&gt;&lt;p&gt;How the sea &lt;i&gt;moves&lt;/i&gt;.&lt;/p&gt;&lt;/div&gt;"
        with (
            zipfile.ZipFile(io.BytesIO(content)) as read_from,
            zipfile.ZipFile(described, "w") as to,
        ):
            for name in read_from.namelist():
                described_as = b"<dc:description>" + page + b"</dc:description></metadata>"
                to.writestr(name, read_from.read(name).replace(b"</metadata>", described_as))
        assert lines(read(FileType.EPUB, described.getvalue()))[0] == (
            "Author: Ann Lee\nDescription: How the sea moves."
        )

    def test_a_chapter_listed_again_and_again_is_read_once(self) -> None:
        page = "<html><body><p>Then it rises.</p></body></html>"
        listed, again = b'<itemref idref="a"/>', io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(book(a=page))) as read_from,
            zipfile.ZipFile(again, "w") as to,
        ):
            for name in read_from.namelist():
                to.writestr(name, read_from.read(name).replace(listed, 3000 * listed))
        assert lines(read(FileType.EPUB, again.getvalue())).count("Then it rises.") == 1

    def test_copy_protection_is_named(self) -> None:
        encryption = (
            '<encryption><EncryptedData><EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>'
            '<CipherData><CipherReference URI="OPS/a.xhtml"/></CipherData></EncryptedData></encryption>'
        )
        content = io.BytesIO(book(a="\0\0"))
        with zipfile.ZipFile(content, "a") as archive:
            archive.writestr("META-INF/encryption.xml", encryption)
        with pytest.raises(FileEncrypted):
            read(FileType.EPUB, content.getvalue())


def test_a_saved_page_is_read_with_its_pictures() -> None:
    content = (
        b"From: <Saved by Blink>\r\nSnapshot-Content-Location: https://example.org/\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/related; type="text/html"; boundary="B"\r\n\r\n--B\r\n'
        b"Content-Type: text/html; charset=gb2312\r\nContent-Transfer-Encoding: quoted-printable\r\n"
        b"Content-Location: https://example.org/\r\n\r\n<h1>=B1=EA=CC=E2</h1><p>One.</p><img src=3D\"a.png\" alt=3D\"A map\">\r\n"
        b"--B\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64\r\nContent-Location: https://example.org/a.png\r\n\r\n"
        + base64.b64encode(PNG) + b"\r\n--B--\r\n"
    )  # fmt: skip
    assert detect(content, "page.eml") is FileType.MHTML
    blocks = read(FileType.MHTML, content, replace(LIMITS, images=1))
    assert lines(blocks) == ["# 标题", "One.", "image A map"]


def test_an_outlook_message_is_read_as_a_mail_with_what_it_forwards() -> None:
    sent = struct.pack("<HHIQ", 0x40, 0x0039, 6, 133_000_000_000_000_000)
    inner = outlook({"0037": "Offer", "1000": "Ten per cent off."})
    message = outlook(
        {"0037": "FW: Offer", "0C1A": "Ann Lee", "5D01": "ann@example.org", "1000": "See below."},
        {
            "__recip_version1.0_#00000000": outlook({"3001": "Bo", "39FE": "bo@example.org"}),
            "__attach_version1.0_#00000000": outlook({}, {"__substg1.0_3701000D": inner}),
            "__attach_version1.0_#00000001": outlook({"3707": "价目表.pdf", "3701": b"%PDF-1.7"}),
        },
        sent,
    )
    blocks = read(FileType.MSG, write_ole(message))
    text = "\n".join(lines(blocks))
    assert blocks.title == "FW: Offer"
    assert (
        "From: Ann Lee <ann@example.org>\nTo: Bo <bo@example.org>\nDate: Sat, 18 Jun 2022" in text
    )
    assert text.index("See below.") < text.index("# Offer") < text.index("Ten per cent off.")
    assert "价目表.pdf" in text


def test_a_message_with_damaged_text_keeps_its_subject_and_says_so() -> None:
    blocks = read(FileType.MSG, write_ole(outlook({"0037": "Offer", "1009": b"no RTF"})))
    assert lines(blocks) == ["Offer"]
    assert "RTF" in str(blocks.warnings[0])


def test_a_notebook_has_its_words_code_and_outputs() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Sales\n", "\n", "By **region**."]},
        {"cell_type": "code", "source": "df", "outputs": [
            {"output_type": "stream", "text": ["\x1b[31mloaded\x1b[0m\n"]},
            {"output_type": "execute_result", "data": {
                "text/plain": "   n\n0  1",
                "text/html": "<table><tr><th>region</th><th>n</th></tr><tr><td>North</td><td>1</td></tr></table>",
            }},
            {"output_type": "error", "ename": "KeyError", "evalue": "'x'"},
        ]},
    ]  # fmt: skip
    book = {"nbformat": 4, "metadata": {"language_info": {"name": "python"}}, "cells": cells}
    assert lines(read(FileType.IPYNB, json.dumps(book).encode())) == [
        "# Sales", "By region.", "```python\ndf\n```", "```\nloaded\n```",
        "region | n", "North | 1", "```\nKeyError: 'x'\n```",
    ]  # fmt: skip


class TestXml:
    def test_documents_have_sections_lists_tables_and_links(self) -> None:
        content = b"""<?xml version="1.0" encoding="ISO-8859-1"?><article><title>Pumps&nbsp;&amp; caf\xe9s</title>
        <section><title>Use</title><para>Fill the <emphasis>tank</emphasis>&hellip;
        <ulink url="https://example.org">here</ulink>.</para>
        <itemizedlist><listitem><para>One</para></listitem><listitem><para>Two</para></listitem></itemizedlist>
        <table><title>Sizes</title><tgroup cols="2"><colspec colname="c1"/><colspec colname="c2"/>
        <thead><row><entry>Type</entry><entry>Size</entry></row></thead>
        <tbody><row><entry namest="c1" nameend="c2">All</entry></row><row><entry>A</entry><entry>5</entry></row></tbody>
        </tgroup></table></section></article>"""
        blocks = read(FileType.XML, content)
        assert blocks.title == "Pumps & cafés"
        assert lines(blocks)[:5] == [
            "# Pumps & cafés",
            "## Use",
            "Fill the tank… here (https://example.org).",
            "- One\n- Two",
            "Sizes",
        ]
        assert lines(blocks)[5:] == ["Type | Size", "All | ", "A | 5"]

    def test_records_are_tables_and_pages_in_feeds_are_text(self) -> None:
        rows = "".join(
            f"<plant zone='{zone}'><name>{name}</name></plant>"
            for name, zone in (("Fern", 4), ("Moss", 5))
        )
        assert lines(read(FileType.XML, f"<?xml version='1.0'?><list>{rows}</list>".encode())) == [
            "zone | name", "4 | Fern", "5 | Moss",
        ]  # fmt: skip
        feed = "<rss><channel><item><title>News</title><description>&lt;p&gt;It rains.&lt;/p&gt;</description></item></channel></rss>"
        assert "title: News\ndescription: It rains." in lines(read(FileType.XML, feed.encode()))

    def test_fields_with_attributes_stay_in_their_record(self) -> None:
        orders = "".join(
            f"<order><id>{number}</id><total currency='EUR'>{number}.50</total></order>"
            for number in (1, 2)
        )
        assert lines(read(FileType.XML, f"<orders>{orders}</orders>".encode())) == [
            "id | total | total currency", "1 | 1.50 | EUR", "2 | 2.50 | EUR",
        ]  # fmt: skip

    def test_notes_part_no_sentence(self) -> None:
        book = (
            "<book><para>Press 10 Pa<footnote><para>At <emphasis>20</emphasis> °C.</para></footnote> of "
            "water.</para><para>Stop<footnote><para>Slowly.</para></footnote>, go<footnote>Now.</footnote>.</para></book>"
        )
        assert lines(read(FileType.XML, book.encode())) == [
            "Press 10 Pa (At 20 °C.) of water.", "Stop (Slowly.), go (Now.).",
        ]  # fmt: skip

    def test_articles_of_journals_show_their_lists_notes_code_and_formulas(self) -> None:
        article = (
            "<article><body><sec><title>Use</title><p>Stop.<xref ref-type='fn' rid='f1'>a</xref></p>"
            "<list list-type='alpha-lower'><list-item><p>Fill.</p></list-item></list>"
            "<code>while full:\n    wait()</code>"
            "<p>As <alternatives><tex-math>F=ma</tex-math><graphic>F ma</graphic></alternatives>.</p></sec></body>"
            "<back><fn-group><fn id='f1'><label>a</label><p>At once.</p></fn></fn-group></back></article>"
        )
        assert lines(read(FileType.XML, article.encode())) == [
            "# Use", "Stop [note a].", "a. Fill.", "```\nwhile full:\n    wait()\n```", "As F=ma.", "[note a] At once.",
        ]  # fmt: skip

    def test_a_table_beside_its_picture_is_read_and_a_raised_mark_of_a_note_once(self) -> None:
        article = (
            "<article><body><p>Dry it.<xref ref-type='fn' rid='f1'><sup>1</sup></xref></p><table-wrap><alternatives>"
            "<graphic href='t.tif'/><table><tr><td>Sump</td><td>5 l</td></tr></table></alternatives></table-wrap></body>"
            "<back><fn-group><fn id='f1'><label>1</label><p>At 60 °C.</p></fn></fn-group></back></article>"
        )
        assert lines(read(FileType.XML, article.encode())) == [
            "Dry it [note 1].", "Sump | 5 l", "[note 1] At 60 °C.",
        ]  # fmt: skip

    def test_rows_of_cells_are_a_table_whatever_the_cells_hold(self) -> None:
        row = "<Row><Cell><Data>{}</Data></Cell><Cell><Data>{}</Data></Cell></Row>"
        sheet = f"<Workbook><p>Stock:</p><Table>{row.format('Part', 'Number')}{row.format('Nut', '5')}</Table></Workbook>"
        assert lines(read(FileType.XML, sheet.encode())) == [
            "Stock:",
            "Part | Number",
            "Nut | 5",
        ]

    def test_terms_of_docbook_stand_before_what_they_mean(self) -> None:
        entry = "<varlistentry><term>Sump</term><listitem><para>The lowest part.</para></listitem></varlistentry>"
        book = f"<article><para>Words:</para><variablelist>{entry}</variablelist></article>"
        assert lines(read(FileType.XML, book.encode())) == ["Words:", "Sump: The lowest part."]

    def test_entities_are_read_but_neither_bombs_nor_other_files(self) -> None:
        own = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY firm "Acme">]><a><p>By &firm;.</p></a>'
        assert lines(read(FileType.XML, own.encode())) == ["By Acme."]

        other = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a><p>By &x;.</p></a>'
        blocks = read(FileType.XML, other.encode())
        assert lines(blocks) == ["By ."]
        assert blocks.omissions
        assert blocks.omissions.not_read == {"reference": 1}
        names = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
        bomb = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">{names}]><a><p>&e9;</p></a>'
        with pytest.raises(FileUnsafe):
            read(FileType.XML, bomb.encode())

    def test_prefixes_that_nothing_declares_cost_no_file(self) -> None:
        rows = "".join(f"<dc:row><dc:part x:id='{n}'>Bolt {n}</dc:part></dc:row>" for n in (1, 2))
        text = "\n".join(lines(read(FileType.XML, f"<list>{rows}</list>".encode())))
        assert "Bolt 1" in text
        assert "Bolt 2" in text

    def test_what_lies_in_other_files_is_named(self) -> None:
        xml = """<!DOCTYPE a SYSTEM "a.dtd" [<!ENTITY two SYSTEM "two.xml">]>
            <a xmlns:xi="http://www.w3.org/2001/XInclude"><p>See &two; and &no.where;<![CDATA[ &kept;]]></p><xi:include href="c3.xml"/></a>"""
        blocks = read(FileType.XML, xml.encode())
        assert lines(blocks) == ["See and &kept;"]
        assert [str(warning) for warning in blocks.warnings] == [
            "Not read: 3 references (two, no.where, c3.xml)"
        ]

    def test_what_nests_too_deep_is_refused(self) -> None:
        deep = f"<?xml version='1.0'?>{'<a>' * 250}<p>x</p>{'</a>' * 250}"
        with pytest.raises(FileUnsafe):
            read(FileType.XML, deep.encode())


@pytest.mark.parametrize(
    ("stream", "target"),
    [("WordDocument", "docx"), ("Workbook", "xlsx"), ("PowerPoint Document", "pptx")],
)
def test_formats_before_2007_are_rewritten_first(stream: str, target: str) -> None:
    embedded: Tree = {"ObjectPool": {"Workbook": b"x", "WordDocument": b"x"}, stream: b"x"}
    with pytest.raises(ConversionNeeded) as needed:
        parse(write_ole(embedded), "a.bin", LIMITS)
    assert needed.value.target == target


def test_records_keep_their_fields_where_one_holds_bold_words() -> None:
    items = "".join(
        f'<item sku="K-{n}" price="{n}.50"><name>Pot {n}</name><about>Boils {word}.</about></item>'
        for n, word in ((1, "<b>fast</b>"), (2, "slowly"))
    )

    found = read(FileType.XML, f"<list>{items}</list>".encode())

    assert lines(found) == [
        "sku | price | name | about",
        "K-1 | 1.50 | Pot 1 | Boils fast.",
        "K-2 | 2.50 | Pot 2 | Boils slowly.",
    ]


def test_an_xml_workbook_is_its_tables_below_the_names_of_their_sheets() -> None:
    namespace = "urn:schemas-microsoft-com:office:spreadsheet"
    cells = [["Part", "Stock", "Sold"], ["Bolt", "7", "2"]]
    rows = "".join(
        f"<Row>{''.join(f'<Cell><Data>{text}</Data></Cell>' for text in row)}</Row>"
        for row in cells
    )
    left_out = '<Cell ss:Index="3"><Data>9</Data></Cell>'
    rows += (
        f'<Row><Cell ss:MergeDown="1"><Data>Nut</Data></Cell>{left_out}</Row><Row>{left_out}</Row>'
    )
    rows += f'<Row><Cell ss:MergeAcross="1"><Data>All</Data></Cell>{left_out}</Row>'
    book = (
        f'<Workbook xmlns="{namespace}" xmlns:ss="{namespace}">'
        '<ExcelWorkbook xmlns="urn:schemas-microsoft-com:office:excel"><Height>9000</Height></ExcelWorkbook>'
        f'<Styles><Style>Bold</Style></Styles><Worksheet ss:Name="Store"><Table>{rows}</Table></Worksheet></Workbook>'
    )

    found = read(FileType.XML, f'<?xml version="1.0"?>{book}'.encode())

    assert lines(found) == [
        "## Store",
        "Part | Stock | Sold",
        "Bolt | 7 | 2",
        "Nut |  | 9",
        "Nut |  | 9",
        "All | All | 9",
    ]


def test_paragraphs_by_any_name_below_a_title_are_no_records() -> None:
    text = "<text>It <b>never</b> stops.</text><text>It hums.</text>"

    found = read(FileType.XML, f"<book><part><title>Pump</title>{text}</part></book>".encode())

    assert lines(found)[-3:] == ["# Pump", "It never stops.", "It hums."]


def test_rows_of_cells_outside_a_table_keep_their_values_apart() -> None:
    row = "<row><cell>1</cell><cell>Ann</cell></row>"

    assert "1, Ann" in "".join(lines(read(FileType.XML, f"<list>{row}{row}</list>".encode())))
