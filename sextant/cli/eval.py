"""`sextant eval`: how well retrieval does on a question set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson, Mode
from sextant.cli.session import run_interruptible
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.evals.runner import EvalOptions, EvalReport

app = typer.Typer()
T = TypeVar("T")


@app.command("eval")
def evaluate(
    *,
    corpus: Annotated[Path, typer.Option(help="Passages: JSON Lines, may be gzipped.")],
    queries: Annotated[Path, typer.Option(help="Questions with the ids of their passages.")],
    triples: Annotated[
        Path | None, typer.Option(help="What passages state: JSON Lines, may be gzipped.")
    ] = None,
    mode: Mode = "naive",
    lanes: Annotated[
        str, typer.Option(help="Lanes instead of the mode's own: vector,keyword.")
    ] = "",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask only this many, the first ones.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Also write the report here, as JSON.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Compare all modes and lanes instead, and draw them here, as SVG."),
    ] = None,
    answers: Annotated[
        bool, typer.Option("--answers", help="Check extractive answers too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure retrieval on a question set. Recall, MRR and nDCG, with intervals."""
    from sextant.evals.comparison import check_folder
    from sextant.evals.runner import EvalOptions

    for name, path in (("out", out), ("plot", plot)):
        check_folder(path, name)
    chosen = tuple(lane.strip() for lane in lanes.split(",")) if lanes else None
    options = EvalOptions(corpus, queries, mode, chosen, answers, limit, triples)
    if plot is not None:
        _compare(options, plot, out, as_json=as_json)
        return
    report = run_interruptible(_evaluate(options, quiet=as_json))
    _deliver(report, out, _print_report, as_json=as_json)


def _deliver(report: T, out: Path | None, show: Callable[[T], None], *, as_json: bool) -> None:
    """Write a report to its file, and print it as JSON or as people read it."""
    if out is not None:
        out.write_bytes(terminal.encode_json(report))
    terminal.show(report, show, as_json=as_json)


async def _evaluate(options: EvalOptions, *, quiet: bool) -> EvalReport:
    from sextant.cli.progress import stage_bars
    from sextant.domain.configuration import load_settings
    from sextant.evals.runner import evaluate

    with stage_bars(quiet=quiet) as on_progress:
        return await evaluate(options, load_settings(), on_progress)


def _compare(options: EvalOptions, plot: Path, out: Path | None, *, as_json: bool) -> None:

    from sextant.cli.progress import stage_bars
    from sextant.domain.configuration import load_settings
    from sextant.evals import comparison

    comparison.check_plot(plot)
    with stage_bars(quiet=as_json) as on_progress:
        reports = run_interruptible(comparison.compare(options, load_settings(), on_progress))
    plot.write_text(comparison.plot(reports), encoding="utf-8")
    _deliver(reports, out, partial(_print_comparison, plot), as_json=as_json)


def _print_comparison(plot: Path, reports: Mapping[str, EvalReport]) -> None:
    rows = [
        (
            name,
            *(
                f"{report.recall_curve[k - 1]:.3f}" if report.recall_curve else "-"
                for k in (1, 5, 10)
            ),
            *(f"{report.milliseconds[part]:.1f}" for part in ("p50", "p95")),
        )
        for name, report in reports.items()
    ]
    terminal.table(("MODE OR LANES", "RECALL@1", "@5", "@10", "P50 MS", "P95 MS"), rows)
    terminal.say(f"drawn in {plot}")


def _print_report(report: EvalReport) -> None:
    terminal.say(
        f"{count_noun(report.questions, 'question')} over {count_noun(report.passages, 'passage')}, {report.mode}"
    )
    rows = [
        (kind, name, f"{value.mean:.3f}", f"{value.low:.3f}–{value.high:.3f}", str(value.count))
        for kind, measures in [("all", report.measures), *report.by_type.items()]
        for name, value in measures.items()
    ]
    terminal.table(("TYPE", "MEASURE", "MEAN", "95 %", "QUESTIONS"), rows)
    for name, share in report.refusal.items():
        terminal.say(f"{name} {share:.3f}")
    times = ", ".join(
        f"{name} {milliseconds:.1f} ms" for name, milliseconds in report.milliseconds.items()
    )
    terminal.faint(f"one retrieval: {times}")
    for warning in report.warnings:
        terminal.warn_of(warning)
