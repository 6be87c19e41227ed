"""Named queries: SQL lives in `sql/queries/*.sql`, Python calls it by name.

A file holds statements that each begin with `-- name: what_it_does`, then a comment line that says
what the statement is for. Values are always bound (`%(name)s`); nothing is ever spliced in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import LiteralString, cast

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
_FOLDER = files("stores") / "sql" / "queries"


@cache
def load_queries(topic: str) -> Mapping[str, LiteralString]:
    """The statements of `sql/queries/<topic>.sql` by name.

    They count as literal strings, because they come from our own files and from nowhere else.
    """
    _, *parts = _NAME.split((_FOLDER / f"{topic}.sql").read_text(encoding="utf-8"))
    names, bodies = parts[::2], parts[1::2]
    return {
        name: cast(LiteralString, body.strip()) for name, body in zip(names, bodies, strict=True)
    }


def topics() -> list[str]:
    """The names that `load_queries` knows."""
    return sorted(
        entry.name.removesuffix(".sql")
        for entry in _FOLDER.iterdir()
        if entry.name.endswith(".sql")
    )
