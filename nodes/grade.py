"""grade: judge whether the passages answer the question, or another search is worth while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Annotated, Any, Literal

from langgraph.runtime import Runtime
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from sextant import prompts
from sextant.domain.retrieval import RetrievedItem
from sextant.models.chat.replies import Numbers, Sentence, Sentences, Yes
from sextant.models.chat.structured import AtMost, ModelReply
from sextant.models.offline.passages import read_full_text
from sextant.nodes.answers.passages import lay_out_passages, number_passages
from sextant.nodes.budget import (
    Limit,
    judged_tokens,
    judging_budget,
    limit_warning,
    merge_warnings,
)
from sextant.nodes.citing.support import TermLookup, claim_of
from sextant.nodes.context import RunContext
from sextant.nodes.judgements import ask, wants_judgement
from sextant.nodes.multimodal.attachments import attachments_text
from sextant.nodes.question.wording import bridges, wording_of
from sextant.nodes.state import State, reports_of
from sextant.text.analysis import find_unmentioned

# Without a chat model, passages suffice when the first five together hold this share of the question's terms
# (docs/experiments/loop.md).
SUFFICIENT_COVERAGE = 0.6
_FIRST = 5
# Where the graph leads on from the first passage, and that holds a smaller share of the question's terms, the question
# takes several hops. So are four fifths of musique's, and of single questions 2 to 14 %, which lose nothing by it.
_ONE_HOP = 0.5
# Queries that the chat model may add in one round.
_MOST_QUERIES = 3


class Grades(ModelReply):
    """The chat model's judgement of the passages; some models write a single query under `query`."""

    relevant: Numbers = Field(default_factory=list[int])
    sufficient: Yes = False
    queries: Annotated[Sentences, AtMost(_MOST_QUERIES)] = Field(default_factory=list[str])
    query: SkipJsonSchema[Sentence] = ""

    @property
    def suggested(self) -> list[str]:
        """Return the queries for what is missing."""
        return [*self.queries, *filter(None, [self.query])]


async def grade(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Judge the passages, and set how many rounds may be made for better ones: none when the time is over."""
    run = runtime.context
    rounds_left = state.attempts < run.max_attempts
    update = by_rule(state) | {"rounds": run.max_attempts, "suggested": [], "judged_tokens": 0}
    # Without a round left a model's judgement would change nothing, and cost a call.
    if rounds_left and state.items and wants_judgement(run, unsure=not update["sufficient"]):
        update |= await _by_model(state, run)
    again = rounds_left and not update["sufficient"]
    if again and judging_budget(state, run).seconds <= 0:
        late = limit_warning(Limit.TIME, run.deps.settings.limits)
        warnings = merge_warnings(update.get("coded_warnings", state.coded_warnings), late)
        update |= {"rounds": state.attempts, "coded_warnings": warnings}
    return update


def after_grade(state: State) -> Literal["enough", "report", "weak"]:
    """Return `weak` while passages do not suffice and a round is left; else whether an answer or a report is written."""
    if state.sufficient or state.attempts >= state.rounds:
        return "report" if state.chosen_effort == "high" else "enough"
    return "weak"


def by_rule(state: State) -> dict[str, Any]:
    """Judge by the terms that the first passages share with the question and with each of its parts."""
    first = [*state.items[:_FIRST], *reports_of(state)]
    texts = (f"{item.metadata.get('title', '')} {item.text}" for item in first)
    attached = [attachments_text(state)] if state.attachments else []
    text = TermLookup("\n".join([*attached, *texts]))
    covered = text.covers(claim_of(state.question))
    unanswered = [
        part for part in state.subquestions if text.covers(claim_of(part)) < SUFFICIENT_COVERAGE
    ]
    return {
        "relevance": covered,
        "sufficient": (
            covered >= SUFFICIENT_COVERAGE
            and not unanswered
            and not find_unmentioned(
                state.question, chain(attached, map(read_full_text, state.items))
            )
            and _in_one_hop(state)
        ),
        "unanswered": unanswered,
        "missing": " ".join(keyword for keyword in state.keywords if not text.says(keyword)),
    }


def _in_one_hop(state: State) -> bool:
    """Return whether one search can answer: the first passage holds enough, or nothing leads on from it."""
    if state.attempts or state.subquestions or state.attachments or not state.items:
        return True
    alone = wording_of(state.items[0]).covers(claim_of(state.question))
    return alone >= _ONE_HOP or not bridges(state.question, state.items, state.graph_items)


async def _by_model(state: State, run: RunContext) -> dict[str, Any]:
    """Ask the chat model about as many tokens of passages as the answer is then written from."""
    tokens = judged_tokens(state, run)
    shown = lay_out_passages(state.question, state.items, tokens).passages
    searched = (query for query in state.searched if query != state.question)
    messages = prompts.GRADE.messages(
        state.language,
        question=prompts.as_data(state.question),
        passages=number_passages(shown),
        searched=prompts.as_data("\n".join(searched)),
    )
    judged = await ask(replace(state, judged_tokens=tokens), run, messages, Grades)
    update = judged.costs
    if "usage" in judged.costs and state.chosen_effort != "high":  # a report reads more
        update |= {"judged_tokens": tokens}
    return update if judged.reply is None else update | _update_grades(state, judged.reply, shown)


def _update_grades(state: State, reply: Grades, shown: Sequence[RetrievedItem]) -> dict[str, Any]:
    """Return the state update of a judgement; passages judged relevant in an earlier round stay relevant.

    Passages that suffice keep their order, so that the answer's prompt begins as this one did and finds it cached.
    """
    relevant = [shown[at - 1] for at in sorted(set(reply.relevant)) if 1 <= at <= len(shown)]
    chosen = {item.id: item for item in state.items if item.id in state.evidence}
    chosen |= {item.id: item for item in relevant}
    others = [item for item in state.items if item.id not in chosen]
    is_enough = reply.sufficient and bool(relevant)
    return {
        "relevance": len(chosen) / max(1, len(state.items)),
        "sufficient": is_enough,
        "items": state.items if is_enough else [*chosen.values(), *others],
        "evidence": list(chosen),
        "suggested": reply.suggested,
    }
