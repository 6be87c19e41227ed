"""`sextant ask`: a question in, a cited answer out, streamed."""

from __future__ import annotations

from typing import Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, Mode, TopK

app = typer.Typer()


@app.command("ask")
def ask(
    question: Annotated[str, typer.Argument(help="The question, in Chinese or English.")],
    graph: GraphId = GRAPH,
    mode: Mode = "auto",
    top_k: TopK = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with citations."""
    import asyncio

    asyncio.run(_ask(question, graph, mode, top_k, as_json=as_json))


async def _ask(question: str, graph: str, mode: str, top_k: int | None, *, as_json: bool) -> None:
    from sextant.cli.answers import print_answer
    from sextant.cli.session import opened

    async with opened(to_answer=True) as rag:
        events = rag.stream(question, graph_id=graph, mode=mode, top_k=top_k)
        answer = await print_answer(events, quiet=as_json)
    if as_json:
        terminal.emit(answer)
