"""One piece of work with Sextant, opened for it; imports nothing heavy, since every command's module needs it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
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
    import asyncio

    from sextant.cli.session import open_session

    async def with_it_open() -> T:
        async with open_session(to_answer=to_answer, lengthy=lengthy) as rag:
            return await work(rag)

    return asyncio.run(with_it_open())


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
