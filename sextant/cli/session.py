"""Opens Sextant for a command, and options that several commands share."""

from __future__ import annotations

import importlib
import logging
import math
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

import typer
from typer.core import TyperGroup

from sextant.cli import terminal
from sextant.domain.errors import OptionInvalid
from sextant.domain.scope import DEFAULT_GRAPH

if TYPE_CHECKING:
    import asyncio

    from sextant.domain.answers import Usage
    from sextant.domain.settings import Settings
    from sextant.facade import Sextant
    from sextant.facade.chunks import Chunks
    from sextant.ingestion.graph.extraction.cost import CostEstimate
    from sextant.models.embedding.cache import CachedEmbedder


class ListByDefault(TyperGroup):
    """A group that lists what it is about when no command is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401, D102
        is_command = bool(args) and not args[0].startswith("-")
        asks_for_help = bool(args) and args[0] in ctx.help_option_names
        return super().parse_args(ctx, args if is_command or asks_for_help else ["list", *args])


@asynccontextmanager
async def open_session(
    *, to_answer: bool = False, lengthy: bool = False, unattended: bool = False
) -> AsyncIterator[Sextant]:
    """Provide Sextant as the environment and `.env` configure it; raise the errors of `Sextant.open`.

    Args:
        to_answer: load the embedding model in the background, while the workflow is imported.
        lengthy: one database statement may take longer than an answer.
        unattended: log as `sextant serve` does.
    """
    import asyncio

    from sextant.domain.configuration import load_settings

    settings = await asyncio.to_thread(load_settings)
    if unattended:
        from logging.config import dictConfig

        from sextant.server.observe.logs import log_config

        dictConfig(log_config(settings))
    else:
        show_log(settings)
    new = settings.database_url is None and not settings.data_dir.exists()
    if new and sys.stderr.isatty():
        terminal.note(f"Setting up a database in {settings.data_dir}; this is done once.")
    embedder = await _loading(settings) if to_answer else None
    facade = await asyncio.to_thread(importlib.import_module, "sextant.facade")
    from sextant.stores.postgresql.watched import limit_statements

    async with facade.Sextant.open(settings, embedder=embedder) as rag:
        with limit_statements(math.inf if lengthy else settings.limits.answer_seconds):
            yield rag


async def _loading(settings: Settings) -> CachedEmbedder:
    """Return the embedder, whose model loads in a thread; an error is raised on first use."""
    import asyncio

    from sextant.models.embedding import build_embedder
    from sextant.models.embedding.cache import WARM_UP

    embedder = await asyncio.to_thread(build_embedder, settings)
    loading = asyncio.create_task(embedder.embed_query(WARM_UP))
    loading.add_done_callback(lambda task: task.cancelled() or task.exception())
    return embedder


def show_log(settings: Settings) -> None:
    """Log to standard error if a level is set; else the command prints its own errors and warnings."""
    is_requested = "log_level" in settings.model_fields_set
    level = settings.log_level if is_requested else logging.CRITICAL
    handler = logging.StreamHandler()
    handler.setLevel(level)  # psycopg sets levels on its own loggers
    form = "%(asctime)s %(levelname)s %(name)s: %(message)s"
    logging.basicConfig(level=level, format=form, handlers=[handler])


P = TypeVar("P")
T = TypeVar("T")


def with_sextant(
    work: Callable[[Sextant], Awaitable[T]], *, to_answer: bool = False, lengthy: bool = False
) -> T:
    """Return the result of `work` with Sextant.

    Args:
        work: called with the opened Sextant.
        to_answer: as for `open_session`.
        lengthy: as for `open_session`.
    """

    async def with_it_open() -> T:
        async with open_session(to_answer=to_answer, lengthy=lengthy) as rag:
            return await work(rag)

    return run_interruptible(with_it_open())


def with_part(
    part: Callable[[Sextant, str], Awaitable[P]],
    graph: str,
    work: Callable[[P], Awaitable[T]],
    *,
    lengthy: bool = False,
) -> T:
    """Return the result of `work` with a part of Sextant, such as the entities of a knowledge base."""

    async def with_it(rag: Sextant) -> T:
        return await work(await part(rag, await chosen_graph(rag, graph)))

    return with_sextant(with_it, lengthy=lengthy)


def with_chunks(graph: str, work: Callable[[Chunks], Awaitable[T]], *, lengthy: bool = False) -> T:
    """Return the result of `work` with the passages of a knowledge base."""
    return with_part(lambda rag, name: rag.chunks(name), graph, work, lengthy=lengthy)


async def chosen_graph(rag: Sextant, graph: str) -> str:
    """Return the named knowledge base; if `default` is missing, the only one there is, with a note."""
    found = await rag.find_graph(graph)
    if found != graph:
        terminal.note(f"Using {found}, the only knowledge base there is (--graph names one).")
    return found


def run_interruptible(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of `work`, as `asyncio.run` does, but react to Ctrl-C at once."""
    with open_runner() as runner:
        return runner.run(work)


@contextmanager
def open_runner() -> Iterator[asyncio.Runner]:
    """Provide an `asyncio.Runner` whose loop wakes at every signal.

    Python handles signals between two steps of the main thread. A signal that arrives just before the loop waits, or
    in another thread, would be handled at the loop's next event, perhaps minutes later.
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


def print_estimate(estimate: CostEstimate, what: str, *, as_json: bool) -> None:
    """Print the estimated tokens of reading `what`."""
    if as_json:
        terminal.emit(estimate)
        return
    terminal.say(
        f"About {estimate.input_tokens} prompt and {estimate.output_tokens} answer tokens for {what} (an estimate)."
    )


def usage_text(usage: Usage) -> str:
    """Return the tokens used as text."""
    return f"{usage.prompt_tokens} prompt and {usage.completion_tokens} answer tokens"


GRAPH = DEFAULT_GRAPH
STANDARD = Path("-")  # standard input or output, where a file is named

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="QUESTION",
        help="Words, with or without quotes; - reads them from standard input.",
    ),
]
GraphId = Annotated[str, typer.Option("--graph", "-g", help="The knowledge base.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Explain = Annotated[bool, typer.Option("--explain", help="Show how each score came about.")]
Cursor = Annotated[str | None, typer.Option(help="Where the page before ended.")]
ChunkFilters = Annotated[
    list[str] | None,
    typer.Option(
        "--filter",
        metavar="NAME=VALUE",
        help="Only passages that meet it; may be repeated. Names: topicLabels, parentSectionPath, "
        "entityTypes, sectionId, documentIds, createdAfter, createdBefore, tags.",
    ),
]
Mode = Annotated[
    str,
    typer.Option("--mode", "-m", help="auto, naive, local, global, hybrid, mix or bypass."),
]
TopK = Annotated[int | None, typer.Option("--top-k", "-k", help="Passages the answer may use.")]


def document_id(given: str) -> UUID:
    """Return the id of a document.

    Raises:
        typer.BadParameter: it is not an id.
    """
    try:
        return UUID(given)
    except ValueError:
        raise typer.BadParameter(
            f"`{given}` is not the id of a document; `sextant documents list` shows them"
        ) from None


def read_filters(given: list[str] | None) -> dict[str, list[str] | str]:
    """Return `NAME=VALUE` options as a mapping; a name may be given several times.

    Raises:
        OptionInvalid: a name or value is missing, or a date is given twice.
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


def question_of(words: Sequence[str]) -> str:
    """Return the question of these words; of `-` alone what standard input has."""
    if list(words) != [str(STANDARD)]:
        return " ".join(words)
    piped = sys.stdin.buffer.read() if sys.stdin else b""  # none where the shell closed it
    return piped.decode("utf-8-sig", errors="replace").strip()
