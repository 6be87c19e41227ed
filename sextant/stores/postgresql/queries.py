"""Load named queries: SQL from `sql/queries/*.sql`, Cypher from `cypher/*.cypher`.

Each statement of a file begins with `-- name: what_it_does` (Cypher: `// name: …`), followed by a comment
that explains it. Values are always bound (`%(name)s`, `$name`), never inserted into the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import LiteralString, cast

_NAME = re.compile(r"^(?:--|//) name: (\w+)$", re.MULTILINE)
_FOLDER = files("sextant.stores") / "sql" / "queries"
_CYPHER = files("sextant.stores") / "cypher"


@cache
def load_queries(topic: str) -> Mapping[str, LiteralString]:
    """Return the statements of `sql/queries/<topic>.sql` by name.

    They count as literal strings, since they come only from files of this package.
    """
    return _statements((_FOLDER / f"{topic}.sql").read_text(encoding="utf-8"))


@cache
def load_cypher(topic: str) -> Mapping[str, LiteralString]:
    """Return the statements of `cypher/<topic>.cypher` by name."""
    return _statements((_CYPHER / f"{topic}.cypher").read_text(encoding="utf-8"))


def library_text(file: Path) -> LiteralString:
    """Return a script of an installed library, which is as trusted as the library."""
    return file.read_text(encoding="utf-8")


def _statements(text: str) -> Mapping[str, LiteralString]:
    _, *parts = _NAME.split(text)
    names, bodies = parts[::2], parts[1::2]
    return {
        name: cast(LiteralString, body.strip()) for name, body in zip(names, bodies, strict=True)
    }
