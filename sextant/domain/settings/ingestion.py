"""Settings of ingestion: chunks, extraction, communities and workers."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sextant.domain.settings.serving import Group


class IngestionSettings(Group):
    """Chunking and embedding of documents, and their jobs."""

    chunk_tokens: int = Field(320, ge=32, le=2000)
    """Most tokens of a chunk (estimated; a CJK character counts 0.7, a Latin word 1.3)."""
    embed_batch: int = Field(32, ge=1, le=512)
    """Chunks embedded and stored per step; also the unit of resuming."""
    attachments: int = Field(50, ge=0, le=1000)
    """Most attachments of an e-mail that become documents of their own; 0: they are named and not read."""
    graph: Literal["nlp", "llm", "off"] = "nlp"
    """How documents enter the knowledge graph: `nlp`, titles, links and terms without a model; `llm`, also what the
    chat model finds; or `off`.
    """
    ner_model: str = ""
    """A model that finds names and their types in passages (extra `ner`): a spaCy pipeline by name or path
    (`en_core_web_sm`), or a GLiNER model on ONNX Runtime by folder or hub name (`onnx-community/gliner_multi-v2.1`),
    which looks for the types of `SEXTANT_EXTRACTION__ENTITY_TYPES`; empty: none.
    """
    metadata: Literal["extract", "llm"] = "extract"
    """Who says what passages and sections are about (summary, keywords, topics): `extract`, words and sentences of
    their own; `llm`, the chat model, after ingestion, and `extract` where it fails.
    """
    job_heartbeat: float = Field(5.0, gt=0)
    """Seconds between heartbeats of a running job."""
    job_stale: float = Field(20.0, gt=0)
    """A job, or a turn of a conversation, without heartbeat for so long may be taken over."""
    job_attempts: int = Field(3, ge=1)
    """Tries of one document before it is left failed."""


def _naming_some(types: str) -> str:
    if not re.search(r"[^\s,，、]", types):
        raise ValueError("it names no type; `GRAPH=nlp` leaves the chat model out")
    return types


class ExtractionSettings(Group):
    """Extraction of entities and relations by a chat model, and its budget."""

    entity_types: Annotated[str, AfterValidator(_naming_some)] = (
        "PERSON, ORGANIZATION, LOCATION, EVENT, PRODUCT, WORK, DISEASE, SUBSTANCE, CONCEPT"
    )
    """Types of entities that the chat model looks for, separated by commas."""
    gleaning: int = Field(0, ge=0, le=3)
    """Further rounds in which the chat model looks for what it has missed; each costs about as much as the first."""
    attempts: int = Field(3, ge=1, le=10)
    """Tries of one passage before it is left without extraction."""
    budget_tokens: int | None = Field(None, ge=1)
    """Tokens that extraction may cost in one run (`ingest`, `entities extract`), in a worker for one document, and as
    many that describing by chat model may (`ingest`, `chunks describe`); empty: no limit.
    """


class CommunitySettings(Group):
    """Communities of the graph's entities, and their reports."""

    enabled: bool = True
    """Keep communities and their reports up to date after every ingestion."""
    reports: Literal["auto", "extractive", "llm"] = "auto"
    """Who writes the reports: `extractive`, sentences of the documents; `llm`, the chat model; `auto`, the chat model
    if it also reads the documents (`ingestion.graph` is `llm`).
    """
    patience: float = Field(0.05, ge=0, le=1)
    """After an ingestion, communities of more than 5,000 passages follow once this share of them is new; what was
    deleted or replaced, and `sextant communities build`, never wait.
    """
    model_reports: int = Field(200, ge=0)
    """Most reports that the chat model writes in one run."""
    entity_vectors: int = Field(100_000, ge=0)
    """Most entities of a knowledge base that get a vector, those with most relations first; all are found by name."""


class WorkerSettings(Group):
    """Workers, which ingest uploads: one inside the server, and `sextant worker`."""

    in_server: bool = True
    """The server ingests by itself; off where other processes do."""
    concurrency: int = Field(3, ge=1, le=64)
    """Documents that one worker has in hand. From two on, one user has at most all but one of them, so that others
    need not wait for slow files.
    """
    per_user: int = Field(4, ge=1, le=64)
    """Documents of one user in hand at a time, over all workers."""
    retries: int = Field(10, ge=0)
    """How often a document waits for a database or model that is gone, before it is left failed."""
    backoff: float = Field(5.0, ge=0)
    """Seconds before the first of these retries; twice as long each time, up to five minutes."""
    sweep: float = Field(5.0, gt=0)
    """Seconds between two looks for work that no notice announced."""
    drain: float = Field(20.0, ge=0)
    """Seconds that a worker which is stopped has to finish what it began."""
