"""What a chat model says of stored chunks and sections: which it is to be asked about, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import hold_scope, id_array, rows_of

_SQL = load_queries("model_descriptions")

_TEXT_CHARS = 2000  # of each chunk's text, or section's titles
_PARTS = 24  # of each section


class DescribedKind(StrEnum):
    """What a chat model describes, in this order: a section is told from what is said of its parts."""

    PASSAGES = "chunks"
    SECTIONS = "sections"


class DescribingOrder(NamedTuple):
    """Where a chunk or section comes among those to ask about; deeper sections have a lower rank."""

    rank: int
    document_id: UUID
    ordinal: int


_FIRST = DescribingOrder(-(2**31), UUID(int=0), -1)


@dataclass(frozen=True, slots=True)
class DescribedPart:
    """What is said of a chunk directly in a section (without `title`) or of a subsection."""

    title: str
    summary: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    by_model: bool


@dataclass(frozen=True, slots=True)
class ToAsk:
    """A chunk or section that no chat model has described.

    `text` is a chunk's own, or a section's titles from the top (of the whole document its own); only sections have `parts`, of more than 24
    a selection in order. `version`: of its document. `tries`: how often the model was asked in vain.
    """

    id: UUID
    version: int
    place: DescribingOrder
    document_title: str
    text: str
    tries: int
    parts: tuple[DescribedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """What a chat model says that a chunk or section is about; of a section no topics are kept.

    It holds for that `version` of the document: imported chunks and sections have the same ids in the next.
    """

    id: UUID
    version: int
    summary: str
    keywords: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class ModelDescriptions:
    """What a chat model says of the chunks and sections of one knowledge base."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope

    async def to_ask(
        self, kind: DescribedKind, after: DescribingOrder | None, tries: int, limit: int
    ) -> list[ToAsk]:
        """Return the next by place that no chat model has described in fewer than `tries` tries."""
        values = {"tries": tries, "limit": limit, "chars": _TEXT_CHARS, "most": _PARTS}
        values |= (after or _FIRST)._asdict()
        return [_to_ask(row) for row in await self._rows(f"{kind}_to_ask", **values)]

    async def waiting(self, kind: DescribedKind, tries: int) -> int:
        """Return how many there are to ask about."""
        rows = await self._rows(f"{kind}_waiting", tries=tries)
        return int(rows[0]["count"]) if rows else 0

    async def coming(self) -> list[tuple[int, int]]:
        """Of the sections that are described after the chunks: the level, and how many parts each is told from."""
        rows = await self._rows("sections_coming")
        return [(row["level"], min(row["parts"], _PARTS)) for row in rows]

    async def write(
        self, kind: DescribedKind, said: Sequence[ModelDescription], failed: Sequence[UUID]
    ) -> None:
        """Store what a chat model said, and what it failed at; the sections around wait to be asked about again.

        What it said of a version that was replaced meanwhile is left out.
        """
        async with self._database.transaction(self._scope.user_id) as connection:
            row = await hold_scope(connection, self._scope)
            if row is None:
                return
            key = {"scope_id": row.scope_id}
            own = key | {"ids": id_array([*(one.id for one in said), *failed])}
            await connection.execute(_SQL[f"{kind}_lock"], own)
            async with connection.cursor() as cursor:
                await cursor.executemany(_SQL[f"{kind}_said"], [key | _values(one) for one in said])
            told = key | {"ids": id_array(one.id for one in said)}
            await connection.execute(_SQL[f"{kind}_around"], told)
            await connection.execute(_SQL[f"{kind}_failed"], key | {"ids": id_array(failed)})

    async def retry(self) -> None:
        """Let what failed too often be asked about again."""
        async with self._database.transaction(self._scope.user_id) as connection:
            row = await hold_scope(connection, self._scope)
            if row is not None:
                for kind in DescribedKind:
                    await connection.execute(_SQL[f"{kind}_retry"], {"scope_id": row.scope_id})

    async def _rows(self, query: str, **values: object) -> list[dict[str, Any]]:
        return await rows_of(self._database, self._scope, dict_row, _SQL[query], **values)


def _to_ask(row: Mapping[str, Any]) -> ToAsk:
    return ToAsk(
        row["id"],
        row["version"],
        DescribingOrder(row["rank"], row["document_id"], row["ordinal"]),
        row["document_title"],
        row["text"],
        row["tries"],
        tuple(map(_part, row["parts"])),
    )


def _part(told: Mapping[str, Any]) -> DescribedPart:
    keywords, tags = tuple(told["keywords"]), tuple(told["tags"])
    return DescribedPart(told["title"], told["summary"], keywords, tags, told["by_model"])


def _values(said: ModelDescription) -> dict[str, Any]:
    return {name: list(v) if isinstance(v, tuple) else v for name, v in asdict(said).items()}
