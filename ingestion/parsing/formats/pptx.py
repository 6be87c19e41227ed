"""PowerPoint: one section a slide, with its texts in reading order, tables, chart data and notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from pptx import Presentation
from pptx.chart.chart import Chart
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.exc import PackageNotFoundError
from pptx.shapes.picture import Picture
from pptx.slide import Slide
from pptx.table import Table as GridTable

from domain.errors import FileBroken
from domain.text import has_cjk
from ingestion.parsing.blocks import Block, Blocks, Heading, Image, Paragraph, Table
from ingestion.parsing.limits import CellBudget, Limits
from ingestion.parsing.tables import Cell, header_rows, lay_out, rows_across

Shape = Any  # of several classes, told apart by what they have

_TITLES = {PP_PLACEHOLDER.TITLE, PP_PLACEHOLDER.CENTER_TITLE, PP_PLACEHOLDER.VERTICAL_TITLE}
_FURNITURE = {
    PP_PLACEHOLDER.DATE,
    PP_PLACEHOLDER.FOOTER,
    PP_PLACEHOLDER.SLIDE_NUMBER,
    PP_PLACEHOLDER.HEADER,
}


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a PPTX; `page` is the slide's number. Hidden slides count, as their notes often matter.

    Raises:
        FileBroken: what is in the container is no such document.
        FileUnsafe: its tables have more cells than the limit.
    """
    try:
        presentation = Presentation(BytesIO(content))
        slides = list(presentation.slides)
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise FileBroken(
            f"The presentation cannot be read ({error}).", next_step="Save it again and retry."
        ) from error
    blocks = [
        block for page, slide in enumerate(slides, 1) for block in _slide(slide, page, limits)
    ]
    return Blocks(blocks, presentation.core_properties.title or "", page_count=len(slides))


def _slide(slide: Slide, page: int, limits: Limits) -> Iterator[Block]:
    shapes = [shape for shape in _flat(slide.shapes) if _kind(shape) not in _FURNITURE]
    title = next((shape for shape in shapes if _kind(shape) in _TITLES and _text(shape)), None)
    body = [
        block
        for shape in _reading_order(shapes)
        if shape is not title
        for block in _blocks(shape, page, limits)
    ]
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and notes.text.strip():
        body.append(Paragraph(f"{_notes_label(notes.text)}{notes.text.strip()}", page))
    if title is None and not body:
        return
    yield Heading(_text(title) if title is not None else f"#{page}", 1, page=page)
    yield from body


def _notes_label(notes: str) -> str:
    return "备注：" if has_cjk(notes) else "Notes: "


def _flat(shapes: Iterable[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _flat(shape.shapes)
        else:
            yield shape


def _kind(shape: Shape) -> PP_PLACEHOLDER | None:
    return shape.placeholder_format.type if shape.is_placeholder else None


def _reading_order(shapes: list[Shape]) -> list[Shape]:
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _text(shape: Shape) -> str:
    return " ".join(shape.text_frame.text.split()) if shape.has_text_frame else ""


def _blocks(shape: Shape, page: int, limits: Limits) -> Iterator[Block]:
    if shape.has_text_frame:
        lines = [
            "  " * paragraph.level + ("- " if paragraph.level else "") + text
            for paragraph in shape.text_frame.paragraphs
            if (text := paragraph.text.replace("\v", "\n").strip())
        ]
        yield Paragraph("\n".join(lines), page)
    elif getattr(shape, "has_table", False) and shape.has_table:
        cells = list(_cells(shape.table))
        rows = lay_out(cells, CellBudget(limits))
        across = rows_across(cells, max(map(len, rows), default=0))
        yield Table(rows, header_rows(rows, across) or int(shape.table.first_row), page)
    elif isinstance(shape, Picture):
        yield from _picture(shape, page)
    elif getattr(shape, "has_chart", False) and shape.has_chart:
        yield from _chart(shape.chart, page)


def _picture(shape: Picture, page: int) -> Iterator[Block]:
    try:
        content = shape.image.blob
    except (ValueError, KeyError):
        return  # it is linked, not embedded
    alt = shape._element._nvXxPr.cNvPr.get("descr") or ""
    yield Image(content, " ".join(alt.split()), page)


def _cells(table: GridTable) -> Iterator[Cell]:
    for row, line in enumerate(table.rows):
        for column, cell in enumerate(line.cells):
            if not cell.is_spanned:
                spans = (cell.span_height, cell.span_width) if cell.is_merge_origin else (1, 1)
                yield Cell(row, column, cell.text, *spans)


def _chart(chart: Chart, page: int) -> Iterator[Block]:
    """A chart as the table behind it: categories down, series across."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield Paragraph(chart.chart_title.text_frame.text, page)
    for plot in chart.plots:
        series = list(plot.series)
        rows = [["", *(one.name for one in series)]]
        for index, category in enumerate(plot.categories):
            values = [one.values[index] if index < len(one.values) else None for one in series]
            rows.append(
                [str(category), *("" if value is None else f"{value:g}" for value in values)]
            )
        if len(rows) > 1:
            yield Table(rows, 1, page)
