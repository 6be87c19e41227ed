"""List stored chunks and sections that no chat model has described, and store its descriptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.rows import dict_row

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import columns_of, load_queries
from sextant.stores.scopes import hold_scope, id_array, rows_of

_MODEL_DESCRIPTION_SQL = load_queries("model_descriptions")

_MAX_PARTS = 24  # of each section


class DescribedKind(StrEnum):
    """The kinds of described items, in order: a section is summarised from its parts."""

    PASSAGES = "chunks"
    SECTIONS = "sections"


class DescribingOrder(NamedTuple):
    """The position of a chunk or section in the order of description; deeper sections have a lower rank."""

    rank: int
    document_id: UUID
    ordinal: int


_FIRST = DescribingOrder(-(2**31), UUID(int=0), -1)


@dataclass(frozen=True, slots=True)
class DescribedPart:
    """The description of a chunk directly in a section (without `title`), or of a subsection."""

    title: str
    summary: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    by_model: bool


@dataclass(frozen=True, slots=True)
class UndescribedItem:
    """A chunk or section that no chat model has described.

    Attributes:
        version: the version of its document.
        order: its position in the order of description.
        text: the chunk's text, or the section's titles from the top.
        tries: the number of failed requests.
        parts: the descriptions of a section's parts, at most 24 in order; empty for a chunk.
    """

    id: UUID
    version: int
    order: DescribingOrder
    document_title: str
    text: str
    tries: int
    parts: tuple[DescribedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A chat model's description of a chunk or section; the topics of a section are not stored.

    `version` is the document's, since imported chunks keep their ids in the next version.
    """

    id: UUID
    version: int
    summary: str
    keywords: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


class ModelDescriptions:
    """Read and write a chat model's descriptions of the chunks and sections of one knowledge base."""

    def __init__(self, database: Database, scope: Scope) -> None:
        self._database = database
        self._scope = scope

    async def list_undescribed(
        self, kind: DescribedKind, after: DescribingOrder | None, tries: int, limit: int
    ) -> list[UndescribedItem]:
        """Return the next items after `after` that no chat model has described and that failed less than `tries` times."""
        values = {"tries": tries, "limit": limit, "chars": 2000, "most": _MAX_PARTS}
        values |= (after or _FIRST)._asdict()
        return [
            UndescribedItem(
                row["id"],
                row["version"],
                DescribingOrder(row["rank"], row["document_id"], row["ordinal"]),
                row["document_title"],
                row["text"],
                row["tries"],
                tuple(map(_part, row["parts"])),
            )
            for row in await self._rows(f"{kind}_to_ask", **values)
        ]

    async def count_undescribed(self, kind: DescribedKind, tries: int) -> int:
        """Count the items that `list_undescribed` returns in all."""
        rows = await self._rows(f"{kind}_waiting", tries=tries)
        return int(rows[0]["count"]) if rows else 0

    async def list_upcoming_sections(self) -> list[tuple[int, int]]:
        """Return the level and the number of parts of each section that is described after the chunks."""
        rows = await self._rows("sections_coming")
        return [(row["level"], min(row["parts"], _MAX_PARTS)) for row in rows]

    async def write(
        self, kind: DescribedKind, descriptions: Sequence[ModelDescription], failed: Sequence[UUID]
    ) -> None:
        """Store descriptions and failures; the sections above the described items are described again.

        Descriptions of a version that was replaced meanwhile are dropped.
        """
        async with self._database.transaction(self._scope.user_id) as connection:
            row = await hold_scope(connection, self._scope)
            if row is None:
                return
            key = {"scope_id": row.scope_id}
            described = [description.id for description in descriptions]
            locked = key | {"ids": id_array([*described, *failed])}
            await connection.execute(_MODEL_DESCRIPTION_SQL[f"{kind}_lock"], locked)
            async with connection.cursor() as cursor:
                await cursor.executemany(
                    _MODEL_DESCRIPTION_SQL[f"{kind}_said"],
                    [key | columns_of(description) for description in descriptions],
                )
            await connection.execute(
                _MODEL_DESCRIPTION_SQL[f"{kind}_around"], key | {"ids": id_array(described)}
            )
            await connection.execute(
                _MODEL_DESCRIPTION_SQL[f"{kind}_failed"], key | {"ids": id_array(failed)}
            )

    async def retry(self) -> None:
        """Reset the failures, so that these items are described again."""
        async with self._database.transaction(self._scope.user_id) as connection:
            row = await hold_scope(connection, self._scope)
            if row is not None:
                for kind in DescribedKind:
                    await connection.execute(
                        _MODEL_DESCRIPTION_SQL[f"{kind}_retry"], {"scope_id": row.scope_id}
                    )

    async def _rows(self, query: str, **values: object) -> list[dict[str, Any]]:
        return await rows_of(
            self._database, self._scope, dict_row, _MODEL_DESCRIPTION_SQL[query], **values
        )


def _part(row: Mapping[str, Any]) -> DescribedPart:
    keywords, tags = tuple(row["keywords"]), tuple(row["tags"])
    return DescribedPart(row["title"], row["summary"], keywords, tags, row["by_model"])
