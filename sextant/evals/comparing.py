"""Every mode, and the single lanes over chunks, on one question set: what `sextant eval --plot` draws."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from sextant.domain.errors import OptionInvalid
from sextant.domain.retrieval import Mode
from sextant.domain.settings import Settings
from sextant.evals.plot import Curve, draw_curves
from sextant.evals.runner import EvalOptions, EvalReport, evaluate
from sextant.ingestion.progress import OnStage, silent
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR

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
    asked = {str(mode): replace(options, mode=mode, lanes=None) for mode in _MODES}
    asked |= {
        name: replace(options, mode=Mode.NAIVE, lanes=lanes) for name, lanes in _LANES.items()
    }
    return {
        name: await evaluate(one, settings, partial(_report_progress, on_progress, name))
        for name, one in asked.items()
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
