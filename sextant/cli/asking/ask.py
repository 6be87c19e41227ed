"""`sextant ask`: a question in, a cited answer out, streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, Mode, TopK

if TYPE_CHECKING:
    from sextant.asking import Options

app = typer.Typer()


@app.command("ask")
def ask(
    question: Annotated[str, typer.Argument(help="The question, in Chinese or English.")],
    graph: GraphId = GRAPH,
    mode: Mode = "auto",
    top_k: TopK = None,
    *,
    image: Annotated[
        list[Path] | None,
        typer.Option("--image", "-i", help="An image that the question is about."),
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option("--table", "-t", help="A table in CSV, Markdown or HTML that it is about."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with citations.

    Images and tables given with it are taken into account.
    """
    import asyncio

    options: Options = {"graph_id": graph, "mode": mode, "top_k": top_k}
    asyncio.run(_ask(question, options, image or [], table or [], as_json=as_json))


async def _ask(
    question: str,
    options: Options,
    images: Sequence[Path],
    tables: Sequence[Path],
    *,
    as_json: bool,
) -> None:
    import asyncio

    from sextant.attaching import attached_files
    from sextant.cli.asking.answers import print_answer
    from sextant.cli.session import opened

    async with opened(to_answer=True) as rag:
        options["multimodal_content"] = await asyncio.to_thread(
            attached_files, images, tables, rag.settings
        )
        events = rag.stream(question, **options)
        answer = await print_answer(events, quiet=as_json)
    if as_json:
        terminal.emit(answer)
