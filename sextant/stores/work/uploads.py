"""What became of uploads: watched, cancelled, tried again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from sextant.domain.documents import DocumentStatus, JobStage
from sextant.domain.errors import ConflictError
from sextant.domain.scope import Scope
from sextant.stores.documents.reading import not_found
from sextant.stores.documents.registering import Registered, open_again
from sextant.stores.documents.versions import fetch_one, open_version, withdraw_version
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import lock_scope

_SQL = load_queries("uploads")


@dataclass(frozen=True, slots=True)
class UploadStatus:
    """Where a document stands, and its newest job, if it ever had one.

    `done` of `total` chunks are through the `stage`. `not_before`: when a job that had to wait for a
    dependency is tried again. `warnings`: what of the document was not taken in. `unattended`: it waits, and
    no worker runs that could take it.
    """

    document_id: UUID
    graph_id: str
    filename: str
    status: DocumentStatus
    chunk_count: int
    job_id: UUID | None
    stage: JobStage | None
    done: int | None
    total: int | None
    attempts: int | None
    error_code: str | None
    error: str | None
    not_before: datetime | None
    warnings: Sequence[str] = ()
    unattended: bool = False

    @property
    def is_settled(self) -> bool:
        """Return whether nothing happens any more by itself."""
        return self.stage in {None, JobStage.DONE, JobStage.FAILED}


class UploadStore:
    """Documents on their way in; every call sees one user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def standings(
        self, user_id: str, document_ids: Sequence[UUID]
    ) -> dict[UUID, UploadStatus]:
        """Return where some documents stand; those that are not there, or not this user's, are left out."""
        key = {"user_id": user_id, "document_ids": list(document_ids)}
        async with self._database.transaction(user_id) as connection:
            cursor = connection.cursor(row_factory=class_row(UploadStatus))
            await cursor.execute(_SQL["states"], key)
            return {one.document_id: one async for one in cursor}

    async def retry(self, scope: Scope, document_id: UUID) -> Registered:
        """Queue a document again that could not be taken in; one that is under way goes on.

        Raises:
            DocumentNotFound: no such document in this scope.
            ConflictError: it is ready, and its newest bytes are the ones that serve.
        """
        async with self._database.transaction(scope.user_id) as connection:
            row = await lock_scope(connection, scope)
            key = {"scope_id": row.scope_id, "document_id": document_id}
            state = await fetch_one(connection, "lock_document", key)
            if state is None:
                raise not_found(document_id)
            if state["pending_version"] is None:
                raise ConflictError(
                    "There is nothing to try again: the document is ready.",
                    next_step="Upload the file once more if it has changed.",
                )
            return await open_again(connection, scope, row, document_id, live=False)

    async def cancel(self, scope: Scope, document_id: UUID) -> None:
        """Stop the ingestion of a document; its worker notices within a second or two.

        A version that served before serves on. A first version stays listed as failed, with its
        bytes, so that it can be tried again.

        Raises:
            DocumentNotFound: no such document in this scope.
            ConflictError: it is not being ingested.
        """
        async with self._database.transaction(scope.user_id) as connection:
            opened = await open_version(connection, scope, document_id, None)
            closed = await connection.execute(_SQL["cancel"], opened.key)
            if await closed.fetchone() is None:
                raise ConflictError(
                    "There is nothing to cancel: the document is not being ingested.",
                    next_step="Delete it if you do not want it.",
                )
            if opened.version is not None:
                await withdraw_version(connection, opened)
