"""A server whose database is restored, or goes away, under it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from sextant.stores.embedded.server import EmbeddedServer
from tests.e2e.conftest import Sextant
from tests.e2e.served import served
from tests.integration.own_database import short_folder
from tests.ports import reserve_port

pytestmark = pytest.mark.e2e

PATIENCE = 60.0
NOTE = {"text": "A lens may be kept for a week.", "title": "lens.txt", "graphId": "desk"}
ASKED = {"query": "How long may a lens be kept?", "graphId": "desk"}


class Wire:
    """A port of this machine that leads to a server's socket, and can be cut."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._listening: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._held = reserve_port()  # while it is cut, too
        self.port = self._held.getsockname()[1]

    async def mend(self) -> None:
        """Let connections through; at the same port as before."""
        self._listening = await asyncio.start_server(self._lead, "127.0.0.1", self.port)

    async def cut(self) -> None:
        """Break what is open off and let nothing in."""
        assert self._listening
        self._listening.close()
        for writer in self._open:
            writer.transport.abort()
        await self._listening.wait_closed()

    def close(self) -> None:
        """Give its port back."""
        self._held.close()

    async def _lead(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)  # before it leads anywhere: it may be cut meanwhile
        there, thence = await asyncio.open_unix_connection(str(self._socket))
        await asyncio.gather(_pass(reader, thence), _pass(there, writer))
        self._open.discard(writer)


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@asynccontextmanager
async def wired() -> AsyncIterator[tuple[Wire, str]]:
    """Provide a PostgreSQL behind a wire, and the URL that leads there."""
    with short_folder() as folder:
        postgres = await asyncio.to_thread(EmbeddedServer.start, folder)
        wire = Wire(postgres.socket_dir / ".s.PGSQL.5432")
        await wire.mend()
        try:
            yield wire, f"postgresql://postgres@127.0.0.1:{wire.port}/postgres"
        finally:
            await wire.cut()
            wire.close()
            await asyncio.to_thread(postgres.stop)


async def until(
    client: httpx.AsyncClient, holds: Callable[[httpx.Response], bool]
) -> httpx.Response:
    """Return what `/readyz` says as soon as something holds of it."""
    async with asyncio.timeout(PATIENCE):
        while True:
            if holds(answer := await client.get("/readyz")):
                return answer
            await asyncio.sleep(0.2)


async def test_a_server_says_that_its_database_is_gone_and_goes_on_when_it_is_back(
    environment: dict[str, str],
) -> None:
    async with wired() as (wire, url):
        server = await asyncio.to_thread(
            (context := served(environment | {"DATABASE_URL": url})).__enter__
        )
        try:
            async with httpx.AsyncClient(base_url=server, timeout=PATIENCE) as client:
                [taken] = (await client.post("/documents", json=NOTE)).json()["documents"]
                done = await client.get(f"/documents/{taken['documentId']}/events")
                assert "event: done" in done.text
                assert (await client.post("/search", json=ASKED)).status_code == 200

                await wire.cut()
                gone = await until(client, lambda answer: answer.status_code == 503)
                states = {one["name"]: one["state"] for one in gone.json()["dependencies"]}
                refused = await client.post("/search", json=ASKED)
                alive = await client.get("/healthz")
                assert states["database"] == "down"
                assert (refused.status_code, refused.json()["retryable"]) == (503, True)
                assert int(refused.headers["retry-after"]) > 0
                assert alive.status_code == 200

                await wire.mend()
                back = await until(client, lambda answer: answer.json()["status"] == "up")
                assert back.status_code == 200
                found = await client.post("/search", json=ASKED)
                assert found.json()["results"][0]["documentId"] == taken["documentId"]
                again = NOTE | {"text": "A prism may be kept for a month.", "title": "prism.txt"}
                [taken] = (await client.post("/documents", json=again)).json()["documents"]
                done = await client.get(f"/documents/{taken['documentId']}/events")
                assert "event: done" in done.text  # its worker works again, too
        finally:
            await asyncio.to_thread(context.__exit__, None, None, None)


def test_a_restore_is_refused_while_a_server_runs(
    environment: dict[str, str], sextant: Sextant, tmp_path: Path
) -> None:
    """The server would go on with what it knew of tables that are no more."""
    with short_folder() as folder:
        own = {"SEXTANT_DATA_DIR": str(folder)}
        assert sextant("backup", tmp_path / "all.dump", **own).status == 0
        with served(environment | own) as address:
            httpx.post(f"{address}/documents", json=NOTE, timeout=PATIENCE).raise_for_status()
            refused = sextant("restore", tmp_path / "all.dump", "--replace", "--json", **own)
            kept = httpx.get(f"{address}/api/graphs", timeout=PATIENCE).json()["graphs"]
        assert refused.error()["code"] == "conflict"
        assert "Stop its servers" in refused.err
        assert [one["graphId"] for one in kept] == ["desk"]
        assert sextant("restore", tmp_path / "all.dump", "--replace", **own).status == 0
