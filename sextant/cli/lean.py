"""Lets a command start sooner: less garbage collection, and packages whose opening nobody asks for.

Both are for a process of our own, so only the command line calls `start_lean`; a library must not
decide how its caller's process imports or collects.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

# LangGraph imports one small module from each, but to import it Python first runs the package's
# `__init__`: 180 models of LangSmith's HTTP interface (0.35 s of CPU), a client with its HTTP library (0.1 s).
_UNASKED_FOR = ("langsmith.types", "langgraph_sdk")

# Imports make objects that stay; counting through them again every 700 new ones was 0.3 s of CPU.
_OBJECTS_BEFORE_COLLECTION = 100_000

# A thread that computes outside the interpreter's lock wants it back for a moment between two
# operations; at Python's 5 ms it mostly waits while another thread imports.
_SWITCH_SECONDS = 0.0005


def start_lean() -> None:
    """Collect garbage less often, and open the packages above only when something of theirs is used."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(_OBJECTS_BEFORE_COLLECTION)
    sys.meta_path.insert(0, DeferringFinder(_UNASKED_FOR))


class DeferringFinder(MetaPathFinder):
    """Finds some packages so that their `__init__` runs when an attribute is first missed.

    Submodules can be imported before that, so `from package.small import Name` runs `small` only.
    """

    def __init__(self, packages: Iterable[str]) -> None:
        self._packages = frozenset(packages)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the package's own spec, with a loader that waits; None for every other module."""
        if fullname not in self._packages:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Deferring(spec.loader)
        return spec


class _Deferring(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        lock = threading.RLock()
        waiting = [self._loader]

        def missed(name: str) -> object:
            # PEP 562: called for an attribute that the module does not have (yet).
            with lock:
                if waiting:
                    waiting.pop().exec_module(module)
                    if module.__dict__.get("__getattr__") is missed:
                        del module.__dict__["__getattr__"]
                elif module.__dict__.get("__getattr__") is missed:  # asked by its own `__init__`
                    raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
            return getattr(module, name)

        module.__dict__["__getattr__"] = missed
