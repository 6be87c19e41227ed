"""Names that a reader of the field understands at once (CONTRIBUTING.md, "Language")."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
# Riddles as names of functions and classes: speech, places and participles say nothing of what a thing is.
BANNED = frozenset(
    [
        "abroad",
        "anew",
        "apart",
        "asked",
        "away",
        "bearers",
        "beside",
        "besides",
        "foreign",
        "happenings",
        "harmless",
        "held",
        "kept",
        "lately",
        "lent",
        "mended",
        "own",
        "place",
        "places",
        "said",
        "says",
        "spent",
        "standing",
        "tell",
        "tells",
        "told",
        "twin",
        "whose",
        "within",
    ]
)


def product() -> Iterator[tuple[str, ast.Module]]:
    for top in ("graph", "nodes", "retrievers", "prompts", "sextant"):
        for file in sorted((ROOT / top).rglob("*.py")):
            name = file.relative_to(ROOT).as_posix()
            if not any(part.is_symlink() for part in file.parents):
                yield name, ast.parse(file.read_text(encoding="utf-8"))


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_a_class_name_exists_once() -> None:
    names = Counter(
        node.name
        for file, tree in product()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_no_function_or_class_of_a_module_is_named_by_a_riddle() -> None:
    found = [
        f"{file}:{node.lineno} {node.name}"
        for file, tree in product()
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and words(node.name) & BANNED
    ]
    assert found == []


def test_words_of_a_name() -> None:
    assert words("_told_ByPlaces") == {"told", "by", "places"}
    assert words("HTTPHeld") == {"http", "held"}
