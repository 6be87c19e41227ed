"""Whether the knowledge base that an import goes into is still the one that it began with."""

from __future__ import annotations

from typing import NoReturn

from sextant.domain.errors import GraphNotFound, SextantError
from sextant.domain.scope import Scope
from sextant.stores.graph.record import GraphRecord


class ImportUpkeep:
    """Looked after between the steps of an import.

    A knowledge base that is deleted meanwhile would come into being again, with what is left of the import.
    """

    def __init__(self, scope: Scope, record: GraphRecord) -> None:
        self._scope = scope
        self._record = record
        self._begun = 0

    @property
    def is_there(self) -> bool:
        """Return whether it was there when last looked at."""
        return bool(self._begun)

    async def check(self) -> None:
        """Look whether it is there as it was.

        Raises:
            GraphNotFound: it was deleted meanwhile.
        """
        async with self._record.reading(self._scope) as stored:
            self.found(stored.scope_id)

    def found(self, scope_id: int) -> None:
        """Take note of its number, 0 before it is made; raises as `check` does."""
        if self._begun and scope_id != self._begun:
            raise self._deleted()
        self._begun = scope_id

    async def fail(self, error: SextantError) -> NoReturn:
        """Raise what went wrong with a document, or why: the knowledge base is not there any more."""
        await self.check()
        raise error if self._begun else self._deleted()

    def _deleted(self) -> GraphNotFound:
        return GraphNotFound(
            f"The knowledge base {self._scope.graph_id!r} was deleted while the import ran.",
            next_step="What came in before is gone with it. Import again to make a new one.",
            field="graph_id",
        )
