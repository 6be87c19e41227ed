"""grade: judge whether the passages answer each part of the question, or another search is worth while."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Literal

from langgraph.runtime import Runtime
from pydantic import Field

from sextant import prompts
from sextant.domain.retrieval import RetrievedItem
from sextant.models.chat.replies import Numbers, Sentence, Yes
from sextant.models.chat.structured import ModelReply
from sextant.models.offline.passages import read_full_text
from sextant.nodes.answers.passages import number_passages, passages_for_prompt
from sextant.nodes.budget import (
    Limit,
    judging_budget,
    limit_warning,
    merge_warnings,
    prompt_size,
)
from sextant.nodes.citing.support import TermLookup, claim_of
from sextant.nodes.context import RunContext
from sextant.nodes.judgements import ask_all, wants_judgement
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


class Grades(ModelReply):
    """The chat model's judgement of the passages."""

    relevant: Numbers = Field(default_factory=list[int])
    sufficient: Yes = False
    missing: Sentence = ""


async def grade(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Judge the passages, and set how many rounds may be made for better ones: none when the time is over."""
    run = runtime.context
    rounds_left = state.attempts < run.max_attempts
    update = by_rule(state) | {"rounds": run.max_attempts}
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
    """Ask the chat model about each unanswered part at once, or about the whole question where the limits allow no more."""
    questions = state.unanswered or [state.question]
    shown = passages_for_prompt(state, run)
    requests = [_request(state, part, shown) for part in questions]
    sizes = sum(map(prompt_size, requests))
    if len(questions) > 1 and judging_budget(state, run).lacks(sizes, len(questions)):
        questions, requests = [state.question], [_request(state, state.question, shown)]
    judged = await ask_all(state, run, requests, Grades)
    replies = [reply for reply in judged.replies if reply is not None]
    if len(replies) < len(judged.replies):
        return judged.costs
    numbers = [sorted(set(reply.relevant)) for reply in replies]
    relevant = [[shown[at - 1] for at in found if 1 <= at <= len(shown)] for found in numbers]
    missing = [
        (part, reply.missing)
        for part, reply, picked in zip(questions, replies, relevant, strict=True)
        if not (reply.sufficient and picked)
    ]
    return (
        _update_grades(state, [item for picked in relevant for item in picked], missing)
        | judged.costs
    )


def _update_grades(
    state: State, relevant: Iterable[RetrievedItem], missing: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """Return the state update of a judgement; passages judged relevant in an earlier round stay relevant.

    Passages that suffice keep their order, so that the answer's prompt begins as this one did and finds it cached.
    """
    chosen = {item.id: item for item in state.items if item.id in state.evidence}
    chosen |= {item.id: item for item in relevant}
    others = [item for item in state.items if item.id not in chosen]
    open_parts = [part for part, _ in missing if part in state.subquestions]
    return {
        "relevance": len(chosen) / max(1, len(state.items)),
        "sufficient": not missing,
        "items": state.items if not missing else [*chosen.values(), *others],
        "evidence": list(chosen),
        "unanswered": open_parts if len(open_parts) == len(missing) else state.unanswered,
        "missing": "; ".join(lacking or part for part, lacking in missing),
    }


def _request(state: State, question: str, shown: Sequence[RetrievedItem]) -> prompts.Messages:
    question_text = prompts.as_data(question)
    return prompts.GRADE.messages(
        state.language, question=question_text, passages=number_passages(shown)
    )
