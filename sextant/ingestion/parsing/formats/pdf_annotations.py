"""Read the form fields and comments of a PDF page."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import pypdfium2 as pdfium
from pypdfium2 import raw

from sextant.ingestion.parsing.formats.pdf_lines import PdfBox

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
        is_wordless = raw.FPDFAnnot_GetSubtype(annotation) in _WORDLESS
        if not is_wordless and (note := _contents(annotation)):
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


def _contents(annotation: raw.FPDF_ANNOTATION) -> str:
    length = raw.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0)
    written = ctypes.create_string_buffer(length)
    raw.FPDFAnnot_GetStringValue(
        annotation, b"Contents", ctypes.cast(written, ctypes.POINTER(raw.FPDF_WCHAR)), length
    )
    return written.raw.decode("utf-16-le", "ignore").rstrip("\0").strip()
