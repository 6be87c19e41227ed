"""A Neo4j that wants a login: the right one works, any other is refused in words that say what to set."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from neo4j import AsyncGraphDatabase
from pydantic import SecretStr

from sextant.domain.errors import GraphStoreUnavailable
from sextant.domain.settings import Settings
from sextant.stores.graph.neo4j.bolt import Bolt
from tests.neo4j_server import Neo4jServer

PASSWORD = "yanxi-heron-3"
Login = Callable[[str, str | None], Bolt]


@pytest.fixture(scope="module")
def guarded() -> Iterator[Neo4jServer]:
    """Yield a server of this module's own, because that of the other tests lets everybody in."""
    server = Neo4jServer(logins=True)
    if "NEO4J_URI" in os.environ and not server.installed:
        pytest.skip("no server of our own can be started")
    server.start()
    yield server
    server.close()


@pytest_asyncio.fixture
async def login(settings: Settings, guarded: Neo4jServer) -> AsyncIterator[Login]:
    async with AsyncExitStack() as stack:

        def run(username: str, password: str | None) -> Bolt:
            access = {
                "neo4j_uri": guarded.uri,
                "neo4j_username": username,
                "neo4j_password": SecretStr(password) if password else None,
                "neo4j_timeout": 120.0,
            }
            bolt = Bolt(settings.model_copy(update=access))
            stack.push_async_callback(bolt.close)
            return bolt

        yield run


async def test_a_login_works_once_its_first_password_was_changed(
    login: Login, guarded: Neo4jServer
) -> None:
    with pytest.raises(GraphStoreUnavailable, match="refused the login") as refused:
        await login("neo4j", "neo4j").version()
    assert refused.value.next_step is not None
    assert "NEO4J_PASSWORD" in refused.value.next_step
    async with AsyncGraphDatabase.driver(guarded.uri, auth=("neo4j", "neo4j")) as driver:
        await driver.execute_query(
            "ALTER CURRENT USER SET PASSWORD FROM $old TO $new",
            {"old": "neo4j", "new": PASSWORD},
            database_="system",
        )
    assert await login("neo4j", PASSWORD).version() >= (5, 23)


@pytest.mark.parametrize(
    ("username", "password"),
    [("neo4j", "wrong-password"), ("nobody", PASSWORD), ("neo4j", None)],
)
async def test_any_other_login_is_refused_with_what_to_set(
    login: Login, username: str, password: str | None
) -> None:
    with pytest.raises(GraphStoreUnavailable, match="Neo4j refused the login") as refused:
        await login(username, password).version()
    assert refused.value.next_step is not None
    assert "Set NEO4J_USERNAME and NEO4J_PASSWORD" in refused.value.next_step
    assert refused.value.field == "neo4j_password"
    assert password is None or password not in str(refused.value)
