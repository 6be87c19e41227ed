"""refine: another query, for what is still missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel

import prompts
from domain.text import clean_text, normalise
from nodes.asking import ask
from nodes.context import RunContext
from nodes.state import State


class Rewrite(BaseModel):
    """A query as the chat model writes it."""

    query: str = ""


async def refine(
    state: State, runtime: Runtime[RunContext]
) -> Command[Literal["retrieve", "generate"]]:
    """Choose a query that was not yet run; without one, answer from what there is."""
    suggested, costs = await _by_model(state, runtime.context)
    longest = runtime.context.deps.settings.limits.question_chars
    candidates = [clean_text(query)[:longest] for query in (suggested, *by_rule(state))]
    query = first_new(candidates, state.searched)
    if query is None:
        return Command(goto="generate", update=costs)
    return Command(
        goto="retrieve", update={"search": query, "attempts": state.attempts + 1, **costs}
    )


def by_rule(state: State) -> list[str]:
    """Queries worth a try: what no passage holds, then the keywords, then the most telling half."""
    half = state.keywords[: (len(state.keywords) + 1) // 2]
    return [state.missing, " ".join([*state.entities, *state.keywords]), " ".join(half)]


def first_new(candidates: Iterable[str], searched: Iterable[str]) -> str | None:
    """Return the first candidate that says anything and was not yet run, whatever its spacing."""
    run = {_plain(query) for query in searched}
    return next((query for query in candidates if _plain(query) and _plain(query) not in run), None)


def _plain(query: str) -> str:
    return " ".join(normalise(query).split())


async def _by_model(state: State, run: RunContext) -> tuple[str, dict[str, Any]]:
    messages = prompts.REFINE.messages(
        state.language,
        question=state.question,
        missing=state.missing,
        searched="\n".join(state.searched),
    )
    judged = await ask(state, run, messages, Rewrite)
    return (judged.reply.query if judged.reply else ""), judged.costs
