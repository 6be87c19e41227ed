"""`sextant communities`: what the knowledge graph's communities are, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from domain.text import counted
from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId

if TYPE_CHECKING:
    from uuid import UUID

    from domain.graph import Community
    from ingestion.graph.upkeep import Refreshed
    from sextant.knowledge.communities import CommunityView

app = typer.Typer()
communities = typer.Typer(help="List communities, show a report, or build them.")
app.add_typer(communities, name="communities")

_ID_CHARS = 8


@communities.callback(invoke_without_command=True)
def list_communities(
    context: typer.Context,
    graph: GraphId = GRAPH,
    level: Annotated[
        int | None, typer.Option("--level", "-l", min=0, help="Only this level; 0 is the coarsest.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the hierarchy: id, rating, members and title of every community."""
    if context.invoked_subcommand is not None:
        return
    import asyncio

    found = asyncio.run(_list(graph, level))
    if as_json:
        terminal.emit(found)
        return
    rows = [
        (
            str(one.id)[:_ID_CHARS],
            f"{one.rating:.1f}",
            str(len(one.entity_ids)),
            "  " * depth + terminal.brief(one.title),
        )
        for one, depth in _nested(found)
    ]
    terminal.table(("ID", "RATING", "ENTITIES", "TITLE"), rows)


@communities.command("show")
def show_community(
    community: Annotated[str, typer.Argument(metavar="ID", help="From `communities`.")],
    graph: GraphId = GRAPH,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a report. Its findings, where each is written, and who is in the community."""
    import asyncio

    view = asyncio.run(_show(graph, community))
    if as_json:
        terminal.emit(view)
    else:
        _print_view(view)


@communities.command("build")
def build_communities(
    graph: GraphId = GRAPH,
    *,
    full: Annotated[bool, typer.Option("--full", help="Start over instead of joining.")] = False,
    as_json: AsJson = False,
) -> None:
    """Bring communities, reports and vectors up to date."""
    import asyncio

    done = asyncio.run(_build(graph, full=full, quiet=as_json))
    if as_json:
        terminal.emit(done)
        return
    if done.communities:
        terminal.say(
            f"{counted(done.communities, 'community')}, {counted(done.reports_written, 'report')} written."
        )
    else:
        terminal.say("Nothing has changed.")


async def _list(graph: str, level: int | None) -> list[Community]:
    from sextant.cli.session import opened

    async with opened() as rag:
        return await (await rag.communities(graph)).all(level)


async def _show(graph: str, community: str) -> CommunityView:
    from sextant.cli.session import opened

    async with opened() as rag:
        return await (await rag.communities(graph)).show(community)


async def _build(graph: str, *, full: bool, quiet: bool) -> Refreshed:
    from sextant.cli.progress import stage_bars
    from sextant.cli.session import opened

    async with opened() as rag:
        own = await rag.communities(graph)
        with stage_bars(quiet=quiet) as on_progress:
            return await own.build(full=full, on_progress=on_progress)


def _nested(found: Sequence[Community]) -> Iterator[tuple[Community, int]]:
    """Every community under the one it is part of, with its depth below what is listed."""
    known = {one.id for one in found}
    inside: dict[UUID | None, list[Community]] = {}
    for one in found:
        inside.setdefault(one.parent_id if one.parent_id in known else None, []).append(one)
    waiting = [(one, 0) for one in reversed(inside.get(None, ()))]
    while waiting:
        one, depth = waiting.pop()
        yield one, depth
        waiting += [(part, depth + 1) for part in reversed(inside.get(one.id, ()))]


def _print_view(view: CommunityView) -> None:
    one = view.community
    terminal.heading(one.title)
    author = view.writer or "from the documents' sentences"
    terminal.faint(f"{one.id}  level {one.level}, rating {one.rating:.1f}, {author}")
    if view.note:
        terminal.warn(f"Note: {view.note}")
    terminal.say(one.summary)
    places = {
        chunk.id: " › ".join(
            part
            for part in (chunk.filename, chunk.page and f"p. {chunk.page}", *chunk.section_path)
            if part
        )
        for chunk in view.cited
    }
    for number, finding in enumerate(one.findings, start=1):
        terminal.say("")
        terminal.prose(f"{number}. {finding.text}")
        for chunk_id in finding.chunk_ids:
            terminal.faint(f"   {places.get(chunk_id, chunk_id)}")
    terminal.heading(f"\n{counted(len(one.entity_ids), 'entity')}")
    terminal.prose(", ".join(entity.name for entity in view.entities))
    if view.parts:
        terminal.heading(f"\n{counted(len(view.parts), 'part')}")
        for part in view.parts:
            terminal.say(f"{str(part.id)[:_ID_CHARS]}  {part.title}")
