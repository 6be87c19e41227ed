"""`sextant search`, `searches` (the log of searches) and `eval` (retrieval measured on a question set)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.session import (
    GRAPH,
    AsJson,
    ChunkFilters,
    Explain,
    GraphId,
    Mode,
    Words,
    chosen_graph,
    question_of,
    read_filters,
    run_interruptible,
    with_chunks,
    with_sextant,
)
from sextant.domain.errors import OptionInvalid
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.domain.retrieval import Retrieval, RetrievedItem
    from sextant.domain.settings import RetrievalSettings
    from sextant.evals.runner import EvalOptions, EvalReport
    from sextant.facade import Sextant
    from sextant.stores.search_log import LoggedSearch


app = typer.Typer()


@app.command("search")
def search(
    words: Words,
    graph: GraphId = GRAPH,
    mode: Mode = "auto",
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            "-n",
            min=1,
            max=1000,
            help="Results at most; in global up to half are reports.",
        ),
    ] = 10,
    *,
    filters: ChunkFilters = None,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Show what a question retrieves, best first. Passages; with `global` reports too."""
    read, question = read_filters(filters), question_of(words)

    async def searched(rag: Sextant) -> tuple[Retrieval, RetrievalSettings]:
        chosen = await chosen_graph(rag, graph)
        found = await rag.search(question, graph_id=chosen, mode=mode, limit=limit, filters=read)
        return found, rag.settings.retrieval

    found, settings = with_sextant(searched, to_answer=True)
    if as_json:
        terminal.emit(found)
        return
    for rank, item in enumerate(found.results, start=1):
        terminal.heading(f"{rank}. {_item_location(item)}  {terminal.score(item.score)}")
        terminal.prose(terminal.shorten(terminal.read_out(item.text)), "   ")
    if not found.results:
        terminal.say("Mode bypass looks for nothing." if mode == "bypass" else "Nothing found.")
    for warning in found.warnings:
        terminal.warn_of(warning)
    if explain and found.results:
        _explain(found, settings)


def _item_location(item: RetrievedItem) -> str:
    if item.kind.value != "chunk":
        return f"{item.kind.value} · {item.metadata['title']}"
    page = item.metadata.get("page")
    parts = [
        str(item.metadata.get("filename", item.id)),
        " › ".join(item.metadata.get("section_path", ())),
        f"page {page}" if page is not None else "",
        "read by OCR" if item.is_read_by_ocr else "",
    ]
    return " · ".join(part for part in parts if part)


def _explain(found: Retrieval, settings: RetrievalSettings) -> None:
    """Print the lanes of each result, the graph items, constants and times.

    A lane's own score is on its own scale; ADDS is its part of the result's score.
    """
    from sextant.retrievers.modes import constants_of

    terminal.say("")
    terminal.table(
        ("RESULT", "SCORE", "LANE", "RANK", "OWN SCORE", "WEIGHT", "ADDS", "MS"),
        (
            row
            for rank, item in enumerate(found.results, start=1)
            for row in _lanes(rank, item, found)
        ),
    )
    terminal.faint(
        "ADDS: the lane's part of the result's score; a lane without it works within another one, and so does its time."
    )
    if found.graph_items:
        terminal.say("")
        terminal.table(
            ("GRAPH", "SCORE", "WHAT"),
            [
                (item.kind.value, terminal.score(item.score), terminal.brief(_name(item)))
                for item in found.graph_items[:20]
            ],
        )
    terminal.say("")
    constants = constants_of(found.mode, settings, reranked="rerank" in found.timings)
    terminal.print_debug(found.timings, constants)


def _lanes(rank: int, item: RetrievedItem, found: Retrieval) -> Iterator[tuple[str, ...]]:
    """Yield a row for each lane that found the item, those that add most first."""
    columns = (str(rank), terminal.score(item.score))
    for name, lane in sorted(item.lanes.items(), key=lambda one: -(one[1].contribution or -1.0)):
        added, milliseconds = lane.contribution, found.timings.get(name)
        yield (
            *columns,
            name,
            str(lane.rank),
            terminal.score(lane.score),
            f"{lane.weight:g}",
            "-" if added is None else terminal.score(added),
            "-" if milliseconds is None else f"{milliseconds:.1f}",
        )
        columns = ("", "")


def _name(item: RetrievedItem) -> str:
    if item.kind.value == "entity":
        return f"{item.metadata['name']} ({item.metadata['type']})"
    return str(item.metadata.get("title") or item.text)


@app.command("searches")
def searches(
    graph: GraphId = GRAPH,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Searches at most.")] = 20,
    *,
    clear: Annotated[bool, typer.Option("--clear", help="Forget them all.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the last searches and what they returned. Kept with SEXTANT_SEARCH_LOG__ENABLED=true."""
    if clear:
        number = with_chunks(graph, lambda chunks: chunks.forget_searches())
        message = f"Forgot {number} {'search' if number == 1 else 'searches'}."
        terminal.print_result(message, {"forgotten": number}, as_json=as_json)
        return
    found = with_chunks(graph, lambda chunks: chunks.searches(limit))
    terminal.show(found, _print_searches, as_json=as_json)


def _print_searches(found: Sequence[LoggedSearch]) -> None:
    if not found:
        terminal.say("None was kept. SEXTANT_SEARCH_LOG__ENABLED=true keeps those to come.")
        return
    rows = [
        (
            one.at.strftime("%Y-%m-%d %H:%M:%S"),
            one.request.get("mode", "chunks"),
            len(one.results),
            f"{one.milliseconds:.0f}",
            one.query,
        )
        for one in found
    ]
    terminal.table(("AT", "MODE", "RESULTS", "MS", "QUERY"), rows)


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
    as_json: AsJson = False,
) -> None:
    """Measure retrieval on a question set. Recall, MRR and nDCG, with intervals."""
    from sextant.evals.runner import EvalOptions

    if out is not None and not out.parent.is_dir():  # before anything is measured
        raise OptionInvalid(
            f"{out} cannot be written: there is no folder {out.parent}.",
            next_step="Make it, or name another file.",
            field="out",
        )
    chosen = tuple(lane.strip() for lane in lanes.split(",")) if lanes else None
    options = EvalOptions(corpus, queries, mode, chosen, limit, triples)
    report = run_interruptible(_evaluate(options, quiet=as_json))
    if out is not None:
        out.write_bytes(terminal.encode_json(report))
    terminal.show(report, _print_report, as_json=as_json)


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
        (kind, name, f"{value.mean:.3f}", f"{value.low:.3f}–{value.high:.3f}", value.count)
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
