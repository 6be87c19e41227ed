"""Run as a process by test_killed_refresh.py: refresh a graph, say when a stage is reached, stop there.

Arguments: data folder, user, knowledge base, stage, how much of it is done.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from sextant.domain.scope import Scope
from sextant.ingestion.graph.communities import report_writer
from sextant.ingestion.graph.upkeep import GraphUpkeep
from sextant.stores.postgresql.database import Database
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.killing import wait_to_be_killed
from tests.integration.own_database import settings_over


async def main(data_dir: str, user: str, graph: str, stage: str, done: str) -> None:
    settings = settings_over(Path(data_dir))
    report_writer._REPORTS_AT_ONCE = 4

    def stop(reached: str, number: int, _: int) -> None:
        if reached == stage and number >= int(done):
            wait_to_be_killed()

    async with await Database.open(settings) as database:
        await GraphUpkeep(database, HashEmbedder(384)).refresh(Scope(user, graph), stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
