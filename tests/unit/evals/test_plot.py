"""The picture of modes and lanes: what it says, and that nothing in it overlaps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from sextant.domain.errors import OptionInvalid
from sextant.evals.comparison import Curve, check_folder, check_plot, draw_curves

SVG = "{http://www.w3.org/2000/svg}"


def curve(name: str, *recall: float, p50: float = 10.0, p95: float = 20.0) -> Curve:
    return Curve(name, recall, p50, p95)


def texts(svg: str) -> list[tuple[str, float, float]]:
    found = ET.fromstring(svg).iter(f"{SVG}text")  # noqa: S314 - our own
    return [(one.text or "", float(one.attrib["x"]), float(one.attrib["y"])) for one in found]


def test_every_curve_is_named_with_its_last_value_and_its_times_best_first() -> None:
    svg = draw_curves("t", "s", [curve("naive", 0.2, 0.5), curve("mix", 0.4, 0.75, p50=38, p95=90)])
    said = [text for text, _, _ in texts(svg)]
    assert [one for one in said if one.startswith(("mix ", "naive "))] == [
        "mix  0.750",
        "naive  0.500",
    ]
    assert "38 / 90" in said
    assert said.index("mix") < said.index("naive")


def test_points_lie_where_the_scale_says() -> None:
    """The scale goes from 0.4, a tenth under the lowest less 0.05, at 372 to 1.0 at 96."""
    svg = draw_curves("t", "s", [curve("a", 0.5, 0.7, 1.0)])
    [line] = ET.fromstring(svg).iter(f"{SVG}polyline")  # noqa: S314 - our own
    assert line.attrib["points"] == "64.0,326.0 252.0,234.0 440.0,96.0"


def test_labels_of_curves_that_end_together_keep_apart() -> None:
    svg = draw_curves("t", "s", [curve(f"lane {n}", 0.1, 0.9) for n in range(7)])
    heights = [y for text, _, y in texts(svg) if text.endswith("0.900")]
    assert len(heights) == 7
    assert all(after - before >= 17 for before, after in pairwise(heights))


def test_names_are_text_and_no_markup() -> None:
    svg = draw_curves("<t>", "a & b", [curve("<b>", 0.0)])
    assert {"<t>", "a & b"} <= {text for text, _, _ in texts(svg)}


def test_a_plot_is_an_svg_file() -> None:
    check_plot(Path("out.SVG"))
    with pytest.raises(OptionInvalid, match=r"out\.png is not"):
        check_plot(Path("out.png"))


def test_a_report_that_could_not_be_written_is_refused_before_it_is_made(tmp_path: Path) -> None:
    check_folder(None, "out")
    check_folder(tmp_path / "report.json", "out")
    with pytest.raises(OptionInvalid, match="no folder") as refused:
        check_folder(tmp_path / "none" / "report.json", "out")
    assert refused.value.field == "out"
