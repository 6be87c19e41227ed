"""Read the pictures of a PDF page, the strokes that may rule a table, form fields and comments."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from io import BytesIO
from itertools import islice

import pypdfium2 as pdfium
from pypdfium2 import raw

from sextant.ingestion.parsing.blocks import Image
from sextant.ingestion.parsing.formats.pdf_characters import bind
from sextant.ingestion.parsing.formats.pdf_lines import PdfBox, PdfLine
from sextant.ingestion.parsing.limits import Limits

# Shares: of a page that the picture of a scan covers at least; of a picture that the text over it covers if it is its text.
_WHOLE_PAGE, _CAPTIONED = 0.7, 0.02
_ORNAMENTS = 20  # drawings on an empty page; letters that are drawn are more
# Points: the width of a filled bar at most, the length of a stroke, and the sides of a box to be ticked.
_BAR, _SHORTEST, _TICK = 3.0, 4.0, 15.0
# A page with more drawings than this is a map or a plan, not a table.
_MAX_DRAWINGS = 3000

_object_at = bind(raw.FPDFPage_GetObject, raw.FPDF_PAGEOBJECT)
_kind_of = bind(raw.FPDFPageObj_GetType)
_segment_at = bind(raw.FPDFPath_GetPathSegment, raw.FPDF_PATHSEGMENT)
_point_of = bind(raw.FPDFPathSegment_GetPoint)
_segment_kind = bind(raw.FPDFPathSegment_GetType)
_closes = bind(raw.FPDFPathSegment_GetClose)


class Drawings:
    """What is drawn on a page (its number counts from 1), as long as the page is open."""

    def __init__(self, page: pdfium.PdfPage, number: int) -> None:
        self._page = page
        self._number = number

    @cached_property
    def _objects(self) -> list[tuple[raw.FPDF_PAGEOBJECT, int]]:
        """List page objects with their types; a `PdfObject` of each would take half the time of a page."""
        page, count = self._page.raw, raw.FPDFPage_CountObjects(self._page)
        found = [_object_at(page, index) for index in range(count)]
        return [(item, _kind_of(item)) for item in found]

    @cached_property
    def _pictures(self) -> list[pdfium.PdfImage]:
        """List the pictures, those in forms too."""
        pictures, page = list[pdfium.PdfImage](), self._page
        for item, kind in self._objects:
            if kind == raw.FPDF_PAGEOBJ_IMAGE:
                pictures.append(pdfium.PdfObject(item, page))
            elif kind == raw.FPDF_PAGEOBJ_FORM:
                form = pdfium.PdfObject(item, page)
                pictures += page.get_objects([raw.FPDF_PAGEOBJ_IMAGE], form=form, level=1)
        return pictures

    def is_picture(self, lines: Sequence[PdfLine]) -> bool:
        """Return whether what the page says is drawn: it has no text, or hardly any over a picture of the whole page."""
        if not lines:
            shown = islice(self._page.get_objects(), _ORNAMENTS + 1)
            return bool(self._pictures) or len(list(shown)) > _ORNAMENTS
        frame = PdfBox(*self._page.get_cropbox())
        return any(
            _share(box, frame) >= _WHOLE_PAGE and _share_of_text(lines, box) < _CAPTIONED
            for box in map(_bounds, self._pictures)
        )

    def pictures(self, limits: Limits, lines: Sequence[PdfLine]) -> Iterator[Image]:
        """Yield pictures as image files: a JPEG as it is, any other as a PNG; broken ones are left out.

        The words of a picture are read where the file has them over it as text.
        """
        for item in self._large_pictures(limits):
            is_read = bool(lines) and _share_of_text(lines, _bounds(item)) >= _CAPTIONED
            if is_read and not limits.describes:
                continue
            with suppress(pdfium.PdfiumError, ValueError, OSError):
                if item.get_filters() == ["DCTDecode"]:
                    content = bytes(item.get_data())
                else:
                    written = BytesIO()
                    picture = item.get_bitmap().to_pil().convert("RGB")
                    picture.save(written, "PNG", compress_level=1)
                    content = written.getvalue()
                yield Image(content, page=self._number, is_read=is_read)

    def pictures_unread(self, limits: Limits) -> Iterator[bytes]:
        """Yield the sha256 of each of them as the file has it; nothing is decoded."""
        for item in self._large_pictures(limits):
            with suppress(pdfium.PdfiumError, ValueError, OSError):
                yield hashlib.sha256(item.get_data()).digest()

    def _large_pictures(self, limits: Limits) -> Iterator[pdfium.PdfImage]:
        for item in self._pictures:
            with suppress(pdfium.PdfiumError):
                width, height = item.get_px_size()
                large = min(width, height) >= limits.smallest_edge
                if large and width * height <= limits.image_pixels:
                    yield item

    def strokes(self) -> list[PdfBox]:
        """Return straight horizontal and vertical strokes that are drawn, and the edges of drawn rectangles.

        A bar that is filled is a stroke; a larger area that is filled, such as a background, has no edges.
        """
        if raw.FPDFPage_CountObjects(self._page) > _MAX_DRAWINGS:
            return []
        paths = (item for item, kind in self._objects if kind == raw.FPDF_PAGEOBJ_PATH)
        strokes = [stroke for path in paths for stroke in _path_strokes(path)]
        return strokes if len(strokes) <= _MAX_DRAWINGS else []


def _path_strokes(path: raw.FPDF_PAGEOBJECT) -> Iterator[PdfBox]:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, fill, stroke)
    sides = [ctypes.c_float() for _ in range(4)]
    if not raw.FPDFPageObj_GetBounds(path, *sides):
        return
    box = PdfBox(*(side.value for side in sides))
    short, long = sorted((box.width, box.height))
    if stroke.value and not _BAR < short <= long < _TICK:  # a box to be ticked is no cell
        yield from _edges(path)
    elif fill.value and not stroke.value and short <= _BAR and long > _SHORTEST:
        yield box


def _edges(path: raw.FPDF_PAGEOBJECT) -> Iterator[PdfBox]:
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    begin = here = (0.0, 0.0)
    for index in range(min(raw.FPDFPath_CountSegments(path), _MAX_DRAWINGS)):
        segment = _segment_at(path, index)
        _point_of(segment, ctypes.byref(x), ctypes.byref(y))
        there = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        kind = _segment_kind(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            begin = there
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield from _stroke(here, there)
        if _closes(segment):
            yield from _stroke(there, begin)
        here = there


def _bounds(item: pdfium.PdfObject) -> PdfBox:
    return PdfBox(*item.get_bounds())


def _share(box: PdfBox, frame: PdfBox) -> float:
    """Return how much of the frame a box takes."""
    width = min(box.right, frame.right) - max(box.left, frame.left)
    height = min(box.top, frame.top) - max(box.bottom, frame.bottom)
    whole = frame.width * frame.height
    return max(width, 0.0) * max(height, 0.0) / whole if whole > 0 else 0.0


def _share_of_text(lines: Sequence[PdfLine], box: PdfBox) -> float:
    """Return how much of a box lines of text take."""
    return sum(_share(line.box, box) for line in lines)


def _stroke(a: tuple[float, float], b: tuple[float, float]) -> Iterator[PdfBox]:
    short, long = sorted((abs(a[0] - b[0]), abs(a[1] - b[1])))
    if short < 1 and long > _SHORTEST:
        yield PdfBox(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))


_WRITTEN_OVER = {raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT}
_TICKED = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
_WORDLESS = {raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP}


def is_written_over(page: pdfium.PdfPage) -> bool:
    """Return whether fields or text lie over the page, which are no part of its own text."""
    return any(raw.FPDFAnnot_GetSubtype(one) in _WRITTEN_OVER for one in _annotations(page))


def find_ticks(document: pdfium.PdfDocument, page: pdfium.PdfPage) -> Iterator[tuple[str, PdfBox]]:
    """Yield a sign for each box to be ticked, and where it stands."""
    for annotation in _annotations(page):
        if raw.FPDFAnnot_GetFormFieldType(document.formenv, annotation) in _TICKED:
            is_on = raw.FPDFAnnot_IsChecked(document.formenv, annotation)
            yield "☒" if is_on else "☐", _locate(annotation)


def read_notes(page: pdfium.PdfPage) -> Iterator[tuple[str, PdfBox]]:
    """Yield what is written in annotations, and where they stand; links and fields have no words of their own."""
    for annotation in _annotations(page):
        if raw.FPDFAnnot_GetSubtype(annotation) in _WORDLESS:
            continue
        length = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
        written = ctypes.create_string_buffer(length)
        place = ctypes.cast(written, ctypes.POINTER(raw.FPDF_WCHAR))
        raw.FPDFAnnot_GetStringValue(annotation, b"Contents", place, length)
        if note := written.raw.decode("utf-16-le", "ignore").rstrip("\0").strip():
            yield note, _locate(annotation)


def _annotations(page: pdfium.PdfPage) -> Iterator[raw.FPDF_ANNOTATION]:
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        yield annotation
        raw.FPDFPage_CloseAnnot(annotation)


def _locate(annotation: raw.FPDF_ANNOTATION) -> PdfBox:
    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(annotation, box)
    return PdfBox(box.left, box.bottom, box.right, box.top)
