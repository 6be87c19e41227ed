"""Store the captions that a vision model wrote for images in documents."""

from __future__ import annotations

from collections.abc import Iterable

from sextant.domain.scope import Scope
from sextant.stores.postgresql.database import Database
from sextant.stores.postgresql.queries import load_queries
from sextant.stores.scopes import key_of
from sextant.text.characters import clean_text

_SQL = load_queries("captions")


class CaptionStore:
    """Read and write captions by image; every call sees one scope, one model and one language."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def known(
        self, scope: Scope, model: str, language: str, images: Iterable[str]
    ) -> dict[str, str]:
        """Return the stored captions by image sha256; "" if an image could not be described."""
        values = {"model": model, "language": language, "images": list(images)}
        async with self._database.transaction(scope.user_id) as connection:
            cursor = await connection.execute(_SQL["known"], key_of(scope) | values)
            return {sha256: caption async for sha256, caption in cursor}

    async def keep(
        self, scope: Scope, model: str, language: str, sha256: str, caption: str
    ) -> None:
        """Store a caption, or "" for an image that could not be described."""
        values = {"model": model, "language": language, "sha256": sha256}
        values["caption"] = clean_text(caption)
        async with self._database.transaction(scope.user_id) as connection:
            await connection.execute(_SQL["keep"], key_of(scope) | values)
