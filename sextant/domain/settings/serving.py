"""Settings of a server and of its limits: input and work, HTTP, runs, authentication, quotas, metrics and traces."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from sextant.domain.warnings import REPORT_LIMITS

Weight = Annotated[float, Field(ge=0)]

# A folder, of which `~` is the user's own.
Folder = Annotated[Path, AfterValidator(Path.expanduser)]


def _check_endpoint(url: str) -> str:
    """Return the address of an endpoint as it is; an empty one is none.

    Raises:
        ValueError: it is not an HTTP address.
    """
    if url and not url.lower().startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://")
    return url


EndpointUrl = Annotated[str, AfterValidator(_check_endpoint)]


class Group(BaseModel):
    """Settings of one subject; a name that it does not have is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


MOST_ROUNDS = 3
"""Refinement rounds of one answer."""


class LimitSettings(Group):
    """Bounds on input and work."""

    question_chars: int = Field(2000, ge=1)
    """Longest question."""
    max_attempts: int = Field(MOST_ROUNDS, ge=0, le=MOST_ROUNDS)
    """Refinement rounds after the first retrieval."""
    history_turns: int = Field(20, ge=0)
    """Messages of a conversation that a prompt may show."""
    history_tokens: int = Field(3000, ge=0)
    """Tokens of those; older messages that do not fit are left out."""
    model_calls: int = Field(8, ge=1)
    """Chat-model calls per answer; searching and judging leave it one, in `global` up to half."""
    report_calls: int = Field(3, ge=1, le=16)
    """Chat-model calls that read community reports for one answer of `global`."""
    answer_seconds: float = Field(60.0, gt=0)
    """Time for one answer, of which searching and judging get two thirds."""
    first_words_seconds: float = Field(8.0, gt=0)
    """Time within which an answer should begin: a chat model too slow for that judges less (`answers.judgements =
    auto`) and is shown fewer passages.
    """
    prompt_tokens: int = Field(32_000, ge=1000)
    """Tokens of all prompts for one answer together."""
    ask_above_tokens: int | None = Field(None, ge=0)
    """Where the caller can be asked (`interrupts`): tokens of one answer, prompts and all, above which a person is;
    unset: never, but before each report.
    """
    context_tokens: int = Field(6000, ge=200)
    """Tokens of retrieved context in a prompt."""
    answer_tokens: int = Field(2000, ge=16)
    """Tokens of one answer."""
    file_bytes: int = Field(50_000_000, ge=1)
    """Largest file."""
    pdf_pages: int = Field(2000, ge=1)
    """Most pages of a PDF."""
    page_edge: int = Field(1600, ge=0, le=4000)
    """Longer edge of the picture of a page, in pixels; 0: pages are not shown."""
    zip_entries: int = Field(2000, ge=1)
    """Most entries of a DOCX, PPTX or XLSX container."""
    zip_inflated_bytes: int = Field(100_000_000, ge=1)
    """Most inflated bytes of a container."""
    zip_part_bytes: int = Field(20_000_000, ge=1)
    """Largest inflated XML part."""
    zip_ratio: int = Field(200, ge=1)
    """Highest inflation ratio of a container."""
    table_cells: int = Field(100_000, ge=1)
    """Most cells of one table or sheet."""
    parse_cpu_seconds: int = Field(60, ge=1)
    """CPU time of the parser process."""
    parse_wall_seconds: int = Field(120, ge=1)
    """Wall time of the parser process."""
    parse_memory_bytes: int = Field(1_000_000_000, ge=100_000_000)
    """Address space of the parser process beyond its own start-up."""


class ResearchSettings(Group):
    """The limits of a report, `effort` high (docs/research.md)."""

    questions: int = Field(6, ge=1, le=12)
    """Questions that a report is planned by; each becomes a section."""
    rounds: int = Field(1, ge=0, le=3)
    """Rounds of further searches for what the first did not find."""
    model_calls: int = Field(24, ge=2)
    """Chat-model calls for one report."""
    prompt_tokens: int = Field(120_000, ge=1000)
    """Tokens of all prompts for one report together."""
    seconds: float = Field(600.0, gt=0)
    """Time for one report."""

    def limits(self, others: LimitSettings) -> LimitSettings:
        """Return the limits of an answer, with those of a report where it has its own."""
        mine = {name: getattr(self, limit) for name, limit in REPORT_LIMITS.items()}
        return LimitSettings.model_construct(**(dict(others) | mine))


class HttpSettings(Group):
    """Limits of HTTP requests."""

    body_bytes: int = Field(1_000_000, ge=1_000)
    """Largest body of a request."""
    question_bytes: int = Field(20_000_000, ge=1_000)
    """Largest body of a question, with its images."""
    upload_bytes: int = Field(51_000_000, ge=1_000)
    """Largest body of an upload, with what goes around the files."""
    import_bytes: int = Field(2_000_000_000, ge=1_000)
    """Largest body of an import, which is never in memory."""
    import_patience: float = Field(10.0, ge=0)
    """Seconds for which an import waits for a first answer of the embedding model (5 at least), and its answer for
    names, communities and reports; what is not done then, a worker does.
    """
    searches: int = Field(8, ge=1)
    """Searches at a time in one process, beside answers; more wait a moment, then get 503."""
    search_wait_seconds: float = Field(0.05, ge=0)
    """Time for which a search waits for its turn before it is refused."""
    drain_seconds: int = Field(30, ge=0)
    """Seconds for which a server that is stopped finishes what it began."""


class RunSettings(Group):
    """Answers under way in one server process, and the events of ended ones."""

    concurrent: int = Field(128, ge=1)
    """Answers under way at a time; more get 503."""
    starting: int = Field(16, ge=1)
    """Answers on the way to their first result at a time; the others wait for their turn, with a status that says so.
    """
    per_user: int = Field(8, ge=1)
    """Answers that one key or login has under way at a time, half of them reports at most; more get 429."""
    seconds: float = Field(120.0, gt=0)
    """Time for one answer, whatever its steps may still take."""
    hold_seconds: float = Field(0.5, gt=0)
    """Time for which a stream waits for its first result before it begins with 200; until then a failure has its own
    status.
    """
    ping_seconds: float = Field(15.0, gt=0)
    """Silence after which a stream sends a ping."""
    write_seconds: float = Field(30.0, gt=0)
    """Time after which a client that reads nothing is left."""
    keep_seconds: float = Field(60.0, ge=0)
    """Time for which the events of an ended stream can be read again."""
    keep_bytes: int = Field(32_000_000, ge=0)
    """Memory for them, over all users; the oldest go first."""


class AuthSettings(Group):
    """Authentication. Keys are made by `sextant keys create`; tokens are configured here."""

    required: bool = False
    """Serve nobody without a key or a token, even as long as no key was made."""
    key_cache_seconds: float = Field(5.0, ge=0, le=60)
    """Seconds for which a key counts as good unasked, also a revoked one."""
    wrong_keys: int = Field(60, ge=1)
    """Wrong keys that may come from one address at once, one a second in the long run; more get 429 unread."""
    jwt_secret: SecretStr | None = None
    """Secret of HS256 tokens, at least 32 bytes; empty: none are taken."""
    jwks_url: str | None = None
    """Where the public keys of a login service are (JWKS); empty: its tokens are not taken."""
    jwt_algorithms: str = "RS256, ES256"
    """Algorithms of tokens signed with a key of `jwks_url`."""
    jwt_issuer: str | None = None
    """The `iss` that tokens must have."""
    jwt_audience: str | None = None
    """The `aud` that tokens must have."""
    jwt_scope_claim: str = Field("scope", min_length=1)
    """Claim with `read`, `ingest` and `admin`, a list or words."""
    jwt_scope_prefix: str = ""
    """What the login service puts before these, like `sextant:`."""


class QuotaSettings(Group):
    """The request rate of one key or login; each server counts on its own."""

    requests_per_second: float = Field(10.0, gt=0)
    """Requests a second in the long run."""
    burst: int = Field(30, ge=1)
    """Requests that may come at once."""


class ObserveSettings(Group):
    """Metrics and traces (docs/operations.md)."""

    metrics_token: SecretStr | None = Field(None, min_length=32)
    """Bearer token with which a scraper may read /metrics; empty: only an admin key may."""
    traces: bool = False
    """Send OpenTelemetry spans to where its own variables say (needs the extra `otel`)."""
