"""Run as a process by test_killed_refresh.py: refresh a graph, say when a stage is reached, stop there.

Arguments: data folder, user, knowledge base, stage, how much of it is done.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from domain.scope import Scope
from domain.settings import Settings
from ingestion.graph.communities import reporting
from ingestion.graph.upkeep import GraphUpkeep
from stores.postgresql.database import Database
from testing.hash_embedder import HashEmbedder


async def main(data_dir: str, user: str, graph: str, stage: str, done: str) -> None:
    settings = Settings(_env_file=None, data_dir=Path(data_dir), database_url=None)
    reporting._REPORTS_AT_ONCE = 4

    def stop(reached: str, number: int, _: int) -> None:
        if reached == stage and number >= int(done):
            sys.stdout.write("reached\n")
            sys.stdout.flush()
            signal.pause()

    async with await Database.open(settings) as database:
        await GraphUpkeep(database, HashEmbedder(384)).refresh(Scope(user, graph), stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
