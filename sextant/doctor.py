"""Examines everything that Sextant depends on, and says how to mend what is wrong.

Each examination stands alone: one that fails hides no other.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from domain.errors import SextantError
from domain.settings import Settings

LEAST_POSTGRES = 15
LEAST_PGVECTOR = (0, 8)
_LEAST_FREE_BYTES = 1_000_000_000


class Health(StrEnum):
    """What an examination found. `OFF`: not configured, and nothing is missing for it."""

    OK = "ok"
    OFF = "off"
    WARNING = "warning"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Finding:
    """One examined dependency: how it is, and what to do if it is not well."""

    name: str
    health: Health
    detail: str
    next_step: str = ""
    exit_code: int = 0


Examination = Callable[[Settings], Awaitable[Finding]]


async def examine(settings: Settings) -> AsyncIterator[Finding]:
    """Examine every dependency, one after the other, and tell each finding as it is made."""
    for name, look in _EXAMINATIONS.items():
        try:
            yield await look(settings)
        except SextantError as error:
            yield Finding(name, Health.FAILED, error.message, error.next_step, error.exit_code)


async def _data_folder(settings: Settings) -> Finding:
    return await asyncio.to_thread(_look_at_folder, settings.data_dir)


def _look_at_folder(folder: Path) -> Finding:
    name = "data folder"
    nearest = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not os.access(nearest, os.W_OK):
        return Finding(
            name,
            Health.FAILED,
            f"{folder} cannot be written.",
            "Set SEXTANT_DATA_DIR to a folder that you may write.",
            exit_code=3,
        )
    free = shutil.disk_usage(nearest).free
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    if free < _LEAST_FREE_BYTES:
        return Finding(name, Health.WARNING, detail, "Free at least 1 GB of disk space.")
    return Finding(name, Health.OK, detail)


async def _database(settings: Settings) -> Finding:
    from stores.database import Database

    kind = "embedded" if settings.database_url is None else "DATABASE_URL"
    async with await Database.open(settings) as database:
        rights = await database.role_rights()
    versions = f"PostgreSQL {rights.server_version}, pgvector {rights.vector_version}"
    finding = Finding("database", Health.OK, f"{versions} ({kind}), role {rights.role}")
    if int(rights.server_version.split(".")[0]) < LEAST_POSTGRES:
        return _too_old(f"PostgreSQL {rights.server_version}", f"PostgreSQL {LEAST_POSTGRES}")
    if _numbers(rights.vector_version or "0") < LEAST_PGVECTOR:
        return _too_old(f"pgvector {rights.vector_version}", "pgvector 0.8")
    if not rights.safe:
        return Finding(
            "database",
            Health.FAILED,
            f"Row-level security does not bind the role {rights.role}.",
            "Let DATABASE_URL log in as a role that is no superuser, has no BYPASSRLS and owns "
            "no table of Sextant.",
            exit_code=3,
        )
    return finding


def _too_old(found: str, wanted: str) -> Finding:
    return Finding(
        "database", Health.FAILED, f"The database has {found}.", f"Upgrade to {wanted}.", 3
    )


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())


async def _embedding(settings: Settings) -> Finding:
    from models.embedding import build_embedder

    embedder = build_embedder(settings)
    vector = await embedder.embed_query("ready?")
    return Finding("embedding model", Health.OK, f"{embedder.name}, {len(vector)} dimensions")


async def _embedding_space(settings: Settings) -> Finding:
    from models.embedding import build_embedder
    from stores.database import Database
    from stores.embedding_space import check_space

    async with await Database.open(settings) as database:
        await check_space(database, build_embedder(settings))
    return Finding("stored vectors", Health.OK, "come from the configured embedding model")


async def _chat(settings: Settings) -> Finding:
    from langchain_core.messages import HumanMessage

    from models.chat import build_chat_model

    chat = build_chat_model(settings)
    if chat is None:
        detail = "none configured; answers quote the documents"
        return Finding("chat model", Health.OFF, detail)
    try:
        completion = await chat.complete([HumanMessage("Answer with the word yes.")])
    finally:
        await chat.close()
    return Finding(
        "chat model",
        Health.OK,
        f"{chat.name} answers ({completion.usage.completion_tokens} tokens)",
    )


async def _reranker(settings: Settings) -> Finding:
    from models.reranker import build_reranker

    reranker = build_reranker(settings)
    if reranker is None:
        return Finding("reranker", Health.OFF, "none configured")
    await reranker.score("ready?", ["yes"])
    return Finding("reranker", Health.OK, f"{reranker.name} answers")


_EXAMINATIONS: dict[str, Examination] = {
    "data folder": _data_folder,
    "database": _database,
    "embedding model": _embedding,
    "stored vectors": _embedding_space,
    "chat model": _chat,
    "reranker": _reranker,
}
