"""The state that flows through the workflow: plain values only, since every step may be checkpointed.

Also here: a state that was edited over HTTP may hold anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from langchain_core.messages import AnyMessage
from langgraph.channels import EphemeralValue, UntrackedValue
from langgraph.graph import add_messages

from sextant.domain.answers import Trust
from sextant.domain.breadth import asks_account
from sextant.domain.errors import OptionInvalid
from sextant.domain.retrieval import AUTO, ItemKind, Mode, RetrievedItem, items_of

Complexity = Literal["simple", "complex"]

# The conversation, as chat interfaces have it: each message once, by its id.
Messages = Annotated[list[AnyMessage], add_messages]


def _replace_items(_: list[RetrievedItem], new: Sequence[object]) -> list[RetrievedItem]:
    """Return the new list instead of the old; whoever edits a state over HTTP writes its items as plain values."""
    return items_of(new)


Items = Annotated[list[RetrievedItem], _replace_items]


@dataclass(kw_only=True)
class InputState:
    """What a caller gives: the question as `query` or as the last of `messages` (`sextant.nodes.question.conversation`).

    `mode` is one of the six modes or `auto`, `effort` is `low`, `medium` or `high` (empty: as the run chooses). `history` is the conversation so far; by default what
    `messages` say of it.

    With a checkpointer, what a turn leaves out keeps the value of the turn before. The question does
    not, with its images, tables and history, for they belong to one turn (small tables are kept:
    `State.tables`); nor do `mode` and `effort`: they are also outputs, and those of one answer must not bind the
    next. They are there for `analyze`, which takes from them what the rest of the turn needs.
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
    """What a caller gets; the shapes are those of `sextant.domain.answers`, as dicts.

    `messages` end with the question and its answer. A checkpoint has no `sources`: they hold texts,
    those of attached tables whole, and the messages say where each is. `warnings` are the sentences of
    `coded_warnings` in `language`, that of the answer; the nodes add to the latter (`CodedWarning.to_json`).
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

    `analyze` begins each turn with the fields of the loop as `per_turn_defaults` has them. `asked` is the
    query as it was given (empty: the last of `messages` asks), `before` what was said before it, as much as fits.
    `question` is the query made to stand alone; `strategy` the mode in use, `reason` why. `entities` are
    the question's names, `linked` those of them that the graph knows, with ids. `keywords` holds both
    levels: names and terms (low), and what the question is about (high). `subquestions` are its parts,
    `unanswered` those that the passages do not answer.

    `chosen_effort` is the effort in use, `chosen_graph` the knowledge base: a run that is resumed may bring no context.
    `sections` are those of a report as far as they are written
    (`sextant.nodes.research`), of which this run has `streamed` so many.

    `search` is the query to run next, `extra_queries` others that run with it, and `next_hop_queries` others that are
    searched by meaning alone, `cross_lingual_queries` the question as it is searched in documents of the other
    language; `searched` those already run; `searches` how each fared, with its lanes and times
    (`sextant.domain.answers.SearchReport`). `items` are the passages
    found, best first; `graph_items` the entities, relations and reports that go with them; `attachments`
    what came with the question, as `sextant.domain.questions` has it; `tables` those that later turns of a
    conversation may ask about (`sextant.nodes.multimodal.attachments`); `evidence` the ids of passages judged
    relevant; `missing` what the grader did not find. `attempts` counts refinement rounds (0..3), of which
    the answer may have `rounds`.

    `by_rule`: the chat model did not come up with a judgement, through no fault of the prompt, so that
    rules judge from there on and the answer gets what time and calls are left. `unreachable` says why
    the chat model is not asked again in this turn, where no connection to it could be made. `may_ask` says what a
    person may be asked to decide (`sextant.nodes.decisions`). `deadline`
    is when models and searches must be done (seconds since the epoch; 0: not begun). No checkpoint has
    it: a run that goes on from one has its time before it.
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
    linked: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
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
    by_rule: bool = False
    unreachable: dict[str, Any] = field(default_factory=dict[str, Any])
    may_ask: list[str] = field(default_factory=list[str])
    deadline: Annotated[float, UntrackedValue] = 0.0


# What a conversation goes on with: whatever a caller may leave out, and the tables at hand.
_CARRIED_OVER = {one.name for one in fields(InputState)} | {"tables"}


def per_turn_defaults() -> dict[str, Any]:
    """Return all other fields as they are before a turn, which a checkpointer carries over from the last one."""
    return {name: value for name, value in vars(State()).items() if name not in _CARRIED_OVER}


def reports_of(state: State) -> list[RetrievedItem]:
    """Return the reports of communities that the question is answered from, where it asks for what they tell."""
    by_reports = state.strategy == Mode.GLOBAL or (
        state.strategy == Mode.HYBRID and asks_account(state.question)
    )
    return [item for item in state.graph_items if by_reports and item.kind is ItemKind.COMMUNITY]


_Fits = Callable[[object], bool]

# LangGraph holds these to their types as they are written (`add_messages`, `sextant.domain.retrieval.items_of`).
_TYPED_BY_LANGGRAPH = {"messages", "items", "graph_items"}
_IN_WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


def check_edits(state: State) -> None:
    """Nothing, if every field of a state from a checkpoint holds a value of its type.

    Only such a state has no deadline, and only between runs is one edited, so that others are not looked at.

    Raises:
        OptionInvalid: one does not; carries the field.
    """
    if state.deadline:
        return
    for name, (fits, wanted) in _fields().items():
        value = getattr(state, name)
        if not fits(value):
            raise OptionInvalid(
                f"{name} of the state is {value!r:.40}; it must be {wanted}.",
                next_step="Edit the state anew, with a value of that kind (docs/studio.md).",
                field=name,
            )


@cache
def _fields() -> Mapping[str, tuple[_Fits, str]]:
    """For each field whether a value fits it, and what does in words."""
    hints = get_type_hints(State)
    return {
        name: (_of(hint), _describe_hint(hint))
        for name, hint in hints.items()
        if name not in _TYPED_BY_LANGGRAPH
    }


def _of(hint: Any) -> _Fits:  # noqa: ANN401 - a type as it is written
    """Return whether a value is of the type; numbers of JSON have no point where they are whole."""
    if hint is Any:
        return lambda _: True
    if (origin := get_origin(hint)) is Literal:
        return lambda value: value in get_args(hint)
    parts = [_of(part) for part in get_args(hint)]
    if origin in {Union, UnionType}:
        return lambda value: any(fits(value) for fits in parts)
    if origin is list:
        [each] = parts
        return lambda value: isinstance(value, list) and all(map(each, value))
    if origin is dict:
        _, each = parts
        return lambda value: isinstance(value, dict) and all(map(each, value.values()))
    kinds = (int, float) if hint is float else hint
    return lambda value: isinstance(value, kinds) and (hint is bool or not isinstance(value, bool))


def _describe_hint(hint: Any) -> str:  # noqa: ANN401 - a type as it is written
    origin, parts = get_origin(hint), get_args(hint)
    if origin in {Union, UnionType}:
        return " or ".join(map(_describe_hint, parts))
    if origin is Literal:
        return " or ".join(map(repr, parts))
    if origin is list:
        return f"a list, each entry {_describe_hint(parts[0])}"
    if origin is dict:
        return "an object"
    return _IN_WORDS.get(hint, "null")
