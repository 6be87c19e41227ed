"""Fifty tenants with documents and keys, and their questions."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from benchmarks.hybrid.corpus import DIMENSION, make_library
from benchmarks.hybrid.store import fill, scope_of
from sextant.domain.scope import Permission
from sextant.models.protocols import Vectors
from sextant.stores.api_keys import ApiKeyStore
from sextant.stores.documents.embedding_space import check_space
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder, hash_vector

TENANTS, QUESTIONS, SEED = 50, 300, 2
SPACE = "drawn"
_FILE = "load.json"


@dataclass(frozen=True)
class Question:
    """What is asked of a tenant, with the tenant's key."""

    text: str
    tenant: int
    key: str


@dataclass(frozen=True)
class World:
    """What is in the store, as far as clients know it."""

    questions: list[Question]
    vectors: dict[str, Vectors]

    def vector(self, text: str) -> Vectors:
        """Return the vector that a question was made with; of anything else, a hash."""
        known = self.vectors.get(text)
        return hash_vector(text, DIMENSION) if known is None else known


async def opened(database: Database, chunks: int) -> World:
    """Return the world of this data folder, made if it has none yet."""
    file = database.settings.data_dir / _FILE
    if not await asyncio.to_thread(file.exists):
        await _make(database, chunks, file)
    kept = orjson.loads(await asyncio.to_thread(file.read_bytes))
    questions = [Question(*one[:3]) for one in kept]
    vectors = {one[0]: np.array(one[3], np.float32) for one in kept}
    return World(questions, vectors)


async def _make(database: Database, chunks: int, file: Path) -> None:
    library = await asyncio.to_thread(
        make_library, chunks, QUESTIONS, SEED, number_of_tenants=TENANTS
    )
    await check_space(database, HashEmbedder(DIMENSION, SPACE))
    await fill(database, library)
    async with database.owner() as owner:
        await owner.set_autocommit(True)
        await owner.execute("vacuum analyze")
        await owner.execute("checkpoint")
    keys = [await _key(database, tenant) for tenant in range(TENANTS)]
    kept = [
        (one.text, one.tenant, keys[one.tenant], one.vector.tolist()) for one in library.questions
    ]
    await asyncio.to_thread(file.write_bytes, orjson.dumps(kept))


async def _key(database: Database, tenant: int) -> str:
    _, secret = await ApiKeyStore(database).create(scope_of(tenant).user_id, [Permission.READ])
    return secret.text
