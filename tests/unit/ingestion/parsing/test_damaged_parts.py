"""One damaged part of an Office file costs no more than itself, and is named."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from openpyxl.comments import Comment
from PIL import Image

from sextant.domain.errors import FileBroken
from sextant.ingestion.parsing.child import parse
from sextant.ingestion.parsing.draft import DocumentDraft
from sextant.ingestion.parsing.limits import Limits
from tests.document_writer import book, open_document
from tests.unit.ingestion.parsing.office_files import Related, word, xml

GARBAGE, MISSING = b"no XML \x00\x01", None
BINARY, TEXT = b"\x00\xff not xml <<<", "只是文字".encode()


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


@cache
def lease() -> bytes:
    document: Any = docx.Document()
    document.core_properties.title = "Lease"
    document.add_heading("Rent", 1)
    document.add_paragraph("The rent is 900 EUR.")
    document.add_paragraph("No pets", style="List Bullet")
    picture = io.BytesIO()
    Image.new("RGB", (90, 90)).save(picture, "PNG")
    document.add_picture(picture)
    document.add_paragraph("It ends in May.")
    document.sections[0].header.paragraphs[0].text = "Draft of Ann"
    return saved(document)


@cache
def talk() -> bytes:
    deck: Any = pptx.Presentation()
    for name in ("Aims", "Costs"):
        slide = deck.slides.add_slide(deck.slide_layouts[1])
        slide.shapes.title.text = name
        slide.placeholders[1].text = f"{name} are listed."
        slide.notes_slide.notes_text_frame.text = f"Explain {name}."
    return saved(deck)


@cache
def stock() -> bytes:
    book = openpyxl.Workbook()
    book.properties.title = "Stock"
    for at, name in enumerate(("Bolts", "Nuts")):
        sheet = book.active if at == 0 else book.create_sheet()
        assert sheet is not None
        sheet.title = name
        sheet.append(["Size", name])
        sheet.append(["M4", 120])
        sheet["A2"].comment = Comment(f"{name} are counted", "Ann")
    return saved(book)


FILES = {"a.docx": lease, "a.pptx": talk, "a.xlsx": stock}
ALL = {
    "a.docx": ["Rent", "The rent is 900 EUR.", "No pets", "It ends in May.", "Draft of Ann"],
    "a.pptx": ["Aims are listed.", "Explain Aims.", "Costs are listed.", "Explain Costs."],
    "a.xlsx": ["| M4 | 120 |", "Bolts", "Bolts are counted", "Nuts", "Nuts are counted"],
}


def with_part(filename: str, part: str, content: bytes | None) -> bytes:
    """Return the file with other bytes, or none, in one of its parts."""
    changed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(FILES[filename]())) as source,
        zipfile.ZipFile(changed, "w") as target,
    ):
        assert part in source.namelist()
        for name in source.namelist():
            written = content if name == part else source.read(name)
            if written is not None:
                target.writestr(name, written)
    return changed.getvalue()


def read(filename: str, part: str, content: bytes | None) -> DocumentDraft:
    return parse(with_part(filename, part, content), filename, Limits())


@pytest.mark.parametrize("content", [GARBAGE, b"", MISSING, b"<html><p>no part</p></html>"])
@pytest.mark.parametrize(
    ("filename", "part", "lost", "named"),
    [
        ("a.docx", "docProps/core.xml", (), ""),
        ("a.docx", "word/styles.xml", (), "styles"),
        ("a.docx", "word/numbering.xml", (), "numbering"),
        ("a.docx", "word/theme/theme1.xml", (), ""),
        ("a.docx", "word/header1.xml", ("Draft of Ann",), "header"),
        ("a.docx", "word/media/image1.png", (), ""),
        ("a.docx", "[Content_Types].xml", (), ""),
        ("a.pptx", "docProps/core.xml", (), ""),
        ("a.pptx", "ppt/theme/theme1.xml", (), ""),
        ("a.pptx", "ppt/slideLayouts/slideLayout2.xml", (), "slideLayout2"),
        ("a.pptx", "ppt/slides/slide1.xml", ("Aims are listed.", "Explain Aims."), "slide"),
        ("a.pptx", "ppt/notesSlides/notesSlide1.xml", ("Explain Aims.",), "notes"),
        ("a.xlsx", "docProps/core.xml", (), ""),
        ("a.xlsx", "xl/styles.xml", (), "styles"),
        ("a.xlsx", "xl/theme/theme1.xml", (), ""),
        ("a.xlsx", "xl/worksheets/sheet2.xml", ("Nuts", "Nuts are counted"), "sheet"),
        ("a.xlsx", "xl/comments/comment1.xml", ("Bolts are counted",), "comment"),
        ("a.xlsx", "[Content_Types].xml", (), ""),
    ],
)
def test_it_costs_no_other_and_is_named(
    filename: str, part: str, lost: tuple[str, ...], named: str, content: bytes | None
) -> None:
    made = read(filename, part, content)

    assert all(text in made.text for text in ALL[filename] if text not in lost)
    assert not named or named in " ".join(map(str, made.warnings))


@pytest.mark.parametrize("filename", FILES)
def test_a_whole_file_has_no_warning_of_damage(filename: str) -> None:
    made = parse(FILES[filename](), filename, Limits())

    assert all(text in made.text for text in ALL[filename])
    assert "Damaged" not in " ".join(map(str, made.warnings))


@pytest.mark.parametrize("content", [BINARY, TEXT])
@pytest.mark.parametrize("filename", FILES)
def test_any_part_but_the_main_one_may_be_unreadable(filename: str, content: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(FILES[filename]())) as archive:
        names = [name for name in archive.namelist() if name.endswith((".xml", ".rels"))]
    main = {"word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"}

    for part in sorted({*names} - main - {"[Content_Types].xml"}):
        made = read(filename, part, content)

        assert made.text


@pytest.mark.parametrize(
    ("filename", "part"),
    [
        ("a.docx", "word/header1.xml"),
        ("a.pptx", "ppt/slides/slide1.xml"),
        ("a.xlsx", "xl/comments/comment1.xml"),
    ],
)
def test_xml_of_something_else_is_named(filename: str, part: str) -> None:
    made = read(filename, part, b"<x xmlns='urn:x'><y/></x>")

    assert any(part in str(warning) for warning in made.warnings)


def test_a_torn_part_is_read_as_far_as_possible() -> None:
    rows = "".join(f'<row r="{at}"><c r="A{at}"><v>{at}</v></c></row>' for at in (71, 72, 73))
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    torn = f'<worksheet xmlns="{main}"><sheetData>{rows}<row r="74"><c'.encode()

    made = read("a.xlsx", "xl/worksheets/sheet2.xml", torn)

    assert all(str(number) in made.text for number in (120, 71, 72, 73))
    assert "Not read: 1 damaged sheet (Nuts)" in " ".join(map(str, made.warnings))


@pytest.mark.parametrize(
    ("filename", "part", "content"),
    [
        ("a.pptx", "ppt/_rels/presentation.xml.rels", GARBAGE),
        ("a.xlsx", "xl/_rels/workbook.xml.rels", MISSING),
        ("a.docx", "_rels/.rels", GARBAGE),
    ],
)
def test_parts_are_found_by_their_usual_names_where_nothing_tells_them(
    filename: str, part: str, content: bytes | None
) -> None:
    made = read(filename, part, content)

    assert all(text in made.text for text in ALL[filename])
    assert "Damaged or missing" in " ".join(map(str, made.warnings))


@pytest.mark.parametrize(
    ("filename", "part"),
    [
        ("a.docx", "word/document.xml"),
        ("a.pptx", "ppt/presentation.xml"),
        ("a.xlsx", "xl/workbook.xml"),
    ],
)
def test_without_its_main_part_a_file_is_broken(filename: str, part: str) -> None:
    with pytest.raises(FileBroken, match=part):
        read(filename, part, GARBAGE)


@pytest.mark.parametrize("value", ["zz", "", "-1", "9" * 20])
def test_numbers_that_are_none_cost_nothing_else(value: str) -> None:
    with zipfile.ZipFile(io.BytesIO(lease())) as archive:
        numbering = archive.read("word/numbering.xml").decode()
    changed = numbering.replace('w:ilvl="0"', f'w:ilvl="{value}"')

    made = read("a.docx", "word/numbering.xml", changed.encode())

    assert all(text in made.text for text in ALL["a.docx"])


def report() -> bytes:
    """Return a DOCX with everything that a part of its own holds, and a sentence before and after."""
    chart = xml("c:chartSpace", "<c:chart/>")
    return word(
        "<w:p><w:r><w:t>It begins here.</w:t></w:r></w:p>"
        '<w:p><w:r><w:t>See</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r>'
        '<w:r><w:drawing><c:chart r:id="chart"/><a:blip r:embed="picture"/></w:drawing></w:r>'
        '<w:r><w:object><o:OLEObject ProgID="Excel.Sheet.12" r:id="sheet"/></w:object></w:r></w:p>'
        "<w:p><w:r><w:t>It ends here.</w:t></w:r></w:p>"
        '<w:sectPr><w:headerReference r:id="head"/></w:sectPr>',
        {
            "styles": Related("styles", "styles.xml", xml("w:styles", "")),
            "numbers": Related("numbering", "numbering.xml", xml("w:numbering", "")),
            "notes": Related("footnotes", "footnotes.xml", xml("w:footnotes", "")),
            "chart": Related("chart", "charts/chart1.xml", chart),
            "picture": Related("image", "media/image1.png", b"\x89PNG"),
            "sheet": Related("package", "embeddings/book1.xlsx", b"PK"),
            "head": Related("header", "header1.xml", xml("w:hdr", "")),
        },
    )


def letter() -> bytes:
    return open_document("text", "<text:p>It begins here.</text:p><text:p>It ends here.</text:p>")


def novel() -> bytes:
    return book(one="<p>It begins here.</p>", two="<p>It ends here.</p>")


PARTED: dict[str, tuple[Callable[[], bytes], set[str]]] = {
    "a.docx": (report, {"word/document.xml"}),
    "a.pptx": (talk, {"ppt/presentation.xml"}),
    "a.xlsx": (stock, {"xl/workbook.xml"}),
    "a.odt": (letter, {"content.xml"}),
}


def with_wrong_checksum(content: bytes, name: str) -> bytes:
    """Return a package of which one entry is not what its checksum says."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        crc = archive.getinfo(name).CRC
    return content.replace(crc.to_bytes(4, "little"), (crc ^ 1).to_bytes(4, "little"))


def without(content: bytes, name: str) -> bytes:
    """Return a package without one of its entries, to which relationships still point."""
    changed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as source,
        zipfile.ZipFile(changed, "w") as target,
    ):
        for entry in source.namelist():
            if entry != name:
                target.writestr(entry, source.read(entry))
    return changed.getvalue()


@pytest.mark.parametrize("damage", [with_wrong_checksum, without])
@pytest.mark.parametrize("filename", PARTED)
def test_no_part_but_the_main_one_costs_the_file(
    filename: str, damage: Callable[[bytes, str], bytes]
) -> None:
    make, main = PARTED[filename]
    content = make()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = {name for name in archive.namelist() if archive.getinfo(name).file_size}

    for part in sorted(names - main - {"mimetype"}):
        made = parse(damage(content, part), filename, Limits())

        assert made.text, part
        if filename in {"a.docx", "a.odt"}:
            assert "It begins here." in made.text, part
            assert "It ends here." in made.text, part


@pytest.mark.parametrize("damage", [with_wrong_checksum, without])
def test_a_torn_chapter_costs_no_other(damage: Callable[[bytes, str], bytes]) -> None:
    content = novel()
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        [part] = [name for name in archive.namelist() if name.endswith("two.xhtml")]

    made = parse(damage(content, part), "a.epub", Limits())

    assert "It begins here." in made.text
    assert "Not read: 2 chapters" in " ".join(
        map(str, made.warnings)
    )  # and one that is listed alone
