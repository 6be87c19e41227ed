"""`sextant communities`: what the knowledge graph's communities are, and what is said of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId
from sextant.cli.with_sextant import with_part
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from uuid import UUID

    from sextant.domain.graph import Community
    from sextant.facade.knowledge.communities import Communities, CommunityView
    from sextant.ingestion.graph.upkeep import Refreshed

T = TypeVar("T")

app = typer.Typer()
communities = typer.Typer(help="List communities, show a report, or build them.")
app.add_typer(communities, name="communities")

_ID_CHARS = 8  # of an id, by which `communities show` finds it


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
    found = _run(graph, lambda communities: communities.all(level))
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
        for one, depth in _walk_communities(found)
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
    view = _run(graph, lambda communities: communities.show(community))
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
    from sextant.cli.progress import stage_bars

    async def built(communities: Communities) -> Refreshed:
        with stage_bars(quiet=as_json) as on_progress:
            return await communities.build(full=full, on_progress=on_progress)

    done = with_part(lambda rag: rag.communities(graph), built, lengthy=True)
    if as_json:
        terminal.emit(done)
        return
    for warning in done.warnings:
        terminal.warn_of(warning)
    terminal.say(_refreshed_message(done))


def _run(graph: str, work: Callable[[Communities], Awaitable[T]]) -> T:
    return with_part(lambda rag: rag.communities(graph), work)


def _refreshed_message(done: Refreshed) -> str:
    """Return what was built, in a sentence."""
    lines = [
        f"{count_noun(number, noun)} {what}"
        for number, noun, what in (
            (done.names_merged, "name", "merged into others"),
            (done.names_parted, "name", "parted from others"),
            (done.pairs_judged, "pair", "of names judged by the chat model"),
            (done.entities_embedded, "name", "embedded"),
        )
        if number
    ]
    if done.communities:
        written = count_noun(done.reports_written, "report")
        lines.append(f"{count_noun(done.communities, 'community')}, {written} written")
    return f"{'; '.join(lines)}." if lines else "Nothing has changed."


def _walk_communities(found: Sequence[Community]) -> Iterator[tuple[Community, int]]:
    """Yield every community under the one it is part of, with its depth below what is listed."""
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
        terminal.warn_of(view.note)
    terminal.say(one.summary)
    titles = {
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
            terminal.faint(f"   {titles.get(chunk_id, chunk_id)}")
    terminal.heading(f"\n{count_noun(len(one.entity_ids), 'entity')}")
    terminal.prose(", ".join(entity.name for entity in view.entities))
    if view.parts:
        terminal.heading(f"\n{count_noun(len(view.parts), 'part')}")
        for part in view.parts:
            terminal.say(f"{str(part.id)[:_ID_CHARS]}  {part.title}")
