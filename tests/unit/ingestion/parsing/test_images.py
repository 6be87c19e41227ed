"""Images inside of documents: found in every format, encoded anew, and put into the text by caption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from zipfile import ZipFile

import docx
import pytest
from PIL import Image
from pptx import Presentation
from pptx.util import Inches

from sextant.domain.documents import Modality
from sextant.domain.errors import (
    FileBroken,
    FileEmpty,
    FileTooLarge,
    FileTypeUnknown,
    FileUnsafe,
)
from sextant.domain.warnings import WarningCode
from sextant.ingestion.parsing.child import parse
from sextant.ingestion.parsing.detect import media_type
from sextant.ingestion.parsing.draft import from_wire, to_wire
from sextant.ingestion.parsing.limits import Limits
from tests.pdf_writer import PdfPicture, PdfText, write_pdf
from tests.pictures import data_uri, picture

SEEING = Limits(images=10)


def word() -> bytes:
    document = docx.Document()
    document.add_heading("Chart", 1)
    document.add_paragraph("Before the image.")
    document.add_picture(BytesIO(picture()))
    drawn = document.paragraphs[-1]._p.xpath(".//wp:docPr")[0]
    drawn.set("descr", "Sales by region")
    document.add_paragraph("After the image.")
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def slides() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Chart"
    shape = slide.shapes.add_picture(BytesIO(picture()), Inches(1), Inches(2))
    shape._element._nvXxPr.cNvPr.set("descr", "Sales by region")
    written = BytesIO()
    presentation.save(written)
    return written.getvalue()


def html() -> bytes:
    image = f'<img src="{data_uri(picture())}" alt="Sales by region">'
    return f"<h1>Chart</h1><p>Before the image.</p>{image}<p>After the image.</p>".encode()


def markdown() -> bytes:
    return f"# Chart\n\nBefore.\n\n![Sales by region]({data_uri(picture())})\n\nAfter.\n".encode()


FILES: dict[str, Callable[[], bytes]] = {
    "a.docx": word,
    "a.pptx": slides,
    "a.html": html,
    "a.md": markdown,
}


@pytest.mark.parametrize("name", FILES)
def test_an_image_is_found_and_its_caption_becomes_part_of_the_text(name: str) -> None:
    content = FILES[name]()
    first = from_wire(to_wire(parse(content, name, SEEING)))
    [image] = first.images
    assert image.alt == "Sales by region"
    assert image.jpeg.startswith(b"\xff\xd8\xff")
    told = Limits(images=10, captions={image.sha256: "A bar chart: north 40, south 60."})
    made = parse(content, name, told)
    assert made.images == ()
    [cut] = [cut for cut in made.cuts if cut.modality is Modality.IMAGE]
    assert made.text[cut.start : cut.end] == "Sales by region\nA bar chart: north 40, south 60."
    assert made.sections[cut.section].title == "Chart"
    if name != "a.pptx":
        before, after = made.text.split(made.text[cut.start : cut.end])
        assert "Before" in before
        assert "After" in after


@pytest.mark.parametrize("name", FILES)
def test_without_a_vision_model_an_image_is_what_the_document_says_of_it(name: str) -> None:
    made = parse(FILES[name](), name, Limits())
    assert made.images == ()
    [cut] = [cut for cut in made.cuts if cut.modality is Modality.IMAGE]
    assert made.text[cut.start : cut.end] == "Sales by region"
    [warning] = made.warnings
    assert str(warning).startswith("1 image not read: no vision model is configured.")


@pytest.mark.parametrize("name", FILES)
def test_images_that_would_be_described_are_no_warning(name: str) -> None:
    assert parse(FILES[name](), name, SEEING).warnings == ()


def test_decoration_and_what_is_shown_again_are_not_missed() -> None:
    shown = "".join(
        f'<img src="{data_uri(one)}">' for one in (picture(), picture(), picture(size=(20, 20)))
    )
    made = parse(f"<p>Before{shown}after.</p>".encode(), "a.html", Limits())
    assert [str(warning)[:7] for warning in made.warnings] == ["1 image"]
    assert made.text == "Beforeafter."


def test_images_of_a_pdf_that_nobody_looks_at_are_counted_once_each() -> None:
    page: list[PdfText | PdfPicture] = [PdfText(60, 700, "One."), PdfPicture(60, 400, 100)]
    made = parse(write_pdf([page, page]), "a.pdf", Limits(smallest_edge=1))
    assert [str(warning)[:24] for warning in made.warnings] == ["1 image not read: no vis"]


def test_images_of_a_pdf_stand_behind_the_text_of_their_page() -> None:
    content = write_pdf(
        [
            [PdfText(60, 700, "The chart shows sales."), PdfPicture(60, 400, 100)],
            [PdfText(60, 700, "On.")],
        ]
    )
    seeing = replace(SEEING, smallest_edge=1)
    [image] = parse(content, "a.pdf", seeing).images
    made = parse(content, "a.pdf", replace(seeing, captions={image.sha256: "A grey field."}))
    assert made.text == "The chart shows sales.\n\nA grey field.\n\nOn."
    assert [(cut.modality, cut.page) for cut in made.cuts][:2] == [
        (Modality.TEXT, 1), (Modality.IMAGE, 1),
    ]  # fmt: skip


def test_a_scanned_pdf_is_what_its_images_show() -> None:
    pages = [Image.new("RGB", (200, 300), color) for color in ("white", "blue")]
    written = BytesIO()
    pages[0].save(written, "PDF", save_all=True, append_images=pages[1:])
    first = parse(written.getvalue(), "scan.pdf", SEEING)
    assert (first.text, len(first.images)) == ("", 2)
    captions = {image.sha256: f"Page {n}." for n, image in enumerate(first.images, 1)}
    made = parse(written.getvalue(), "scan.pdf", replace(SEEING, captions=captions))
    assert made.text == "Page 1.\n\nPage 2."
    assert [cut.page for cut in made.cuts] == [1, 2]
    with pytest.raises(FileEmpty):
        parse(written.getvalue(), "scan.pdf", Limits())


@pytest.mark.parametrize("name", ["a.png", "A.PNG"])
def test_an_image_file_is_a_document_once_it_is_described(name: str) -> None:
    first = parse(picture(), name, SEEING)
    assert (first.text, len(first.images)) == ("", 1)
    told = Limits(images=10, captions={first.images[0].sha256: "A red field."})
    made = parse(picture(), name, told)
    assert (made.text, [cut.modality for cut in made.cuts]) == ("A red field.", [Modality.IMAGE])
    assert media_type(name) == "image/png"


def test_an_image_file_without_a_vision_model_is_refused_with_what_to_set() -> None:
    with pytest.raises(FileEmpty) as caught:
        parse(picture(), "a.png", Limits())
    assert "SEXTANT_VISION_MODEL" in caught.value.next_step


def test_an_image_file_is_checked_like_any_image() -> None:
    with pytest.raises(FileBroken):
        parse(picture()[:80], "a.png", SEEING)
    with pytest.raises(FileUnsafe):
        parse(picture(), "a.png", Limits(images=1, image_pixels=100))
    with pytest.raises(FileTypeUnknown):
        parse(picture(), "a.pdf", SEEING)


def test_decoration_repetition_and_what_cannot_be_read_are_left_out() -> None:
    shown = [
        picture("red"),
        picture("red"),
        picture("blue", (20, 20)),
        b"no image",
        picture("green"),
    ]
    body = "".join(f'<img src="{data_uri(content)}">' for content in shown)
    page = f'<p>Text.</p>{body}<img src="https://example.org/x.png" alt="elsewhere">'.encode()
    made = parse(page, "a.html", SEEING)
    assert len(made.images) == 2
    assert made.text == "Text."


def test_no_more_images_are_kept_than_allowed() -> None:
    body = "".join(f'<img src="{data_uri(picture(c))}">' for c in ("red", "green", "blue"))
    assert len(parse(f"<p>T.</p>{body}".encode(), "a.html", Limits(images=2)).images) == 2


EMF = b"\x01\x00\x00\x00" + bytes(36) + b" EMF" + bytes(60)
WMF = b"\xd7\xcd\xc6\x9a" + bytes(60)


@pytest.mark.parametrize("limits", [Limits(), SEEING])
@pytest.mark.parametrize("drawing", [EMF, WMF])
def test_drawings_of_windows_are_reported_since_they_are_not_read(
    drawing: bytes, limits: Limits
) -> None:
    written = BytesIO()
    with ZipFile(BytesIO(word())) as source, ZipFile(written, "w") as target:
        for name in source.namelist():
            content = drawing if name.startswith("word/media/") else source.read(name)
            target.writestr(name, content)
    draft = parse(written.getvalue(), "chart.docx", limits)
    assert [warning.code for warning in draft.warnings] == [WarningCode.METAFILES_NOT_READ]
    assert str(draft.warnings[0]).startswith("1 image not read")


def test_an_image_that_is_too_large_names_the_setting() -> None:
    with pytest.raises(FileTooLarge) as raised:
        parse(picture(), "photo.png", replace(SEEING, image_bytes=10))
    assert "SEXTANT_MULTIMODAL__IMAGE_BYTES" in raised.value.next_step
    with pytest.raises(FileUnsafe) as unsafe:
        parse(picture(), "photo.png", replace(SEEING, image_pixels=10))
    assert "SEXTANT_MULTIMODAL__IMAGE_PIXELS" in unsafe.value.next_step
