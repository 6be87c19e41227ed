"""A caller's own `PGVectorStore`, in the database of the environment's settings."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_postgres import PGVectorStore

from sextant.domain.configuration import load_settings
from sextant.evals.dataset import CorpusPassage
from sextant.stores.postgresql.database import Database
from tests.integration.foreign_table import foreign_table

_PASSAGES = [CorpusPassage("payment", "付款节点", "合同签订后支付 30%，终验合格后支付 15%。")]


@asynccontextmanager
async def opened() -> AsyncIterator[PGVectorStore]:
    """Provide one with a passage of user 17, for as long as it is needed."""
    async with (
        await Database.open(load_settings()) as database,
        foreign_table(database, _PASSAGES, users=[17], columns=["user_id"]) as foreign,
    ):
        yield foreign.store
