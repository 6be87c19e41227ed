"""Figures of benchmarks: printed, and stored for docs/speed.md by `make bench`.

Rows of `docs/reports/speed.json` that have the name of a figure take its value; all others stay.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from benchmarks.quality.pages import measured, read_report, write_pages, write_report

# Names the file that a benchmark's process adds its figures to, one JSON object a line.
VARIABLE = "BENCH_FIGURES"


def record(
    name: str, value: float, unit: str, *, most: float | None = None, least: float | None = None
) -> None:
    """Print a figure beside its limit, and keep it.

    Args:
        name: what it is called in `docs/reports/speed.json`, if it is there.
        value: what was measured.
        unit: of the value.
        most: the limit that it must not pass.
        least: the limit that it must reach.
    """
    limit = f"(at most {most:g})" if most is not None else f"(at least {least:g})" if least else ""
    print(f"{name:<58}{value:10.3f} {unit:<20}{limit}", flush=True)
    if file := os.environ.get(VARIABLE):
        is_met = (most is None or value <= most) and (least is None or value >= least)
        figure = {"name": name, "value": f"{format_figure(value)} {unit}".strip(), "met": is_met}
        with Path(file).open("ab") as lines:
            lines.write(orjson.dumps(figure) + b"\n")


def format_figure(value: float) -> str:
    """Return a figure with three digits, and thousands apart."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def update_rows(
    report: Mapping[str, Any], figures: Sequence[Mapping[str, Any]], how: Mapping[str, str]
) -> dict[str, Any]:
    """Return the report with the newest figure in each row that has a figure's name."""
    newest = {figure["name"]: figure for figure in figures}
    at = {name: index for index, name in enumerate(report["columns"])}
    rows = []
    for row in report["rows"]:
        new = list(row)
        if figure := newest.get(row[at["what"]]):
            new[at["measured"]] = figure["value"]
            if row[at["limit"]]:
                new[at["met"]] = "yes" if figure["met"] else "no"
            new[at["date"]], new[at["commit"]] = how["date"], how["commit"]
        rows.append(new)
    return {**report, "rows": rows}


def write_figures(file: Path) -> None:
    """Put what the benchmarks have kept into the report and the page."""
    figures = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    write_report("speed", update_rows(read_report("speed"), figures, measured("make bench")))
    write_pages()
