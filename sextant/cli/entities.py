"""`sextant entities`: list, search and show entities, merge them, and extract more with a chat model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from sextant.cli import terminal
from sextant.cli.session import (
    GRAPH,
    AsJson,
    BudgetTokens,
    Cursor,
    DryRun,
    Explain,
    GraphId,
    ListByDefault,
    Words,
    chosen_graph,
    print_estimate,
    question_of,
    read_filters,
    usage_text,
    with_part,
    with_sextant,
)
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.domain.graph import Entity
    from sextant.facade import Sextant
    from sextant.facade.entities import Duplicates, Entities, EntityView
    from sextant.ingestion.graph.extraction.extract_llm import ExtractionReport
    from sextant.retrievers.entity_search.response import Explanation, SearchResponse


def print_found(found: SearchResponse) -> None:
    """Print a page of entities, with the explanations of their scores if there are any."""
    for rank, one in enumerate(found.results, start=1):
        name = f"{rank}. {terminal.brief(one.entity.name)} · {one.entity.entity_type}"
        terminal.heading(f"{name}  {terminal.score(one.scores.final)}  ({', '.join(one.sources)})")
        description = " ".join(one.entity.description.split())
        if description:
            terminal.prose(terminal.shorten(description, 200), "   ")
        for other in one.related_entities:
            terminal.say(f"   {other.relation_type}: {terminal.brief(other.entity.name)}")
        if one.explanation is not None:
            _explain(one.explanation)
    if not found.results:
        terminal.say("Nothing found.")
    for warning in found.warnings or ():
        terminal.warn_of(warning)
    if found.debug is not None:
        terminal.say("")
        origin = "; from the cache" if found.debug.cached else ""
        terminal.print_debug(found.debug.timings, found.debug.constants, origin)
    if found.next_cursor:
        terminal.note(f"There are more: --cursor {found.next_cursor}")


def _explain(explanation: Explanation) -> None:
    parts = [
        f"{lane} {signal.weight:g} × {signal.normalised:.3f} (rank {signal.rank}, raw {terminal.score(signal.raw)})"
        for lane, signal in explanation.lanes.items()
    ]
    terminal.faint(
        f"   {' + '.join(parts)} + bonus {explanation.bonus:g} = {terminal.score(explanation.fused)}"
    )
    if explanation.named:
        terminal.faint("   named exactly so: first by meaning and by words")
    if explanation.path is not None:
        terminal.faint(
            f"   graph: {explanation.path.relation_type}, weight {explanation.path.weight:g}, "
            f"depth {explanation.path.depth}"
        )


T = TypeVar("T")

app = typer.Typer()
entities = typer.Typer(
    cls=ListByDefault, help="Look at entities, decide which are one, extract more."
)
app.add_typer(entities, name="entities")

Limit = Annotated[int, typer.Option("--limit", "-n", min=1, help="Rows at most.")]
Named = Annotated[
    str, typer.Argument(metavar="ENTITY", help="A name, alias, id, or id of your own.")
]


@entities.command("list")
def list_entities(graph: GraphId = GRAPH, limit: Limit = 50, *, as_json: AsJson = False) -> None:
    """List the entities with most relations."""
    found = _run(graph, lambda entities: entities.top(limit))
    terminal.show(found, _print_entities, as_json=as_json)


def _print_entities(found: Sequence[Entity]) -> None:
    rows = [
        (one.entity_type, one.degree, one.mention_count, terminal.brief(one.name)) for one in found
    ]
    terminal.table(("TYPE", "RELATIONS", "MENTIONS", "NAME"), rows)


@entities.command("search")
def search_entities(
    words: Words,
    graph: GraphId = GRAPH,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=100, help="Results on a page.")
    ] = 10,
    *,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="NAME=VALUE",
            help="Only entities that meet it; may be repeated. Names: entityTypes, createdAfter, "
            "createdBefore.",
        ),
    ] = None,
    related: Annotated[bool, typer.Option("--related", help="With their relations.")] = False,
    rerank: Annotated[bool, typer.Option("--rerank", help="Let the reranker order them.")] = False,
    cursor: Cursor = None,
    explain: Explain = False,
    as_json: AsJson = False,
) -> None:
    """Find entities by meaning, by words and by the graph."""
    from sextant.retrievers.entity_search.options import SearchOptions

    text = question_of(words)
    options = SearchOptions(
        top_k=limit,
        rerank=rerank,
        include_related=related,
        filters=read_filters(filters),
        cursor=cursor,
        explain=explain,
    )

    async def searched(rag: Sextant) -> SearchResponse:
        chosen = await chosen_graph(rag, graph)
        return await rag.search_entities(text, graph_id=chosen, options=options)

    found = with_sextant(searched)
    if as_json:
        terminal.emit(found.model_dump(mode="json"))
    else:
        print_found(found)


@entities.command("show")
def show_entity(
    entity: Named, graph: GraphId = GRAPH, limit: Limit = 20, *, as_json: AsJson = False
) -> None:
    """Show an entity. Its relations, its names, and the sentences that mention it."""
    view = _run(graph, lambda entities: entities.show(entity, limit))
    terminal.show(view, _print_view, as_json=as_json)


@entities.command("list-duplicates")
def list_duplicates(
    graph: GraphId = GRAPH, limit: Limit = 50, *, cursor: Cursor = None, as_json: AsJson = False
) -> None:
    """List pairs that may be one thing. `entities merge` decides."""
    found = _run(graph, lambda entities: entities.duplicates(limit, cursor))
    terminal.show(found, _print_duplicates, as_json=as_json)


def _print_duplicates(found: Duplicates) -> None:
    brief = terminal.brief
    rows = [
        (f"{one.score:.2f}", one.reason, brief(one.one_name), brief(one.other_name))
        for one in found.pairs
    ]
    terminal.table(("LIKENESS", "WHY", "NAME", "OTHER NAME"), rows)
    if found.next_cursor:
        terminal.note(f"There are more: --cursor {found.next_cursor}")


@entities.command("merge")
def merge_entities(
    entity: Named,
    into: Annotated[
        str, typer.Argument(metavar="INTO", help="What it is the same as; keeps its name.")
    ],
    graph: GraphId = GRAPH,
    *,
    reason: Annotated[str, typer.Option(help="Kept with the decision.")] = "",
    as_json: AsJson = False,
) -> None:
    """Decide that two entities are one. `entities unmerge` takes it back."""
    merged = _decide(graph, lambda entities: entities.merge(entity, into, reason))
    message = f"{terminal.brief(entity)} is {terminal.brief(merged.name)} from now on."
    terminal.print_result(message, merged, as_json=as_json)


@entities.command("unmerge")
def unmerge_entity(entity: Named, graph: GraphId = GRAPH, *, as_json: AsJson = False) -> None:
    """Take a merge back; it is not made again by itself."""
    _decide(graph, lambda entities: entities.unmerge(entity))
    message = f"{terminal.brief(entity)} is an entity of its own."
    terminal.print_result(message, {"unmerged": entity}, as_json=as_json)


@entities.command("extract")
def extract(
    graph: GraphId = GRAPH,
    *,
    dry_run: DryRun = False,
    budget: BudgetTokens = None,
    as_json: AsJson = False,
) -> None:
    """Let the chat model read passages. Those it has not read yet, or failed on."""
    if dry_run:
        estimate = _run(graph, lambda entities: entities.estimate())
        print_estimate(estimate, count_noun(estimate.passages, "passage"), as_json=as_json)
        return
    from sextant.cli.progress import stage_bars

    async def extracted(entities: Entities) -> ExtractionReport:
        with stage_bars(quiet=as_json) as on_stage:
            return await entities.extract(
                budget_tokens=budget,
                on_progress=partial(on_stage, "passages"),
            )

    report = _run(graph, extracted, lengthy=True)
    terminal.show(report, _print_report, as_json=as_json)
    if report.failed:
        raise typer.Exit(1)


def _run(graph: str, work: Callable[[Entities], Awaitable[T]], *, lengthy: bool = False) -> T:
    return with_part(lambda rag, name: rag.entities(name), graph, work, lengthy=lengthy)


def _decide(graph: str, work: Callable[[Entities], Awaitable[T]]) -> T:
    """Return the result of a decision, and print warnings about the graph's update."""

    async def decided(rag: Sextant) -> tuple[T, Sequence[str]]:
        chosen = await chosen_graph(rag, graph)
        done = await work(await rag.entities(chosen))
        warnings = {one.graph_id: one.warnings for one in await rag.graphs()}
        return done, warnings.get(chosen, ())

    done, warnings = with_sextant(decided)
    for warning in warnings:
        terminal.warn_of(warning)
    return done


def _print_view(view: EntityView) -> None:
    one, brief = view.entity, terminal.brief
    terminal.heading(f"{brief(one.name)} · {one.entity_type}")
    for label, text in (
        ("also", terminal.first_of(one.aliases, 20)),
        ("merged", ", ".join(f"{brief(merged.name)} ({merged.reason})" for merged in view.merged)),
        ("description", one.description),
        ("id", str(one.id)),
    ):
        if text:
            terminal.faint(f"{label}: {text}")
    for related in view.relations:
        terminal.say(
            f"  {brief(related.source)} —{brief(related.relation_type)}→ {brief(related.target)}"
            f"  {related.weight:g}"
        )
    for quote in view.mentions:
        page = f", page {quote.page}" if quote.page is not None else ""
        terminal.prose(f"“{quote.sentence}” ({quote.filename}{page})", "  ")


def _print_report(report: ExtractionReport) -> None:
    terminal.say(
        f"{count_noun(report.done, 'passage')} read, {report.failed} failed, {report.left} left; "
        + usage_text(report.usage)
    )
    for warning in report.warnings:
        terminal.warn_of(warning)
