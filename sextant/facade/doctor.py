"""Examines the dependencies of Sextant, each independently, and says how to fix what is wrong."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any

from sextant.domain.errors import (
    DatabaseUnavailable,
    GraphStoreUnavailable,
    SextantError,
)
from sextant.domain.settings import Settings
from sextant.domain.system import install_extra
from sextant.ingestion.graph.extraction.taggers import build_tagger
from sextant.ingestion.parsing import ocr_engine
from sextant.models.chat.factory import build_chat_model, open_chat_model
from sextant.models.chat.roles import Role, distinct_specs
from sextant.models.embedding import build_embedder
from sextant.models.embedding.cache import WARM_UP, CachedEmbedder
from sextant.models.embedding.prefixes import lacks_prefixes
from sextant.retrievers.ranking.reranking import CHAT, open_reranker
from sextant.stores.documents.embedding_space import check_space, has_all_vectors
from sextant.stores.postgresql.database import Database
from sextant.stores.queue import attendance_of, queue_of
from sextant.text.characters import count_noun

# The versions of docs/deployment.md.
_LEAST_POSTGRES = (15,)
_LEAST_PGVECTOR = (0, 8)
_SILENT_DATABASE = (
    "Start PostgreSQL, and see that DATABASE_URL names it and that it lets this machine in; without "
    "DATABASE_URL see postgres.log in the data folder."
)
_DEPENDENCY_DOWN = 3  # as `sextant.domain.errors.DependencyError` exits


class Health(StrEnum):
    """The result of an examination. `OFF`: not configured, which is fine."""

    OK = "ok"
    OFF = "off"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Examination:
    """An examined dependency: its health, what to do, the exit status, and measured figures; `examine` names it."""

    name: str = field(default="", kw_only=True)
    health: Health
    detail: str
    next_step: str = ""
    exit_code: int = 0
    measured: Mapping[str, Any] = field(default_factory=dict[str, Any])


_NO_CHAT = Examination(Health.OFF, "none configured; answers quote the documents")

Report = Callable[[str], None]


async def examine(
    settings: Settings, *, measure: bool = False, report: Report = lambda _: None
) -> AsyncIterator[Examination]:
    """Examine the dependencies one after the other, and yield each result.

    Args:
        settings: name the dependencies.
        measure: whether to measure chat models, which takes up to `limits.answer_seconds` each; else they only get a
            short question.
        report: called with what is being measured.
    """
    yield await _examine_safely("data folder", asyncio.to_thread(_data_folder, settings.data_dir))
    embedder = cache(lambda: build_embedder(settings))
    try:
        async with await Database.open(settings) as database:
            yield await _examine_safely("database", examine_database(database))
            yield await _examine_safely("stored vectors", _examine_vectors(database, embedder))
            yield await _examine_safely("workers", _workers(database))
    except SextantError as error:
        yield replace(_failed(error), name="database")
    yield await _examine_safely("graph store", examine_graph_store(settings))
    yield await _examine_safely("embedding model", _embedding(settings, embedder))
    for role in {Role.ANSWER: None} | distinct_specs(settings):
        name = "chat model" if role is Role.ANSWER else f"{role} model"
        report_of = partial(_report_measuring, report, name)
        work = _measure_chat if measure and role is not Role.VISION else _chat
        yield await _examine_safely(name, work(settings, role, report_of))
    yield await _examine_safely("reranker", _reranker(settings))
    yield await _examine_safely("named-entity model", examine_named_entities(settings))
    yield await _examine_safely("OCR", examine_ocr(settings))


async def _examine_safely(name: str, examination: Awaitable[Examination]) -> Examination:
    try:
        found = await examination
    except SextantError as error:
        found = _failed(error)
    return replace(found, name=name)


def _failed(error: SextantError) -> Examination:
    message, next_step = error.wording("en")
    if isinstance(error, DatabaseUnavailable) and "sextant doctor" in next_step:
        next_step = _SILENT_DATABASE  # the error advises `sextant doctor`, which is running
    return Examination(Health.FAILED, message, next_step, error.exit_code)


def _data_folder(folder: Path) -> Examination:
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK)):
        wrong = f"{folder} cannot be written." if nearest.is_dir() else f"{nearest} is no folder."
        return Examination(
            Health.FAILED,
            wrong,
            "Set SEXTANT_DATA_DIR to a folder that you may write.",
            _DEPENDENCY_DOWN,
        )
    free = shutil.disk_usage(nearest).free
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    if free < 1_000_000_000:
        return Examination(Health.WARNING, detail, "Free at least 1 GB of disk space.")
    return Examination(Health.OK, detail)


async def examine_database(database: Database) -> Examination:
    """Examine PostgreSQL: its version, pgvector's, and whether row-level security binds us.

    Raises:
        DatabaseUnavailable: it does not answer.
    """
    rights = await database.role_rights()
    kind = "DATABASE_URL" if database.settings.database_url else "embedded"
    detail = (
        f"PostgreSQL {rights.server_version} ({kind}), pgvector {rights.vector_version}, "
        f"role {rights.role} bound by row-level security"
    )
    if _numbers(rights.server_version) < _LEAST_POSTGRES:
        wrong = f"PostgreSQL {rights.server_version} is too old."
        way_out = "Upgrade to 15 or newer."
    elif _numbers(rights.vector_version or "") < _LEAST_PGVECTOR:
        wrong = f"pgvector {rights.vector_version} is too old."
        way_out = "Upgrade to 0.8 or newer."
    elif not rights.safe:
        wrong = f"Row-level security does not bind the role {rights.role}."
        way_out = (
            "Let DATABASE_URL log in as a role that may `SET ROLE sextant_app`; "
            "that role must be no superuser, have no BYPASSRLS and own no table of Sextant."
        )
    else:
        return Examination(Health.OK, detail)
    return Examination(Health.FAILED, wrong, way_out, _DEPENDENCY_DOWN)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for word in version.split()[:1] for number in word.split("."))


async def _examine_vectors(database: Database, opened: Callable[[], CachedEmbedder]) -> Examination:
    embedder = opened()
    await embedder.embed_query(WARM_UP)
    await check_space(database, embedder)
    if not await has_all_vectors(database):
        return Examination(
            Health.WARNING,
            f"not all there: embedding everything anew with {embedder.name} was broken off, or is under way. "
            "Search by meaning misses passages meanwhile.",
            "Start a worker (`sextant worker`, `sextant serve`), which goes on with it, or run `sextant reembed`.",
        )
    return Examination(Health.OK, f"of {embedder.name}, as configured")


async def _workers(database: Database) -> Examination:
    """Examine whether workers run where documents or graphs wait for them."""
    queue, attendance = await queue_of(database), await attendance_of(database)
    numbers = ((queue.waiting, "document"), (attendance.waiting_graphs, "graph"))
    waiting = ", ".join(count_noun(number, what) for number, what in numbers if number)
    waiting_text = f"waiting: {waiting}" if waiting else "nothing waits"
    if attendance.workers:
        at_work = f"{count_noun(attendance.workers, 'worker')} at work"
        return Examination(Health.OK, f"{at_work}; {waiting_text}")
    if not waiting:
        return Examination(Health.OFF, "none at work, and nothing waits for one")
    if queue.running:  # `sextant ingest` needs no worker
        return Examination(Health.OK, f"none, but documents are in hand; {waiting_text}")
    return Examination(
        Health.WARNING,
        f"none at work; {waiting_text}",
        "Start one: `sextant worker`, or `sextant serve` without SEXTANT_WORKER__IN_SERVER=false.",
    )


async def examine_graph_store(settings: Settings) -> Examination:
    """Examine Neo4j, if it is configured."""
    if not settings.neo4j_uri:
        return Examination(Health.OFF, "no Neo4j named; the graph is in PostgreSQL")
    from sextant.stores.graph.neo4j.bolt import Bolt

    bolt = Bolt(settings)
    try:
        await bolt.prepare()
        version = ".".join(map(str, await bolt.version()))
        search = (
            "within a graph" if await bolt.can_prefilter() else "over all graphs, then filtered"
        )
    except GraphStoreUnavailable as error:
        return Examination(
            Health.WARNING,
            f"{error.message} PostgreSQL answers meanwhile.",
            "Start Neo4j, or check NEO4J_URI, NEO4J_USERNAME and NEO4J_PASSWORD; then run "
            "`sextant graph sync`.",
        )
    finally:
        await bolt.close()
    return Examination(Health.OK, f"Neo4j {version}, vectors searched {search}")


async def _embedding(settings: Settings, opened: Callable[[], CachedEmbedder]) -> Examination:
    embedder = opened()
    vector = await embedder.embed_query(WARM_UP)
    detail = f"{embedder.name}, {len(vector)} dimensions"
    folder = Path(settings.embedding.partition(":")[2])
    if any(embedder.prefixes or ()) or not await asyncio.to_thread(lacks_prefixes, folder):
        return Examination(Health.OK, detail)
    return Examination(
        Health.OK,  # many models need no prefixes
        f"{detail}. Nothing in its folder says what to write before questions and passages, so nothing is.",
        "If its card asks for something (E5: `query: ` and `passage: `), write that as `prompts` of `query` and "
        "`document` into the folder's config_sentence_transformers.json, and run `sextant reembed`.",
    )


def _report_measuring(report: Report, name: str, what: str) -> None:
    report(f"{name}: measuring with {what} …")


async def _chat(settings: Settings, role: Role, _report: Report) -> Examination:
    from langchain_core.messages import HumanMessage

    async with AsyncExitStack() as stack:
        chat = await open_chat_model(settings, stack, role)
        if chat is None:
            return _NO_CHAT
        await chat.complete([HumanMessage("Answer with the word yes.")])
        return Examination(Health.OK, f"{chat.name} answers")


async def _measure_chat(settings: Settings, role: Role, report: Report) -> Examination:
    from sextant.models.chat.endpoint_memory import INSTRUCTION_TOKENS
    from sextant.models.chat.measuring import advise, describe, measure

    async with AsyncExitStack() as stack:
        chat = await open_chat_model(settings, stack, role)
        if chat is None:
            return _NO_CHAT
        limits = settings.limits
        longest = limits.context_tokens + limits.history_tokens + INSTRUCTION_TOKENS
        found = await measure(chat, longest, limits.answer_seconds, report)
        advice = advise(found, settings, role)
        return Examination(
            Health.WARNING if advice else Health.OK,
            f"{chat.name} answers; {describe(found)}",
            " ".join(advice),
            measured=found.as_json(),
        )


async def _reranker(settings: Settings) -> Examination:
    chat = build_chat_model(settings, Role.JUDGE) if settings.reranker == CHAT else None
    reranker = open_reranker(settings, chat)
    if reranker is None:
        return Examination(Health.OFF, "none configured")
    try:
        await reranker.score("ready?", ["yes"])
    finally:
        if chat is not None:
            await chat.close()
    return Examination(Health.OK, f"{reranker.name} answers")


async def examine_named_entities(settings: Settings) -> Examination:
    """Load the configured named-entity model, and let it read a sentence.

    Raises:
        ModelUnavailable: it cannot be loaded.
    """
    tagger = build_tagger(settings)
    if tagger is None:
        return Examination(Health.OFF, "none configured; types follow from names and tables")
    await asyncio.to_thread(tagger.tag, ["Marie Curie was born in Warsaw."])
    return Examination(Health.OK, f"{tagger.name} ({tagger.kind}) reads passages")


async def examine_ocr(settings: Settings) -> Examination:
    """Load the OCR models, if they are installed and wanted.

    Raises:
        ModelUnavailable: they cannot be loaded.
    """
    if not settings.ocr.pages:
        return Examination(Health.OFF, "off (SEXTANT_OCR__PAGES=0); scans are refused")
    if not ocr_engine.is_installed():
        missing = "not installed; scans are refused, and words in pictures are left out"
        return Examination(Health.OFF, missing, install_extra(ocr_engine.EXTRA))
    await asyncio.to_thread(ocr_engine.load)
    return Examination(Health.OK, "reads scans, and words in pictures")
