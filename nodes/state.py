"""The state of the workflow. Its fields hold plain values, since every step may be checkpointed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Annotated, Any, Literal, get_type_hints

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.graph import add_messages
from pydantic import ConfigDict, TypeAdapter, ValidationError

from sextant.domain.answers import Trust
from sextant.domain.breadth import asks_account
from sextant.domain.errors import OptionInvalid
from sextant.domain.retrieval import AUTO, ItemKind, Mode, RetrievedItem, items_of

Complexity = Literal["simple", "complex"]

# The conversation, as chat interfaces have it: each message once, by its id.
Messages = Annotated[list[AnyMessage], add_messages]


def _replace_items(_: list[RetrievedItem], new: Sequence[object]) -> list[RetrievedItem]:
    """Return the new list instead of the old one; a state edited over HTTP has its items as plain values."""
    return items_of(new)


Items = Annotated[list[RetrievedItem], _replace_items]


@dataclass(kw_only=True)
class InputState:
    """What a caller gives.

    Attributes:
        query: the question; empty: the last of `messages` asks it (`sextant.nodes.question.conversation`).
        messages: the conversation, as chat interfaces have it.
        graph_id: the knowledge base.
        user_id: whose it is; a server's login outranks it.
        mode: one of the six modes, or `auto`.
        effort: `low`, `medium` or `high`; empty: as the run chooses.
        top_k: passages per search; None: as the run chooses.
        filters: which passages may be used (`sextant.domain.questions.ChunkFilters`).
        rerank: whether the reranker, where there is one, orders the passages.
        history: earlier turns as role and content; by default those of `messages`.
        multimodal_content: images and tables that come with the question.

    With a checkpointer, a field that a turn leaves out keeps its value from the turn before. Ephemeral fields do not:
    the question and what came with it belong to one turn (small tables are kept in `State.tables`), and `mode` and
    `effort` are outputs, too, which must not bind the next turn.
    """

    query: Annotated[str, EphemeralValue] = ""
    messages: Messages = field(default_factory=list[AnyMessage])
    graph_id: str = "default"
    user_id: str | None = None
    mode: Annotated[str, EphemeralValue] = AUTO
    effort: Annotated[str, EphemeralValue] = ""
    top_k: int | None = None
    filters: dict[str, Any] | None = None
    rerank: bool = True
    history: Annotated[list[dict[str, str]], EphemeralValue] = field(
        default_factory=list[dict[str, str]]
    )
    multimodal_content: Annotated[list[dict[str, Any]], EphemeralValue] = field(
        default_factory=list[dict[str, Any]]
    )


@dataclass(kw_only=True)
class OutputState:
    """What a caller gets: the fields of `sextant.domain.answers.Answer`, as plain values.

    `messages` end with the question and its answer. `sources` are in no checkpoint: they hold texts of documents.
    Nodes add to `coded_warnings` (`CodedWarning.to_json`); `warnings` are their sentences in `language`.
    """

    messages: Messages = field(default_factory=list[AnyMessage])
    answer: str = ""
    mode: Annotated[str, EphemeralValue] = ""
    effort: Annotated[str, EphemeralValue] = ""
    citations: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    sources: Annotated[list[dict[str, Any]], UntrackedValue] = field(
        default_factory=list[dict[str, Any]]
    )
    graph_context: dict[str, Any] = field(default_factory=dict[str, Any])
    attempts: int = 0
    trust: str = Trust.UNSUPPORTED.value
    grounded: bool = False
    declined: bool = False
    not_found: list[str] = field(default_factory=list[str])
    warnings: list[str] = field(default_factory=list[str])
    coded_warnings: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    language: Literal["en", "zh"] = "en"
    timings: dict[str, float] = field(default_factory=dict[str, float])
    model: str = ""
    prompt: str = ""
    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    costs: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])


@dataclass(kw_only=True)
class State(InputState, OutputState):
    """Everything the nodes pass on.

    `analyze` begins each turn with fresh values (`per_turn_defaults`).

    Attributes:
        asked: the query as it was given; empty: the last of `messages` asks.
        before: what was said before it, as much as fits.
        question: the query, made to stand alone.
        complexity: `simple` where no document can help.
        strategy: the mode in use.
        reason: why that mode.
        chosen_effort: the effort in use.
        chosen_graph: the knowledge base in use; a run that is resumed may bring no context.
        sections: the sections of a report that are written (`sextant.nodes.research`).
        streamed: how many of these this run has streamed.
        entities: names in the question.
        meanings: names of the question that several things bear, with these (`sextant.retrievers.namesakes`); only where
            a person may be asked which one is meant.
        set_aside: names whose meaning a person chose: the `name` in lower case, `ids` of the other things that bear it
            and of passages that tell of these, their `documents`, their `words`, and the `chosen_words`.
        keywords: both levels of keywords.
        low_level_keywords: names and terms.
        high_level_keywords: what the question is about.
        subquestions: the parts of the question.
        unanswered: the parts that the passages do not answer.
        search: the query to run next.
        extra_queries: queries that run with it.
        next_hop_queries: queries that run with it, by meaning alone.
        cross_lingual_queries: the question, to be searched in documents of the other language.
        searched: the queries that were run.
        searches: how each of them fared (`sextant.domain.answers.SearchReport`).
        items: the passages found, best first.
        graph_items: the entities, relations and reports that go with them.
        attachments: what came with the question (`sextant.domain.questions`).
        tables: tables that later turns may ask about (`sextant.nodes.multimodal.attachments`).
        evidence: ids of the passages that were judged relevant.
        relevance: how well the passages cover the question, 0 to 1.
        sufficient: whether the passages answer it.
        rounds: refinement rounds that the answer may have.
        missing: keywords of the question that the first passages lack.
        suggested: queries for what is missing, by the model that judged the passages.
        judged_tokens: tokens of passages that this model was shown; the answer is written from as many.
        by_rule: the chat model failed at a judgement, so rules judge for the rest of the turn.
        unreachable: why the chat model is not asked again in this turn; empty: it may be.
        may_ask: what a person may be asked to decide (`sextant.nodes.decisions`).
        deadline: when models and searches must be done, in seconds since the epoch; 0: not begun. In no checkpoint: a
            run that goes on from one has its time before it.
    """

    asked: str = ""
    before: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    question: str = ""
    complexity: Complexity = "complex"
    strategy: str = ""
    reason: str = ""
    chosen_effort: str = ""
    chosen_graph: str = ""
    sections: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    streamed: Annotated[int, UntrackedValue] = 0
    entities: list[str] = field(default_factory=list[str])
    meanings: dict[str, list[dict[str, Any]]] = field(
        default_factory=dict[str, list[dict[str, Any]]]
    )
    set_aside: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    keywords: list[str] = field(default_factory=list[str])
    low_level_keywords: list[str] = field(default_factory=list[str])
    high_level_keywords: list[str] = field(default_factory=list[str])
    subquestions: list[str] = field(default_factory=list[str])
    unanswered: list[str] = field(default_factory=list[str])
    search: str = ""
    extra_queries: list[str] = field(default_factory=list[str])
    next_hop_queries: list[str] = field(default_factory=list[str])
    cross_lingual_queries: list[str] = field(default_factory=list[str])
    searched: list[str] = field(default_factory=list[str])
    searches: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    items: Items = field(default_factory=list[RetrievedItem])
    graph_items: Items = field(default_factory=list[RetrievedItem])
    attachments: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tables: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    evidence: list[str] = field(default_factory=list[str])
    relevance: float = 0.0
    sufficient: bool = False
    rounds: int = 0
    missing: str = ""
    suggested: list[str] = field(default_factory=list[str])
    judged_tokens: int = 0
    by_rule: bool = False
    unreachable: dict[str, Any] = field(default_factory=dict[str, Any])
    may_ask: list[str] = field(default_factory=list[str])
    deadline: Annotated[float, UntrackedValue] = 0.0


# What a turn takes over from the one before: whatever a caller may leave out, and the tables at hand.
_CARRIED_OVER = {one.name for one in fields(InputState)} | {"tables"}


def per_turn_defaults() -> dict[str, Any]:
    """Return the defaults of all other fields; a checkpointer would carry over the values of the last turn."""
    return {name: value for name, value in vars(State()).items() if name not in _CARRIED_OVER}


def reports_of(state: State) -> list[RetrievedItem]:
    """Return the community reports to answer from: in `global`, and in `hybrid` for a question about a whole subject."""
    by_reports = state.strategy == Mode.GLOBAL or (
        state.strategy == Mode.HYBRID and asks_account(state.question)
    )
    return [item for item in state.graph_items if by_reports and item.kind is ItemKind.COMMUNITY]


# LangGraph holds these to their types as they are written (`add_messages`, `sextant.domain.retrieval.items_of`).
_TYPED_BY_LANGGRAPH = {"messages", "items", "graph_items"}


def check_edits(state: State) -> None:
    """Check the fields of a state from a checkpoint, which somebody may have edited over HTTP.

    Only such a state has no deadline, and only between runs is one edited, so that others are not looked at.

    Raises:
        OptionInvalid: a field holds no value of its type; carries the field.
    """
    if state.deadline:
        return
    for name, field_type in _field_types().items():
        value = getattr(state, name)
        try:
            field_type.validate_python(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            at = "".join(f"[{part!r}]" for part in first["loc"])
            reason = first["msg"].replace("Input", "it", 1)
            raise OptionInvalid(
                f"{name}{at} of the state is {first['input']!r:.40}; {reason}.",
                next_step="Edit the state anew, with a value of that kind (docs/studio.md).",
                field=name,
            ) from None


@cache
def _field_types() -> Mapping[str, TypeAdapter[Any]]:
    strict = ConfigDict(strict=True)
    return {
        name: TypeAdapter(hint, config=strict)
        for name, hint in get_type_hints(State).items()
        if name not in _TYPED_BY_LANGGRAPH
    }
