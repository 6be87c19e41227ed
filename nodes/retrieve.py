"""retrieve: search the documents for all that is due, keeping the evidence of earlier rounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from operator import add, itemgetter
from typing import Annotated, Any, TypedDict, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Send

from sextant.domain.answers import Retrieved, SearchKind, SearchReport, as_values
from sextant.domain.errors import RetrievalError, Wording, describe_reason
from sextant.domain.retrieval import (
    AUTO,
    ItemKind,
    Mode,
    Retrieval,
    RetrievedItem,
    assemble_graph_context,
)
from sextant.domain.warnings import CodedWarning, WarningCode, distinct, word_warnings
from sextant.nodes.budget import Limit, budget_of, judging_budget, limit_warning, merge_warnings
from sextant.nodes.context import RunContext, scope_of
from sextant.nodes.multimodal.attachments import attachments_text
from sextant.nodes.state import State
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.modes import resolve_mode, widen_mode
from sextant.retrievers.ranking.fusion import interleave, rrf
from sextant.stores.postgresql.watched import with_deadline
from sextant.tables.query.parsing import may_compute
from sextant.text.characters import ideographs, language_of
from sextant.text.statements import AnswerType
from sextant.text.word_forms import as_tables_say

# A refining round looks wider than the one before: `naive` by words as well as by meaning, the modes
# of the graph with more of it.
_BY_WORDS_TOO = (VECTOR, KEYWORD)
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
        outcomes = await with_deadline(seconds, _search_queries(state, runtime, due, mode, top_k))
    except TimeoutError:
        return _late(state, run)
    found = {one.query: one.found for one in outcomes if one.found is not None}
    costs = _report_outcomes(state, runtime, mode, outcomes)
    passages = {query: passages_of(one) for query, one in found.items()}
    tabular = [item for query in due.tabular for item in passages.pop(query, ())]
    around = _once(
        [*(item for one in found.values() for item in one.graph_items), *state.graph_items]
    )
    return costs | {
        "items": with_tables(merge_evidence(state, passages, top_k), tabular, top_k),
        "graph_items": around,
        "graph_context": assemble_graph_context(around),
    }


async def search_questions(
    state: State, runtime: Runtime[RunContext], questions: Sequence[str], seconds: float
) -> tuple[list[Retrieval | None], dict[str, Any]]:
    """Return what each of several questions finds by itself, all at once, and the state update that tells of it.

    One that fails, or is not done in time, finds nothing, with a warning. Reports tell of the whole: where these were
    searched for the question, its parts are searched as particular ones.
    """
    run = runtime.context
    mode = state.strategy
    if mode == Mode.GLOBAL:
        mode = resolve_mode(AUTO, list(run.deps.retriever.lanes))[0].value
    due = _PendingQueries(tuple(questions), (), (), ())
    searching = _search_queries(state, runtime, due, mode, run.top_k(state))
    try:
        outcomes = await with_deadline(seconds, searching)
    except TimeoutError:
        cause = limit_warning(Limit.TIME, run.deps.settings.limits)
    except RetrievalError as error:
        cause = CodedWarning(WarningCode.CAUSE, {"reason": describe_reason(error)})
    else:
        return [one.found for one in outcomes], _report_outcomes(state, runtime, mode, outcomes)
    warnings = merge_warnings(state.coded_warnings, cause)
    return [None] * len(questions), {"coded_warnings": warnings}


def _report_outcomes(
    state: State, runtime: Runtime[RunContext], mode: str, outcomes: Sequence[_Outcome]
) -> dict[str, Any]:
    """Stream how the searches of a round fared, and return what the state keeps of that."""
    found = [one.found for one in outcomes if one.found is not None]
    failed = [one.cause for one in outcomes if one.cause is not None]
    warnings = [*failed, *(warning for one in found for warning in one.coded_warnings)]
    sentences = word_warnings(distinct(warnings), state.language)
    searches = tuple(one.report(state.language) for one in outcomes)
    longest = max(found, key=lambda one: one.timings["total"])
    count = len({item.id for one in found for item in passages_of(one)})
    event = Retrieved(mode, count, longest.timings, sentences, searches)
    runtime.stream_writer(as_values(event))
    return {
        "searched": [*state.searched, *(one.query for one in outcomes)],
        "searches": [
            *state.searches,
            *({**asdict(one), "round": state.attempts} for one in searches),
        ],
        "coded_warnings": merge_warnings(state.coded_warnings, *warnings),
    }


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
            may_compute(state.question) or AnswerType(state.question).is_quantity
        )
        return cls(
            wide, near, tuple(state.cross_lingual_queries), (tabular,) if asks_tables else ()
        )

    @property
    def kinds(self) -> list[tuple[str, SearchKind]]:
        """Return each query with its kind, in the order in which they are searched."""
        return [
            *((query, "query") for query in self.wide),
            *((query, "next_hop") for query in self.near),
            *((query, "cross_lingual") for query in self.cross_lingual),
            *((query, "table") for query in self.tabular),
        ]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one query came to: what it found, or why it found nothing."""

    query: str
    kind: SearchKind
    found: Retrieval | None = None
    error: RetrievalError | None = None

    @property
    def cause(self) -> CodedWarning | None:
        """Return why the search failed, if it did."""
        if self.error is None:
            return None
        return CodedWarning(WarningCode.CAUSE, {"reason": describe_reason(self.error)})

    def report(self, language: str) -> SearchReport:
        """Return how the search fared."""
        if self.found is None:
            causes = () if self.cause is None else (self.cause,)
            return SearchReport(
                self.query, self.kind, error=" ".join(word_warnings(causes, language))
            )
        count = len(passages_of(self.found))
        mode = str(self.found.mode)  # no enum: checkpoints hold plain values
        return SearchReport(self.query, self.kind, mode, count, self.found.timings)


class _SearchTask(TypedDict):
    """One branch: the query, and its index among those of the round."""

    index: int
    query: str
    kind: SearchKind


class _Branches(TypedDict):
    """The state of the round's graph: its tasks, and what each came to, as it comes."""

    tasks: list[_SearchTask]
    outcomes: Annotated[list[tuple[int, _Outcome]], add]


_Search = Callable[[], Awaitable[Retrieval]]


@dataclass(frozen=True, slots=True)
class _Searching:
    """What runs the branches, by their index."""

    searches: Sequence[_Search]


async def _search_queries(
    state: State, runtime: Runtime[RunContext], due: _PendingQueries, mode: str, top_k: int
) -> list[_Outcome]:
    """Return what each query came to, in their order.

    Several are branches of a graph of their own, so that Studio and tracers show each with its query and time.

    Raises:
        What the first query raised, when none was answered; what is the request's fault.
    """
    kinds, searches = due.kinds, _searches(state, runtime, due, mode, top_k)
    if len(searches) == 1:
        [(query, kind)], [search] = kinds, searches
        return [_Outcome(query, kind, await search())]
    tasks = [
        _SearchTask(index=at, query=query, kind=kind) for at, (query, kind) in enumerate(kinds)
    ]
    ended = await _SEARCHES.ainvoke({"tasks": tasks}, context=_Searching(searches))
    outcomes = [outcome for _, outcome in sorted(ended["outcomes"], key=itemgetter(0))]
    if all(one.found is None for one in outcomes if one.kind != "table"):
        raise next(one.error for one in outcomes if one.error is not None)
    return outcomes


async def _search_branch(state: _SearchTask, runtime: Runtime[_Searching]) -> dict[str, Any]:
    """Run one search; that it fails is its outcome, unless the request is at fault."""
    found, error = None, None
    try:
        found = await runtime.context.searches[state["index"]]()
    except RetrievalError as failure:
        error = failure
    return {"outcomes": [(state["index"], _Outcome(state["query"], state["kind"], found, error))]}


def _start_branches(state: _Branches) -> list[Send]:
    return [Send("search", task) for task in state["tasks"]]


def _build_searches() -> CompiledStateGraph[_Branches, _Searching, Any, Any]:
    builder: Any = StateGraph(_Branches, context_schema=_Searching)
    builder.add_node("search", _search_branch, input_schema=_SearchTask)
    builder.add_conditional_edges(START, _start_branches, ["search"])
    builder.add_edge("search", END)
    # What branches find goes into the state of the workflow; a checkpoint of their own would hold it twice.
    return cast(
        "CompiledStateGraph[_Branches, _Searching, Any, Any]",
        builder.compile(checkpointer=False, name="searches"),
    )


_SEARCHES = _build_searches()


def _searches(
    state: State, runtime: Runtime[RunContext], due: _PendingQueries, mode: str, top_k: int
) -> list[_Search]:
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
        *(partial(wide, query) for query in due.wide),
        *(partial(near, query) for query in due.near),
        *(partial(_search_cross_lingual, state, runtime, top_k) for _ in due.cross_lingual),
        *(partial(tabular, query[:most]) for query in due.tabular),
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
    return replace(
        found, results=tuple(one for one in found.results if _is_in(other, one.text))[:top_k]
    )


def _is_in(language: str, text: str) -> bool:
    """Return whether a passage is in `language` and no other: some Chinese names bring it near any question."""
    is_chinese = language_of(text) == "zh"
    return is_chinese if language == "zh" else _BARELY * ideographs(text) < len(text)


def passages_of(found: Retrieval) -> list[RetrievedItem]:
    """Return the passages of what was found."""
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
    fused = [id_ for id_, _ in rrf({str(at): ids for at, ids in enumerate(wide)}, {})]
    new = interleave(cross_lingual, interleave(_ids(_once(bridged)), fused, 0), 0)
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


def _ids(items: Iterable[RetrievedItem]) -> list[str]:
    return [item.id for item in items]
