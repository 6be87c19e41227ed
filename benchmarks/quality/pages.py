"""Render the JSON reports of docs/reports as the tables of docs/quality.md and docs/speed.md.

    python -m benchmarks.quality.pages                  # write the tables of the pages from docs/reports
    python -m benchmarks.quality.pages --collect FOLDER # first make docs/reports/retrieval.json from the files
                                                        # of `sextant eval --out FOLDER/SET.MODE.json`

A page shows a report between `<!-- report: NAME -->` and `<!-- /report -->`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from sextant.domain.errors import OptionInvalid

DOCS = Path(__file__).parents[2] / "docs"
MODES = ("naive", "local", "global", "hybrid", "mix")
_MARKED = re.compile(r"(<!-- report: ([\w-]+) -->\n).*?(<!-- /report -->)", re.DOTALL)
# A figure: text, a number, or a mean with the ends of its 95 % interval.
Cell = str | float | Sequence[float]


def measured(command: str) -> dict[str, str]:
    """Return date, commit, machine and command of a measurement."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--exclude=*"],  # noqa: S607
        cwd=DOCS,
        capture_output=True,
        text=True,
        check=False,
    ).stdout.strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "commit": commit,
        "machine": f"{os.cpu_count()} cores, {memory:.0f} GiB",
        "command": command,
    }


def read_report(name: str, docs: Path = DOCS) -> dict[str, Any]:
    """Return a report by its name.

    Raises:
        OptionInvalid: there is no report of that name.
    """
    file = docs / "reports" / f"{name}.json"
    try:
        report: dict[str, Any] = orjson.loads(file.read_bytes())
    except OSError as error:
        raise OptionInvalid(
            f"{file} cannot be read.",
            next_step="Correct the name behind 'report:' in the page, or make the report.",
            field=name,
        ) from error
    return report


def write_report(name: str, report: Mapping[str, Any], docs: Path = DOCS) -> None:
    """Write a report, one row per line for readable diffs."""
    rows = ",\n".join("    " + orjson.dumps(row).decode() for row in report["rows"])
    head = {key: value for key, value in report.items() if key != "rows"}
    text = orjson.dumps(head, option=orjson.OPT_INDENT_2).decode().removesuffix("\n}")
    (docs / "reports" / f"{name}.json").write_text(f'{text},\n  "rows": [\n{rows}\n  ]\n}}\n')


def render_report(report: Mapping[str, Any]) -> str:
    """Return a report as a Markdown table with a line about the measurement."""
    columns, rows = (
        report["columns"],
        [[format_cell(cell) for cell in row] for row in report["rows"]],
    )
    numbers = [
        all(re.match(r"[−\-+]?[\d–]", row[at] or "–") for row in rows) for at in range(len(columns))
    ]
    lines = [columns, ["---:" if number else "---" for number in numbers], *rows]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{_caption(report['measured'])}\n"


def _caption(how: Mapping[str, str]) -> str:
    parts = [
        how.get("date", ""),
        how.get("commit") and f"commit {how['commit']}",
        how.get("machine"),
    ]
    origin = ", ".join(part for part in parts if part)
    command = f"`{how['command']}`" if how.get("command") else ""
    return f"*Measured: {'; '.join(part for part in (origin, command) if part)}.*"


def format_cell(cell: Cell) -> str:
    """Return a figure as text: `96.6 (94.4–98.4)`."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int | float):
        return f"{cell:,}" if isinstance(cell, int) else f"{cell:.1f}"
    mean, low, high = (f"{part:.1f}" for part in cell)
    return mean if low == high else f"{mean} ({low}–{high})"


def render_page(text: str, docs: Path = DOCS) -> str:
    """Return a page with its reports rendered."""
    return _MARKED.sub(
        lambda found: f"{found[1]}{render_report(read_report(found[2], docs))}{found[3]}", text
    )


def write_pages(docs: Path = DOCS) -> None:
    """Render the reports of all pages."""
    for page in docs.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(render_page(text, docs), encoding="utf-8")


def collect_retrieval(folder: Path, docs: Path = DOCS) -> None:
    """Make the report `retrieval` from the files of `sextant eval` in `folder`, one of each set and mode."""
    found = {
        tuple(file.stem.rsplit(".", 1)): orjson.loads(file.read_bytes())
        for file in folder.glob("*.*.json")
    }
    rows = []
    for name in sorted({name for name, _ in found}):
        by_mode = {mode: found[name, mode] for mode in MODES if (name, mode) in found}
        count = max(one["measures"]["recall@5"]["count"] for one in by_mode.values())
        recalls = [
            _percent(by_mode[mode], "recall@5") if mode in by_mode else "–" for mode in MODES
        ]
        others = ["all@5", "mrr@10"]
        mix = [_percent(by_mode["mix"], one) if "mix" in by_mode else "–" for one in others]
        rows.append([name, count, *recalls, *mix])
    columns = ["set", "questions", *MODES, "all-gold@5, mix", "MRR, mix"]
    how = measured("make eval")
    write_report("retrieval", {"measured": how, "columns": columns, "rows": rows}, docs)


def _percent(report: Mapping[str, Any], measure: str) -> list[float]:
    one = report["measures"][measure]
    return [round(100 * one[part], 1) for part in ("mean", "low", "high")]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--collect", type=Path, metavar="FOLDER")
    if chosen := parser.parse_args().collect:
        collect_retrieval(chosen)
    write_pages()
