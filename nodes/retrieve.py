"""retrieve: search the documents, and merge what is found with the passages of earlier rounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from langgraph.runtime import Runtime

from sextant.domain.answers import Retrieved, as_values
from sextant.domain.errors import Wording, describe_reason
from sextant.domain.retrieval import (
    AUTO,
    ItemKind,
    Mode,
    Retrieval,
    RetrievalError,
    RetrievedItem,
    assemble_graph_context,
)
from sextant.domain.warnings import CodedWarning, WarningCode, distinct, word_warnings
from sextant.nodes.budget import Limit, budget_of, judging_budget, limit_warning, merge_warnings
from sextant.nodes.citing.support import headings
from sextant.nodes.context import RunContext, scope_of
from sextant.nodes.multimodal.attachments import attachments_text
from sextant.nodes.searches import DueSearch, SearchOutcome, passages_of, run_searches
from sextant.nodes.state import State
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR
from sextant.retrievers.modes import resolve_mode, widen_mode
from sextant.retrievers.ranking.fusion import interleave, rrf
from sextant.stores.postgresql.watched import with_deadline
from sextant.tables.query.parsing import may_compute
from sextant.text.characters import ideographs, language_of
from sextant.text.statements import AnswerType
from sextant.text.word_forms import as_tables_say

# `naive` searches later rounds by words, too.
_BY_WORDS_TOO = (VECTOR, KEYWORD)
# Passages of the first round that keep their places before those of later rounds: with two of them twowiki loses 6
# points of all-gold@5, with four nothing is gained.
_LEADING = 3
_NEXT_HOP_PASSAGES = 5
# Documents are tagged with their language; some passages of one are in the other language all the same, so more are
# searched for than are kept.
_OTHER_LANGUAGE = {"en": "zh", "zh": "en"}
_OVERFETCH = 3
# An English passage has less than one ideograph in so many characters.
_CHARS_PER_IDEOGRAPH = 20
# Passages of tables that a question for values adds to what was found, and their tag.
_TABLE_PASSAGES = 3
_TABLE_FILTER = {"tags": ["table"]}


async def retrieve(state: State, runtime: Runtime[RunContext]) -> dict[str, Any]:
    """Search the documents with all queries that are due, at the same time.

    A query that fails is a warning, as long as another one succeeds. When the time for searching ends, the passages of
    earlier rounds stay.

    Raises:
        GraphNotFound: this user has no such knowledge base.
        RetrievalError: every lane failed, or nothing was found in time.
        EmbeddingModelChanged, OptionInvalid: the request cannot be served.
    """
    run = runtime.context
    top_k = run.top_k(state)
    mode = widen_mode(state.strategy, state.attempts, run.deps.retriever.lanes)
    # Without evidence there is no answer to keep time for: the first search may take all of it.
    seconds = (judging_budget if _has_evidence(state) else budget_of)(state, run).seconds
    if seconds <= 0:
        return _stop_late(state, run)
    searches = _due_searches(state, runtime, mode, top_k)
    try:
        outcomes = await _search_all(state, searches, seconds)
    except TimeoutError:
        return _stop_late(state, run)
    costs = _report_outcomes(state, runtime, mode, outcomes)
    found = [(one, one.found) for one in outcomes if one.found is not None]
    passages = {one.query: passages_of(here) for one, here in found if one.kind != "table"}
    of_tables = [item for one, here in found if one.kind == "table" for item in passages_of(here)]
    graph_items = _deduplicate(
        [*(item for _, here in found for item in here.graph_items), *state.graph_items]
    )
    return costs | {
        "items": with_tables(merge_evidence(state, passages, top_k), of_tables, top_k),
        "graph_items": graph_items,
        "graph_context": assemble_graph_context(graph_items),
    }


async def search_questions(
    state: State, runtime: Runtime[RunContext], questions: Sequence[str], seconds: float
) -> tuple[list[Retrieval | None], dict[str, Any]]:
    """Search for several questions at once, each by itself; return what each found, and the state update.

    A question that fails, or is not done in time, finds nothing, with a warning. Where the whole question is answered
    from reports (`global`), these are parts of it, and are searched as `auto` searches particular questions.
    """
    run = runtime.context
    mode = state.strategy
    if mode == Mode.GLOBAL:
        mode = resolve_mode(AUTO, list(run.deps.retriever.lanes))[0].value
    searches = _searches_by_mode(state, runtime, questions, mode, run.top_k(state))
    try:
        outcomes = await _search_all(state, searches, seconds)
    except TimeoutError:
        cause = limit_warning(Limit.TIME, run.deps.settings.limits)
    except RetrievalError as error:
        cause = CodedWarning(WarningCode.CAUSE, {"reason": describe_reason(error)})
    else:
        return [one.found for one in outcomes], _report_outcomes(state, runtime, mode, outcomes)
    warnings = merge_warnings(state.coded_warnings, cause)
    return [None] * len(questions), {"coded_warnings": warnings}


async def _search_all(
    state: State, searches: Sequence[DueSearch], seconds: float
) -> list[SearchOutcome]:
    """Run searches; leave out passages that tell of what a name does not mean, where a person chose its meaning."""
    outcomes = await with_deadline(seconds, run_searches(searches))
    if not state.set_aside:
        return outcomes
    return [
        one if one.found is None else replace(one, found=_without_namesakes(one.found, state))
        for one in outcomes
    ]


def _without_namesakes(found: Retrieval, state: State) -> Retrieval:
    """Return what was found without what tells of other things than the person chose."""
    results, graph_items = (
        tuple(
            item for item in items if not any(_is_about(others, item) for others in state.set_aside)
        )
        for items in (found.results, found.graph_items)
    )
    return replace(found, results=results, graph_items=graph_items)


def _is_about(others: Mapping[str, Any], item: RetrievedItem) -> bool:
    """Return whether an item tells of other things of a name: by the graph, by its document, or by its words."""
    ends = {item.id, item.metadata.get("source"), item.metadata.get("target")}
    if not ends.isdisjoint(others["ids"]):
        return True
    text = f"{item.metadata.get('title', '')}\n{headings(item)}\n{item.text}".casefold()
    if item.kind is not ItemKind.CHUNK or others["name"] not in text:
        return False
    if item.document_id in others["documents"]:
        return True
    return any(map(text.__contains__, others["words"])) and not any(
        map(text.__contains__, others["chosen_words"])
    )


def _report_outcomes(
    state: State, runtime: Runtime[RunContext], mode: str, outcomes: Sequence[SearchOutcome]
) -> dict[str, Any]:
    """Stream how the searches of a round fared, and return the state update that holds it."""
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


def _stop_late(state: State, run: RunContext) -> dict[str, Any]:
    """Warn that the time for searching is over.

    Raises:
        RetrievalError: there is nothing to answer from.
    """
    limits = run.deps.settings.limits
    if _has_evidence(state):
        late_warning = limit_warning(Limit.TIME, limits)
        return {"coded_warnings": merge_warnings(state.coded_warnings, late_warning)}
    late = f"nothing was found within the time for an answer, {limits.answer_seconds:g} seconds"
    error = RetrievalError.of({Limit.TIME: TimeoutError(late)})
    error.next_step = "Raise SEXTANT_LIMITS__ANSWER_SECONDS, or run `sextant doctor`."
    error.translations["zh"] = Wording(
        f"在回答时限（{limits.answer_seconds:g} 秒）内没有检索到任何内容。",
        "请调高 SEXTANT_LIMITS__ANSWER_SECONDS，或运行 `sextant doctor`。",
    )
    raise error


def _has_evidence(state: State) -> bool:
    """Return whether there are passages, or attachments that say anything."""
    return bool(state.items or (state.attachments and attachments_text(state)))


def _due_searches(
    state: State, runtime: Runtime[RunContext], mode: str, top_k: int
) -> list[DueSearch]:
    """Return the searches of this round.

    The question's queries are searched in the mode, next hops by meaning alone. The question itself is searched once
    more in documents of the other language, since passages in its own language lead every ranking by meaning
    (docs/quality.md), and in tables, by the words that columns go by.
    """
    search = partial(runtime.context.deps.retriever.search, scope_of(state, runtime))
    queries = list(dict.fromkeys(filter(None, [state.search, *state.extra_queries])))
    searches = _searches_by_mode(state, runtime, queries, mode, top_k)
    near = partial(search, mode=Mode.NAIVE, top_k=_NEXT_HOP_PASSAGES, filters=state.filters)
    hops = (query for query in state.next_hop_queries if query not in queries)
    searches += [DueSearch(query, "next_hop", partial(near, query)) for query in hops]
    cross_lingual = partial(_search_cross_lingual, state, runtime, top_k)
    searches += [
        DueSearch(query, "cross_lingual", cross_lingual) for query in state.cross_lingual_queries
    ]
    if query := _table_query(state)[: runtime.context.deps.settings.limits.question_chars]:
        filters = {**(state.filters or {}), **_TABLE_FILTER}
        run = partial(
            search, query, mode=Mode.NAIVE, top_k=_TABLE_PASSAGES, filters=filters, lanes=(KEYWORD,)
        )
        searches.append(DueSearch(query, "table", run))
    return searches


def _searches_by_mode(
    state: State, runtime: Runtime[RunContext], queries: Iterable[str], mode: str, top_k: int
) -> list[DueSearch]:
    search = partial(
        runtime.context.deps.retriever.search,
        scope_of(state, runtime),
        mode=mode,
        top_k=top_k,
        filters=state.filters,
        lanes=_BY_WORDS_TOO if state.attempts and mode == Mode.NAIVE else None,
        rerank=state.rerank,
    )
    return [DueSearch(query, "query", partial(search, query)) for query in queries]


def _table_query(state: State) -> str:
    """Return the words of the question that columns of tables go by, in the first round of a question for values."""
    if state.attempts or (state.filters or {}).get("tags"):
        return ""
    query = as_tables_say(state.question)  # most questions have none, which is quickly known
    wants_value = query and (may_compute(state.question) or AnswerType(state.question).is_quantity)
    return query if wants_value else ""


async def _search_cross_lingual(
    state: State, runtime: Runtime[RunContext], top_k: int
) -> Retrieval:
    """Search for the question, by meaning and words, among passages in the other language."""
    other = _OTHER_LANGUAGE[state.language]
    found = await runtime.context.deps.retriever.search(
        scope_of(state, runtime),
        state.question,
        mode=Mode.NAIVE,
        top_k=_OVERFETCH * top_k,
        filters={**(state.filters or {}), "tags": [other]},
        lanes=_BY_WORDS_TOO,
    )
    results = [item for item in found.results if _is_in(other, item.text)]
    return replace(found, results=tuple(results[:top_k]))


def _is_in(language: str, text: str) -> bool:
    """Return whether a passage is in `language`; a few Chinese names in an English one bring it near any Chinese question."""
    if language == "zh":
        return language_of(text) == "zh"
    return _CHARS_PER_IDEOGRAPH * ideographs(text) < len(text)


def _deduplicate(items: Iterable[RetrievedItem]) -> list[RetrievedItem]:
    """Return each item once, best first."""
    best = {item.id: item for item in sorted(items, key=lambda item: item.score)}
    return sorted(best.values(), key=lambda item: (-item.score, item.id))


def merge_evidence(
    state: State, found: dict[str, list[RetrievedItem]], top_k: int
) -> list[RetrievedItem]:
    """Return the passages judged relevant, then the best `top_k` of all queries and rounds, each once.

    The first three passages of the first search keep their places. Behind them earlier passages take turns with new
    ones. Queries of one kind are fused by reciprocal ranks. Next hops, which ask different things of the same vectors,
    are ordered by cosine. Both take turns with passages in the other language.

    Args:
        state: what earlier rounds found.
        found: the passages of each query of this round, in order.
        top_k: how many are returned, unless more are judged relevant.
    """
    if len(found) == 1 and not state.items:
        return next(iter(found.values()))
    unique = {item.id: item for items in [*found.values(), state.items] for item in items}
    hops = [item for query in state.next_hop_queries for item in found.get(query, ())]
    cross_lingual = [
        item.id for query in state.cross_lingual_queries for item in found.get(query, ())
    ]
    extra = {*state.next_hop_queries, *state.cross_lingual_queries}
    wide = [_ids(items) for query, items in found.items() if query not in extra]
    before = _ids(state.items) if state.items else wide.pop(0)
    fused = [id_ for id_, _ in rrf({str(at): ids for at, ids in enumerate(wide)}, {})]
    new = interleave(cross_lingual, interleave(_ids(_deduplicate(hops)), fused, 0), 0)
    evidence = [id_ for id_ in state.evidence if id_ in unique]
    order = dict.fromkeys([*evidence, *interleave(before, new, _LEADING)])
    return [unique[id_] for id_ in list(order)[: max(top_k, len(evidence))]]


def with_tables(
    items: Sequence[RetrievedItem], of_tables: Sequence[RetrievedItem], top_k: int
) -> list[RetrievedItem]:
    """Return `items` with new passages of tables in the place of the last ones."""
    known = set(_ids(items))
    new = [item for item in of_tables if item.id not in known]
    leading = items[: max(_LEADING, len(items) - len(new))]
    return [*leading, *new][: max(top_k, len(items))]


def _ids(items: Iterable[RetrievedItem]) -> list[str]:
    return [item.id for item in items]
