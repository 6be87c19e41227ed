"""`sextant reembed`: computes all vectors again, after the embedding model was changed."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson
from sextant.cli.with_sextant import with_sextant
from sextant.text.characters import count_noun

if TYPE_CHECKING:
    from sextant.facade import Sextant

app = typer.Typer()


@app.command("reembed")
def reembed(*, as_json: AsJson = False) -> None:
    """Embed all documents again. Needed after another model was set; goes on where it was stopped."""
    from sextant.cli.progress import stage_bars

    async def embedded(rag: Sextant) -> int:
        with stage_bars(quiet=as_json) as on_stage:
            return await rag.reembed(partial(on_stage, "passages"))

    chunks = with_sextant(embedded, lengthy=True)
    if as_json:
        terminal.emit({"chunks": chunks})
    else:
        terminal.say(f"Embedded {count_noun(chunks, 'passage')}.")
