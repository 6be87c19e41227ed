"""How `sextant entities search` shows what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sextant.cli import terminal

if TYPE_CHECKING:
    from sextant.retrievers.entity_search.response import EntityResult, Explanation, SearchResponse

_SHOWN = 200


def print_found(found: SearchResponse) -> None:
    """Print a page of entities, with what explains their scores where it is there."""
    for rank, one in enumerate(found.results, start=1):
        _print_result(rank, one)
    if not found.results:
        terminal.say("Nothing found.")
    for warning in found.warnings or ():
        terminal.warn(f"Note: {warning}")
    if found.debug is not None:
        own = found.debug
        terminal.say("")
        terminal.table(
            ("STEP", "MS"), [(step, f"{spent:.1f}") for step, spent in own.timings.items()]
        )
        told = ", ".join(f"{name} {value:g}" for name, value in own.constants.items())
        terminal.faint(f"constants: {told}; {'kept' if own.cached else 'searched'}")
    if found.next_cursor:
        terminal.note(f"There are more: --cursor {found.next_cursor}")


def _print_result(rank: int, one: EntityResult) -> None:
    name = f"{rank}. {terminal.brief(one.entity.name)} · {one.entity.entity_type}"
    terminal.heading(f"{name}  {terminal.score(one.scores.final)}  ({', '.join(one.sources)})")
    said = " ".join(one.entity.description.split())
    if said:
        terminal.prose(said[:_SHOWN] + "…" if len(said) > _SHOWN else said, "   ")
    for other in one.related_entities:
        terminal.say(f"   {other.relation_type}: {terminal.brief(other.entity.name)}")
    if one.explanation is not None:
        _explain(one.explanation)


def _explain(said: Explanation) -> None:
    parts = [
        f"{lane} {own.weight:g} × {own.normalised:.3f} (rank {own.rank}, raw {terminal.score(own.raw)})"
        for lane, own in said.lanes.items()
    ]
    terminal.faint(f"   {' + '.join(parts)} + bonus {said.bonus:g} = {terminal.score(said.fused)}")
    if said.named:
        terminal.faint("   named exactly so: first by meaning and by words")
    if said.path is not None:
        terminal.faint(
            f"   graph: {said.path.relation_type}, weight {said.path.weight:g}, "
            f"depth {said.path.depth}"
        )
