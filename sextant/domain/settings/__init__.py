"""Every setting in one place: environment (`SEXTANT_*`, nested by `__`), `.env`, or keywords.

A few names that other tools already use are read without the prefix: `DATABASE_URL`, `NEO4J_URI`,
`NEO4J_USERNAME`, `NEO4J_PASSWORD`, `OPENAI_API_KEY`, `OPENAI_BASE_URL`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import AliasChoices, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from sextant.domain.scope import DEFAULT_USER
from sextant.domain.settings.ingestion import (
    CommunitySettings,
    ExtractionSettings,
    IngestionSettings,
    WorkerSettings,
)
from sextant.domain.settings.questions import (
    AnswerSettings,
    ChunkSearchSettings,
    ConversationSettings,
    EntitySearchSettings,
    ModelSettings,
    MultimodalSettings,
    OcrSettings,
    RetrievalSettings,
    RoleSettings,
    SearchLogSettings,
)
from sextant.domain.settings.serving import (
    AuthSettings,
    EndpointUrl,
    Folder,
    HttpSettings,
    LimitSettings,
    ObserveSettings,
    QuotaSettings,
    ResearchSettings,
    RunSettings,
)

__all__ = [
    "PACKAGED_EMBEDDING",
    "AnswerSettings",
    "AuthSettings",
    "ChunkSearchSettings",
    "CommunitySettings",
    "ConversationSettings",
    "EntitySearchSettings",
    "ExtractionSettings",
    "HttpSettings",
    "IngestionSettings",
    "LimitSettings",
    "ModelSettings",
    "MultimodalSettings",
    "ObserveSettings",
    "OcrSettings",
    "QuotaSettings",
    "ResearchSettings",
    "RetrievalSettings",
    "RoleSettings",
    "RunSettings",
    "SearchLogSettings",
    "Settings",
    "WorkerSettings",
]

BESIDE_ANSWER = 60.0
"""Seconds that a server's run may take beyond its answer or report, to wait for its turn and to finish."""
PACKAGED_EMBEDDING = "packaged:multilingual-e5-small"


def _shared(variable: str) -> AliasChoices:
    """Return the names of a setting that other tools read, too, from a variable without our prefix."""
    return AliasChoices(variable.lower(), variable, f"SEXTANT_{variable}")


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

    data_dir: Folder = Field(Path("~/.local/share/sextant"), validate_default=True)
    """Folder of the embedded PostgreSQL and of unpacked model weights."""
    user_id: str = Field(DEFAULT_USER, min_length=1, max_length=200)
    """Whose data local commands work on."""
    database_url: SecretStr | None = Field(None, validation_alias=_shared("DATABASE_URL"))
    """PostgreSQL with pgvector; empty: the embedded server."""
    database_pool: int = Field(8, ge=1, le=100)
    """Connections of the pool."""
    database_timeout: float = Field(5.0, gt=0)
    """Seconds to wait for a connection."""
    neo4j_uri: str | None = Field(None, validation_alias=_shared("NEO4J_URI"))
    """Neo4j server; empty: the graph stays in PostgreSQL."""
    neo4j_username: str = Field("neo4j", validation_alias=_shared("NEO4J_USERNAME"))
    """Neo4j user."""
    neo4j_password: SecretStr | None = Field(None, validation_alias=_shared("NEO4J_PASSWORD"))
    """Neo4j password."""
    neo4j_database: str | None = Field(None, validation_alias=_shared("NEO4J_DATABASE"))
    """Database of the Neo4j server; empty: its default one."""
    neo4j_timeout: float = Field(3.0, gt=0)
    """Seconds to wait for a connection to Neo4j."""
    neo4j_pause: float = Field(30.0, ge=0)
    """Seconds after a failure for which Neo4j is not asked (PostgreSQL answers meanwhile), and after which whose copy
    it holds is looked at again.
    """
    openai_api_key: SecretStr | None = Field(None, validation_alias=_shared("OPENAI_API_KEY"))
    """Key of the OpenAI-compatible endpoint."""
    openai_base_url: EndpointUrl | None = Field(None, validation_alias=_shared("OPENAI_BASE_URL"))
    """Base URL of the OpenAI-compatible endpoint."""
    chat_model: str | None = None
    """Chat model name at the endpoint, or `provider:model`; empty: extractive answers, offline."""
    vision_model: str | None = None
    """Model name at the same endpoint that looks at images; empty: images are not looked at."""
    embedding: str = PACKAGED_EMBEDDING
    """`packaged:multilingual-e5-small`, `sentence-transformers:<name or path>` or `openai:<model>`."""
    reranker: str | None = None
    """`sentence-transformers:<cross-encoder>`, the URL of an HTTP /rerank endpoint with the model after `#`, or `llm`,
    the chat model; empty: off.
    """
    reranker_api_key: SecretStr | None = None
    """Key of the /rerank endpoint; never the OpenAI key, which is for another host."""
    model_timeout: float = Field(60.0, gt=0)
    """Seconds for one model call; unless set, as long as an answer may take, where that is longer, and in a report as
    long as the first words of a slow endpoint need.
    """
    model_retries: int = Field(2, ge=0, le=10)
    """Retries of a model call on transient errors."""
    model_concurrency: int = Field(8, ge=1, le=64)
    """Most calls of a chat model at a time for one report, extraction or describing of passages, half as many for
    reports of communities and for images; there are fewer where the endpoint takes no more.
    """
    warm_up: bool = False
    """Load models and dictionaries when Sextant is opened, not at the first question."""
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    """DEBUG, INFO, WARNING or ERROR."""
    models: RoleSettings = RoleSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    limits: LimitSettings = LimitSettings()
    research: ResearchSettings = ResearchSettings()
    answers: AnswerSettings = AnswerSettings()
    ingestion: IngestionSettings = IngestionSettings()
    communities: CommunitySettings = CommunitySettings()
    extraction: ExtractionSettings = ExtractionSettings()
    search_log: SearchLogSettings = SearchLogSettings()
    chunk_search: ChunkSearchSettings = ChunkSearchSettings()
    entity_search: EntitySearchSettings = EntitySearchSettings()
    multimodal: MultimodalSettings = MultimodalSettings()
    ocr: OcrSettings = OcrSettings()
    auth: AuthSettings = AuthSettings()
    quota: QuotaSettings = QuotaSettings()
    http: HttpSettings = HttpSettings()
    runs: RunSettings = RunSettings()
    observe: ObserveSettings = ObserveSettings()
    worker: WorkerSettings = WorkerSettings()
    conversations: ConversationSettings = ConversationSettings()

    def for_report(self) -> Settings:
        """Return the settings with the limits of a report."""
        return self.model_copy(update={"limits": self.research.limits(self.limits)})

    @property
    def shared_concurrency(self) -> int:
        """Return how many calls reports of communities, and images, take at a time: half, since people wait for others."""
        return -(-self.model_concurrency // 2)

    @property
    def longest_silence(self) -> float:
        """Return the seconds that an endpoint may need for its first words; as long as a report where no timeout is set."""
        if "model_timeout" in self.model_fields_set:
            return self.model_timeout
        return max(self.model_timeout, self.research.seconds)

    @property
    def sees_images(self) -> bool:
        """Return whether a vision model is named."""
        return bool(self.models.vision.name or self.vision_model)

    @model_validator(mode="after")
    def _give_the_answers_time(self) -> Self:
        """Let a model call and a server's run last as long as an answer may, unless their own limits are set."""
        # An assignment would count as set by the user.
        if "model_timeout" not in self.model_fields_set:
            self.__dict__["model_timeout"] = max(self.model_timeout, self.limits.answer_seconds)
        if "seconds" not in self.runs.model_fields_set:
            needed = self.limits.answer_seconds + BESIDE_ANSWER
            longer = {"seconds": max(self.runs.seconds, needed)}
            self.__dict__["runs"] = self.runs.model_copy(update=longer)
        return self
