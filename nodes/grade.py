"""grade: is what was found enough, or is another search worth while?"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field

import prompts
from domain.retrieval import ItemKind, Mode
from nodes.asking import ask
from nodes.context import RunContext
from nodes.multimodal.looking import told_by_attachments
from nodes.passages import numbered, within_budget
from nodes.state import State
from nodes.support import Wording, claim_of

# The rule, without a chat model: enough was found when the first passages together hold this share
# of the question's terms. Chosen on five public question sets; docs/rules.md has the numbers.
SUFFICIENT_COVERAGE = 0.6
_FIRST = 5


class Grades(BaseModel):
    """What the chat model thinks of the passages."""

    relevant: list[int] = Field(default_factory=list[int])
    sufficient: bool = False
    missing: str = ""


async def grade(
    state: State, runtime: Runtime[RunContext]
) -> Command[Literal["refine", "generate"]]:
    """Judge the passages; go on to `refine` while they are weak and rounds are left."""
    run = runtime.context
    rounds_left = state.attempts < run.max_attempts
    update = by_rule(state)
    if rounds_left and state.items and run.deps.chat is not None:
        # Without a round left a model's judgement would change nothing, and cost a call.
        update |= await _by_model(state, run)
    again = rounds_left and not update["sufficient"]
    return Command(goto="refine" if again else "generate", update=update)


def by_rule(state: State) -> dict[str, Any]:
    """Judge by the terms that the question and the first passages share."""
    asked = claim_of(state.question)
    first = state.items[:_FIRST]
    if state.strategy == Mode.GLOBAL:  # there the reports are what was looked for
        first = [*first, *(item for item in state.around if item.kind is ItemKind.COMMUNITY)]
    texts = (f"{item.metadata.get('title', '')} {item.text}" for item in first)
    text = Wording("\n".join([told_by_attachments(state), *texts]))
    covered = text.covers(asked)
    return {
        "relevance": covered,
        "sufficient": covered >= SUFFICIENT_COVERAGE,
        "missing": " ".join(keyword for keyword in state.keywords if not text.says(keyword)),
    }


async def _by_model(state: State, run: RunContext) -> dict[str, Any]:
    shown = within_budget(state.items, run.deps.settings.limits.context_tokens)
    messages = prompts.GRADE.messages(
        state.language, question=state.question, passages=numbered(shown)
    )
    judged = await ask(state, run, messages, Grades)
    if judged.reply is None:
        return judged.costs
    relevant = [shown[number - 1] for number in _known(judged.reply.relevant, len(shown))]
    chosen = {item.id for item in relevant}
    return {
        "relevance": len(relevant) / len(shown),
        "sufficient": judged.reply.sufficient and bool(relevant),
        "items": [*relevant, *(item for item in state.items if item.id not in chosen)],
        "evidence": [item.id for item in relevant],
        "missing": judged.reply.missing,
        **judged.costs,
    }


def _known(numbers: list[int], most: int) -> list[int]:
    return sorted({number for number in numbers if 1 <= number <= most})
