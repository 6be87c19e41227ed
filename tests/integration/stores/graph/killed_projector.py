"""Run as a process by test_killed_projection.py: take a graph over, stop after so many ids.

Arguments: data folder, address of Neo4j, user, how many ids. The user name and the password of
Neo4j are in the environment.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from pydantic import SecretStr

from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.stores.graph.neo4j.bolt import Bolt
from sextant.stores.graph.neo4j.projector import Projector
from sextant.stores.postgresql.database import Database


async def main(data_dir: str, uri: str, user: str, far: str) -> None:
    password = os.environ.get("NEO4J_PASSWORD")
    settings = Settings(_env_file=None, data_dir=Path(data_dir), database_url=None).model_copy(
        update={
            "neo4j_uri": uri,
            "neo4j_username": os.environ.get("NEO4J_USERNAME", "neo4j"),
            "neo4j_password": SecretStr(password) if password else None,
            "neo4j_database": os.environ.get("NEO4J_DATABASE") or None,
            "neo4j_timeout": 60.0,
        }
    )

    def stop(taken: int) -> None:
        if taken >= int(far):
            sys.stdout.write("reached\n")
            sys.stdout.flush()
            signal.pause()

    async with await Database.open(settings) as database:
        await Projector(database, Bolt(settings)).sync(Scope(user), stop)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
