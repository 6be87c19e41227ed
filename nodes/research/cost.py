"""What a report will cost: told before anything of it is searched or written."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.answers import Planned
from sextant.nodes.answers.passages import lay_out_passages
from sextant.nodes.budget import answer_length, passage_tokens, size_without_passages
from sextant.nodes.context import RunContext
from sextant.nodes.research.search import MOST_OF_TOPIC
from sextant.nodes.research.state import ResearchState, Topic

# Tokens that a plan or an outline is written in.
_SHORT = 80
# Topics from which on the chat model is asked for an outline.
LEAST_FOR_OUTLINE = 3


def estimate_report(state: ResearchState, run: RunContext, topics: Sequence[Topic]) -> Planned:
    """Return the plan with what it will take: the usual course, without sentences that are mended.

    A call for each section and for the answer to the question itself, one to see what is missing in each round of
    searches, one for the outline. Each shows as many passages as a section has, as long as those that were found.
    """
    settings, chat = run.deps.settings, run.deps.chat
    limits = settings.limits
    bounds = {
        "calls": limits.model_calls,
        "prompt_tokens": limits.prompt_tokens,
        "seconds": limits.answer_seconds,
    }
    questions = tuple(topic.question for topic in topics)
    if chat is None or state.unreachable:
        return Planned(questions, seconds=0.0, limits=bounds)
    written = 1 + len(topics)
    judged = settings.research.rounds + (len(topics) >= LEAST_FOR_OUTLINE)
    shown = state.items[:MOST_OF_TOPIC]
    passages = lay_out_passages(state.question, shown, passage_tokens(state, run))
    prompt = size_without_passages(state) + passages.tokens
    answer, speed = answer_length(chat.speed), chat.speed
    seconds = None
    if speed.answer:
        sections = written * speed.seconds(prompt, round(answer)) / chat.parallel.size
        seconds = sections + judged * speed.seconds(prompt, _SHORT)
    return Planned(
        questions,
        min(written + judged, limits.model_calls),
        min((written + judged) * prompt, limits.prompt_tokens),
        round(written * answer) + judged * _SHORT,
        seconds and round(min(seconds, limits.answer_seconds), 1),
        bounds,
    )
