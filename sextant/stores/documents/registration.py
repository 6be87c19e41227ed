"""Turn uploads into documents with a pending version and a job, inside a caller's transaction."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from sextant.domain.scope import Scope
from sextant.stores.documents.document_reader import SourceContent
from sextant.stores.documents.versions import delete_document, drop_pending, fetch_one, hand_over
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import ScopeRow, lock_scope

_SQL = load_queries("documents")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to register.

    Attributes:
        source: its name in the scope.
        external_id, metadata: given by the user.
        identity: distinguishes files with equal bytes.
        replaces: whether it replaces a document of the same name; otherwise both are stored.
        parent_id: the document that it is attached to.
    """

    source: str
    filename: str
    media_type: str
    content: bytes
    external_id: str | None = None
    metadata: dict[str, Any] | None = None
    identity: bytes = b""
    replaces: bool = True
    parent_id: UUID | None = None

    @property
    def digest(self) -> str:
        """Return the digest that identifies the content."""
        digest = hashlib.sha256(self.content)
        digest.update(self.identity)
        return digest.hexdigest()

    @property
    def source_content(self) -> SourceContent:
        """Return the bytes and metadata to ingest."""
        return SourceContent(self.content, self.metadata or {})


@dataclass(frozen=True, slots=True)
class Registered:
    """The outcome of an upload.

    Attributes:
        document_id: the document that holds the bytes.
        job_id: the job that ingests it; None if nothing is to be done.
        unchanged: whether these bytes are searchable already, with this metadata.
        same_as: the other name under which the scope has these bytes.
        same_name_as: another document of the same file name, which stays.
    """

    document_id: UUID
    job_id: UUID | None
    unchanged: bool
    same_as: str | None = None
    same_name_as: UUID | None = None


async def register(
    connection: Connection, scope: Scope, uploads: Sequence[Upload]
) -> list[Registered]:
    """Register files in order."""
    digests = await asyncio.to_thread(lambda: [upload.digest for upload in uploads])
    row = await lock_scope(connection, scope)
    return [
        await _Intake(connection, scope, row, upload, digest).take()
        for upload, digest in zip(uploads, digests, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Intake:
    """The registration of an upload."""

    connection: Connection
    scope: Scope
    row: ScopeRow
    upload: Upload
    sha256: str

    @property
    def _key(self) -> dict[str, Any]:
        return {
            "scope_id": self.row.scope_id,
            "user_id": self.scope.user_id,
            "source": self.upload.source,
        }

    async def take(self) -> Registered:
        """Store the upload under its name, or under a new name if a document has this one."""
        named, same = await self._find()
        is_there = named is not None and same is not None and named["id"] == same["id"]
        if self.upload.replaces or named is None or is_there:
            return await self._store(named, same)
        if same is not None and same["filename"] == self.upload.filename:
            again = replace(self, upload=replace(self.upload, source=same["source"]))
            return await again._store(same, same)
        return replace(await self._store_renamed(), same_name_as=named["id"])

    async def _store_renamed(self) -> Registered:
        """Store the upload under the first alternative name that no other document has."""
        for number in count(1):
            parts = [self.sha256[:8]] + [str(number)] * (number > 1)
            name = " ".join(parts).join(_around_alternative(self.upload.source))
            renamed = replace(self, upload=replace(self.upload, source=name))
            named, same = await renamed._find()
            if named is None or (same is not None and named["id"] == same["id"]):
                break
        return await renamed._store(named, same)

    async def _find(self) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        """Return the document with the upload's name and the one with its bytes."""
        named = await fetch_one(self.connection, "same_source", self._key)
        content = {"sha256": self.sha256, "metadata": Jsonb(self.upload.metadata or {})}
        return named, await fetch_one(self.connection, "same_bytes", self._key | content)

    async def _store(self, named: dict[str, Any] | None, same: dict[str, Any] | None) -> Registered:
        """Store the upload, given the documents that have its name and its bytes."""
        is_same = named is not None and same is not None and named["id"] == same["id"]
        if named is not None and named.get("is_copy") and not is_same:
            await self.connection.execute(_SQL["drop_copy"], self._key)
            named = None
        if same is not None and (same["source"] != self.upload.source or same["described"]):
            return await self._recognise(named, same)
        # A document with copies is handed over to them, and the upload becomes a new one.
        if named is None or (
            same is None and await hand_over(self.connection, self.row, named["id"])
        ):
            key = self._key | {"parent_id": self.upload.parent_id}
            created = await fetch_one(self.connection, "create_document", key)
            assert created is not None  # noqa: S101 - an insert returns its row
            return await self._add_version(created["id"], 1)
        document_id = named["id"]
        key = {**self._key, "document_id": document_id}
        await drop_pending(self.connection, self.row, document_id)
        # Close the job of a version in its last stage.
        await self.connection.execute(_SQL["close_job"], key)
        opened = await fetch_one(self.connection, "next_version", key)
        assert opened is not None  # noqa: S101 - an update of that row
        return await self._add_version(document_id, opened["pending_version"])

    async def _recognise(self, named: dict[str, Any] | None, same: dict[str, Any]) -> Registered:
        """Map the upload to the document with its bytes, and record its name as a copy if it differs."""
        if named is not None and named["id"] != same["id"]:
            await release_document(self.connection, self.row, named["id"])
        is_other = same["source"] != self.upload.source
        if is_other:
            copy = {
                "filename": self.upload.filename,
                "external_id": self.upload.external_id,
                "document_id": same["id"],
                "parent_id": self.upload.parent_id,
            }
            await self.connection.execute(_SQL["add_copy"], self._key | copy)
        is_live = bool(same["live"])
        result = await open_again(self.connection, self.scope, self.row, same["id"], live=is_live)
        return replace(result, same_as=same["source"] if is_other else None)

    async def _add_version(self, document_id: UUID, version: int) -> Registered:
        """Store the upload's bytes as a version, and queue its ingestion."""
        values = {
            "document_id": document_id,
            "version": version,
            "filename": self.upload.filename,
            "media_type": self.upload.media_type,
            "sha256": self.sha256,
            "size_bytes": len(self.upload.content),
            "external_id": self.upload.external_id,
            "metadata": Jsonb(self.upload.metadata or {}),
            "content": self.upload.content,
        }
        await self.connection.execute(_SQL["add_version"], self._key | values)
        return await _queue(self.connection, self.scope, self.row, document_id)


def _around_alternative(source: str) -> tuple[str, str]:
    """Return the parts of a file's alternative names before and behind the digest."""
    name = PurePosixPath(source)
    return f"{name.stem} (", f"){name.suffix}"


async def remove_name(
    connection: Connection,
    row: ScopeRow,
    document_id: UUID,
    name: str | None = None,
    *,
    give_back: bool = False,
) -> bool:
    """Take a name from a document, by default its own; the document is deleted with its last name.

    The oldest other file of that name then gets it, and is replaced by later uploads of the name.

    Returns:
        Whether the document had that name.
    """
    key = {"scope_id": row.scope_id, "document_id": document_id}
    known = await fetch_one(connection, "name_of", key)
    if known is None:
        return False
    source = name or known["source"]
    if source == known["source"]:
        existed = await release_document(connection, row, document_id, give_back=give_back)
    else:
        copy = await fetch_one(connection, "drop_copy_of", {**key, "source": source})
        existed = copy is not None
    head, tail = _around_alternative(source)
    freed = {
        "scope_id": row.scope_id,
        "source": source,
        "filename": source,
        "head": head,
        "tail": tail,
    }
    await connection.execute(_SQL["promote_namesake"], freed)
    return existed


async def release_document(
    connection: Connection, row: ScopeRow, document_id: UUID, *, give_back: bool = False
) -> bool:
    """Delete a document with its attachments, unless a copy of its file takes it over.

    Returns:
        Whether the document existed.
    """
    if await hand_over(connection, row, document_id):
        return True
    await remove_attachments(connection, row, document_id)
    return await delete_document(connection, row, document_id, give_back=give_back)


async def remove_attachments(
    connection: Connection, row: ScopeRow, document_id: UUID, kept: Collection[str] = ()
) -> None:
    """Remove the attachments of a document, except the names `kept`."""
    key = {"scope_id": row.scope_id, "document_id": document_id}
    cursor = await connection.execute(_SQL["attachments"], key)
    for attached_id, source in await cursor.fetchall():
        if source not in kept:
            await remove_name(connection, row, attached_id, source)


async def register_attachments(
    connection: Connection, scope: Scope, document_id: UUID, uploads: Sequence[Upload], deepest: int
) -> list[Registered] | None:
    """Register the attachments of a document, and remove those that it no longer has.

    Returns:
        The outcomes; None where the document lies in `deepest` others already, one inside the other, or was deleted.
    """
    row = await lock_scope(connection, scope)
    key = {"scope_id": row.scope_id, "document_id": document_id}
    if await fetch_one(connection, "lock_document", key) is None:
        return None
    found = await fetch_one(connection, "attachment_depth", key)
    if found is None or found["depth"] >= deepest:
        return None
    await remove_attachments(connection, row, document_id, {upload.source for upload in uploads})
    return await register(connection, scope, uploads) if uploads else []


async def open_again(
    connection: Connection, scope: Scope, row: ScopeRow, document_id: UUID, *, live: bool
) -> Registered:
    """Resume a document whose bytes are known: keep it, wait for its job, or queue it again."""
    key = {"scope_id": row.scope_id, "user_id": scope.user_id, "document_id": document_id}
    if live:
        await drop_pending(connection, row, document_id)
    # The open job of a live document is in a stage after publishing.
    job = await fetch_one(connection, "open_job", key)
    if live:
        job = job or await fetch_one(connection, "reopen_job", key)
    if live and job is None:
        return Registered(document_id, None, unchanged=True)
    if job is not None:
        return Registered(document_id, job["id"], unchanged=False)
    await connection.execute(_SQL["set_pending"], key)
    return await _queue(connection, scope, row, document_id)


async def _queue(
    connection: Connection, scope: Scope, row: ScopeRow, document_id: UUID
) -> Registered:
    """Queue the ingestion of a document's pending version."""
    key = {"scope_id": row.scope_id, "graph_id": scope.graph_id, "document_id": document_id}
    job = await fetch_one(connection, "create_job", key)
    assert job is not None  # noqa: S101 - an insert returns its row
    return Registered(document_id, job["id"], unchanged=False)
