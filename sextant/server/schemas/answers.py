"""JSON of questions and answers, of conversations, and of `POST /search`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.alias_generators import to_camel

from sextant.domain import CAMEL_CASE
from sextant.domain.answers import Answer, Citation, Effort, Trust
from sextant.domain.retrieval import MOST_PASSAGES
from sextant.domain.scope import DEFAULT_GRAPH
from sextant.graph.threads import Thread
from sextant.retrievers.chunk_search.search import SearchRequest
from sextant.retrievers.chunk_search.weights import MetadataWeights
from sextant.server.schemas.wire import Cursor, Filters, GraphName, Wire

ModeName = Literal["auto", "naive", "local", "global", "hybrid", "mix", "bypass"]


class Turn(Wire):
    """One message of the conversation so far."""

    role: Literal["user", "assistant", "system"]
    content: str = Field(max_length=20_000)


class QueryRequest(Wire):
    """A question to a knowledge base."""

    query: str = Field(min_length=1, max_length=20_000, examples=["Who owns a value in Rust?"])
    graph_id: str = Field(DEFAULT_GRAPH, min_length=1, max_length=200)
    mode: ModeName = "auto"
    top_k: int = Field(10, ge=1, le=MOST_PASSAGES, strict=True)
    """Passages that the answer may use; in `global` together with the reports (half at most)."""
    history: tuple[Turn, ...] = Field((), max_length=100)
    """The oldest first."""
    filters: Filters = None
    """Bounds on what is searched."""
    multimodal_content: tuple[dict[str, Any], ...] = Field((), max_length=20)
    """Images and tables that belong to the question."""
    rerank: bool = True
    """Let the reranker, where one is configured, order the passages."""
    debug: bool = False
    """Tell in `trace` what was done when."""
    stream: bool = False
    """Answer as server-sent events."""
    thread_id: str | None = Field(None, min_length=1, max_length=200)
    """The conversation that this goes on with, or begins; its turns are kept."""
    interrupts: bool = False
    """Stop where a person should decide, for callers that go on with `POST /api/query/resume`; needs `threadId`."""
    approve_sources: bool = False
    """With `interrupts`: have the sources of the answer approved."""
    effort: Effort = Field(
        "medium",
        description="`low`: one search. `medium`: searches until enough is found. `high`: a researched report, which takes "
        "minutes and many model calls; with a `threadId` it can be resumed wherever it is stopped.",
    )
    resume: bool = False
    """Of a stream: go on when the client leaves, so that it can come back for the rest."""


class ResumeBody(Wire):
    """Resumes an answer by a decision, or a stopped report without one."""

    thread_id: str = Field(min_length=1, max_length=200)
    """The conversation."""
    decisions: tuple[dict[str, Any], ...] = Field(
        (),
        max_length=1,
        description="None where nothing is to be decided; else "
        '`{"type": "approve"}`, `{"type": "reject"}`, or `{"type": "edit", "edited_action": {"name": …, "args": '
        '{"choice": …}}}`, as agent-chat-ui has them.',
        examples=[[{"type": "approve"}]],
    )
    debug: bool = False
    """Tell in `trace` what was done when."""
    stream: bool = False
    """Answer as server-sent events."""


class Pending(Wire):
    """The decision that an answer waits for; `request` has the keys of agent-chat-ui."""

    thread_id: str
    request: dict[str, Any]


def _require_all_but_trace(schema: dict[str, Any]) -> None:
    """Say that an answer has each field, whatever the defaults of `Answer` are."""
    schema["required"] = [name for name in schema["properties"] if name != "trace"]
    for name in schema["required"]:
        schema["properties"][name].pop("default", None)


@dataclass(frozen=True, slots=True)
class QueryResponse(Answer):
    """An answer with its sources.

    `trust`: `quoted`, word for word, judged by nobody; `supported`, every sentence was checked against its quote, or
    computed of the cells it cites (`grounded`); `partial`, some are supported; `unsupported`, none is. `declined`: the
    documents do not say, and a passage that is cited is only the nearest. `warnings` are in the language of the answer;
    `codedWarnings`: the same as data. `costs` by node: calls, tokens, milliseconds. `prompt`: the wording that the
    model was given, with its version. `notFound`: questions of a report that the documents do not answer.
    """

    __pydantic_config__ = CAMEL_CASE | {"json_schema_extra": _require_all_but_trace}

    language: Annotated[str, Field(json_schema_extra={"enum": ["zh", "en"]})] = "en"
    trace: tuple[dict[str, Any], ...] | None = None


def on_wire(value: Any) -> Any:  # noqa: ANN401 - whatever answers are made of
    """Return `value` with the fields of dataclasses in camelCase; keys of mappings stay.

    It takes a tenth of the time of pydantic, which would validate our own objects again.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {name: on_wire(getattr(value, field)) for field, name in _names(type(value))}
    if isinstance(value, tuple | list):
        return [on_wire(item) for item in value]
    return value


def answer_on_wire(answer: Answer, trace: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Return the body of `QueryResponse`."""
    body: dict[str, Any] = on_wire(answer)
    costs = answer.costs.items()
    body["costs"] = {node: {to_camel(name): n for name, n in one.items()} for node, one in costs}
    return body if trace is None else {**body, "trace": trace}


@cache
def _names(kind: type) -> tuple[tuple[str, str], ...]:
    return tuple(
        (field.name, to_camel(field.name)) for field in fields(kind) if field.name != "type"
    )


class ThreadQuery(Wire):
    """Which page of the list."""

    limit: int = Field(100, ge=1, le=1000)
    """Conversations on a page."""
    cursor: Cursor = None


class ThreadPage(Wire):
    """A page of conversations, the latest first."""

    threads: tuple[Thread, ...]
    next_cursor: str | None


class ThreadTitle(Wire):
    """Another title for a conversation."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=160)]


class StoredSource(Wire):
    """A source of a stored turn; its text is at `GET /documents/{documentId}/text`."""

    marker: int
    document_id: str
    filename: str
    chunk_id: str
    title: str
    section_path: tuple[str, ...]
    page: int | None
    score: float
    kind: Literal["document", "image", "table"]
    label: str
    external_id: str | None = None
    ocr: bool = False


class TurnBody(Wire):
    """One turn of a conversation; a user's turn has only `role` and `text`."""

    role: Literal["user", "assistant", "system"]
    text: str
    mode: str
    trust: Trust
    grounded: bool
    declined: bool
    citations: tuple[Citation, ...]
    sources: tuple[StoredSource, ...]
    warnings: tuple[str, ...]


class TurnsBody(Wire):
    """A conversation, the oldest turn first."""

    thread_id: str
    turns: tuple[TurnBody, ...]


_Ranking = str | dict[str, float] | None


def _check_filters(given: _Ranking) -> _Ranking:
    """Validate a ranking; its own errors are clearer than those of a union."""
    MetadataWeights.read(given)
    return given


class SearchBody(Wire):
    """A search for passages."""

    query: str = Field(min_length=1, max_length=20_000)
    """In Chinese or English."""
    graph_id: GraphName = DEFAULT_GRAPH
    mode: ModeName | None = Field(
        None,
        description="Rank as this mode does (`auto` chooses one); without, by vector, keyword, section, time, topic, "
        "modality and neighbours.",
    )
    limit: int = Field(10, ge=1, le=100, strict=True)
    """Results on a page."""
    filters: Filters = None
    include_neighbors: bool = False
    """Give each result the chunks beside and linked to it."""
    rerank: bool = True
    """Let the reranking model have its share, where one is configured."""
    bm25_rerank: bool | None = None
    """Whether BM25 has its share in the order; without, as the server is set (yes). Not with `mode`."""
    ranking: Annotated[_Ranking, BeforeValidator(_check_filters)] = None
    """A preset, or weights of single signals; not with `mode`."""
    cursor: Cursor = None
    debug: bool = False
    """Say how each score came about."""

    def request(self) -> SearchRequest:
        """Return the request to the search of chunks."""
        return SearchRequest(**{name: getattr(self, name) for name in SearchRequest.model_fields})
