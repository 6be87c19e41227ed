"""Opens Sextant for one command; imports nothing heavy, since every command's module needs it.

Also here: the options that several commands share, and what a chat model's reading of a knowledge base takes.
"""

from __future__ import annotations

import importlib
import logging
import math
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

import typer

from sextant.cli import terminal
from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import DEFAULT_GRAPH

if TYPE_CHECKING:
    import asyncio

    from sextant.domain.answers import Usage
    from sextant.domain.settings import Settings
    from sextant.facade import Sextant
    from sextant.ingestion.graph.extraction.cost import CostEstimate
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

    from sextant.models.embedding import build_embedder
    from sextant.models.embedding.cache import WARM_UP

    embedder = await asyncio.to_thread(build_embedder, settings)
    loading = asyncio.create_task(embedder.embed_query(WARM_UP))
    loading.add_done_callback(lambda task: task.cancelled() or task.exception())
    return embedder


def _log_as_a_server(settings: Settings) -> None:
    from logging.config import dictConfig

    from sextant.server.observe.logs import log_config

    dictConfig(log_config(settings))


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


DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say about what it would take.")]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget", min=1, help="Tokens after which to stop.")
]
BudgetCost = Annotated[
    float | None,
    typer.Option("--budget-cost", help="Money after which to stop, by the prices set."),
]


def print_estimate(estimate: CostEstimate, what: str, *, as_json: bool) -> None:
    """Print what reading `what` would take."""
    if as_json:
        terminal.emit(estimate)
        return
    terminal.say(
        f"About {estimate.input_tokens} prompt and {estimate.output_tokens} answer tokens for {what} (an estimate)."
    )
    if estimate.cost is None:
        terminal.note(
            "Set SEXTANT_EXTRACTION__INPUT_PRICE and __OUTPUT_PRICE (per million tokens) to see money."
        )
    else:
        terminal.say(f"About {estimate.cost:.2f} in money.")


def usage_text(usage: Usage, cost: float | None) -> str:
    """Return the tokens that were taken, and what they cost."""
    money = "" if cost is None else f", {cost:.4f} in money"
    return f"{usage.prompt_tokens} prompt and {usage.completion_tokens} answer tokens{money}"


GRAPH = DEFAULT_GRAPH
STANDARD = Path("-")  # standard input or output, where a file is named
GraphId = Annotated[str, typer.Option("--graph", "-g", help="The knowledge base.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Mode = Annotated[
    str,
    typer.Option("--mode", "-m", help="auto, naive, local, global, hybrid, mix or bypass."),
]
TopK = Annotated[int | None, typer.Option("--top-k", "-k", help="Passages the answer may use.")]


def document_id(given: str) -> UUID:
    """Return the id of a document as it is listed.

    Raises:
        typer.BadParameter: it is none.
    """
    try:
        return UUID(given)
    except ValueError:
        raise typer.BadParameter(
            f"`{given}` is not the id of a document; `sextant documents list` shows them"
        ) from None


def read_filters(given: list[str] | None) -> dict[str, list[str] | str]:
    """Return `NAME=VALUE` options as a mapping; a name given again gets one more value.

    Raises:
        OptionInvalid: one has no name or no value, or a date is given twice.
    """
    read: dict[str, list[str] | str] = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        name, value = name.strip(), value.strip()
        if not (name and equals and value):
            raise OptionInvalid(
                f"`{one}` is not a filter.",
                next_step="Write --filter topicLabels=payment.",
                field="filters",
            )
        if name.lower().replace("_", "").startswith("created"):
            if name in read:
                raise OptionInvalid(
                    f"The filter `{name}` is given twice.",
                    next_step="Give the one date that counts.",
                    field=f"filters.{name}",
                )
            read[name] = value
            continue
        known = read.setdefault(name, [])
        assert isinstance(known, list)  # noqa: S101 - only dates are not
        known.append(value)
    return read
