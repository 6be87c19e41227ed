"""A worker's next turn."""

from __future__ import annotations

from sextant.domain.scope import Scope
from sextant.ingestion.pipeline import Ingestor


async def resumed(ingestor: Ingestor, scope: Scope) -> bool:
    """Do the next job of the scope's user as a worker does it; return whether there was one."""

    async def told(_: Scope) -> None:
        """Nothing derives from the graph here."""

    return await ingestor.run_next(scope.user_id, told)
