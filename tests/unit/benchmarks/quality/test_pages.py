"""The tables of docs/quality.md and docs/speed.md are those of the reports."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from benchmarks.figures import update_rows
from benchmarks.quality.pages import (
    DOCS,
    collect_retrieval,
    format_cell,
    read_report,
    render_page,
    render_report,
)
from sextant.domain.errors import OptionInvalid

HOW = {"date": "2026-11-28", "commit": "abc", "machine": "2 cores", "command": "make eval"}


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_a_page_shows_its_reports_as_they_are(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert render_page(text) == text


def test_every_report_is_shown_and_says_when_it_was_measured() -> None:
    shown = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    names = [file.stem for file in (DOCS / "reports").glob("*.json")]
    assert names
    for name in names:
        assert f"<!-- report: {name} -->" in shown
        report = read_report(name)
        assert all(len(row) == len(report["columns"]) for row in report["rows"])
        dates = [
            row[report["columns"].index("date")]
            for row in report["rows"]
            if "date" in report["columns"]
        ]
        assert report["measured"]["date"] or all(dates)


def test_a_report_becomes_a_table_with_its_date() -> None:
    report = {
        "measured": HOW,
        "columns": ["set", "recall"],
        "rows": [["drcd", [99.0, 98.2, 99.6]], ["new", 1184]],
    }
    assert render_report(report) == (
        "| set | recall |\n| --- | ---: |\n| drcd | 99.0 (98.2–99.6) |\n| new | 1,184 |\n\n"
        "*Measured: 2026-11-28, commit abc, 2 cores; `make eval`.*\n"
    )


def test_an_interval_without_width_is_left_out() -> None:
    assert format_cell([100.0, 100.0, 100.0]) == "100.0"


def test_a_page_that_names_no_report_says_which(tmp_path: Path) -> None:
    with pytest.raises(OptionInvalid, match=r"nothing\.json"):
        render_page("<!-- report: nothing -->\n<!-- /report -->", tmp_path)


def test_what_sextant_eval_wrote_becomes_a_row_of_each_set(tmp_path: Path) -> None:
    (tmp_path / "reports").mkdir()
    one = {"mean": 0.5, "low": 0.25, "high": 0.75, "count": 4}
    measures = {"recall@5": one, "all@5": one, "mrr@10": one}
    for mode in ("naive", "mix"):
        (tmp_path / f"drcd.{mode}.json").write_bytes(orjson.dumps({"measures": measures}))
    collect_retrieval(tmp_path, tmp_path)
    report = read_report("retrieval", tmp_path)
    half = [50.0, 25.0, 75.0]
    assert report["rows"] == [["drcd", 4, half, "–", "–", "–", half, half, half]]
    assert report["measured"]["date"]


def test_a_benchmark_renews_the_row_that_has_its_name() -> None:
    report = {
        "columns": ["what", "limit", "measured", "met", "date", "commit"],
        "rows": [["a", "5 ms", "3 ms", "yes", "old", "old"], ["b", "", "1", "", "old", "old"]],
    }
    figures = [
        {"name": "a", "value": "6 ms", "met": False},
        {"name": "c", "value": "1", "met": True},
    ]
    assert update_rows(report, figures, HOW)["rows"] == [
        ["a", "5 ms", "6 ms", "no", "2026-11-28", "abc"],
        ["b", "", "1", "", "old", "old"],
    ]
