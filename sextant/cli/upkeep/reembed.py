"""`sextant reembed`: computes all vectors again, after the embedding model was changed."""

from __future__ import annotations

import typer

from domain.text import counted
from sextant.cli import terminal
from sextant.cli.options import AsJson

app = typer.Typer()


@app.command("reembed")
def reembed(*, as_json: AsJson = False) -> None:
    """Embed all documents again. Needed after another model was set; goes on where it was stopped."""
    import asyncio

    chunks = asyncio.run(_reembed(as_json=as_json))
    if as_json:
        terminal.emit({"chunks": chunks})
    else:
        terminal.say(f"Embedded {counted(chunks, 'passage')}.")


async def _reembed(*, as_json: bool) -> int:
    from functools import partial

    from sextant.cli.progress import stage_bars
    from sextant.cli.session import opened

    async with opened() as rag:
        with stage_bars(quiet=as_json) as on_stage:
            return await rag.reembed(on_stage and partial(on_stage, "passages"))
