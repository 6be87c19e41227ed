"""Answers with their sources and citations, and the events of an answer's stream, distinguished by `type`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from sextant.domain import CAMEL_CASE
from sextant.domain.errors import DecisionNeeded, SextantError, error_of
from sextant.domain.warnings import Warned


class Trust(StrEnum):
    """How well the sentences of an answer are supported."""

    QUOTED = "quoted"
    """All are quoted word for word; nothing has judged whether they answer the question."""
    SUPPORTED = "supported"
    """Each is supported by its quote, or computed from the cells that it cites."""
    PARTIAL = "partial"
    """Some are supported, or partly."""
    UNSUPPORTED = "unsupported"
    """None is supported, or none states anything."""


Effort = Literal["low", "medium", "high"]
"""The work done for an answer: one search; searches until enough is found; a researched report."""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that an answer cites; `marker` is the n of `[n]`.

    An image or table that came with the question has `kind` `image` or `table`, `marker` 0 and a `label` such as
    `I1` or `T1`. `external_id` is the user's own id of an imported chunk. `ocr`: the passage was read by OCR and may
    have wrong letters.
    """

    __pydantic_config__ = CAMEL_CASE

    marker: int
    document_id: str
    filename: str
    chunk_id: str
    title: str
    section_path: tuple[str, ...]
    page: int | None
    text: str
    score: float
    lanes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    kind: Literal["document", "image", "table"] = "document"
    label: str = ""
    external_id: str | None = None
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class Citation:
    """The passage of one source that supports a sentence.

    `quote` equals `document.text[start:end]` (character offsets into the document's text); `support` in 0..1 says
    how much of the sentence it supports. In an attachment the offsets are into its source's text, `marker` is 0 and
    `cell` is the marker's text: `T1:r3c2`, `I1`. `ocr`: the quote was read by OCR.
    """

    marker: int
    sentence: str
    source: str
    quote: str
    start: int
    end: int
    support: float
    cell: str = ""
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quote to check: `text` should stand in the stored document from character `start` on."""

    document_id: str
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Model calls and tokens that one answer cost.

    `estimated`: at least one endpoint did not report its tokens, so they were estimated from text.
    `truncated`: at least one output was cut short by a token limit.
    `models`: `prompt_tokens` and `completion_tokens` by the model's name.
    """

    __pydantic_config__ = CAMEL_CASE

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = False
    truncated: bool = False
    models: Mapping[str, Mapping[str, int]] = field(
        default_factory=dict[str, Mapping[str, int]], compare=False
    )

    def __add__(self, other: Usage) -> Usage:
        models = dict(self.models)
        for name, used in other.models.items():
            before = models.get(name, {})
            models[name] = {kind: before.get(kind, 0) + tokens for kind, tokens in used.items()}
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.estimated or other.estimated,
            self.truncated or other.truncated,
            models,
        )

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(
            -other.calls,
            -other.prompt_tokens,
            -other.completion_tokens,
            models={
                name: {kind: -tokens for kind, tokens in used.items()}
                for name, used in other.models.items()
            },
        )

    def of_model(self, name: str) -> Usage:
        """Return the same usage as that of one model."""
        used = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        return replace(self, models={name: used})


@dataclass(frozen=True, slots=True)
class Answer(Warned):
    """A finished answer.

    Attributes:
        trust: how well its sentences are supported; `grounded`: every one is.
        declined: it says that the documents do not answer; a cited passage is only the nearest.
        warnings: the sentences of `coded_warnings` in `language`, that of the answer.
        prompt: the prompt of the model with its version: `generate.zh@3`.
        effort: the work done for it.
        not_found: questions of a report that the documents do not answer.
        costs: `usage` and `timings` by node: `{"milliseconds", "calls", "prompt_tokens", "completion_tokens"}`,
            summed over the rounds of a node.
    """

    answer: str
    mode: str
    citations: tuple[Citation, ...] = ()
    sources: tuple[Source, ...] = ()
    graph_context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    attempts: int = 0
    trust: Trust = Trust.UNSUPPORTED
    grounded: bool = field(init=False, default=False)
    declined: bool = False
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    model: str = ""
    usage: Usage = Usage()
    costs: Mapping[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])
    prompt: str = ""
    language: str = "en"
    effort: Effort = "medium"
    not_found: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Derive `grounded` and `warnings`."""
        object.__setattr__(self, "grounded", self.trust is Trust.SUPPORTED)
        Warned.__post_init__(self)

    def reader_language(self) -> str:
        """Return the answer's language."""
        return self.language


@dataclass(frozen=True, slots=True)
class Status:
    """A node began, or has something to report."""

    node: str
    detail: str = ""
    attempt: int = 0
    type: Literal["status"] = "status"


SearchKind = Literal["query", "next_hop", "cross_lingual", "table"]


@dataclass(frozen=True, slots=True)
class SearchReport:
    """One query of a retrieval round.

    Attributes:
        query: what was searched for.
        kind: the question or a part of it (`query`), a next hop, the question in the other language, or a search for
            the columns of tables.
        mode: the mode that ranked; empty if the search failed.
        count: passages found.
        timings: milliseconds by lane, and `total`.
        error: why the search failed; empty if it did not.
    """

    query: str
    kind: SearchKind
    mode: str = ""
    count: int = 0
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    error: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A retrieval round ended; `timings` are those of its longest search, `searches` all of them."""

    mode: str
    count: int
    timings: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    searches: tuple[SearchReport, ...] = ()
    type: Literal["retrieval"] = "retrieval"


@dataclass(frozen=True, slots=True)
class Planned:
    """A report is planned; nothing is searched or written yet.

    Attributes:
        questions: each becomes a section.
        calls: estimated calls of the chat model; 0 without a model.
        prompt_tokens: estimated tokens of all prompts.
        completion_tokens: estimated tokens of all replies.
        seconds: estimated by the model's measured speed; None: not known yet.
        limits: the report ends there in any case: `calls`, `prompt_tokens`, `seconds`.
    """

    questions: tuple[str, ...]
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float | None = None
    limits: Mapping[str, float] = field(default_factory=dict[str, float])
    type: Literal["plan"] = "plan"


@dataclass(frozen=True, slots=True)
class ReportProgress:
    """A report has got further: `done` of `total` in a step, the last one with this `title`."""

    step: Literal["search", "section"]
    done: int
    total: int
    title: str = ""
    type: Literal["progress"] = "progress"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the answer's text, to be appended."""

    text: str
    type: Literal["token"] = "token"


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence is finished, and this citation supports it."""

    citation: Citation
    type: Literal["citation"] = "citation"


@dataclass(frozen=True, slots=True)
class Reset:
    """The text so far is withdrawn; tokens and citations start again after this.

    It comes when the check of the finished text has revised it, or when the text so far was the model's reasoning.
    A client that cannot withdraw text may draw a line and go on; `Done` has the whole answer in any case.
    """

    reason: str
    type: Literal["reset"] = "reset"


@dataclass(frozen=True, slots=True)
class Sources:
    """The passages that the answer cites, in order of their markers."""

    sources: tuple[Source, ...]
    type: Literal["sources"] = "sources"


@dataclass(frozen=True, slots=True)
class Done:
    """The end: the whole answer, equal to the text streamed since the last `Reset`, if there was one."""

    answer: Answer
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Failed:
    """The end of a stream that failed: a stable code and a sentence, without a stack trace."""

    code: str
    message: str
    retryable: bool
    detail: Mapping[str, Any] | None = None
    type: Literal["error"] = "error"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The end for now: a person must decide before the run goes on.

    Attributes:
        request: the decision to make, as agent-chat-ui shows it: `action_requests` and `review_configs`.
    """

    request: Mapping[str, Any]
    type: Literal["interrupt"] = "interrupt"


Event = (
    Status
    | Retrieved
    | Planned
    | ReportProgress
    | Token
    | Cited
    | Reset
    | Sources
    | Done
    | Failed
    | Interrupted
)

# Frequent events without nested dataclasses, which need no deep copy.
_FLAT = (Token, Status, Reset, Failed, ReportProgress)


def as_values(event: Event) -> dict[str, Any]:
    """Return the event as plain values."""
    if isinstance(event, _FLAT):
        return {name: getattr(event, name) for name in event.__slots__}
    return asdict(event)


async def answer_of(
    events: AsyncGenerator[Event],
    on_event: Callable[[Event], Awaitable[None]] | None = None,
    *,
    next_step: str = "",
) -> Answer:
    """Return the answer at the end of `events`; cancelling this stops the run.

    Args:
        events: of one run; closed in any case.
        on_event: called with each event before the end.
        next_step: for a failure without one.

    Raises:
        DecisionNeeded: a person must decide first.
        SextantError: what went wrong, as the error that says it best.
    """
    async with aclosing(events):
        async for event in events:
            match event:
                case Done(answer=answer):
                    return answer
                case Interrupted(request=request):
                    raise DecisionNeeded.of(request)
                case Failed(code=code, message=message, detail=detail):
                    raise error_of(code, message, **(detail or {"next_step": next_step}))
            if on_event is not None:
                await on_event(event)
    raise SextantError("The answer broke off.", next_step="Ask again.")
