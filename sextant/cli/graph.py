"""`sextant graph` and `communities`: the size of a graph, its copy in Neo4j, a part of it, its communities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sextant.cli import terminal
from sextant.cli.session import GRAPH, AsJson, GraphId, ListByDefault, with_part
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from uuid import UUID

    from sextant.domain.graph import Community
    from sextant.facade.graph import (
        Communities,
        CommunityView,
        DrawnGraph,
        GraphStatus,
        KnowledgeGraph,
    )
    from sextant.ingestion.graph.upkeep import Refreshed
    from sextant.stores.graph.protocol import Hop

    _Hops = defaultdict[UUID, dict[UUID, Hop]]  # entity, relation

T = TypeVar("T")

app = typer.Typer()
communities = typer.Typer(cls=ListByDefault, help="List communities, show a report, or build them.")
app.add_typer(communities, name="communities")

_ID_CHARS = 8  # characters of an id that are shown; `communities show` accepts them


@communities.command("list")
def list_communities(
    graph: GraphId = GRAPH,
    level: Annotated[
        int | None, typer.Option("--level", "-l", min=0, help="Only this level; 0 is the coarsest.")
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """List the communities, each after the one that holds it."""
    found = _run_communities(graph, lambda communities: communities.all(level))
    terminal.show(found, _print_communities, as_json=as_json)


def _print_communities(found: Sequence[Community]) -> None:
    brief = terminal.brief
    rows = [
        (
            str(one.id)[:_ID_CHARS],
            f"{one.rating:.1f}",
            len(one.entity_ids),
            "  " * depth + brief(one.title),
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
    """Show a report. Its findings with their passages, and the members of the community."""
    view = _run_communities(graph, lambda communities: communities.show(community))
    terminal.show(view, _print_view, as_json=as_json)


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

    terminal.show(_run_communities(graph, built, lengthy=True), _print_built, as_json=as_json)


def _print_built(done: Refreshed) -> None:
    for warning in done.warnings:
        terminal.warn_of(warning)
    terminal.say(_refreshed_message(done))


def _run_communities(
    graph: str, work: Callable[[Communities], Awaitable[T]], *, lengthy: bool = False
) -> T:
    return with_part(lambda rag, name: rag.communities(name), graph, work, lengthy=lengthy)


def _refreshed_message(done: Refreshed) -> str:
    """Return a sentence about the changes."""
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
    """Yield every community after its parent, with its depth in the list."""
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


graph_app = typer.Typer(help="Show a graph's size, its copy in Neo4j, a part of it.")
app.add_typer(graph_app, name="graph")


@graph_app.command("status")
def status(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """Show the size of the graph, and whether Neo4j is up to date."""
    found = _run_graph(graph, lambda knowledge: knowledge.status())
    terminal.show(found, _print_status, as_json=as_json)


@graph_app.command("sync")
def sync(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """Copy changes to Neo4j."""
    taken = _run_graph(graph, lambda knowledge: knowledge.sync(_progress), lengthy=True)
    _report_rows(taken, as_json=as_json)


@graph_app.command("rebuild")
def rebuild(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """Copy the whole graph to Neo4j again. PostgreSQL answers meanwhile."""
    taken = _run_graph(graph, lambda knowledge: knowledge.rebuild(_progress), lengthy=True)
    _report_rows(taken, as_json=as_json)


@graph_app.command("show")
def show(
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="A name, alias or id.")],
    graph: GraphId = GRAPH,
    depth: Annotated[int, typer.Option("--depth", "-d", min=1, max=2, help="Steps away.")] = 1,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=2, max=500, help="Entities at most.")
    ] = 20,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the heaviest relations around an entity."""
    part = _run_graph(graph, lambda knowledge: knowledge.part(entity, depth=depth, limit=limit))
    terminal.show(part, _print_tree, as_json=as_json)


def _run_graph(
    graph: str, work: Callable[[KnowledgeGraph], Awaitable[T]], *, lengthy: bool = False
) -> T:
    return with_part(lambda rag, name: rag.graph(name), graph, work, lengthy=lengthy)


def _progress(taken: int) -> None:
    terminal.note(count_noun(taken, "row"))


def _report_rows(taken: int, *, as_json: bool) -> None:
    message = f"Neo4j has copied {count_noun(taken, 'row')}." if taken else "Neo4j is up to date."
    terminal.print_result(message, {"rows": taken}, as_json=as_json)


def _print_status(found: GraphStatus) -> None:
    sizes = {"PostgreSQL": found.record}
    if found.projection is not None:
        sizes[f"Neo4j {found.neo4j}"] = found.projection
    rows = [
        (name, one.entities, one.relations, one.mentions, one.communities)
        for name, one in sizes.items()
    ]
    terminal.table(("STORE", "ENTITIES", "RELATIONS", "MENTIONS", "COMMUNITIES"), rows)
    if found.projection is not None:
        terminal.faint("Neo4j holds one mention for an entity and its passage.")
    terminal.say(f"Version {found.version}.")
    if found.problem:
        terminal.warn(found.problem)
    elif found.neo4j and found.projection is None:
        terminal.warn("Neo4j does not have this graph yet: run `sextant graph sync`.")
    if found.waiting:
        terminal.warn(
            f"{count_noun(found.waiting, 'row')} to be taken over by Neo4j: run `sextant graph sync`."
        )


def _print_tree(part: DrawnGraph) -> None:
    """Print relations under the entity that they were reached from, for each entity of the name."""
    names = {entity.id: terminal.brief(entity.name) for entity in part.entities}
    around: _Hops = defaultdict(dict)
    for hop in part.hops:
        around[hop.source_id][hop.relation_id] = around[hop.target_id][hop.relation_id] = hop
    for center in part.entities:
        steps = _take_steps(around, center.id)
        if steps or center is part.entities[0]:
            terminal.heading(f"{terminal.brief(center.name)} ({center.entity_type})")
        for depth, hop, near, far in steps:
            arrow = "→" if hop.source_id == near else "←"
            line = f"{arrow} {hop.relation_type} {arrow} {names.get(far, far)}  {hop.weight:g}"
            terminal.say("  " * depth + line)
    if not part.hops:
        terminal.note(
            "Nothing is related to it. `sextant entities show` lists the passages that name it."
        )


def _take_steps(around: _Hops, center: UUID) -> list[tuple[int, Hop, UUID, UUID]]:
    """Take the hops of an entity, each followed by those from its far end: depth, hop, near end and far end."""
    steps = []
    for hop in _take_hops(around, center):
        far = hop.other_end(center)
        steps.append((1, hop, center, far))
        steps += [(2, one, far, one.other_end(far)) for one in _take_hops(around, far)]
    return steps


def _take_hops(around: _Hops, entity: UUID) -> list[Hop]:
    taken = list(around.pop(entity, {}).values())
    for hop in taken:
        around[hop.other_end(entity)].pop(hop.relation_id, None)
    return taken
