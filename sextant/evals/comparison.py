"""Every mode, and the single lanes over chunks, on one question set: what `sextant eval --plot` draws.

Also here: a picture of how modes and lanes compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from xml.sax.saxutils import escape

from sextant.domain.errors import OptionInvalid
from sextant.domain.retrieval import Mode
from sextant.domain.settings import Settings
from sextant.evals.runner import EvalOptions, EvalReport, evaluate
from sextant.ingestion.progress import OnStage, silent
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR

# Okabe and Ito's colours, told apart by the colour-blind too ("Color Universal Design", 2008).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#666666", "#000000")
_INK, _FAINT, _GRID = "#222222", "#666666", "#e4e4e4"
_WIDTH, _HEIGHT = 1000, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 440, 96, 372  # of the curves
_BARS, _BARS_END = 700, 900
_LINE = 17  # pixels between two labels


@dataclass(frozen=True, slots=True)
class Curve:
    """One mode or lane: recall@1, @2, … and milliseconds of a retrieval, median and 95th percentile."""

    name: str
    recall: Sequence[float]
    p50: float
    p95: float


def draw_curves(title: str, subtitle: str, curves: Sequence[Curve]) -> str:
    """Return the picture as SVG: curves on the left, best first, and a bar for each on the right."""
    ranked = sorted(curves, key=lambda curve: (-curve.recall[-1], curve.name))
    colours = {curve.name: _COLOURS[n % len(_COLOURS)] for n, curve in enumerate(ranked)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        f'width="{_WIDTH}" height="{_HEIGHT}" font-family="Helvetica, Arial, sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(24, 34, title, size=18, weight="bold"),
        _text(24, 56, subtitle, fill=_FAINT),
        *_recall(ranked, colours),
        *_times(ranked, colours),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _recall(curves: Sequence[Curve], colours: dict[str, str]) -> Iterator[str]:
    depth = max((len(curve.recall) for curve in curves), default=1)
    lowest = min((min(curve.recall) for curve in curves), default=0.0)
    floor = int(max(lowest - 0.05, 0.0) * 10) / 10  # the scale begins at a tenth, where curves do

    def across(k: int) -> float:
        return _LEFT + (_RIGHT - _LEFT) * (k - 1) / max(depth - 1, 1)

    def up(share: float) -> float:
        return _BOTTOM - (_BOTTOM - _TOP) * (share - floor) / (1 - floor)

    yield _text(_LEFT, _TOP - 14, "recall@k", weight="bold")
    for tenth in range(round(floor * 10), 11):
        yield _line(_LEFT, up(tenth / 10), _RIGHT, up(tenth / 10))
        yield _text(_LEFT - 8, up(tenth / 10) + 4, f"{tenth / 10:.1f}", fill=_FAINT, anchor="end")
    for k in range(1, depth + 1):
        yield _text(across(k), _BOTTOM + 20, str(k), fill=_FAINT, anchor="middle")
    yield _text(
        (_LEFT + _RIGHT) / 2, _BOTTOM + 42, "results looked at (k)", fill=_FAINT, anchor="middle"
    )
    free = _TOP - 100.0
    for curve in curves:
        points = " ".join(f"{across(k):.1f},{up(one):.1f}" for k, one in enumerate(curve.recall, 1))
        colour = colours[curve.name]
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.2"/>'
        end = up(curve.recall[-1])
        free = max(end, free + _LINE)  # labels keep apart, each with a line to its curve
        yield _line(across(len(curve.recall)) + 2, end, _RIGHT + 20, free, colour)
        yield _text(_RIGHT + 24, free + 4, f"{curve.name}  {curve.recall[-1]:.3f}", fill=colour)


def _times(curves: Sequence[Curve], colours: dict[str, str]) -> Iterator[str]:
    longest = max((curve.p95 for curve in curves), default=1.0) or 1.0
    step = (_BOTTOM - _TOP) / max(len(curves), 1)
    thick = min(20.0, step * 0.6)
    yield _text(_BARS, _TOP - 14, "milliseconds of a retrieval", weight="bold")
    for index, curve in enumerate(curves):
        y = _TOP + step * index + (step - thick) / 2
        colour = colours[curve.name]
        yield _text(_BARS - 8, y + thick / 2 + 4, curve.name, anchor="end")
        for length, opacity in ((curve.p95, 0.3), (curve.p50, 1.0)):
            width = (_BARS_END - _BARS) * length / longest
            yield (
                f'<rect x="{_BARS}" y="{y:.1f}" width="{width:.1f}" height="{thick:.1f}" '
                f'fill="{colour}" fill-opacity="{opacity}"/>'
            )
        end = _BARS + (_BARS_END - _BARS) * curve.p95 / longest
        yield _text(end + 6, y + thick / 2 + 4, f"{curve.p50:.0f} / {curve.p95:.0f}", fill=_FAINT)
    yield _text(_BARS, _BOTTOM + 42, "full: median; pale: 95th percentile", fill=_FAINT)


def _line(x: float, y: float, to_x: float, to_y: float, colour: str = _GRID) -> str:
    return f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{to_x:.1f}" y2="{to_y:.1f}" stroke="{colour}"/>'


def _text(
    x: float,
    y: float,
    text: str,
    *,
    fill: str = _INK,
    size: int = 12,
    weight: str = "normal",
    anchor: str = "start",
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" font-size="{size}" '
        f'font-weight="{weight}" text-anchor="{anchor}">{escape(text)}</text>'
    )


_LANES: dict[str, tuple[str, ...]] = {
    "keyword lane": (KEYWORD,),
    "vector + keyword": (VECTOR, KEYWORD),
}
_MODES = (Mode.NAIVE, Mode.LOCAL, Mode.GLOBAL, Mode.HYBRID, Mode.MIX)


async def compare(
    options: EvalOptions, settings: Settings, on_progress: OnStage = silent
) -> dict[str, EvalReport]:
    """Ask every question in five modes, and of the lanes that `naive` is not.

    Args:
        options: `mode` and `lanes` are replaced.
        settings: as for `evaluate`.
        on_progress: as for `evaluate`, each stage with the name of what is measured.

    Returns:
        name → report.
    """
    options_of = {str(mode): replace(options, mode=mode, lanes=None) for mode in _MODES}
    options_of |= {
        name: replace(options, mode=Mode.NAIVE, lanes=lanes) for name, lanes in _LANES.items()
    }
    return {
        name: await evaluate(one, settings, partial(_report_progress, on_progress, name))
        for name, one in options_of.items()
    }


def _report_progress(on_progress: OnStage, name: str, stage: str, done: int, total: int) -> None:
    on_progress(f"{stage}, {name}", done, total)


def check_plot(path: Path) -> None:
    """Refuse a file that is no SVG before hours are spent on it.

    Raises:
        OptionInvalid: it ends in something else.
    """
    if path.suffix.lower() != ".svg":
        raise OptionInvalid(
            f"A plot is an SVG file, and {path.name} is not.",
            next_step=f"Write it to {path.with_suffix('.svg').name}; every browser shows it.",
            field="plot",
        )


def check_folder(path: Path | None, field: str) -> None:
    """Refuse a file that cannot be written before hours are spent on it.

    Raises:
        OptionInvalid: its folder is not there.
    """
    if path is not None and not path.parent.is_dir():
        raise OptionInvalid(
            f"{path} cannot be written: there is no folder {path.parent}.",
            next_step="Make it, or name another file.",
            field=field,
        )


def plot(reports: dict[str, EvalReport]) -> str:
    """Return the reports in one picture, as SVG."""
    curves = [
        Curve(name, report.recall_curve, report.milliseconds["p50"], report.milliseconds["p95"])
        for name, report in reports.items()
        if report.recall_curve
    ]
    first = next(iter(reports.values()))
    subtitle = f"{first.questions} questions over {first.passages:,} passages, {first.embedding}"
    return draw_curves(f"Retrieval on {Path(first.corpus).name}", subtitle, curves)
