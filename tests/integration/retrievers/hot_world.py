"""Documents of odd texts, and knowledge bases brought into memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from random import Random

from sextant.domain.scope import Scope
from sextant.retrievers.index.scope_cache import CachedScope, ScopeCache
from sextant.stores.postgresql.database import Database
from tests.clock import Clock

DIMENSION = 384
PIECES = (
    *("糖尿病", "患者", "胰岛素", "机器学习", "器学", "GPU加速", "Rust", "ownership", "own", "30%"),
    *(
        "50_a",
        "C++",
        "\\n",
        "的",
        "x",
        "AI",
        "Straße",
        "ΣΊΣΥΦΟΣ",
        "İstanbul",
        "2型",
        "型ai型",
        "5g",
    ),
    *("日本語テスト", "payment,", "付款节点。", "𠀀𠀁", "🙂", "e\u0301", "ﬁ"),
)

Write = Callable[[Scope, str, list[str]], Awaitable[None]]


def timed(database: Database, clock: Clock) -> ScopeCache:
    """Return scopes in memory that go by a clock of their own."""
    return ScopeCache(database, clock=clock)


async def packed(hots: ScopeCache, scope: Scope) -> CachedScope:
    """Return the scope once it has been searched often enough."""
    for _ in range(3):
        hots.of(scope)
    await hots.memory.settle()
    hot = hots.of(scope)
    assert hot is not None
    return hot


def seeded(seed: int) -> Random:
    """Return the same choices each time."""
    return Random(seed)  # noqa: S311 - nothing is kept secret by it


def texts_of(rng: Random, count: int) -> list[str]:
    return [
        "".join(rng.choice(PIECES) + rng.choice(("", " ", "，", "\n")) for _ in range(size)) + "."
        for size in (rng.randint(0, 12) for _ in range(count))
    ]
