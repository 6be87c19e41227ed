"""search: search for the questions of a report; find_gaps: choose further queries for what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from sextant import prompts
from sextant.domain.answers import ReportProgress, as_values
from sextant.domain.retrieval import RetrievedItem
from sextant.nodes.answers.passages import number_passages, trim_passages
from sextant.nodes.budget import judging_budget, passage_tokens
from sextant.nodes.citing.support import TermLookup, claim_of
from sextant.nodes.context import RunContext
from sextant.nodes.grade import SUFFICIENT_COVERAGE, Grades
from sextant.nodes.judgements import ask
from sextant.nodes.refine import all_new
from sextant.nodes.research.state import ResearchState, Topic, passages_by_id, plain, topics_of
from sextant.nodes.retrieve import search_questions
from sextant.nodes.searches import passages_of
from sextant.retrievers.ranking.fusion import interleave

# Passages of a topic that are judged for what is missing, and those that its section is written from.
_JUDGED, MOST_OF_TOPIC = 3, 8
# All queries of one round.
_MOST_DUE = 8


async def search(state: ResearchState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Search for all queries that are due at once, each for its topic."""
    topics, due = topics_of(state), state.due
    if not due:
        return {}
    runtime.stream_writer(as_values(ReportProgress("search", 0, len(due))))
    seconds = judging_budget(state, runtime.context).seconds
    queries = [str(one["query"]) for one in due]
    found, costs = await search_questions(state, runtime, queries, seconds)
    passages, graph_items = list[RetrievedItem](), list[RetrievedItem]()
    for one, result in zip(due, found, strict=True):
        if result is None:
            continue
        here, topic = passages_of(result), topics[int(one["topic"])]
        ids = [item.id for item in here]
        topic.found = (interleave(topic.found, ids, 1) if topic.found else ids)[:MOST_OF_TOPIC]
        passages += here
        graph_items += result.graph_items
    runtime.stream_writer(as_values(ReportProgress("search", len(due), len(due))))
    return costs | {
        "topics": plain(topics),
        "due": [],
        "items": _add_new(state.items, passages),
        "graph_items": _add_new(state.graph_items, graph_items),
    }


async def find_gaps(state: ResearchState, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Have the chat model choose queries for topics whose first passages do not cover them, while rounds are left."""
    run, topics = runtime.context, topics_of(state)
    weak = [at for at, topic in enumerate(topics) if not is_covered(topic, state)]
    is_over = state.rounds_done >= run.deps.settings.research.rounds
    if not weak or is_over or judging_budget(state, run).seconds <= 0:
        return {"due": []}
    queries, costs = await _ask_for_queries(state, run, [topics[at] for at in weak])
    due = [{"topic": _nearest(query, topics, weak), "query": query} for query in queries]
    new = all_new((str(one["query"]) for one in due), state.searched)
    left = [one for one in due if one["query"] in new][:_MOST_DUE]
    return {"due": left, "rounds_done": state.rounds_done + bool(left), **costs}


def is_covered(topic: Topic, state: ResearchState) -> bool:
    """Return whether the first passages of a topic together cover its question."""
    texts = "\n".join(
        f"{item.metadata.get('title', '')} {item.text}"
        for item in passages_by_id(state, topic.found[:_JUDGED])
    )
    return TermLookup(texts).covers(claim_of(topic.question)) >= SUFFICIENT_COVERAGE


def _nearest(query: str, topics: Sequence[Topic], among: Sequence[int]) -> int:
    """Return the topic whose question shares most terms with a query."""
    claim = claim_of(query)
    return max(among, key=lambda at: TermLookup(topics[at].question).covers(claim))


async def _ask_for_queries(
    state: ResearchState, run: RunContext, weak: Sequence[Topic]
) -> tuple[list[str], dict[str, Any]]:
    """Return the chat model's queries for topics that their passages do not cover."""
    seen = dict.fromkeys(id_ for topic in weak for id_ in topic.found[:_JUDGED])
    missing = "\n".join(topic.question for topic in weak)
    tokens = passage_tokens(replace(state, subquestions=[]), run)
    shown = trim_passages(missing, passages_by_id(state, list(seen)), tokens)
    messages = prompts.GRADE.messages(
        state.language,
        question=prompts.as_data(missing),
        passages=number_passages(shown),
        searched=prompts.as_data("\n".join(state.searched)),
    )
    judged = await ask(state, run, messages, Grades)
    longest = run.deps.settings.limits.question_chars
    queries = judged.reply.suggested if judged.reply else []
    return [query[:longest] for query in queries], judged.costs


def _add_new(items: Sequence[RetrievedItem], more: Iterable[RetrievedItem]) -> list[RetrievedItem]:
    """Return the items, followed by those of `more` that are new."""
    known = {item.id: item for item in items}
    for item in more:
        known.setdefault(item.id, item)
    return list(known.values())
