"""Read a chart as the table of its values, formatted as the chart shows them (ECMA-376 part 1, 21.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby

from sextant.ingestion.parsing.blocks import Block, Paragraph, Table
from sextant.ingestion.parsing.formats.opc import Element, qn, read_number
from sextant.ingestion.parsing.number_formats import format_value

_SHARES = {qn("c:pieChart"), qn("c:pie3DChart"), qn("c:doughnutChart"), qn("c:ofPieChart")}
_MOST_POINTS = (
    32_000  # of a series (the limit of Excel's charts before 2010; more is no table to read)
)
_SCALED = re.compile(r"[0#?],+(?![0#?])")  # shown in thousands, of which only the format tells
_Values = dict[int, str]


@dataclass(frozen=True, slots=True)
class _Series:
    """One row of points: what each is called (or where it stands), and its values by columns."""

    names: _Values
    columns: tuple[tuple[str, _Values], ...]


def read_chart(root: Element, page: int | None = None) -> list[Block]:
    """Return a chart's title and one table for the series that share their categories; [] where it has no values.

    Plots of all kinds have their points in the same elements, three-dimensional ones among them.
    """
    plots = root.find(f"{qn('c:chart')}/{qn('c:plotArea')}")
    if plots is None:
        return []
    values = list(plots.iterchildren(qn("c:valAx")))
    others = list(plots.iterchildren(qn("c:catAx"), qn("c:dateAx")))
    if not others and len(values) > 1:  # x and y of a scatter chart
        others, values = values[:1], values[1:]
    titles = (_title(axis.find(qn("c:title"))) for axis in values)
    codes = (_number_format(axis) for axis in values)
    axes = _Axes(
        next((_title(axis.find(qn("c:title"))) for axis in others), ""),
        " / ".join(dict.fromkeys(filter(None, titles))),
        next(codes, ""),
    )
    series = [one for plot in plots.iterchildren() for one in _series_of(plot, axes)]
    tables = list[Table]()
    for names, group in groupby(series, key=lambda one: one.names):
        columns = [column for one in group for column in one.columns]
        indexes = sorted({*names, *(index for _, points in columns for index in points)})
        rows = [
            [names.get(index, str(index + 1)), *(points.get(index, "") for _, points in columns)]
            for index in indexes[:_MOST_POINTS]
        ]
        if rows:
            head = [axes.categories, *(name for name, _ in columns)]
            tables.append(Table([head, *rows], 1, page))
    title = _title(root.find(f"{qn('c:chart')}/{qn('c:title')}"))
    heading = f"{title} ({axes.values})" if title and axes.values else title or axes.values
    return [*([Paragraph(heading, page)] if heading and tables else []), *tables]


@dataclass(frozen=True, slots=True)
class _Axes:
    """The titles of the axes: of the categories (or x), and of the values (or y)."""

    categories: str
    values: str
    value_format: str


def _series_of(plot: Element, axes: _Axes) -> Iterator[_Series]:
    for series in plot.iterchildren(qn("c:ser")):
        name = " ".join(_points(series.find(qn("c:tx")), "").values())
        points = series.find(qn("c:val"))
        if points is None:
            points = series.find(qn("c:yVal"))
        labels = series.find(qn("c:dLbls"))
        if labels is None:
            labels = plot.find(qn("c:dLbls"))
        code = _number_format(labels) if _shows(labels, "c:showVal") else ""
        if not code and "%" in axes.value_format and _format_of(points) in {"", "General"}:
            code = axes.value_format
        columns = [(name or axes.values, _points(points, code))]
        sizes = _points(series.find(qn("c:bubbleSize")), "")
        if sizes:
            columns.append(("size", sizes))
        if plot.tag in _SHARES and _shows(labels, "c:showPercent"):
            raw = _points(points, "General").items()
            numbers = {at: float(text) for at, text in raw if re.fullmatch(r"-?[\d.]+", text)}
            whole = sum(map(abs, numbers.values()))
            label_code = _number_format(labels)
            code = label_code if "%" in label_code else "0%"
            shares = {at: format_value(abs(n) / whole, code) for at, n in numbers.items() if whole}
            columns.append(("%", shares))
        categories = series.find(qn("c:cat"))
        if categories is None:
            categories = series.find(qn("c:xVal"))
        yield _Series(_points(categories, ""), tuple(columns))


def _points(source: Element | None, code: str) -> _Values:
    """Return the cached points of an element by their index; numbers in the given format, or in their own."""
    if source is None:
        return {}
    shown = _Values()
    if levels := list(source.iter(qn("c:lvl"))):
        # Names of several levels, the innermost first; an outer one goes on until the next: "2025 Q1", "2025 Q2".
        inner, *others = (
            {
                read_number(point.get("idx"), 0): point.findtext(qn("c:v")) or ""
                for point in one.iter(qn("c:pt"))
            }
            for one in levels
        )
        for index in sorted(inner):
            outer = [max((at for at in level if at <= index), default=-1) for level in others]
            words = [level[at] for level, at in zip(others, outer, strict=True) if at >= 0]
            shown[index] = " ".join([*reversed(words), inner[index]])
        return shown
    written = source.findtext(qn("c:v"))  # a name written into the chart
    if written is not None:
        return {0: written}
    common = _format_of(source)
    is_numbers = any(True for _ in source.iter(qn("c:numCache"), qn("c:numLit")))
    for point in source.iter(qn("c:pt")):
        text = (point.findtext(qn("c:v")) or "").strip()
        with suppress(ValueError, OverflowError):
            if is_numbers:
                code_of_point = code or point.get("formatCode") or common or "General"
                text = format_value(float(text), code_of_point)
        shown[read_number(point.get("idx"), 0)] = text
    return shown


def _format_of(source: Element | None) -> str:
    """Return the number format that the data have in their sheet."""
    codes = source.iter(qn("c:formatCode")) if source is not None else ()
    return next((str(node.text or "") for node in codes), "")


def _shows(labels: Element | None, what: str) -> bool:
    shown = labels.find(qn(what)) if labels is not None else None
    return shown is not None and shown.get("val", "1") in {"1", "true"}


def _number_format(element: Element | None) -> str:
    """Return the number format of labels or an axis; "" where they use that of the data."""
    found = element.find(qn("c:numFmt")) if element is not None else None
    if found is None or found.get("sourceLinked", "0") in {"1", "true"}:
        return ""
    code = str(found.get("formatCode") or "")
    return "" if code.lower() == "general" or _SCALED.search(code) else code


def _title(title: Element | None) -> str:
    if title is None:
        return ""
    texts = [node.text or "" for node in title.iter(qn("a:t"))]
    if not texts:
        texts = [node.text or "" for node in title.iter(qn("c:v"))]
    return " ".join("".join(texts).split())
