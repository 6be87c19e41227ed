"""A table that LangChain's `PGVectorStore` made for itself, beside Sextant's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import uuid4

from langchain_core.documents import Document
from langchain_postgres import Column, PGEngine, PGVectorStore
from psycopg import AsyncConnection, sql

from sextant.evals.dataset import CorpusPassage
from sextant.stores.postgresql.database import Database
from tests.embedders import LangChainHash

WIDTH = 64


@dataclass(frozen=True)
class Foreign:
    """The table as a store, and what it takes to open it again."""

    store: PGVectorStore
    engine: PGEngine
    table: str
    columns: list[str]

    async def opened(self, engine: PGEngine | None = None, width: int = WIDTH) -> PGVectorStore:
        """Return the same table once more, by another engine or with vectors of another length."""
        return await _opened(engine or self.engine, self.table, self.columns, width)


@asynccontextmanager
async def foreign_table(
    database: Database,
    passages: Sequence[CorpusPassage],
    *,
    users: Sequence[int],
    columns: list[str],
    key: str = "user_id",
) -> AsyncIterator[Foreign]:
    """Provide a table with `passages` once for each user, whose number is under `key`.

    `columns`: which metadata have one of their own.
    """

    async def connect() -> AsyncConnection[object]:
        return await AsyncConnection.connect(database.owner_conninfo)

    engine = PGEngine.from_connection_string("postgresql+psycopg://", async_creator=connect)
    table = f"foreign_{uuid4().hex[:12]}"
    await engine.ainit_vectorstore_table(
        table,
        WIDTH,
        schema_name="public",
        metadata_columns=[Column(name, "INTEGER") for name in columns],
    )
    store = await _opened(engine, table, columns, WIDTH)
    for user in users:
        await store.aadd_documents([_document(passage, key, user) for passage in passages])
    try:
        yield Foreign(store, engine, table, columns)
    finally:
        async with database.owner() as connection:
            await connection.execute(
                sql.SQL("drop table {}").format(sql.Identifier("public", table))
            )
        await engine.close()


async def _opened(engine: PGEngine, table: str, columns: list[str], width: int) -> PGVectorStore:
    return await PGVectorStore.create(
        engine, LangChainHash(width), table, schema_name="public", metadata_columns=columns
    )


def _document(passage: CorpusPassage, key: str, user: int) -> Document:
    return Document(
        id=str(uuid4()),
        page_content=f"{passage.title}\n{passage.text}",
        metadata={key: user, "filename": f"{passage.id}-{user}.md"},
    )
