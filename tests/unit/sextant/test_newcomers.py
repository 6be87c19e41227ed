"""The page for newcomers names ten functions; each is where the page says it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "newcomers.md").read_text(encoding="utf-8")
_NAMED = re.compile(r"`(\w+)` in `([\w/]+\.py)`")


def test_every_function_is_where_the_page_says() -> None:
    named = _NAMED.findall(PAGE)
    assert len(named) >= 10
    for function, file in named:
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        defined = {
            node.name
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        }
        assert function in defined, (function, file)
