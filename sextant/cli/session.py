"""Opens Sextant for one command, with the log where the user wants it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from domain.configuration import load_settings
from domain.settings import Settings
from sextant.facade import Sextant


@asynccontextmanager
async def opened() -> AsyncIterator[Sextant]:
    """Sextant as the environment and `.env` configure it; raises what `Sextant.open` raises."""
    settings = await asyncio.to_thread(load_settings)
    show_log(settings)
    async with Sextant.open(settings) as rag:
        yield rag


def show_log(settings: Settings) -> None:
    """Log to standard error, but only where a level was asked for: a command tells its own errors."""
    wanted = "log_level" in settings.model_fields_set
    level = settings.log_level if wanted else logging.CRITICAL
    handler = logging.StreamHandler()
    handler.setLevel(level)  # psycopg gives its own loggers a level, which passes the root's by
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level, format=form, handlers=[handler])
