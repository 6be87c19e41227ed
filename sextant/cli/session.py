"""Opens Sextant for one command; imports nothing heavy, since every command's module needs it."""

from __future__ import annotations

import importlib
import logging
import math
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from sextant.cli import terminal

if TYPE_CHECKING:
    import asyncio

    from sextant.domain.settings import Settings
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
    import asyncio

    from sextant.domain.configuration import load_settings

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
    import asyncio

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


P = TypeVar("P")
T = TypeVar("T")


def with_sextant(
    work: Callable[[Sextant], Awaitable[T]], *, to_answer: bool = False, lengthy: bool = False
) -> T:
    """Return what comes of `work`.

    Args:
        work: is given the opened Sextant.
        to_answer: it will embed a question, so the model loads from now on.
        lengthy: one statement of it may take longer than an answer may.
    """

    async def with_it_open() -> T:
        async with open_session(to_answer=to_answer, lengthy=lengthy) as rag:
            return await work(rag)

    return run_interruptible(with_it_open())


def with_part(
    part: Callable[[Sextant], Awaitable[P]],
    work: Callable[[P], Awaitable[T]],
    *,
    to_answer: bool = False,
    lengthy: bool = False,
) -> T:
    """As `with_sextant`, with a part of it, such as the entities of a knowledge base."""

    async def with_it(rag: Sextant) -> T:
        return await work(await part(rag))

    return with_sextant(with_it, to_answer=to_answer, lengthy=lengthy)


async def chosen_graph(rag: Sextant, graph: str) -> str:
    """Return the knowledge base to ask or to list; says so where it is another than was named, as it is the only one there is."""
    found = await rag.find_graph(graph)
    if found != graph:
        terminal.note(f"Using {found}, the only knowledge base there is (--graph names one).")
    return found


def run_interruptible(work: Coroutine[Any, Any, T]) -> T:
    """Return what comes of `work`, as `asyncio.run` does, but never sleep over a Ctrl-C."""
    with open_runner() as runner:
        return runner.run(work)


@contextmanager
def open_runner() -> Iterator[asyncio.Runner]:
    """Provide a runner of coroutines whose loop every signal wakes.

    Python handles a signal between two steps of the main thread. One that comes when the loop is about to wait, or that
    the system gives to another thread, would be handled with the loop's next event, which may take minutes.
    """
    import asyncio
    import signal
    import socket

    receiver, sender = socket.socketpair()
    with asyncio.Runner() as runner, receiver, sender:
        receiver.setblocking(False)  # noqa: FBT003 - it takes no keyword
        sender.setblocking(False)  # noqa: FBT003
        runner.get_loop().add_reader(receiver, receiver.recv, 1024)
        before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
        try:
            yield runner
        finally:
            signal.set_wakeup_fd(before)
            runner.get_loop().remove_reader(receiver)
