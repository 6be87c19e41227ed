"""Pools of connections, and loops that end while one is being made."""

from __future__ import annotations

import asyncio
import socket
import threading

from psycopg.types import TypeInfo

from sextant.domain.settings import Settings
from sextant.stores.postgresql.watched import Pools

VECTOR = TypeInfo("vector", 1, 2)
# Seconds after which a loop will not end any more, however much else the machine does.
_STUCK = 600


def test_a_loop_ends_while_its_pool_still_waits_for_a_server() -> None:
    """As `asyncio.run(workflow.ainvoke(…))` does: it cancels what is left and waits for it."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(0)  # a thread that waits would keep Python from ending
        url = f"postgresql://nobody@127.0.0.1:{silent.getsockname()[1]}/none"

        async def asked() -> None:
            pools = Pools(Settings(_env_file=None), url, VECTOR)  # a pool nobody refers to ends
            await pools.current()
            await asyncio.get_running_loop().sock_accept(silent)

        loop = threading.Thread(target=asyncio.run, args=(asked(),), daemon=True)
        loop.start()
        loop.join(timeout=_STUCK)
        assert not loop.is_alive()
