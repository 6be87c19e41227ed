"""Retrieval modes as data: which lanes a mode runs, and which step in when they fail."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.errors import ModeNotAvailable, OptionInvalid
from domain.retrieval import AUTO, Mode
from retrievers.lanes import KEYWORD, VECTOR
from retrievers.mix import MIX


@dataclass(frozen=True, slots=True)
class Composition:
    """The lanes of a mode; those of `fallback` run only when every lane of `lanes` failed."""

    lanes: tuple[str, ...]
    fallback: tuple[str, ...] = ()


MODES: Mapping[Mode, Composition] = {
    Mode.NAIVE: Composition(lanes=(VECTOR,), fallback=(KEYWORD,)),
    Mode.MIX: Composition(lanes=(MIX,), fallback=(VECTOR, KEYWORD)),
    Mode.BYPASS: Composition(lanes=()),
}


def composition_of(mode: str, known_lanes: Sequence[str]) -> tuple[Mode, Composition]:
    """Look up a mode by name.

    Args:
        mode: one of the six names; `auto` is the workflow's and no mode of its own.
        known_lanes: the lanes that this retriever has.

    Raises:
        ModeNotAvailable: the name is unknown, or its lanes are not there.
    """
    available = ", ".join(name for name, made_of in MODES.items() if _served(made_of, known_lanes))
    next_step = f"Available modes: {available}."
    if mode == AUTO:
        raise ModeNotAvailable(
            "Mode `auto` is chosen by the workflow and cannot be searched directly.",
            next_step=next_step,
            field="mode",
        )
    if mode not in list(Mode):
        raise ModeNotAvailable(f"There is no mode `{mode}`.", next_step=next_step, field="mode")
    composition = MODES.get(Mode(mode))
    if composition is None or not _served(composition, known_lanes):
        raise ModeNotAvailable(
            f"Mode `{mode}` needs the knowledge graph, which this version does not build yet.",
            next_step=next_step,
            field="mode",
        )
    return Mode(mode), composition


def composition_from(lanes: Sequence[str], known_lanes: Sequence[str]) -> Composition:
    """A composition of lanes named by the caller.

    Raises:
        OptionInvalid: a lane is unknown, or none is named.
    """
    if not lanes or (unknown := [lane for lane in lanes if lane not in known_lanes]):
        named = f"There is no lane `{unknown[0]}`." if lanes else "No lane is named."
        raise OptionInvalid(named, next_step=f"Lanes: {', '.join(known_lanes)}.", field="lanes")
    return Composition(lanes=tuple(dict.fromkeys(lanes)))


def _served(composition: Composition, known_lanes: Sequence[str]) -> bool:
    return set(composition.lanes) <= set(known_lanes)
