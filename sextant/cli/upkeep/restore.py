"""`sextant restore`: everything back from one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson
from sextant.text.characters import count_noun

app = typer.Typer()

_NOT_COMPARED = (
    "The file has no checksum: an older version made it, or its end was cut off."
    " Nothing says whether the rest is as it was written."
)


@app.command("restore")
def restore(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file that `sextant backup` wrote.")
    ],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also where knowledge bases are there; they are lost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of the whole database.

    Stop servers and workers before.
    """
    import asyncio

    graphs, compared = asyncio.run(_bring(source, replace=replace, as_json=as_json))
    warnings = [] if compared else [_NOT_COMPARED]
    if as_json:
        terminal.emit({"source": source, "graphs": graphs, "warnings": warnings})
    else:
        for warning in warnings:
            terminal.warn(f"! {warning}")
        terminal.note(f"Restored {count_noun(graphs, 'knowledge base')} from {source}.")


async def _bring(source: Path, *, replace: bool, as_json: bool) -> tuple[int, bool]:
    import asyncio

    from sextant.cli.progress import count_bytes
    from sextant.domain.configuration import load_settings
    from sextant.stores.postgresql.backup import count_graphs
    from sextant.stores.postgresql.backup import restore as bring
    from sextant.stores.postgresql.database import Database

    settings = await asyncio.to_thread(load_settings)
    async with await Database.open(settings) as database:
        with count_bytes("restored", quiet=as_json) as count:
            compared = await bring(database, source, replace=replace, on_bytes=count)
    async with await Database.open(settings) as database:  # which brings an older schema up to date
        return await count_graphs(database), compared
