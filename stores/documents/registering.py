"""Uploads become documents with a pending version and a job, inside a caller's transaction."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from domain.scope import Scope
from stores.documents.reading import Given
from stores.documents.versions import delete_document, drop_pending, fetch_one
from stores.postgresql.pools import Connection
from stores.postgresql.queries import load_queries
from stores.scopes import ScopeRow, lock_scope

_SQL = load_queries("documents")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to take in. `source` names it in its scope, `external_id` and `metadata` are the user's.

    `identity`: what else makes it another one than others of the same bytes.
    """

    source: str
    filename: str
    media_type: str
    content: bytes
    external_id: str | None = None
    metadata: dict[str, Any] | None = None
    identity: bytes = b""

    @property
    def digest(self) -> str:
        """By which it is found again."""
        digest = hashlib.sha256(self.content)
        digest.update(self.identity)
        return digest.hexdigest()

    @property
    def given(self) -> Given:
        """What there is to ingest."""
        return Given(self.content, self.metadata or {})


@dataclass(frozen=True, slots=True)
class Registered:
    """What became of an upload.

    `unchanged`: these bytes are there and searchable, with this metadata, so no job. `same_as`: the other name by which
    the scope has them.
    """

    document_id: UUID
    job_id: UUID | None
    unchanged: bool
    same_as: str | None = None


@dataclass(slots=True)
class _New:
    """Uploads whose name and bytes are both unknown, to the scope and among those before them."""

    uploads: dict[str, Upload] = field(default_factory=dict)
    digests: dict[str, str] = field(default_factory=dict)

    @classmethod
    def among(cls, uploads: Iterable[tuple[str, Upload]], known: set[str]) -> _New:
        new = cls()
        for sha256, upload in uploads:
            if not {sha256, upload.source} & known:
                new.uploads[upload.source] = upload
                new.digests[upload.source] = sha256
            known |= {sha256, upload.source}
        return new


async def register(
    connection: Connection, scope: Scope, uploads: Sequence[Upload]
) -> list[Registered]:
    """Take files in, in order: those that are new all at once, then the others one by one."""
    digests = await asyncio.to_thread(lambda: [upload.digest for upload in uploads])
    row = await lock_scope(connection, scope)
    sources = [upload.source for upload in uploads]
    key = {"scope_id": row.scope_id, "sources": sources, "sha256": digests}
    cursor = await connection.execute(_SQL["known"], key)
    known = {name async for (name,) in cursor}
    new = _New.among(zip(digests, uploads, strict=True), known)
    made = await _make(connection, scope, row, new)
    return [
        made.pop(upload.source)
        if new.uploads.get(upload.source) is upload
        else await _take(connection, scope, row, upload, digest)
        for upload, digest in zip(uploads, digests, strict=True)
    ]


async def _make(
    connection: Connection, scope: Scope, row: ScopeRow, new: _New
) -> dict[str, Registered]:
    """New documents by their sources."""
    if not new.uploads:
        return {}
    key = {"scope_id": row.scope_id, "user_id": scope.user_id, "sources": list(new.uploads)}
    cursor = await connection.execute(_SQL["create_documents"], key)
    ids = {source: document_id async for document_id, source in cursor}
    async with connection.cursor() as adding:
        await adding.executemany(
            _SQL["add_version"],
            [
                {**key, "document_id": ids[source], **_version(upload, 1, new.digests[source])}
                for source, upload in new.uploads.items()
            ],
        )
    jobs = await _queue(connection, scope, row, list(ids.values()))
    return {source: Registered(own, jobs[own], unchanged=False) for source, own in ids.items()}


async def _take(
    connection: Connection, scope: Scope, row: ScopeRow, upload: Upload, sha256: str
) -> Registered:
    """An upload whose name or bytes the scope has, or had before this call."""
    key: dict[str, Any] = {"scope_id": row.scope_id, "user_id": scope.user_id}
    named = await fetch_one(connection, "same_source", {**key, "source": upload.source})
    content = {"source": upload.source, "sha256": sha256, "metadata": Jsonb(upload.metadata or {})}
    same = await fetch_one(connection, "same_bytes", key | content)
    other = same is not None and same["source"] != upload.source
    if same is not None and (other or same["described"]):
        if named is not None and named["id"] != same["id"]:
            await delete_document(connection, row, named["id"])
        again = await open_again(connection, scope, row, same["id"], live=bool(same["live"]))
        return replace(again, same_as=same["source"] if other else None)
    if named is None:  # a file before it in this call took away what had its name or its bytes
        made = await _make(connection, scope, row, _New.among([(sha256, upload)], set()))
        return made[upload.source]
    key["document_id"] = named["id"]
    await drop_pending(connection, row, named["id"])
    await connection.execute(_SQL["close_job"], key)  # of a version in its last stage
    opened = await fetch_one(connection, "next_version", key)
    assert opened is not None  # noqa: S101 - an update of that row
    version = _version(upload, opened["pending_version"], sha256)
    await connection.execute(_SQL["add_version"], key | version)
    jobs = await _queue(connection, scope, row, [named["id"]])
    return Registered(named["id"], jobs[named["id"]], unchanged=False)


async def open_again(
    connection: Connection, scope: Scope, row: ScopeRow, document_id: UUID, *, live: bool
) -> Registered:
    """The bytes are known: searchable already, under way, or to be tried once more."""
    key = {"scope_id": row.scope_id, "user_id": scope.user_id, "document_id": document_id}
    if live:
        await drop_pending(connection, row, document_id)
    job = await fetch_one(connection, "open_job", key)  # of a live one: what follows publishing
    if live and job is None:
        return Registered(document_id, None, unchanged=True)
    if job is not None:
        return Registered(document_id, job["id"], unchanged=False)
    await connection.execute(_SQL["set_pending"], key)
    jobs = await _queue(connection, scope, row, [document_id])
    return Registered(document_id, jobs[document_id], unchanged=False)


async def _queue(
    connection: Connection, scope: Scope, row: ScopeRow, document_ids: Sequence[UUID]
) -> dict[UUID, UUID]:
    """Queue the ingestion of pending versions; the jobs by their documents."""
    key = {"scope_id": row.scope_id, "graph_id": scope.graph_id, "document_ids": list(document_ids)}
    cursor = await connection.execute(_SQL["create_jobs"], key)
    return {document_id: job_id async for job_id, document_id in cursor}


def _version(upload: Upload, version: int, sha256: str) -> dict[str, Any]:
    return {
        "version": version,
        "filename": upload.filename,
        "media_type": upload.media_type,
        "sha256": sha256,
        "size_bytes": len(upload.content),
        "external_id": upload.external_id,
        "metadata": Jsonb(upload.metadata or {}),
        "content": upload.content,
    }
