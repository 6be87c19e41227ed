"""The tools over standard input and output, for a host on the same machine."""

from __future__ import annotations

import asyncio

from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.server.mcp.building import Naming, build_server
from sextant.server.mcp.tools import Caller
from sextant.stores.postgresql.watched import limit_statements


async def serve(settings: Settings, names: str = Naming.DOTTED) -> None:
    """Serve until standard input ends; every call works on `settings.user_id`.

    The protocol has no login here: whoever starts the process is trusted with that user's data.

    Raises:
        What `Sextant.open` raises.
    """
    async with Sextant.open(settings) as rag, asyncio.TaskGroup() as tasks:
        # A host gives up on a server that does not say hello; the models load meanwhile.
        warming = tasks.create_task(rag.warm_up())
        try:
            with limit_statements(settings.limits.answer_seconds):
                await build_server(lambda _: Caller(rag), Naming(names)).run_stdio_async()
        finally:
            warming.cancel()
