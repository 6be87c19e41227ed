"""Connections to Neo4j: one driver for each event loop, and none left open."""

from __future__ import annotations

import asyncio

import pytest
from neo4j import AsyncGraphDatabase
from neo4j.exceptions import DriverError

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.settings import Settings
from sextant.stores.graph.neo4j.bolt import Bolt


class Driver:
    """Of a server that is not there."""

    is_open = True

    def session(self, **_: object) -> None:
        raise DriverError("gone")

    async def close(self) -> None:
        self.is_open = False


async def test_of_questions_that_come_first_at_once_each_has_the_one_driver(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = list[Driver]()

    def driver(*_: object, **__: object) -> Driver:
        made.append(Driver())
        return made[-1]

    monkeypatch.setattr(AsyncGraphDatabase, "driver", driver)
    bolt = Bolt(Settings(_env_file=None, neo4j_uri="bolt://localhost:1"))

    asked = [bolt.fetch("RETURN 1") for _ in range(3)]
    answers = await asyncio.gather(*asked, return_exceptions=True)

    assert all(isinstance(one, GraphStoreUnavailable) for one in answers)
    assert [one.is_open for one in made].count(True) == 1
    await bolt.close()
    assert not any(one.is_open for one in made)
