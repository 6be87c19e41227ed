"""`sextant eval`: how well retrieval does on a question set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.session import AsJson, Mode, run_interruptible
from sextant.domain.errors import OptionInvalid
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.evals.runner import EvalOptions, EvalReport

app = typer.Typer()


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
    answers: Annotated[
        bool, typer.Option("--answers", help="Check extractive answers too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Measure retrieval on a question set. Recall, MRR and nDCG, with intervals."""
    from sextant.evals.runner import EvalOptions

    if out is not None:
        _check_folder(out)
    chosen = tuple(lane.strip() for lane in lanes.split(",")) if lanes else None
    options = EvalOptions(corpus, queries, mode, chosen, answers, limit, triples)
    report = run_interruptible(_evaluate(options, quiet=as_json))
    if out is not None:
        out.write_bytes(terminal.encode_json(report))
    terminal.show(report, _print_report, as_json=as_json)


def _check_folder(path: Path) -> None:
    """Refuse a file that cannot be written before anything is measured."""
    if not path.parent.is_dir():
        raise OptionInvalid(
            f"{path} cannot be written: there is no folder {path.parent}.",
            next_step="Make it, or name another file.",
            field="out",
        )


async def _evaluate(options: EvalOptions, *, quiet: bool) -> EvalReport:
    from sextant.cli.progress import stage_bars
    from sextant.domain.configuration import load_settings
    from sextant.evals.runner import evaluate

    with stage_bars(quiet=quiet) as on_progress:
        return await evaluate(options, load_settings(), on_progress)


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
