"""Change the state of document versions; each step runs inside a caller's transaction."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from sextant.domain.documents import JobStage, ParsedDocument
from sextant.domain.errors import SextantError, Superseded
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.documents.document_reader import not_found
from sextant.stores.graph.graph_writer import forget_document
from sextant.stores.postgresql.queries import columns_of, load_queries
from sextant.stores.postgresql.watched import Connection
from sextant.stores.scopes import ScopeRow, id_array, share_scope

_SQL = load_queries("documents")
_CHUNK_SQL = load_queries("chunks")
_MODEL_SQL = load_queries("model_descriptions")


@dataclass(frozen=True, slots=True)
class OpenVersion:
    """A document that is being written, with a lock until the transaction ends."""

    scope: ScopeRow
    document_id: UUID
    first: bool
    version: int | None
    key: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReadyVersion:
    """A parsed and embedded version; `vectors` has a row for each chunk."""

    document_id: UUID
    version: int
    parsed: ParsedDocument
    vectors: Vectors


async def fetch_one(
    connection: Connection, query: str, values: dict[str, Any]
) -> dict[str, Any] | None:
    """Return the first row of a statement of `documents.sql`, as a dict."""
    cursor = connection.cursor(row_factory=dict_row)
    return await (await cursor.execute(_SQL[query], values, binary=True)).fetchone()


async def open_version(
    connection: Connection,
    scope: Scope,
    document_id: UUID,
    version: int | None,
    *,
    row: ScopeRow | None = None,
    lock: Literal["lock_document", "share_document"] = "lock_document",
) -> OpenVersion:
    """Lock a document to write its pending version, and check that this is still `version`.

    `share_document` suffices for adding chunks, and allows concurrent batches. `row`: the scope's, if this transaction
    shares it already.

    Raises:
        DocumentNotFound: the document was deleted.
        Superseded: another version is being ingested, or this one has been published.
    """
    row = row or require_scope(await share_scope(connection, scope), document_id)
    key: dict[str, Any] = {
        "scope_id": row.scope_id,
        "user_id": scope.user_id,
        "partition_key": row.partition_key,
        "document_id": document_id,
    }
    state = await fetch_one(connection, lock, key)
    if state is None:
        raise not_found(document_id)
    pending = state["pending_version"]
    if version is not None and pending != version:
        raise Superseded(
            f"Version {version} of the document {document_id} was replaced or published meanwhile.",
            next_step="Nothing to do: the newer version is ingested by its own job.",
        )
    key |= {
        "version": pending,
        "live_version": state["live_version"],
        "first": state["live_version"] is None,
    }
    return OpenVersion(row, document_id, key["first"], pending, key)


async def drop_pending(connection: Connection, row: ScopeRow, document_id: UUID) -> None:
    """Drop the pending version, and close its job."""
    key: dict[str, Any] = {
        "scope_id": row.scope_id,
        "document_id": document_id,
        "partition_key": row.partition_key,
    }
    state = await fetch_one(connection, "lock_document", key)
    if state is None or state["pending_version"] is None:
        return
    await connection.execute(_SQL["close_job"], key)
    if state["live_version"] is None:
        await remove_chunks(connection, key)
    await connection.execute(_SQL["drop_staged"], key)
    await connection.execute(_SQL["drop_version"], {**key, "version": state["pending_version"]})
    await connection.execute(_SQL["keep_live"], key)


async def withdraw_version(connection: Connection, opened: OpenVersion) -> None:
    """Undo a pending version: a live one stays searchable, a first one stays listed without chunks."""
    if opened.first:
        await remove_chunks(connection, opened.key)
        await connection.execute(_SQL["clear_sections"], opened.key)
        await connection.execute(_SQL["mark_failed"], opened.key)
    else:
        await connection.execute(_SQL["drop_staged"], opened.key)
        await connection.execute(_SQL["drop_version"], opened.key)
        await connection.execute(_SQL["keep_live"], opened.key)


async def end_job(
    connection: Connection, opened: OpenVersion, stage: JobStage, error: BaseException | None = None
) -> None:
    """Close the job of a version that was published or withdrawn, with its error."""
    values = {**opened.key, "stage": stage.value, **reason_of(error)}
    await connection.execute(_SQL["end_job"], values)


def reason_of(error: BaseException | None) -> dict[str, str | None]:
    """Return the columns of a job that describe an error."""
    if error is None:
        return {"error_code": None, "error": None}
    code = error.code if isinstance(error, SextantError) else "internal_error"
    return {"error_code": code, "error": str(error) or type(error).__name__}


async def delete_document(
    connection: Connection, row: ScopeRow, document_id: UUID, *, give_back: bool = False
) -> bool:
    """Delete a document and everything derived from it; return whether it existed.

    Deletes chunks with their vectors and grams, then their evidence in the graph, then the document
    with its versions, sections and jobs. `give_back` keeps facts that its chunks state in the user's
    stead (`sextant.stores.graph.transfer`).
    """
    key = {
        "scope_id": row.scope_id,
        "partition_key": row.partition_key,
        "document_id": document_id,
    }
    if await fetch_one(connection, "lock_document", key) is None:
        return False
    await remove_chunks(connection, key, give_back=give_back)
    await connection.execute(_SQL["delete"], key)
    return True


async def hand_over(connection: Connection, row: ScopeRow, document_id: UUID) -> bool:
    """Rename a document to the oldest copy of its file; return False if there is none."""
    key: dict[str, Any] = {"scope_id": row.scope_id, "document_id": document_id}
    copy = await fetch_one(connection, "take_oldest_copy", key)
    if copy is None:
        return False
    await connection.execute(_SQL["rename_versions"], key | copy)
    await connection.execute(_SQL["rename"], key | copy)
    return True


async def remove_chunks(
    connection: Connection, key: dict[str, Any], *, give_back: bool = False
) -> None:
    """Remove a document's live chunks, and the graph evidence of its chunks and titles."""
    await connection.execute(_CHUNK_SQL["remove_chunks"], key)
    where = key["scope_id"], key["document_id"]
    await forget_document(connection, *where, give_back=give_back)


async def keep_stored(connection: Connection, opened: OpenVersion, wanted: set[UUID]) -> set[UUID]:
    """Return which of the wanted chunks an earlier attempt has stored; remove its other chunks."""
    await connection.execute(_SQL["mark_ingesting"], opened.key)
    cursor = await connection.execute(_CHUNK_SQL["stored_ids"], opened.key)
    stored = {row[0] async for row in cursor}
    if stray := stored - wanted:
        action = "forget_live" if opened.first else "forget_staged"
        await connection.execute(_CHUNK_SQL[action], {**opened.key, "ids": list(stray)})
        if opened.first:
            scope_id = opened.scope.scope_id
            await forget_document(connection, scope_id, opened.document_id, list(stray))
    return stored & wanted


async def write_parsed(connection: Connection, opened: OpenVersion, parsed: ParsedDocument) -> None:
    """Write text and sections."""
    values = {
        "title": parsed.title,
        "language": parsed.language,
        "page_count": parsed.page_count,
        "text": parsed.text,
        "metadata": Jsonb(parsed.metadata),
        "boxes": parsed.boxes or None,
        "coverage": None if parsed.coverage is None else Jsonb(asdict(parsed.coverage)),
    }
    await connection.execute(_SQL["save_parsed"], {**opened.key, **values})
    await connection.execute(_SQL["clear_sections"], opened.key)
    async with connection.cursor() as cursor:
        await cursor.executemany(
            _SQL["add_section"],
            [{**opened.key, **columns_of(section)} for section in parsed.sections],
        )


async def write_copied_chunks(connection: Connection, opened: OpenVersion) -> None:
    """Store the copied batch: searchable at once in a first version, staged in a replacement."""
    action = "add_chunks" if opened.first else "stage_chunks"
    await connection.execute(_CHUNK_SQL[action], opened.key)


async def make_live(connection: Connection, opened: OpenVersion) -> None:
    """Replace the live version by the pending one, and carry over its model descriptions."""
    if not opened.first:
        await connection.execute(_MODEL_SQL["by_digest"])
        cursor = await connection.execute(_MODEL_SQL["keep_chunks_said"], opened.key)
        carried_over = {**opened.key, "ids": id_array([row[0] async for row in cursor])}
        if cursor.rowcount:
            await connection.execute(_MODEL_SQL["keep_sections_said"], carried_over)
        await connection.execute(_MODEL_SQL["as_usual"])
        await remove_chunks(connection, opened.key, give_back=True)
        await connection.execute(_CHUNK_SQL["release_staged"], opened.key)
        if cursor.rowcount:
            await connection.execute(_MODEL_SQL["note_chunks_kept"], carried_over)
        await connection.execute(_SQL["drop_live_version"], opened.key)
    await connection.execute(_SQL["publish"], opened.key)


def require_scope(row: ScopeRow | None, document_id: UUID) -> ScopeRow:
    """Return `row`; raise `DocumentNotFound` if the scope does not exist."""
    if row is None:
        raise not_found(document_id)
    return row
