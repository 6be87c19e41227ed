"""Every setting in one place: environment (`SEXTANT_*`, nested by `__`), `.env`, or keywords.

A few names that other tools already use are read without the prefix: `DATABASE_URL`, `NEO4J_URI`,
`NEO4J_USERNAME`, `NEO4J_PASSWORD`, `OPENAI_API_KEY`, `OPENAI_BASE_URL`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.scope import DEFAULT_USER

PACKAGED_EMBEDDING = "packaged:multilingual-e5-small"

Weight = Annotated[float, Field(ge=0)]


class _Group(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RetrievalSettings(_Group):
    """Constants of retrieval; defaults are those of seeds 000 and 001."""

    top_k: int = Field(10, ge=1, le=50, description="Passages handed to the answer.")
    min_similarity: float = Field(
        0.3, ge=0, le=1, description="Vector hits below this cosine are dropped (HybridRetriever)."
    )
    rrf_k: int = Field(60, ge=1, description="The k of reciprocal rank fusion.")
    vector_weight: Weight = Field(0.7, description="Weight of the vector lane in fusion.")
    keyword_weight: Weight = Field(0.3, description="Weight of the keyword lane in fusion.")
    max_keywords: int = Field(10, ge=1, le=50, description="Keywords taken from one question.")
    hnsw_ef_search: int = Field(
        140,
        ge=10,
        le=1000,
        description="Width of the HNSW search over passages; at 100, real vectors missed a recall of 0.99.",
    )
    entity_ef_search: int = Field(
        100, ge=10, le=1000, description="Width of the HNSW search over entities (seed 001)."
    )
    exact_below: int = Field(
        5000, ge=0, description="Scopes with fewer chunks are searched exactly, without HNSW."
    )
    lane_timeout: float = Field(10.0, gt=0, description="Seconds after which one lane is given up.")
    index_passages: int = Field(
        200_000,
        ge=0,
        description="Passages of which the graph modes keep words, graph and reports in memory, over all scopes; about 2 KB each.",
    )
    index_vectors: int = Field(
        20_000,
        ge=0,
        description="Passages up to which a scope's vectors are kept with them, 1.5 KB each; of a larger scope PostgreSQL is asked.",
    )
    index_idle: float = Field(
        3600.0,
        gt=0,
        description="Seconds after which an index in memory that nobody asks is let go.",
    )
    hot_memory: int = Field(
        128_000_000,
        ge=0,
        description="Bytes of knowledge bases that are searched often kept in memory, 3 KB a chunk; 0: none.",
    )
    bm25_rerank: bool = Field(
        default=True, description="HybridRetriever orders what its lanes found by BM25, too."
    )
    bm25_fusion: Literal["linear", "rrf"] = Field(
        "linear",
        description="Weighted sum of similarity and BM25, each brought to 0..1; or a second reciprocal rank fusion.",
    )
    bm25_vector_weight: Weight = Field(0.7, description="Weight of the similarity beside BM25.")
    bm25_weight: Weight = Field(0.3, description="Weight of BM25.")
    bm25_k1: Weight = Field(1.2, description="How long repetitions of a term count for BM25.")
    bm25_b: float = Field(0.75, ge=0, le=1, description="How much a text's length counts for BM25.")
    bm25_memory: int = Field(
        256_000_000,
        ge=0,
        description="Bytes of BM25 indexes kept over all users; about 1 KB a passage.",
    )
    bm25_at_start: bool = Field(
        default=False,
        description="Build the BM25 index when a HybridRetriever is opened, before the first question.",
    )
    rerank_timeout: float = Field(
        5.0,
        gt=0,
        description="Seconds after which a reranker is late and the order stays as it was.",
    )
    rerank_pairs: int = Field(
        50, ge=1, le=1000, description="Passages that a reranker reads at most."
    )
    rerank_chars: int = Field(
        2000, ge=1, description="Characters of a passage that a reranker reads."
    )
    slow_ms: float = Field(
        500.0, gt=0, description="A retrieval slower than this is logged as a warning."
    )


class LimitSettings(_Group):
    """Bounds on input and work; see anchors/reliability.md §4 for where they come from."""

    question_chars: int = Field(2000, ge=1, description="Longest question.")
    max_attempts: int = Field(
        3, ge=0, le=3, description="Refinement rounds after the first retrieval."
    )
    history_turns: int = Field(
        20, ge=0, description="Messages of a conversation that a prompt may show."
    )
    history_tokens: int = Field(
        3000, ge=0, description="Tokens of those; older messages that do not fit are left out."
    )
    model_calls: int = Field(8, ge=1, description="Chat-model calls per answer.")
    report_calls: int = Field(
        3,
        ge=1,
        le=16,
        description="Chat-model calls that read community reports for one answer of `global`.",
    )
    answer_seconds: float = Field(
        60.0,
        gt=0,
        description="Time for one answer, of which searching and judging get two thirds.",
    )
    prompt_tokens: int = Field(
        32_000, ge=1000, description="Tokens of all prompts for one answer together."
    )
    context_tokens: int = Field(
        6000, ge=200, description="Tokens of retrieved context in a prompt."
    )
    answer_tokens: int = Field(2000, ge=16, description="Tokens of one answer.")
    file_bytes: int = Field(50_000_000, ge=1, description="Largest file.")
    pdf_pages: int = Field(2000, ge=1, description="Most pages of a PDF.")
    zip_entries: int = Field(
        2000, ge=1, description="Most entries of a DOCX, PPTX or XLSX container."
    )
    zip_inflated_bytes: int = Field(
        100_000_000, ge=1, description="Most inflated bytes of a container."
    )
    zip_part_bytes: int = Field(20_000_000, ge=1, description="Largest inflated XML part.")
    zip_ratio: int = Field(200, ge=1, description="Highest inflation ratio of a container.")
    table_cells: int = Field(100_000, ge=1, description="Most cells of one table or sheet.")
    parse_cpu_seconds: int = Field(60, ge=1, description="CPU time of the parser process.")
    parse_wall_seconds: int = Field(120, ge=1, description="Wall time of the parser process.")
    parse_memory_bytes: int = Field(
        1_000_000_000,
        ge=100_000_000,
        description="Address space of the parser process beyond its own start-up.",
    )


class AnswerSettings(_Group):
    """How answers are checked before they count (docs/answers.md)."""

    repair: bool = Field(
        default=True,
        description="Let the chat model mend, in one call, sentences that no passage carries; else they stay and are marked.",
    )
    judge: str | None = Field(
        None,
        description="Who says how far a quote carries its sentence: empty, the words they share; `reranker`, the reranker configured; or a cross-encoder of its own in the same forms.",
    )
    judge_threshold: float = Field(
        0.5, description="The judge's score from which a sentence counts as carried."
    )


class IngestionSettings(_Group):
    """How documents are cut and embedded."""

    chunk_tokens: int = Field(
        320,
        ge=32,
        le=2000,
        description="Most tokens of a chunk (estimated; a CJK character counts 0.7, a Latin word 1.3).",
    )
    embed_batch: int = Field(
        32,
        ge=1,
        le=512,
        description="Chunks embedded and stored per step; also the unit of resuming.",
    )
    graph: Literal["nlp", "llm", "off"] = Field(
        "nlp",
        description="How documents enter the knowledge graph: `nlp`, titles, links and terms without a model; `llm`, also what the chat model finds; or `off`.",
    )
    metadata: Literal["extract", "llm"] = Field(
        "extract",
        description="Who says what passages are about (summary, keywords, topics): `extract`, words and sentences of their own; `llm`, the chat model, after ingestion, and `extract` where it fails.",
    )
    job_heartbeat: float = Field(
        5.0, gt=0, description="Seconds between heartbeats of a running job."
    )
    job_stale: float = Field(
        20.0, gt=0, description="A job without heartbeat for so long may be taken over."
    )
    job_attempts: int = Field(
        3, ge=1, description="Tries of one document before it is left failed."
    )


class ExtractionSettings(_Group):
    """How a chat model finds entities and relations, and what it may cost."""

    entity_types: str = Field(
        "PERSON, ORGANIZATION, LOCATION, EVENT, PRODUCT, WORK, DISEASE, SUBSTANCE, CONCEPT",
        description="Types of entities that the chat model looks for, separated by commas.",
    )
    gleaning: int = Field(
        0,
        ge=0,
        le=3,
        description="Further rounds in which the chat model looks for what it has missed; each costs about as much as the first.",
    )
    concurrency: int = Field(8, ge=1, le=64, description="Passages in extraction at a time.")
    attempts: int = Field(
        3, ge=1, le=10, description="Tries of one passage before it is left without extraction."
    )
    budget_tokens: int | None = Field(
        None, ge=1, description="Tokens that one run of extraction may cost; empty: no limit."
    )
    budget_cost: float | None = Field(
        None, gt=0, description="The same in money, by the prices below; empty: no limit."
    )
    input_price: Weight | None = Field(None, description="Price of a million prompt tokens.")
    output_price: Weight | None = Field(None, description="Price of a million answer tokens.")


class CommunitySettings(_Group):
    """Communities of the graph's entities, and their reports."""

    enabled: bool = Field(
        default=True,
        description="Keep communities and their reports up to date after every ingestion.",
    )
    reports: Literal["auto", "extractive", "llm"] = Field(
        "auto",
        description="Who writes the reports: `extractive`, sentences of the documents; `llm`, the chat model; `auto`, the chat model if it also reads the documents (`ingestion.graph` is `llm`).",
    )
    model_reports: int = Field(
        200, ge=0, description="Most reports that the chat model writes in one run."
    )
    concurrency: int = Field(4, ge=1, le=64, description="Reports under way at a time.")
    entity_vectors: int = Field(
        20_000,
        ge=0,
        description="Entities of a knowledge base that get a vector, those with most relations first; all are found by name.",
    )


class MultimodalSettings(_Group):
    """Images and tables that come with a question, and images inside of documents."""

    image_dir: Path | None = Field(
        None,
        description="Folder whose images a question may name by `img_path`; empty: none, over HTTP.",
    )
    images: int = Field(4, ge=0, le=16, description="Images of one question.")
    tables: int = Field(4, ge=0, le=16, description="Tables of one question.")
    image_bytes: int = Field(10_000_000, ge=1, description="Largest image.")
    image_pixels: int = Field(40_000_000, ge=1, description="Most pixels of an image.")
    image_edge: int = Field(
        1536, ge=64, le=8192, description="Longest edge of an image as the vision model sees it."
    )
    table_chars: int = Field(5_000_000, ge=1, description="Longest text of a table in a question.")
    seconds: float = Field(30.0, gt=0, description="Time for looking at the images of a question.")
    document_images: int = Field(
        50, ge=0, description="Images of one document that the vision model describes."
    )
    smallest_edge: int = Field(
        64, ge=1, description="Images of documents with a shorter edge are decoration and left out."
    )
    concurrency: int = Field(
        4, ge=1, le=64, description="Images of a document described at a time."
    )

    @field_validator("image_dir")
    @classmethod
    def _home_is_expanded(cls, folder: Path | None) -> Path | None:
        return folder.expanduser() if folder else None


class EntitySearchSettings(_Group):
    """Searching entities; defaults are those of seed 001."""

    vector_weight: Weight = Field(0.5, description="Weight of the lane of meaning.")
    fts_weight: Weight = Field(0.3, description="Weight of the full-text lane.")
    graph_weight: Weight = Field(0.2, description="Weight of the graph lane.")
    threshold: float = Field(
        0.5, ge=-1, le=1, description="Vector hits up to this cosine are dropped."
    )
    candidates: int = Field(20, ge=1, le=200, description="Hits of the vector and full-text lanes.")
    seeds: int = Field(
        5, ge=0, le=50, description="Best vector hits that the graph lane starts from."
    )
    depth: int = Field(2, ge=1, le=4, description="Levels of the graph lane.")
    neighbours: int = Field(
        10, ge=1, le=100, description="New entities that the graph lane takes from a level."
    )
    decay: float = Field(
        0.7, ge=0, le=1, description="What each level leaves of a relation's weight."
    )
    bonus: float = Field(0.02, ge=0, description="Added for each further lane that agrees.")
    related: int = Field(5, ge=1, le=20, description="Related entities shown with a result.")
    cache_seconds: float = Field(
        300.0, ge=0, description="How long a ranking is kept for the same search; a write ends it."
    )
    cache_entries: int = Field(512, ge=0, description="Rankings kept, over all users.")
    cache_per_user: int = Field(64, ge=0, description="Rankings kept of one user.")
    kept_neighbourhoods: int = Field(
        1024, ge=0, description="Entities with many relations whose heaviest are kept, 8 KB each."
    )


class SearchLogSettings(_Group):
    """The log of searches and what they returned (`sextant searches`)."""

    enabled: bool = Field(
        default=False,
        description="Keep searches with the ids and scores of their results, to look into later; no text of documents.",
    )
    days: int = Field(30, ge=1, le=3650, description="Days for which a search is kept.")


class ConversationSettings(_Group):
    """What is kept of conversations (docs/conversations.md)."""

    turns: int = Field(
        200, ge=1, description="Questions with their answers that a conversation keeps; the newest."
    )
    days: float = Field(
        90.0,
        gt=0,
        description="Days after which a conversation that nobody goes on with is forgotten.",
    )


class WorkerSettings(_Group):
    """Workers, which ingest what was uploaded: one inside of the server, and `sextant worker`."""

    in_server: bool = Field(
        default=True, description="The server ingests by itself; off where other processes do."
    )
    concurrency: int = Field(2, ge=1, le=64, description="Documents that one worker has in hand.")
    per_user: int = Field(
        4, ge=1, le=64, description="Documents of one user in hand at a time, over all workers."
    )
    urgent_bytes: int = Field(
        1_000_000, ge=0, description="Files up to this size go first, as long as few are waiting."
    )
    urgent_waiting: int = Field(
        10,
        ge=0,
        description="From so many waiting documents on, a user's next ones are a bulk load.",
    )
    retries: int = Field(
        10,
        ge=0,
        description="How often a document waits for a database or model that is gone, before it is left failed.",
    )
    backoff: float = Field(
        5.0, ge=0, description="Seconds before the first of these retries; twice as long each time."
    )
    backoff_most: float = Field(300.0, gt=0, description="Longest time between two retries.")
    sweep: float = Field(
        5.0, gt=0, description="Seconds between two looks for work that nobody was told of."
    )
    drain: float = Field(
        20.0,
        ge=0,
        description="Seconds that a worker which is stopped has to finish what it began.",
    )
    settle: float = Field(
        60.0,
        ge=0,
        description="Longest time for which a graph waits for more documents before it is refreshed.",
    )


class HttpSettings(_Group):
    """What a request over HTTP may bring (reliability anchors §4)."""

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
    drain_seconds: int = Field(
        30, ge=0, description="Seconds for which a server that is stopped finishes what it began."
    )


class RunSettings(_Group):
    """Answers under way in one server process, and what is kept of their streams."""

    concurrent: int = Field(128, ge=1, description="Answers under way at a time; more get 503.")
    starting: int = Field(
        16,
        ge=1,
        description="Answers on the way to their first result at a time; the others wait for their turn, with a status that says so.",
    )
    per_user: int = Field(
        8,
        ge=1,
        description="Answers that one key or login has under way at a time; more get 429.",
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


class AuthSettings(_Group):
    """Who may ask a server. Keys are made by `sextant keys create`; tokens are configured here."""

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
    jwt_leeway: float = Field(
        30.0,
        ge=0,
        le=300,
        description="Seconds by which the clocks of issuer and server may differ.",
    )
    jwks_seconds: float = Field(
        600.0, ge=10, le=86_400, description="Seconds after which the public keys are fetched anew."
    )


class QuotaSettings(_Group):
    """What one key or login may use, each server counting for itself (reliability anchors §4)."""

    requests_per_second: float = Field(10.0, gt=0, description="Requests a second in the long run.")
    burst: int = Field(30, ge=1, description="Requests that may come at once.")


class ObserveSettings(_Group):
    """What a server tells of itself (docs/operations.md)."""

    metrics_token: SecretStr | None = Field(
        None,
        min_length=32,
        description="Bearer token with which a scraper may read /metrics; empty: only an admin key may.",
    )
    traces: bool = Field(
        default=False,
        description="Send OpenTelemetry spans to where its own variables say (needs the extra `otel`).",
    )


class Settings(BaseSettings):
    """All settings; `sextant config` lists them with value and origin."""

    model_config = SettingsConfigDict(
        env_prefix="SEXTANT_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    data_dir: Path = Field(
        Path("~/.local/share/sextant"),
        validate_default=True,
        description="Folder of the embedded PostgreSQL and of unpacked model weights.",
    )
    user_id: str = Field(
        DEFAULT_USER, min_length=1, max_length=200, description="Whose data local commands work on."
    )
    database_url: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("database_url", "DATABASE_URL", "SEXTANT_DATABASE_URL"),
        description="PostgreSQL with pgvector; empty: the embedded server.",
    )
    database_pool: int = Field(8, ge=1, le=100, description="Connections of the pool.")
    database_timeout: float = Field(5.0, gt=0, description="Seconds to wait for a connection.")
    neo4j_uri: str | None = Field(
        None,
        validation_alias=AliasChoices("neo4j_uri", "NEO4J_URI", "SEXTANT_NEO4J_URI"),
        description="Neo4j server; empty: the graph stays in PostgreSQL.",
    )
    neo4j_username: str = Field(
        "neo4j",
        validation_alias=AliasChoices("neo4j_username", "NEO4J_USERNAME", "SEXTANT_NEO4J_USERNAME"),
        description="Neo4j user.",
    )
    neo4j_password: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("neo4j_password", "NEO4J_PASSWORD", "SEXTANT_NEO4J_PASSWORD"),
        description="Neo4j password.",
    )
    neo4j_database: str | None = Field(
        None,
        validation_alias=AliasChoices("neo4j_database", "NEO4J_DATABASE", "SEXTANT_NEO4J_DATABASE"),
        description="Database of the Neo4j server; empty: its default one.",
    )
    neo4j_timeout: float = Field(
        3.0, gt=0, description="Seconds to wait for a connection to Neo4j."
    )
    neo4j_pause: float = Field(
        30.0,
        ge=0,
        description="Seconds after a failure for which Neo4j is not asked; PostgreSQL answers meanwhile.",
    )
    openai_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY", "SEXTANT_OPENAI_API_KEY"),
        description="Key of the OpenAI-compatible endpoint.",
    )
    openai_base_url: str | None = Field(
        None,
        validation_alias=AliasChoices(
            "openai_base_url", "OPENAI_BASE_URL", "SEXTANT_OPENAI_BASE_URL"
        ),
        description="Base URL of the OpenAI-compatible endpoint.",
    )
    chat_model: str | None = Field(
        None, description="Chat model name at the endpoint; empty: extractive answers, offline."
    )
    vision_model: str | None = Field(
        None,
        description="Model name at the same endpoint that looks at images; empty: images are not looked at.",
    )
    embedding: str = Field(
        PACKAGED_EMBEDDING,
        description="`packaged:multilingual-e5-small`, `sentence-transformers:<name or path>` or `openai:<model>`.",
    )
    reranker: str | None = Field(
        None,
        description="`sentence-transformers:<cross-encoder>`, the URL of an HTTP /rerank endpoint with the model after `#`, or `llm`, the chat model; empty: off.",
    )
    reranker_api_key: SecretStr | None = Field(
        None,
        description="Key of the /rerank endpoint; never the OpenAI key, which is for another host.",
    )
    model_timeout: float = Field(60.0, gt=0, description="Seconds for one model call.")
    model_retries: int = Field(
        2, ge=0, le=10, description="Retries of a model call on transient errors."
    )
    warm_up: bool = Field(
        default=False,
        description="Load the embedding model when Sextant is opened, not at the first question.",
    )
    query_cache: int = Field(2048, ge=0, description="Query vectors kept in memory.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "WARNING", description="DEBUG, INFO, WARNING or ERROR."
    )
    retrieval: RetrievalSettings = RetrievalSettings()
    limits: LimitSettings = LimitSettings()
    answers: AnswerSettings = AnswerSettings()
    ingestion: IngestionSettings = IngestionSettings()
    communities: CommunitySettings = CommunitySettings()
    extraction: ExtractionSettings = ExtractionSettings()
    search_log: SearchLogSettings = SearchLogSettings()
    entity_search: EntitySearchSettings = EntitySearchSettings()
    multimodal: MultimodalSettings = MultimodalSettings()
    auth: AuthSettings = AuthSettings()
    quota: QuotaSettings = QuotaSettings()
    http: HttpSettings = HttpSettings()
    runs: RunSettings = RunSettings()
    observe: ObserveSettings = ObserveSettings()
    worker: WorkerSettings = WorkerSettings()
    conversations: ConversationSettings = ConversationSettings()

    @field_validator("data_dir")
    @classmethod
    def _home_is_expanded(cls, folder: Path) -> Path:
        return folder.expanduser()
