"""Opens Sextant for one command, with the log where the user wants it."""

from __future__ import annotations

import asyncio
import importlib
import logging
import math
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from sextant.cli import terminal
from sextant.domain.configuration import load_settings
from sextant.domain.settings import Settings

if TYPE_CHECKING:
    from sextant.facade import Sextant
    from sextant.models.embedding.cache import CachedEmbedder


@asynccontextmanager
async def open_session(
    *, to_answer: bool = False, lengthy: bool = False, unattended: bool = False
) -> AsyncIterator[Sextant]:
    """Provide Sextant as the environment and `.env` configure it; raises what `Sextant.open` raises.

    Args:
        to_answer: load the embedding model from now on, beside the imports that an answer needs.
        lengthy: one statement may take longer than an answer may.
        unattended: nobody reads what the command prints, so it logs as `sextant serve` does.
    """
    settings = await asyncio.to_thread(load_settings)
    if unattended:
        _log_as_a_server(settings)
    else:
        show_log(settings)
    _announce_setup(settings)
    embedder = await _loading(settings) if to_answer else None
    facade = await asyncio.to_thread(importlib.import_module, "sextant.facade")
    from sextant.stores.postgresql.watched import limit_statements

    async with facade.Sextant.open(settings, embedder=embedder) as rag:
        with limit_statements(math.inf if lengthy else settings.limits.answer_seconds):
            yield rag


def _announce_setup(settings: Settings) -> None:
    """Say why the very first command takes longer, to whoever sits there."""
    new = settings.database_url is None and not settings.data_dir.exists()
    if new and sys.stderr.isatty():
        terminal.note(f"Setting up a database in {settings.data_dir}; this is done once.")


async def _loading(settings: Settings) -> CachedEmbedder:
    """Return the embedder, whose model loads in a thread of its own; its failure shows on first use."""
    from sextant.models.embedding.cache import WARM_UP
    from sextant.models.embedding.choice import build_embedder

    embedder = await asyncio.to_thread(build_embedder, settings)
    loading = asyncio.create_task(embedder.embed_query(WARM_UP))
    loading.add_done_callback(lambda task: task.cancelled() or task.exception())
    return embedder


def _log_as_a_server(settings: Settings) -> None:
    from logging.config import dictConfig

    # By name: the server is above the command line.
    logs = importlib.import_module("sextant.server.observe.logs")
    dictConfig(logs.log_config(settings))


def show_log(settings: Settings) -> None:
    """Log to standard error where a level was asked for; else a command tells its own errors and warnings."""
    is_requested = "log_level" in settings.model_fields_set
    level = settings.log_level if is_requested else logging.CRITICAL
    handler = logging.StreamHandler()
    handler.setLevel(level)  # psycopg gives its own loggers a level, which passes the root's by
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level, format=form, handlers=[handler])
