"""What a report will cost: told before anything of it is searched or written."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.domain.answers import Planned
from sextant.nodes.context import RunContext
from sextant.nodes.research.state import ResearchState, Topic

# Tokens of a section's prompt beside its passages, and of what is written: a section, a plan or an outline.
AROUND_PASSAGES, SECTION_TOKENS, _SHORT = 700, 250, 80
# Topics from which on the chat model is asked for an outline.
LEAST_FOR_OUTLINE = 3


def estimate_report(state: ResearchState, run: RunContext, topics: Sequence[Topic]) -> Planned:
    """Return the plan with what it will take: the usual course, without sentences that are mended.

    A call for each section and for the answer to the question itself, one to see what is missing in each round of
    searches, one for the outline.
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
    shown = min(settings.answers.passage_tokens, limits.context_tokens) + AROUND_PASSAGES
    prompt_tokens = (written + settings.research.rounds) * shown + AROUND_PASSAGES
    completion_tokens = written * SECTION_TOKENS + judged * _SHORT
    speed = chat.speed
    seconds = speed.seconds(prompt_tokens, completion_tokens) if speed.answer else None
    if seconds is not None and speed.thinking:
        seconds += (written + judged - 1) * speed.thinking / speed.answer
    return Planned(
        questions,
        min(written + judged, limits.model_calls),
        min(prompt_tokens, limits.prompt_tokens),
        completion_tokens,
        seconds and round(min(seconds, limits.answer_seconds), 1),
        bounds,
    )
