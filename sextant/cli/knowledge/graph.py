"""`sextant graph`: how large a graph is, its copy in Neo4j, and a part of it to look at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId
from sextant.cli.with_sextant import with_part
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from uuid import UUID

    from sextant.facade.knowledge.graph import GraphStatus, KnowledgeGraph, SubGraph
    from sextant.stores.graph.protocol import Hop

T = TypeVar("T")

app = typer.Typer()
graph_app = typer.Typer(help="Show a graph's size, its copy in Neo4j, a part of it.")
app.add_typer(graph_app, name="graph")


class GraphFormat(StrEnum):
    """How a part of a graph is shown."""

    TREE = "tree"
    TABLE = "table"
    MERMAID = "mermaid"


@graph_app.command("status")
def status(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """Say how large the graph is, and how far Neo4j follows it."""
    found = _run(graph, lambda knowledge: knowledge.status())
    if as_json:
        terminal.emit(found)
    else:
        _print_status(found)


@graph_app.command("sync")
def sync(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """Let Neo4j take over what has changed."""
    taken = _run(graph, lambda knowledge: knowledge.sync(_progress), lengthy=True)
    _report_rows(taken, as_json=as_json)


@graph_app.command("rebuild")
def rebuild(graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """Let Neo4j take over the whole graph anew. PostgreSQL answers meanwhile."""
    taken = _run(graph, lambda knowledge: knowledge.rebuild(_progress), lengthy=True)
    _report_rows(taken, as_json=as_json)


@graph_app.command("show")
def show(
    entity: Annotated[str, typer.Argument(metavar="ENTITY", help="A name, alias or id.")],
    graph: GraphId = GRAPH,
    depth: Annotated[int, typer.Option("--depth", "-d", min=1, max=2, help="Steps away.")] = 1,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=50, help="Relations of each entity.")
    ] = 10,
    form: Annotated[GraphFormat, typer.Option("--format", "-f", help="How.")] = GraphFormat.TREE,
    *,
    as_json: AsJson = False,
) -> None:
    """Show the heaviest relations around an entity."""
    part = _run(graph, lambda knowledge: knowledge.around(entity, depth=depth, per_node=limit))
    if as_json:
        terminal.emit(part)
    else:
        _print_part(part, form)


def _run(graph: str, work: Callable[[KnowledgeGraph], Awaitable[T]], *, lengthy: bool = False) -> T:
    return with_part(lambda rag: rag.graph(graph), work, lengthy=lengthy)


def _progress(taken: int) -> None:
    terminal.note(count_noun(taken, "row"))


def _report_rows(taken: int, *, as_json: bool) -> None:
    if as_json:
        terminal.emit({"rows": taken})
    else:
        terminal.say(
            f"Neo4j has taken over {count_noun(taken, 'row')}." if taken else "Neo4j is up to date."
        )


def _print_status(found: GraphStatus) -> None:
    sizes = {"PostgreSQL": found.record}
    if found.projection is not None:
        sizes[f"Neo4j {found.neo4j}"] = found.projection
    rows = [
        (name, str(one.entities), str(one.relations), str(one.mentions), str(one.communities))
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


def _print_part(part: SubGraph, form: GraphFormat) -> None:
    {
        GraphFormat.TREE: _print_tree,
        GraphFormat.TABLE: _print_table,
        GraphFormat.MERMAID: _print_mermaid,
    }[form](part)
    if not part.hops:
        terminal.note(
            "Nothing is related to it. `sextant entities show` lists the passages that name it."
        )


def _print_tree(part: SubGraph) -> None:
    """Relations under the entity that they were reached from."""
    names = _names(part)
    terminal.heading(f"{terminal.brief(part.center.name)} ({part.center.entity_type})")
    for depth, hop, near, far in _steps(part):
        arrow = "→" if hop.source_id == near else "←"
        line = f"{arrow} {hop.relation_type} {arrow} {names.get(far, far)}  {hop.weight:g}"
        terminal.say("  " * depth + line)


def _steps(part: SubGraph) -> list[tuple[int, Hop, UUID, UUID]]:
    """Return hops with the near and the far end, each followed by those that go on from its far end."""
    steps = []
    onward = [hop for hop in part.hops if hop.depth == 2]
    for hop in part.hops:
        if hop.depth == 1:
            far = _other(hop, part.center.id)
            steps.append((1, hop, part.center.id, far))
            mine = [one for one in onward if far in (one.source_id, one.target_id)]
            onward = [one for one in onward if one not in mine]
            steps += [(2, one, far, _other(one, far)) for one in mine]
    return steps


def _other(hop: Hop, end: UUID) -> UUID:
    return hop.target_id if hop.source_id == end else hop.source_id


def _names(part: SubGraph) -> dict[UUID, str]:
    return {entity.id: terminal.brief(entity.name) for entity in part.entities}


def _print_table(part: SubGraph) -> None:
    names = _names(part)
    rows = [
        (
            str(hop.depth),
            f"{hop.weight:g}",
            names.get(hop.source_id, "?"),
            hop.relation_type,
            names.get(hop.target_id, "?"),
        )
        for hop in part.hops
    ]
    terminal.table(("DEPTH", "WEIGHT", "SOURCE", "RELATION", "TARGET"), rows)


def _print_mermaid(part: SubGraph) -> None:
    """As a Mermaid flowchart; names are quoted as entities, so that none of them is syntax."""
    nodes = {entity.id: f"n{number}" for number, entity in enumerate(part.entities)}
    terminal.say("flowchart LR")
    for entity in part.entities:
        terminal.say(f'  {nodes[entity.id]}["{_quote_label(entity.name)}"]')
    for hop in part.hops:
        if hop.source_id in nodes and hop.target_id in nodes:
            ends = (nodes[hop.source_id], nodes[hop.target_id])
            terminal.say(f'  {ends[0]} -- "{_quote_label(hop.relation_type)}" --> {ends[1]}')


def _quote_label(text: str) -> str:
    """At most 80 characters; no sign is cut in two, and neither markup nor Markdown is left."""
    signs = {'"': "#quot;", "#": "#35;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;"}
    return "".join(signs.get(sign, sign) for sign in " ".join(text.split())[:80])
