"""The options that several commands share, each defined once."""

from __future__ import annotations

from typing import Annotated

import typer

from domain.scope import DEFAULT_GRAPH

GRAPH = DEFAULT_GRAPH
GraphId = Annotated[str, typer.Option("--graph", "-g", help="The knowledge base.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]
Mode = Annotated[
    str,
    typer.Option("--mode", "-m", help="auto, naive, local, global, hybrid, mix or bypass."),
]
TopK = Annotated[int | None, typer.Option("--top-k", "-k", help="Passages the answer may use.")]
