"""Settings of a server: HTTP, runs, authentication, quotas, metrics and traces."""

from __future__ import annotations

from pydantic import Field, SecretStr

from sextant.domain.settings.limits import Group


class HttpSettings(Group):
    """Limits of HTTP requests."""

    body_bytes: int = Field(1_000_000, ge=1_000, description="Largest body of a request.")
    question_bytes: int = Field(
        20_000_000, ge=1_000, description="Largest body of a question, with its images."
    )
    upload_bytes: int = Field(
        51_000_000,
        ge=1_000,
        description="Largest body of an upload, with what goes around the files.",
    )
    import_bytes: int = Field(
        2_000_000_000, ge=1_000, description="Largest body of an import, which is never in memory."
    )
    import_patience: float = Field(
        10.0,
        ge=0,
        description="Seconds for which an import waits for a first answer of the embedding model (5 at least), and its answer for names, communities and reports; what is not done then, a worker does.",
    )
    searches: int = Field(
        8,
        ge=1,
        description="Searches at a time in one process, beside answers; more wait a moment, then get 503.",
    )
    search_wait_seconds: float = Field(
        0.05, ge=0, description="Time for which a search waits for its turn before it is refused."
    )
    drain_seconds: int = Field(
        30, ge=0, description="Seconds for which a server that is stopped finishes what it began."
    )


class RunSettings(Group):
    """Answers under way in one server process, and the events of ended ones."""

    concurrent: int = Field(128, ge=1, description="Answers under way at a time; more get 503.")
    starting: int = Field(
        16,
        ge=1,
        description="Answers on the way to their first result at a time; the others wait for their turn, with a status that says so.",
    )
    per_user: int = Field(
        8,
        ge=1,
        description="Answers that one key or login has under way at a time, half of them reports at most; more get 429.",
    )
    seconds: float = Field(
        120.0, gt=0, description="Time for one answer, whatever its steps may still take."
    )
    hold_seconds: float = Field(
        0.5,
        gt=0,
        description="Time for which a stream waits for its first result before it begins with 200; until then a failure has its own status.",
    )
    ping_seconds: float = Field(
        15.0, gt=0, description="Silence after which a stream sends a ping."
    )
    write_seconds: float = Field(
        30.0, gt=0, description="Time after which a client that reads nothing is left."
    )
    keep_seconds: float = Field(
        60.0, ge=0, description="Time for which the events of an ended stream can be read again."
    )
    keep_bytes: int = Field(
        32_000_000, ge=0, description="Memory for them, over all users; the oldest go first."
    )


class AuthSettings(Group):
    """Authentication. Keys are made by `sextant keys create`; tokens are configured here."""

    required: bool = Field(
        default=False,
        description="Serve nobody without a key or a token, even as long as no key was made.",
    )
    key_cache_seconds: float = Field(
        5.0,
        ge=0,
        le=60,
        description="Seconds for which a key counts as good unasked, also a revoked one.",
    )
    wrong_keys: int = Field(
        60,
        ge=1,
        description="Wrong keys that may come from one address at once, one a second in the long run; more get 429 unread.",
    )
    jwt_secret: SecretStr | None = Field(
        None, description="Secret of HS256 tokens, at least 32 bytes; empty: none are taken."
    )
    jwks_url: str | None = Field(
        None,
        description="Where the public keys of a login service are (JWKS); empty: its tokens are not taken.",
    )
    jwt_algorithms: str = Field(
        "RS256, ES256", description="Algorithms of tokens signed with a key of `jwks_url`."
    )
    jwt_issuer: str | None = Field(None, description="The `iss` that tokens must have.")
    jwt_audience: str | None = Field(None, description="The `aud` that tokens must have.")
    jwt_scope_claim: str = Field(
        "scope",
        min_length=1,
        description="Claim with `read`, `ingest` and `admin`, a list or words.",
    )
    jwt_scope_prefix: str = Field(
        "", description="What the login service puts before these, like `sextant:`."
    )


class QuotaSettings(Group):
    """The request rate of one key or login; each server counts on its own."""

    requests_per_second: float = Field(10.0, gt=0, description="Requests a second in the long run.")
    burst: int = Field(30, ge=1, description="Requests that may come at once.")


class ObserveSettings(Group):
    """Metrics and traces (docs/operations.md)."""

    metrics_token: SecretStr | None = Field(
        None,
        min_length=32,
        description="Bearer token with which a scraper may read /metrics; empty: only an admin key may.",
    )
    traces: bool = Field(
        default=False,
        description="Send OpenTelemetry spans to where its own variables say (needs the extra `otel`).",
    )
