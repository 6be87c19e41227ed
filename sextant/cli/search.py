"""`sextant search`: the passages nearest to a question, without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, Mode

if TYPE_CHECKING:
    from domain.retrieval import Retrieval, RetrievedItem

app = typer.Typer()

_SHOWN_CHARS = 300


@app.command("search")
def search(
    question: Annotated[str, typer.Argument(help="What to look for.")],
    graph: GraphId = GRAPH,
    mode: Mode = "naive",
    limit: Annotated[int, typer.Option("--limit", "-n", help="Results at most.")] = 10,
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each lane's rank, score, weight and time.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show the passages that a question retrieves, best first."""
    import asyncio

    found = asyncio.run(_search(question, graph, mode, limit))
    if as_json:
        terminal.emit(found)
        return
    for rank, item in enumerate(found.results, start=1):
        _print_item(rank, item, explain=explain)
    if not found.results:
        terminal.say("Nothing found.")
    for warning in found.warnings:
        terminal.warn(f"Note: {warning}")
    if explain:
        terminal.faint("times: " + _times(found))


async def _search(question: str, graph: str, mode: str, limit: int) -> Retrieval:
    from sextant.cli.session import opened

    async with opened() as rag:
        return await rag.search(question, graph_id=graph, mode=mode, limit=limit)


def _print_item(rank: int, item: RetrievedItem, *, explain: bool) -> None:
    terminal.heading(f"{rank}. {_place(item)}  {item.score:.4f}")
    text = " ".join(item.text.split())
    terminal.say("   " + (text[:_SHOWN_CHARS] + "…" if len(text) > _SHOWN_CHARS else text))
    if explain:
        for name, lane in item.lanes.items():
            terminal.faint(
                f"   {name}: rank {lane.rank}, score {lane.score:.4f}, weight {lane.weight:g}"
            )


def _place(item: RetrievedItem) -> str:
    page = item.metadata.get("page")
    parts = [
        str(item.metadata.get("filename", item.kind.value)),
        " › ".join(item.metadata.get("section_path", ())),
        f"page {page}" if page is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def _times(found: Retrieval) -> str:
    return ", ".join(f"{step} {spent:.1f} ms" for step, spent in found.timings.items())
