"""A setting that nothing reads is a promise that nothing keeps."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from sextant.domain.settings import Settings

ROOT = Path(__file__).parents[3]
CODE = ("prompts", "retrievers", "nodes", "graph", "sextant")


def names_of(settings: type[BaseModel]) -> Iterator[str]:
    """Yield the last words of all settings' names, groups followed."""
    for name, field in settings.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from names_of(kind)
        else:
            yield name


def attributes_read() -> set[str]:
    """Return every attribute that any of our modules reads."""
    return {
        node.attr
        for folder in CODE
        for file in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
    }


def test_every_setting_is_read_somewhere() -> None:
    assert set(names_of(Settings)) <= attributes_read()
