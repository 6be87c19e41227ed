"""Public names of a package whose modules are slow to import, and so are imported when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules


def load_lazily(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return what a package has as its `__getattr__` and `__dir__`, so that `import package.x` and the command line start fast.

    Args:
        package: its name.
        homes: of each public name the module that it is from.
    """

    def public(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(homes[name]), name)

    def names() -> list[str]:
        return sorted({*vars(modules[package]), *homes})

    return public, names
