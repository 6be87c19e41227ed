"""What stands on a PDF page: lines of text with their look, and ruled lines."""

from __future__ import annotations

import ctypes
import hashlib
import math
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO

import pypdfium2 as pdfium
from pypdfium2 import raw

from ingestion.parsing.blocks import Image
from ingestion.parsing.limits import Limits

_BOLD_WEIGHT = 600  # semi-bold, of OpenType's weight classes
_BOLD_NAME = re.compile(r"bold|black|heavy|simhei|黑体", re.IGNORECASE)
# PDFium puts a mark in place of a hyphen at a line's end, and leaves the line break out.
_LINE_END = re.compile("\r\n|\r|\n|(?<=[\x02\ufffe])")
_MARKS = str.maketrans({"\x02": "-", "\ufffe": "-", "\uffff": "\ufffd"})
# A page with more drawings than this is a map or a plan, not a table.
_MAX_DRAWINGS = 3000


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in PDF points; `bottom` < `top`, the origin is the page's lower left corner."""

    left: float
    bottom: float
    right: float
    top: float


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text. `first` is the index of its first character on the page."""

    text: str
    page: int
    box: Box
    size: float
    bold: bool
    first: int


class Page:
    """One page (counted from 1), to be read and closed before the next is opened."""

    def __init__(self, document: pdfium.PdfDocument, number: int) -> None:
        self.number = number
        self._page = document[number - 1]
        self._text = self._page.get_textpage()
        self.width, self.height = self._page.get_size()

    def close(self) -> None:
        """Give PDFium's memory back."""
        self._text.close()
        self._page.close()

    def lines(self) -> list[Line]:
        """Its lines in the order in which the file draws them."""
        text, start = self._characters(), 0
        lines = []
        for end in [*(found.span() for found in _LINE_END.finditer(text)), (len(text), len(text))]:
            if line := self._line(text, start, end[0]):
                lines.append(line)
            start = end[1]
        return lines

    def has_images(self) -> bool:
        """Whether any picture is drawn on it."""
        return any(self._type(item) == raw.FPDF_PAGEOBJ_IMAGE for item in self._objects())

    def pictures(self, limits: Limits) -> Iterator[Image]:
        """Its pictures as image files: a JPEG as it is, any other as a PNG; broken ones are left out."""
        for item in self._pictures(limits):
            with suppress(pdfium.PdfiumError, ValueError, OSError):
                yield Image(_picture_file(item), page=self.number)

    def pictures_unread(self, limits: Limits) -> Iterator[bytes]:
        """The sha256 of each of them as the file has it; nothing is decoded."""
        for item in self._pictures(limits):
            with suppress(pdfium.PdfiumError, ValueError, OSError):
                yield hashlib.sha256(item.get_data()).digest()

    def _pictures(self, limits: Limits) -> Iterator[pdfium.PdfImage]:
        for item in self._page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]):
            with suppress(pdfium.PdfiumError):
                width, height = item.get_px_size()
                large = min(width, height) >= limits.smallest_edge
                if large and width * height <= limits.image_pixels:
                    yield item

    def strokes(self) -> list[Box]:
        """Straight horizontal and vertical strokes, and the edges of rectangles."""
        if raw.FPDFPage_CountObjects(self._page) > _MAX_DRAWINGS:
            return []
        paths = (item for item in self._objects() if self._type(item) == raw.FPDF_PAGEOBJ_PATH)
        return [stroke for path in paths for stroke in _path_strokes(path)]

    def characters(self, line: Line) -> Iterator[tuple[str, float, float]]:
        """Each character of a line with the middle of its box; blanks have none of their own."""
        for offset, char in enumerate(line.text):
            if not char.isspace():
                box = self._box(line.first + offset)
                yield char, (box.left + box.right) / 2, (box.bottom + box.top) / 2
            else:
                yield char, math.nan, math.nan

    def _characters(self) -> str:
        count = self._text.count_chars()
        text: str = self._text.get_text_range()
        if len(text) != count:  # surrogates or unmapped glyphs: indices would drift
            codes = (raw.FPDFText_GetUnicode(self._text, index) for index in range(count))
            text = "".join(chr(code) if code < 0x110000 else "\uffff" for code in codes)
        return text

    def _line(self, text: str, start: int, end: int) -> Line | None:
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if start == end:
            return None
        first, last = self._box(start), self._box(end - 1)
        box = Box(
            min(first.left, last.left),
            min(first.bottom, last.bottom),
            max(first.right, last.right),
            max(first.top, last.top),
        )
        middle = self._visible(text, start, end)
        return Line(
            text[start:end].translate(_MARKS),
            self.number,
            box,
            self._size(middle),
            self._bold(middle),
            start,
        )

    def _visible(self, text: str, start: int, end: int) -> int:
        """A letter of the line that tells its look: bullets and numbers often differ."""
        return next((index for index in range(start, end) if text[index].isalpha()), start)

    def _box(self, index: int) -> Box:
        try:
            return Box(*self._text.get_charbox(index, loose=True))
        except pdfium.PdfiumError:
            return Box(0, 0, 0, 0)

    def _size(self, index: int) -> float:
        matrix = raw.FS_MATRIX()
        size = float(raw.FPDFText_GetFontSize(self._text, index))
        if raw.FPDFText_GetMatrix(self._text, index, matrix):
            size *= math.hypot(matrix.c, matrix.d)
        return round(size, 1)

    def _bold(self, index: int) -> bool:
        if raw.FPDFText_GetFontWeight(self._text, index) >= _BOLD_WEIGHT:
            return True
        name = ctypes.create_string_buffer(128)
        raw.FPDFText_GetFontInfo(self._text, index, name, 128, None)
        return _is_bold_name(name.value)

    def _objects(self) -> Iterator[ctypes.c_void_p]:
        for index in range(raw.FPDFPage_CountObjects(self._page)):
            yield raw.FPDFPage_GetObject(self._page, index)

    @staticmethod
    def _type(item: ctypes.c_void_p) -> int:
        return int(raw.FPDFPageObj_GetType(item))


@cache
def _is_bold_name(name: bytes) -> bool:
    return _BOLD_NAME.search(name.decode("utf-8", "ignore")) is not None


def _path_strokes(path: ctypes.c_void_p) -> Iterator[Box]:
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    begin = here = (0.0, 0.0)
    for index in range(min(raw.FPDFPath_CountSegments(path), _MAX_DRAWINGS)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        there = (
            matrix.a * x.value + matrix.c * y.value + matrix.e,
            matrix.b * x.value + matrix.d * y.value + matrix.f,
        )
        if raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_MOVETO:
            begin = there
        elif raw.FPDFPathSegment_GetType(segment) == raw.FPDF_SEGMENT_LINETO:
            yield from _stroke(here, there)
        if raw.FPDFPathSegment_GetClose(segment):
            yield from _stroke(there, begin)
        here = there


def _picture_file(item: pdfium.PdfImage) -> bytes:
    if item.get_filters() == ["DCTDecode"]:
        return bytes(item.get_data())
    written = BytesIO()
    item.get_bitmap().to_pil().convert("RGB").save(written, "PNG", compress_level=1)
    return written.getvalue()


def _stroke(a: tuple[float, float], b: tuple[float, float]) -> Iterator[Box]:
    if min(abs(a[0] - b[0]), abs(a[1] - b[1])) < 1 and max(abs(a[0] - b[0]), abs(a[1] - b[1])) > 4:
        yield Box(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
