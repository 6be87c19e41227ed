"""No text makes one of our regular expressions backtrack for minutes: documents and questions are strangers' text."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from regexploit.ast.sre import SreOpParser
from regexploit.redos import find

import sextant


class PatternParser(SreOpParser):  # type: ignore[misc]
    """Read what Python 3.11 added as what it backtracks like at worst."""

    from_POSSESSIVE_REPEAT = SreOpParser.from_MAX_REPEAT  # noqa: N815

    def from_ATOMIC_GROUP(self, group: Any) -> Any:  # noqa: N802
        """Return the content of an atomic group."""
        return self.sequence_or_singleton(group)


def modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield all modules of a package but those that run something."""
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if found.name.rpartition(".")[2] in {"__main__", "samples", "static"}:
            continue
        module = importlib.import_module(found.name)
        yield module
        if found.ispkg:
            yield from modules(module)


def patterns(value: object) -> Iterator[re.Pattern[str]]:
    """Yield the patterns of a constant, those in its tuples and dictionaries too."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from patterns(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from patterns(one)


def degree(pattern: re.Pattern[str]) -> int:
    """Return the power of a text's length by which a pattern backtracks at worst; over 10: exponentially."""
    parsed = PatternParser().parse_sre(pattern.pattern, pattern.flags)
    return max((found.starriness for found in find(parsed)), default=1)


def test_the_degree_tells_what_backtracks() -> None:
    assert degree(re.compile(r"(?:[_-]?[a-z]+)*:")) > 10
    assert degree(re.compile(r"(?:[_-][a-z]+)*:")) == 1


def test_no_pattern_backtracks_by_more_than_the_third_power() -> None:
    named = {
        pattern: f"{module.__name__}.{name}"
        for module in modules(sextant)
        for name, value in vars(module).items()
        for pattern in patterns(value)
    }

    assert len(named) > 100
    assert [name for pattern, name in named.items() if degree(pattern) > 3] == []
