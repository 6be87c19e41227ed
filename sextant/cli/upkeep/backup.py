"""`sextant backup`: everything in one file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sextant.cli import terminal
from sextant.cli.options import AsJson

app = typer.Typer()


@app.command("backup")
def backup(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The file to write.")],
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Replace the file if it is there.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Save the whole database, of all users, to a file.

    It may be in use meanwhile.
    """
    import asyncio

    from sextant.domain.errors import OptionInvalid

    if out.exists() and not force:
        raise OptionInvalid(
            f"{out} is there already.", next_step="Name another file, or say --force.", field="out"
        )
    size = asyncio.run(_save(out, as_json=as_json))
    if as_json:
        terminal.emit({"out": out, "bytes": size})
    else:
        terminal.note(f"Saved {size / 1e6:,.1f} MB to {out}. Back: sextant restore {out}")


async def _save(out: Path, *, as_json: bool) -> int:
    import asyncio

    from sextant.cli.progress import count_bytes
    from sextant.domain.configuration import load_settings
    from sextant.stores.postgresql.backup import backup as save
    from sextant.stores.postgresql.database import Database

    settings = await asyncio.to_thread(load_settings)
    async with await Database.open(settings) as database:
        with count_bytes("saved", quiet=as_json) as count:
            return await save(database, out, count)
