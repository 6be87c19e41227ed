"""What an answer is made of, and the events of which its stream consists, told apart by `type`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from sextant.domain.errors import DecisionNeeded, SextantError, error_of
from sextant.domain.warnings import Warned
from sextant.domain.wire import CAMEL_CASE


class Trust(StrEnum):
    """What stands behind the sentences of an answer."""

    QUOTED = "quoted"
    """They are quoted word for word, and nobody has judged whether they answer."""
    SUPPORTED = "supported"
    """Each was checked against its quote and is supported, or was computed of the cells it cites."""
    PARTIAL = "partial"
    """Some were checked and are supported, or partly so."""
    UNSUPPORTED = "unsupported"
    """None is supported, or none states anything."""


Effort = Literal["low", "medium", "high"]
"""How much is done for an answer: one search; searches until enough is found; a researched report."""


@dataclass(frozen=True, slots=True)
class Source:
    """A passage that an answer cites; `marker` is the n of `[n]`.

    What came with the question is no document: its `kind` is `image` or `table`, its `marker` 0, and its
    `label` is what markers call it, `I1` or `T1`. `external_id` is the user's own id of an imported chunk.
    `ocr`: the passage was read by OCR, so letters in it may be wrong.
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
    """One sentence's claim on one source.

    `quote` is byte for byte `document.text[start:end]` (character offsets into the document's
    text); `support` in 0..1 says how much of the sentence the quote carries. Of an attachment the
    text is that of its source, `marker` is 0, and `cell` is what the marker says: `T1:r3c2`, `I1`. `ocr`: the quote
    was read by OCR.
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
    """What a citation claims of a stored document: `text` from character `start` on."""

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
        """Return the same, known to be that of one model."""
        used = {"prompt_tokens": self.prompt_tokens, "completion_tokens": self.completion_tokens}
        return replace(self, models={name: used})


@dataclass(frozen=True, slots=True)
class Answer(Warned):
    """A finished answer. `trust` says what stands behind its sentences; `grounded`: every one is supported.

    `declined`: it says that the documents do not say; a passage that it cites is only the nearest.

    `warnings` are the sentences of `coded_warnings` in `language`, that of the answer.

    `prompt` names the wording that the model was given, with its version: `generate.zh@3`.
    `effort` is what was done for it; `not_found` has the questions of a report that the documents do not answer.
    `costs` breaks `usage` and `timings` down by node: `{"milliseconds", "calls", "prompt_tokens",
    "completion_tokens"}`, the rounds of one node added up.
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
    effort: str = "medium"
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
        kind: the question or a part of it (`query`), a next hop, the question in documents of the other language,
            or the columns of tables.
        mode: the mode that ranked; empty where the search failed.
        count: passages found.
        timings: milliseconds of each lane, and in `total`.
        error: why nothing was found; empty where it did not fail.
    """

    query: str
    kind: SearchKind
    mode: str = ""
    count: int = 0
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    error: str = ""


@dataclass(frozen=True, slots=True)
class Retrieved:
    """A retrieval round ended; `timings` are those of the search that took longest, `searches` all there were."""

    mode: str
    count: int
    timings: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    searches: tuple[SearchReport, ...] = ()
    type: Literal["retrieval"] = "retrieval"


@dataclass(frozen=True, slots=True)
class Planned:
    """A report is planned, and nothing of it is searched or written yet.

    Attributes:
        questions: what will be searched and written about.
        calls: of the chat model that it takes, estimated; 0 without a model.
        prompt_tokens: of all their prompts.
        completion_tokens: of all that the model writes.
        seconds: by the model's measured speed; None: that is not known yet.
        limits: where it ends in any case: `calls`, `prompt_tokens`, `seconds`.
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
    """How far a report is: `done` of `total` in a step, and what that is about."""

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
    """A sentence just finished and this citation of it holds."""

    citation: Citation
    type: Literal["citation"] = "citation"


@dataclass(frozen=True, slots=True)
class Reset:
    """What the answer said so far is withdrawn: tokens and citations begin anew behind this.

    It comes after the model's last word, when a check of the finished text has mended it, and once before where
    what came so far was the model's thought. Who cannot take text back may draw a line and go on; `Done` has the whole in any case.
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
    """The end: the whole answer, equal to what was streamed (since the last `Reset`, if there was one)."""

    answer: Answer
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True)
class Failed:
    """The end of a stream that failed: a stable code and a sentence; never a stack trace."""

    code: str
    message: str
    retryable: bool
    detail: Mapping[str, Any] | None = None
    type: Literal["error"] = "error"


@dataclass(frozen=True, slots=True)
class Interrupted:
    """The end for now: a person must decide before the run goes on.

    Attributes:
        request: what to decide, as agent-chat-ui shows it: `action_requests` and `review_configs`.
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

_FLAT = (Token, Status, Reset, Failed, ReportProgress)


def as_values(event: Event) -> dict[str, Any]:
    """Return the event as plain values. Those of which an answer has many are flat, and `asdict` copies deeply."""
    if isinstance(event, _FLAT):
        return {name: getattr(event, name) for name in event.__slots__}
    return asdict(event)


async def answer_of(
    events: AsyncGenerator[Event],
    on_event: Callable[[Event], Awaitable[None]] | None = None,
    *,
    next_step: str = "",
) -> Answer:
    """Return the answer that `events` end with; the run is stopped when nobody waits for it.

    Args:
        events: of one run; closed in any case.
        on_event: hears of each event before the end.
        next_step: what to do about a failure that does not say so itself.

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
