"""grade: is what was found enough, or is another search worth while?"""

from __future__ import annotations

from typing import Any, Literal

from langgraph.runtime import Runtime
from langgraph.types import Command
from pydantic import BaseModel, Field

import prompts
from nodes.asking import ask
from nodes.context import RunContext
from nodes.passages import numbered, within_budget
from nodes.state import State
from nodes.support import Wording, claim_of

# The rule, without a chat model: enough was found when the first passages together hold this share
# of the question's terms; a passage is relevant from the second share on. Measured in docs/rules.md.
SUFFICIENT_COVERAGE = 0.7
RELEVANT_COVERAGE = 0.25
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
    """Judge by the terms that question and passages share."""
    asked = claim_of(state.question)
    most = max(len(asked), 1)
    texts = [Wording(f"{item.metadata.get('title', '')} {item.text}") for item in state.items]
    held = [text.held(asked) for text in texts]
    covered = frozenset[str]().union(*held[:_FIRST])
    return {
        "relevance": len(covered) / most,
        "sufficient": len(covered) / most >= SUFFICIENT_COVERAGE,
        "evidence": [
            item.id
            for item, terms in zip(state.items, held, strict=True)
            if len(terms) / most >= RELEVANT_COVERAGE
        ],
        "missing": " ".join(
            keyword
            for keyword in state.keywords
            if not any(text.says(keyword) for text in texts[:_FIRST])
        ),
    }


async def _by_model(state: State, run: RunContext) -> dict[str, Any]:
    shown = within_budget(state.items, run.deps.settings.limits.context_tokens)
    messages = prompts.GRADE.messages(
        state.language, question=state.question, passages=numbered(shown)
    )
    judged = await ask(state, run, messages, Grades)
    if judged.reply is None:
        return judged.costs
    relevant = {number for number in judged.reply.relevant if 1 <= number <= len(shown)}
    return {
        "relevance": len(relevant) / len(shown),
        "sufficient": judged.reply.sufficient and bool(relevant),
        "evidence": [shown[number - 1].id for number in sorted(relevant)],
        "missing": judged.reply.missing,
        **judged.costs,
    }
