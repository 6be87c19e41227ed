"""A worker's next turn."""

from __future__ import annotations

from sextant.domain.scope import Scope
from sextant.ingestion.pipeline import Ingestor


async def resumed(ingestor: Ingestor, scope: Scope) -> list[Exception | None]:
    """Return what became of the next jobs of the scope's user, done as a worker does them."""

    async def told(_: Scope) -> None:
        """Nothing derives from the graph here."""

    return await ingestor.run_next(scope.user_id, told)
