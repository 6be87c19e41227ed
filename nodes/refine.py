"""refine: choose new queries for what is still missing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Literal

from langgraph.runtime import Runtime

from sextant.domain.retrieval import Mode
from sextant.models.offline.passages import read_full_text
from sextant.models.offline.wording import respell
from sextant.nodes.context import RunContext
from sextant.nodes.question.wording import bridges
from sextant.nodes.state import State
from sextant.text.analysis import find_unmentioned
from sextant.text.characters import clean_text, normalise

# Queries of one round.
_MOST_QUERIES = 3
# In these modes entities come with the passages; a next hop begins from them.
_GRAPH_MODES = frozenset({Mode.LOCAL, Mode.HYBRID, Mode.MIX})
_NO_WORD = re.compile(r"[\W_]+")


async def refine(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Choose queries that were not run yet: those that the judging model suggested, else by rule; there may be none."""
    longest = runtime.context.deps.settings.limits.question_chars
    queries = _drop_searched(state, map(clean_text, state.suggested), longest)
    hops: list[str] = []
    if not queries:
        queries, hops = by_rule(state, longest)
    translated = in_other_language(state)
    first, *rest = queries[:_MOST_QUERIES] or [""]
    due = {
        "search": first,
        "extra_queries": rest,
        "next_hop_queries": hops,
        "cross_lingual_queries": translated,
    }
    return due | {"attempts": state.attempts + any(due.values())}


def after_refine(state: State) -> Literal["another query", "nothing new", "report"]:
    """Return whether any query is due, else whether an answer or a report is written."""
    due = (state.search, state.extra_queries, state.next_hop_queries, state.cross_lingual_queries)
    if any(due):
        return "another query"
    return "report" if state.chosen_effort == "high" else "nothing new"


def by_rule(state: State, longest: int) -> tuple[list[str], list[str]]:
    """Return queries for what is missing, and queries for a next hop, each of `longest` characters at most.

    Queries are: the question with its spelling corrected, codes and versions that no passage names, and parts that no
    passage answers. The graph's modes add next hops. Without any of these the keywords are searched, except in `mix`,
    where that costs more than it finds (docs/quality.md).
    """
    spelled = respell(state.question, [item.text for item in state.items])
    new = [spelled] if spelled != state.question else []
    named = find_unmentioned(state.question, map(read_full_text, state.items))
    parts = _drop_searched(state, [*new, *named, *state.unanswered], longest)
    hops: list[str] = []
    if state.strategy in _GRAPH_MODES:
        hops = _drop_searched(
            state, bridges(state.question, state.items, state.graph_items), longest
        )
    if parts or hops or state.strategy == Mode.MIX:
        return parts, hops
    half = state.keywords[: (len(state.keywords) + 1) // 2]
    words = [state.missing, " ".join([*state.entities, *state.keywords]), " ".join(half)]
    return _drop_searched(state, words, longest)[:1], []


def in_other_language(state: State) -> list[str]:
    """Return the question for documents in the other language, once, if the passages lack a word of it.

    A search that is filtered by tags is left alone: the language is one of the tags.
    """
    if not state.missing or (state.filters or {}).get("tags"):
        return []
    other = "English" if state.language == "zh" else "Chinese"
    return all_new([f"{state.question} (in {other} documents)"], state.searched)


def _drop_searched(state: State, candidates: Iterable[str], longest: int) -> list[str]:
    """Return the candidates that are new, cut to the length of a query."""
    return all_new((query[:longest] for query in candidates), state.searched)


def all_new(candidates: Iterable[str], searched: Iterable[str]) -> list[str]:
    """Return the candidates that were not run, each once; case, spacing and punctuation make no difference."""
    run = {_plain(query) for query in searched} | {""}
    new: list[str] = []
    for query in candidates:
        plain = _plain(query)
        if plain not in run:
            run.add(plain)
            new.append(query)
    return new


@lru_cache(maxsize=256)  # each round compares its queries with all before, several times
def _plain(query: str) -> str:
    return _NO_WORD.sub("", normalise(query))
