"""Open a knowledge base as LangChain's `PGVectorStore`, for reading only.

It avoids pitfalls of `langchain-postgres`: a missing filter would show every tenant (here a view shows
one knowledge base), HNSW with a filter returns too few rows (here iterative scans are on), and its
synchronous methods need an event loop in another thread.

Also here: the rows of any LangChain `PGVectorStore`, for the keyword lane and BM25.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, TypeGuard

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_postgres import PGEngine, PGVectorStore
from langchain_postgres.v2.async_vectorstore import AsyncPGVectorStore
from psycopg import AsyncConnection
from sqlalchemy import (
    ColumnElement,
    Executable,
    RowMapping,
    Select,
    String,
    case,
    cast,
    column,
    func,
    literal,
    or_,
    select,
    table,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import NullType

from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import Scope
from sextant.stores.chunks.chunk_store import Vectors
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.postgresql.watched import WatchedConnection
from sextant.stores.rows import ScopeRows, StoredText

_BATCH = 5000  # texts read in one statement


def similarity_of(store: PGVectorStore | AsyncPGVectorStore) -> Callable[[float], float]:
    """Return the function from the store's score, a distance, to cosine similarity.

    For Euclidean distances the vectors are assumed to have length 1; the inner product is a similarity
    already.
    """
    match _inner(store).distance_strategy.name:
        case "COSINE_DISTANCE":
            return lambda score: 1 - score
        case "EUCLIDEAN":
            return lambda score: 1 - score * score / 2
    return lambda score: score


def is_supported(store: object) -> TypeGuard[PGVectorStore | AsyncPGVectorStore]:
    """Return whether this module can read the vector store."""
    return isinstance(store, PGVectorStore | AsyncPGVectorStore)


def runs_its_loop(store: PGVectorStore | AsyncPGVectorStore) -> bool:
    """Return whether the store can be called from any event loop."""
    return isinstance(store, PGVectorStore) and store._engine._loop is not None


def _inner(store: PGVectorStore | AsyncPGVectorStore) -> AsyncPGVectorStore:
    if isinstance(store, AsyncPGVectorStore):
        return store
    inner: AsyncPGVectorStore = store._PGVectorStore__vs  # type: ignore[attr-defined]
    return inner


# PGVectorStore does not quote names in filters: PostgreSQL folds them to lower case, and `user` is the
# current role instead of the column.
_COLUMN_TYPE = text(
    "select data_type, quote_ident(column_name::text) = column_name as plain"
    " from information_schema.columns"
    " where table_schema = :schema and table_name = :table and column_name = :column"
)
_NUMBERS = {"smallint", "integer", "bigint", "numeric"}


def _number(user_id: int | str, name: str) -> int:
    with suppress(ValueError):
        if str(number := int(user_id)) == str(user_id):
            return number
    raise OptionInvalid(
        f"user_id is {user_id!r:.60}, and the column `{name}` holds numbers.",
        next_step="Give the number of a user.",
        field="user_id",
    )


class TableRows:
    """The rows of one user in the table of any `PGVectorStore`, read by scans.

    It is correct, but slow: ILIKE folds every text for every keyword, and `stamp` hashes all texts.

    Args:
        store: the vector store.
        user_id: the owner of the rows.
        user_field: the column of the table, or the key of its JSON metadata, with the owner.
    """

    def __init__(
        self, store: PGVectorStore | AsyncPGVectorStore, user_id: int | str, user_field: str
    ) -> None:
        self._store = store
        self._table = inner = _inner(store)
        self._content: ColumnElement[Any] = column(inner.content_column, String)
        self._id: ColumnElement[Any] = column(inner.id_column)
        self._from = table(inner.table_name, schema=inner.schema_name)
        self._user_id, self._field = user_id, user_field
        self._in_column = user_field in inner.metadata_columns
        self._owner: int | str | None = None
        if not self._in_column and inner.metadata_json_column is None:
            raise OptionInvalid(
                f"The vector store has neither a column `{user_field}` nor JSON metadata to find it in.",
                next_step="Name the column with the user of a row: user_field=….",
                field="user_field",
            )
        self.key: Hashable = (
            inner.engine.url.render_as_string(hide_password=True),
            *(inner.schema_name, inner.table_name, user_field, user_id),
        )

    async def owner(self) -> int | str:
        """Return the user in the type of the column, which is read from the server once.

        Raises:
            OptionInvalid: the column holds numbers and the user id is none, or the store cannot filter by it.
        """
        if self._owner is None:
            inner = self._table
            name = self._field if self._in_column else str(inner.metadata_json_column)
            values = {"schema": inner.schema_name, "table": inner.table_name, "column": name}
            columns = await self._rows(_COLUMN_TYPE.bindparams(**values))
            if not all(row["plain"] for row in columns):
                raise OptionInvalid(
                    f"PGVectorStore cannot filter by the column `{name}`: its name has capital letters, or is a"
                    " word of SQL.",
                    next_step="Rename the column, or keep the user in the JSON metadata.",
                    field="user_field",
                )
            is_numeric = any(row["data_type"] in _NUMBERS for row in columns)
            self._owner = _number(self._user_id, name) if is_numeric else str(self._user_id)
        return self._owner

    async def _mine(self) -> ColumnElement[bool]:
        return self._rows_of(await self.owner())

    def _rows_of(self, owner: int | str) -> ColumnElement[bool]:
        if self._in_column:
            # Without a type, so that PostgreSQL uses the type of the column.
            return column(self._field) == literal(owner, NullType())
        metadata = column(str(self._table.metadata_json_column), postgresql.JSON)
        owned: ColumnElement[bool] = metadata[self._field].astext == owner
        return owned

    async def keyword_search(
        self, keywords: Sequence[str], k: int
    ) -> Sequence[tuple[Document, float]]:
        """See `StoredTexts`; reads every row of the user."""
        rows = await self._rows(self._matching(await self._mine(), keywords, k))
        return [(self._document(row), float(row["score"])) for row in rows]

    def statement(self, keywords: Sequence[str], k: int) -> str:
        """Return the statement and its values."""
        query = self._matching(self._rows_of(self._owner or str(self._user_id)), keywords, k)
        compiled = query.compile(dialect=postgresql.dialect())  # type: ignore[no-untyped-call]
        return f"{compiled} -- {compiled.params}"

    def _matching(
        self, mine: ColumnElement[bool], keywords: Sequence[str], k: int
    ) -> Select[*tuple[Any, ...]]:
        inner = self._table
        conditions = [self._content.icontains(word, autoescape=True) for word in keywords]
        matched = sum((case((condition, 1), else_=0) for condition in conditions), literal(0))
        octets = sum(
            (
                case((condition, len(word.encode())), else_=0)
                for condition, word in zip(conditions, keywords, strict=True)
            ),
            literal(0),
        )
        density = octets * 1.0 / func.greatest(func.octet_length(self._content), 1)
        columns = [inner.id_column, inner.content_column, *inner.metadata_columns]
        if inner.metadata_json_column is not None:
            columns.append(inner.metadata_json_column)
        return (
            select(*map(column, columns), (matched + density / (1 + density)).label("score"))
            .select_from(self._from)
            .where(mine, or_(*conditions))
            .order_by(matched.desc(), density.desc(), self._id)
            .limit(k)
        )

    def _document(self, row: RowMapping) -> Document:
        """Return the document of a row as the store's own searches return it."""
        inner = self._table
        metadata = dict((inner.metadata_json_column and row[inner.metadata_json_column]) or {})
        metadata |= {name: row[name] for name in inner.metadata_columns}
        return Document(
            id=str(row[inner.id_column]), page_content=row[inner.content_column], metadata=metadata
        )

    async def stamp(self) -> str:
        """Return the number of rows and a sum of the hashes of their ids and texts."""
        hashed = func.hashtextextended(cast(self._id, String) + self._content, 0)
        query = select(func.concat_ws(" ", func.count(), func.sum(hashed)).label("stamp"))
        [row] = await self._rows(query.select_from(self._from).where(await self._mine()))
        return str(row["stamp"])

    async def states(self) -> Mapping[Hashable, str]:
        """Return every row's id with the hash of its text."""
        query = select(
            cast(self._id, String).label("id"),
            cast(func.hashtextextended(self._content, 0), String).label("state"),
        )
        rows = await self._rows(query.select_from(self._from).where(await self._mine()))
        return {row["id"]: row["state"] for row in rows}

    async def texts(self, parts: Sequence[Hashable]) -> Sequence[StoredText]:
        """Return the texts of these rows."""
        row_id, mine = cast(self._id, String), await self._mine()
        found: list[StoredText] = []
        for first in range(0, len(parts), _BATCH):
            wanted = literal([str(part) for part in parts[first : first + _BATCH]], _TEXTS)
            query = select(row_id.label("id"), self._content.label("text"))
            rows = await self._rows(
                query.select_from(self._from).where(mine, row_id == func.any(wanted))
            )
            found += [StoredText(row["id"], row["id"], row["text"] or "") for row in rows]
        return found

    async def _rows(self, statement: Executable) -> Sequence[RowMapping]:
        async def read() -> Sequence[RowMapping]:
            async with self._table.engine.connect() as connection:
                return (await connection.execute(statement)).mappings().fetchall()

        if isinstance(self._store, PGVectorStore):  # read on the event loop of its connections
            rows: Sequence[RowMapping] = await self._store._engine._run_as_async(read())
            return rows
        return await read()


_TEXTS: postgresql.ARRAY[str] = postgresql.ARRAY(String)


_SQL = load_queries("langchain")

METADATA_COLUMNS = [
    *("user_id", "graph_id", "document_id", "source", "filename", "title", "section_id"),
    *("section_path", "page", "start_offset", "end_offset", "ordinal", "modality", "context"),
    *("external_id", "created_at"),
]


class TextEmbedder(Protocol):
    """The part of an embedder that LangChain needs."""

    async def embed_query(self, text: str) -> Vectors:
        """Return the vector of a question, shape (dimension,)."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of passages in order, shape (len(texts), dimension)."""
        ...


class LangChainEmbeddings(Embeddings):
    """Adapt an embedder to LangChain; the synchronous methods are for callers without an event loop."""

    def __init__(self, embedder: TextEmbedder) -> None:
        self._embedder = embedder

    async def aembed_query(self, text: str) -> list[float]:
        """Return one question as a list of floats."""
        return [float(value) for value in await self._embedder.embed_query(text)]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return passages as lists of floats."""
        vectors = await self._embedder.embed_passages(texts)
        return [[float(value) for value in vector] for vector in vectors]

    def embed_query(self, text: str) -> list[float]:
        """Return one question as a list of floats."""
        return asyncio.run(self.aembed_query(text))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return passages as lists of floats."""
        return asyncio.run(self.aembed_documents(texts))


class ScopeVectorStore(PGVectorStore):
    """A knowledge base as LangChain's vector store; its keyword lane uses the gram index."""

    database: Database
    scope: Scope

    def rows_of(self, user_id: int | str) -> ScopeRows:
        """Return the texts of the knowledge base that this user may see."""
        return ScopeRows(self.database, self.scope, str(user_id))


@asynccontextmanager
async def open_vector_store(
    database: Database, embedder: TextEmbedder, scope: Scope
) -> AsyncIterator[ScopeVectorStore]:
    """Open one knowledge base as a LangChain vector store, for reading.

    Synchronous and asynchronous searches, `filter=` on the metadata columns, and `as_retriever()` work.
    Scores are cosine distances of vectors in half precision (accurate to about 0.00001); smaller is
    nearer. Documents are added and deleted with `DocumentStore`. The connections serve this scope only:
    the tenant is set once for each, in the role that row-level security binds.
    """

    async def connect() -> AsyncConnection[Any]:
        connection = await WatchedConnection.connect(database.app_conninfo, autocommit=True)
        settings = database.settings.retrieval
        await connection.execute(
            _SQL["open"],
            {
                "user_id": scope.user_id,
                "graph_id": scope.graph_id,
                "ef_search": str(settings.hnsw_ef_search),
            },
        )
        await connection.set_autocommit(False)
        return connection

    engine = PGEngine.from_connection_string(
        "postgresql+psycopg://", async_creator=connect, pool_size=2, pool_pre_ping=True
    )
    try:
        created = await ScopeVectorStore.create(
            engine,
            LangChainEmbeddings(embedder),
            "langchain_chunks",
            schema_name="sextant",
            id_column="id",
            content_column="content",
            embedding_column="embedding",
            metadata_columns=METADATA_COLUMNS,
        )
        assert isinstance(created, ScopeVectorStore)  # noqa: S101 - `create` is a class method
        created.database, created.scope = database, scope
        yield created
    finally:
        await engine.close()
