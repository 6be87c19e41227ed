"""retrieve: search the documents for all that is due, keeping the evidence of earlier rounds."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from sextant.domain.answers import Retrieved, as_values
from sextant.domain.errors import RetrievalError, Wording, describe_reason
from sextant.domain.retrieval import ItemKind, Mode, Retrieval, RetrievedItem
from sextant.domain.warnings import CodedWarning, WarningCode, distinct, word_warnings
from sextant.nodes.budget import Limit, budget_of, judging_budget, limit_warning, merge_warnings
from sextant.nodes.context import RunContext, scope_of
from sextant.nodes.multimodal.attachments import attachments_text
from sextant.nodes.state import State
from sextant.retrievers.content import assemble_graph_context
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.modes import MODES
from sextant.retrievers.ranking.fusion import interleave, rrf
from sextant.stores.postgresql.watched import with_deadline
from sextant.tables.query.parsing import may_compute
from sextant.text.characters import ideographs, language_of
from sextant.text.quantities import find_question_quantity
from sextant.text.word_forms import as_tables_say

# A refining round looks wider than the one before: `naive` by words as well as by meaning, the modes
# of the graph with more of it.
_BY_WORDS_TOO = (VECTOR, KEYWORD)
_WIDENING = (Mode.LOCAL, Mode.HYBRID, Mode.MIX)
# How many of the first round's passages keep their places before those of later rounds (two lose
# twowiki 6 points of all-gold@5, four gain nothing), and how far a bridge's ranking is read.
_LEADING = 3
_BRIDGE_DEPTH = 5
# Documents are tagged with their language; of one in English some passages are in Chinese all the same.
_OTHER_LANGUAGE = {"en": "zh", "zh": "en"}
_DEEPER = 3
_BARELY = 20
# Passages of tables that the words of their columns bring beside what was found, and their tag.
_TABULAR = 3
_OF_TABLES = {"tags": ["table"]}


async def retrieve(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Run the queries that are due, all at once.

    Of several queries each finds what it can: one that fails is a warning. When the time for
    searching ends, what earlier rounds found stays, and what came with the question.

    Raises:
        GraphNotFound: this user has no such knowledge base.
        RetrievalError: every lane failed, or nothing was found in time.
        EmbeddingModelChanged, OptionInvalid: the request cannot be served.
    """
    run = runtime.context
    top_k = run.top_k(state)
    mode = widen_mode(state.strategy, state.attempts, run.deps.retriever.lanes)
    due = _PendingQueries.of(state)
    # With nothing to tell there is no answer: the first search may take what the answer was to have.
    seconds = (judging_budget if _has_evidence(state) else budget_of)(state, run).seconds
    if seconds <= 0:
        return _late(state, run)
    try:
        found, failed = await with_deadline(
            seconds, _search_queries(state, runtime, due, mode, top_k)
        )
    except TimeoutError:
        return _late(state, run)
    warnings = [*failed, *(warning for one in found.values() for warning in one.coded_warnings)]
    sentences = word_warnings(distinct(warnings), state.language)
    runtime.stream_writer(as_values(_retrieved_event(mode, found.values(), sentences)))
    passages = {query: _passages(one) for query, one in found.items()}
    tabular = [item for query in due.tabular for item in passages.pop(query, ())]
    around = _once(
        [*(item for one in found.values() for item in one.graph_items), *state.graph_items]
    )
    ids = {query: _ids(items) for query, items in passages.items()}
    return {
        "searched": [*state.searched, *due.queries],
        "items": with_tables(merge_evidence(state, passages, top_k), tabular, top_k),
        "found_for": state.found_for | ids,
        "graph_items": around,
        "graph_context": assemble_graph_context(around),
        "coded_warnings": merge_warnings(state.coded_warnings, *warnings),
    }


def _retrieved_event(
    mode: str, found: Collection[Retrieval], warnings: tuple[str, ...]
) -> Retrieved:
    """Return the event of one round; its timings are those of the search that took longest."""
    longest = max(found, key=lambda one: one.timings["total"])
    count = len({item.id for one in found for item in _passages(one)})
    return Retrieved(mode, count, longest.timings, warnings)


def _late(state: State, run: RunContext) -> dict[str, Any]:
    """Return what is left when the time for searching is over."""
    limits = run.deps.settings.limits
    if _has_evidence(state):
        late_warning = limit_warning(Limit.TIME, limits)
        return {"coded_warnings": merge_warnings(state.coded_warnings, late_warning)}
    late = f"nothing was found within the time for an answer, {limits.answer_seconds:g} seconds"
    error = RetrievalError({Limit.TIME: TimeoutError(late)})
    error.next_step = "Raise SEXTANT_LIMITS__ANSWER_SECONDS, or run `sextant doctor`."
    error.translations["zh"] = Wording(
        f"在回答时限（{limits.answer_seconds:g} 秒）内没有检索到任何内容。",
        "请调高 SEXTANT_LIMITS__ANSWER_SECONDS，或运行 `sextant doctor`。",
    )
    raise error


def _has_evidence(state: State) -> bool:
    """Return whether an answer can be made without searching on: of passages, or of what came with the question."""
    return bool(state.items or (state.attachments and attachments_text(state)))


@dataclass(frozen=True, slots=True)
class _PendingQueries:
    """Queries to be searched as the mode says, by meaning alone, in the other language's documents, and in tables.

    The third is the question once more: nothing in its own language holds it, and passages in the
    question's language stand before all others in any ranking by meaning (docs/quality.md). The last, with
    the first search of what tables may tell (a quantity, or what is computed), has what columns are called:
    tables are read whole once one of their passages is found.
    """

    wide: tuple[str, ...]
    near: tuple[str, ...]
    cross_lingual: tuple[str, ...]
    tabular: tuple[str, ...]

    @classmethod
    def of(cls, state: State) -> _PendingQueries:
        wide = tuple(dict.fromkeys(filter(None, [state.search, *state.extra_queries])))
        near = tuple(query for query in state.next_hop_queries if query not in wide)
        bounded = state.attempts or (state.filters or {}).get("tags")
        tabular = "" if bounded else as_tables_say(state.question)
        # Most questions have no word that columns go by.
        asks_tables = tabular and (
            may_compute(state.question) or find_question_quantity(state.question)
        )
        return cls(
            wide, near, tuple(state.cross_lingual_queries), (tabular,) if asks_tables else ()
        )

    @property
    def queries(self) -> tuple[str, ...]:
        return (*self.wide, *self.near, *self.cross_lingual, *self.tabular)


async def _search_queries(
    state: State, runtime: Runtime[RunContext], due: _PendingQueries, mode: str, top_k: int
) -> tuple[dict[str, Retrieval], list[CodedWarning]]:
    """Return what each query found, and the warnings of those that failed.

    Raises:
        What the first query raised, when none was answered; what is the request's fault.
    """
    searches = _searches(state, runtime, due, mode, top_k)
    if len(searches) == 1:
        return {due.queries[0]: await searches[0]}, []
    outcomes = await asyncio.gather(*searches, return_exceptions=True)
    found: dict[str, Retrieval] = {}
    failed: list[RetrievalError] = []
    for query, outcome in zip(due.queries, outcomes, strict=True):
        if isinstance(outcome, RetrievalError):
            failed.append(outcome)
        elif isinstance(outcome, BaseException):
            raise outcome
        else:
            found[query] = outcome
    if found.keys() <= set(due.tabular):
        raise failed[0]
    causes = (CodedWarning(WarningCode.CAUSE, {"reason": describe_reason(one)}) for one in failed)
    return found, list(causes)


def _searches(
    state: State, runtime: Runtime[RunContext], due: _PendingQueries, mode: str, top_k: int
) -> list[Coroutine[Any, Any, Retrieval]]:
    """Return the searches for the queries that are due, in their order."""
    search = partial(runtime.context.deps.retriever.search, scope_of(state, runtime))
    by_words = _BY_WORDS_TOO if state.attempts and mode == Mode.NAIVE else None
    wide = partial(
        search, mode=mode, top_k=top_k, filters=state.filters, lanes=by_words, rerank=state.rerank
    )
    near = partial(search, mode=Mode.NAIVE, top_k=_BRIDGE_DEPTH, filters=state.filters)
    of_tables = {**(state.filters or {}), **_OF_TABLES}
    tabular = partial(search, mode=Mode.NAIVE, top_k=_TABULAR, filters=of_tables, lanes=(KEYWORD,))
    most = runtime.context.deps.settings.limits.question_chars
    return [
        *map(wide, due.wide),
        *map(near, due.near),
        *(_search_cross_lingual(state, runtime, top_k) for _ in due.cross_lingual),
        *(tabular(query[:most]) for query in due.tabular),
    ]


async def _search_cross_lingual(
    state: State, runtime: Runtime[RunContext], top_k: int
) -> Retrieval:
    """Return what the question finds, by meaning and words, among passages in the other language."""
    other = _OTHER_LANGUAGE[state.language]
    found = await runtime.context.deps.retriever.search(
        scope_of(state, runtime),
        state.question,
        mode=Mode.NAIVE,
        top_k=_DEEPER * top_k,
        filters={**(state.filters or {}), "tags": [other]},
        lanes=_BY_WORDS_TOO,
    )
    there = [item for item in found.results if _is_in(other, item.text)]
    return replace(found, results=tuple(there[:top_k]))


def _is_in(language: str, text: str) -> bool:
    """Return whether a passage is in `language` and no other: some Chinese names bring it near any question."""
    if language == "zh":
        return language_of(text) == "zh"
    return _BARELY * ideographs(text) < len(text)


def widen_mode(strategy: str, attempts: int, lanes: Iterable[str]) -> str:
    """Return the mode of a refining round: one step wider each, as far as the retriever can go."""
    if strategy not in _WIDENING:
        return strategy
    known = set(lanes)
    served = [mode for mode in _WIDENING if set(MODES[mode].signals) <= known]
    start = served.index(Mode(strategy))
    return served[min(start + attempts, len(served) - 1)].value


def _passages(found: Retrieval) -> list[RetrievedItem]:
    return [item for item in found.results if item.kind is ItemKind.CHUNK]


def _once(items: Iterable[RetrievedItem]) -> list[RetrievedItem]:
    """Return each item once, best first."""
    best = {item.id: item for item in sorted(items, key=lambda item: item.score)}
    return sorted(best.values(), key=lambda item: (-item.score, item.id))


def merge_evidence(
    state: State, found: dict[str, list[RetrievedItem]], top_k: int
) -> list[RetrievedItem]:
    """Return the evidence so far, then the best of all queries and rounds: `top_k`, each once.

    What the question itself found first keeps three places; behind them it takes turns with what its
    parts, or a later round, found. Queries of one kind are fused by reciprocal ranks; bridges, which
    ask different things of the same vectors, by cosine; both take turns with what documents in the
    other language have. Evidence stays however much of it there is.
    """
    if len(found) == 1 and not state.items:
        return next(iter(found.values()))
    unique = {item.id: item for items in [*found.values(), state.items] for item in items}
    bridged = [item for query in state.next_hop_queries for item in found.get(query, ())]
    cross_lingual = [
        item.id for query in state.cross_lingual_queries for item in found.get(query, ())
    ]
    extra = {*state.next_hop_queries, *state.cross_lingual_queries}
    wide = [_ids(items) for query, items in found.items() if query not in extra]
    before = _ids(state.items) if state.items else wide.pop(0)
    new = interleave(cross_lingual, interleave(_ids(_once(bridged)), fuse_ids(wide), 0), 0)
    evidence = [id_ for id_ in state.evidence if id_ in unique]
    order = dict.fromkeys([*evidence, *interleave(before, new, _LEADING)])
    return [unique[id_] for id_ in list(order)[: max(top_k, len(evidence))]]


def with_tables(
    items: Sequence[RetrievedItem], tabular: Sequence[RetrievedItem], top_k: int
) -> list[RetrievedItem]:
    """Return `items`, whose last give way to passages of tables that are not among them; of these what has room."""
    known = set(_ids(items))
    new = [item for item in tabular if item.id not in known]
    leading = items[: max(_LEADING, len(items) - len(new))]
    return [*leading, *new][: max(top_k, len(items))]


def fuse_ids(rankings: Sequence[Sequence[str]]) -> list[str]:
    """Return the ids of several rankings of one kind in one."""
    return [id_ for id_, _ in rrf({str(at): ids for at, ids in enumerate(rankings)}, {})]


def _ids(items: Iterable[RetrievedItem]) -> list[str]:
    return [item.id for item in items]
