"""`sextant ask`: a question in, a cited answer out, streamed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import GRAPH, AsJson, GraphId, Mode, TopK
from sextant.cli.with_sextant import chosen_graph, with_sextant

if TYPE_CHECKING:
    from sextant.facade import Sextant
    from sextant.facade.questions import Options

app = typer.Typer()


@app.command("ask")
def ask(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="The question, in Chinese or English.")
    ],
    graph: GraphId = GRAPH,
    mode: Mode = "auto",
    top_k: TopK = None,
    *,
    image: Annotated[
        list[Path] | None,
        typer.Option(
            "--image",
            "-i",
            metavar="FILE",
            help="An image that the question is about; may be repeated.",
        ),
    ] = None,
    table: Annotated[
        list[Path] | None,
        typer.Option(
            "--table",
            "-t",
            metavar="FILE",
            help="A table in CSV, Markdown or HTML that it is about; may be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the documents, with citations.

    Images and tables given with it are taken into account.
    """
    options: Options = {"graph_id": graph, "mode": mode, "top_k": top_k}
    with_sextant(
        lambda rag: _ask(rag, question, options, image or [], table or [], as_json=as_json),
        to_answer=True,
    )


async def _ask(
    rag: Sextant,
    question: str,
    options: Options,
    images: Sequence[Path],
    tables: Sequence[Path],
    *,
    as_json: bool,
) -> None:
    import asyncio

    from sextant.cli.asking.answers import print_answer
    from sextant.nodes.multimodal.local_files import read_attachments

    options["graph_id"] = await chosen_graph(rag, options.get("graph_id", GRAPH))
    options["multimodal_content"] = await asyncio.to_thread(
        read_attachments, images, tables, rag.settings
    )
    answer = await print_answer(rag.stream(question, **options), quiet=as_json)
    if as_json:
        terminal.emit(answer)
