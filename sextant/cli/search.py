"""`sextant search`: what a question retrieves, without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, Mode

if TYPE_CHECKING:
    from domain.retrieval import Retrieval, RetrievedItem

app = typer.Typer()

_SHOWN_CHARS = 300
_SHOWN_GRAPH = 20


@app.command("search")
def search(
    question: Annotated[str, typer.Argument(help="What to look for.")],
    graph: GraphId = GRAPH,
    mode: Mode = "auto",
    limit: Annotated[int, typer.Option("--limit", "-n", help="Results at most.")] = 10,
    *,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each lane's rank, score and time.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a question retrieves, best first: passages; with `global` reports too."""
    import asyncio

    found = asyncio.run(_search(question, graph, mode, limit))
    if as_json:
        terminal.emit(found)
        return
    for rank, item in enumerate(found.results, start=1):
        _print_item(rank, item)
    if not found.results:
        terminal.say("Mode bypass looks for nothing." if mode == "bypass" else "Nothing found.")
    for warning in found.warnings:
        terminal.warn(f"Note: {warning}")
    if explain and found.results:
        _explain(found)


async def _search(question: str, graph: str, mode: str, limit: int) -> Retrieval:
    from sextant.cli.session import opened

    async with opened(to_answer=True) as rag:
        return await rag.search(question, graph_id=graph, mode=mode, limit=limit)


def _print_item(rank: int, item: RetrievedItem) -> None:
    terminal.heading(f"{rank}. {_place(item)}  {item.score:.4f}")
    text = " ".join(item.text.split())
    terminal.say("   " + (text[:_SHOWN_CHARS] + "…" if len(text) > _SHOWN_CHARS else text))


def _place(item: RetrievedItem) -> str:
    if item.kind.value != "chunk":
        return f"{item.kind.value} · {item.metadata['title']}"
    page = item.metadata.get("page")
    parts = [
        str(item.metadata.get("filename", item.id)),
        " › ".join(item.metadata.get("section_path", ())),
        f"page {page}" if page is not None else "",
    ]
    return " · ".join(part for part in parts if part)


def _explain(found: Retrieval) -> None:
    """Print where every lane put each result, what of the graph went with them, and the times."""
    lanes = list(dict.fromkeys(lane for item in found.results for lane in item.lanes))
    terminal.say("")
    terminal.table(
        ("RESULT", "SCORE", *(lane.upper() for lane in lanes)),
        [
            (str(rank), f"{item.score:.4f}", *(_placing(item, lane) for lane in lanes))
            for rank, item in enumerate(found.results, start=1)
        ],
    )
    terminal.faint("Each lane: rank, score. The score of a result is what its mode makes of them.")
    if found.graph_items:
        terminal.say("")
        terminal.table(
            ("GRAPH", "SCORE", "WHAT"),
            [
                (item.kind.value, f"{item.score:.4f}", _name(item))
                for item in found.graph_items[:_SHOWN_GRAPH]
            ],
        )
    terminal.say("")
    terminal.table(
        ("STEP", "MS"), [(step, f"{spent:.1f}") for step, spent in found.timings.items()]
    )


def _placing(item: RetrievedItem, lane: str) -> str:
    place = item.lanes.get(lane)
    return f"{place.rank}, {place.score:.4f}" if place else "-"


def _name(item: RetrievedItem) -> str:
    if item.kind.value == "entity":
        return f"{item.metadata['name']} ({item.metadata['type']})"
    return str(item.metadata.get("title") or item.text)
