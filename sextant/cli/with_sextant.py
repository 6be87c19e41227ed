"""One piece of work with Sextant, opened for it; imports nothing heavy, since every command's module needs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import asyncio

    from sextant.facade import Sextant

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
    from sextant.cli.session import open_session

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
    """Return the knowledge base to ask; says so where it is another than was named, as it is the only one there is."""
    from sextant.cli import terminal

    found = await rag.find_graph(graph)
    if found != graph:
        terminal.note(f"Asking {found}, the only knowledge base there is (--graph names one).")
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
