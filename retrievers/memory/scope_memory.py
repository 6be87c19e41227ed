"""What searches need of the scopes that are asked most, in memory, as far as so many bytes go."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Protocol, TypeVar, cast

from sextant.domain.scope import Scope
from sextant.domain.versioned_cache import Fits, VersionedCache

# Seconds after which goes what nobody asks for.
_IDLE = 600.0


class ScopePart(Protocol):
    """A part of what is known of a scope, as it was at its stamp."""

    @property
    def stamp(self) -> Hashable:
        """Return what tells whether the scope has changed since."""
        ...

    @property
    def nbytes(self) -> int:
        """Return the bytes that it takes."""
        ...


P = TypeVar("P", bound=ScopePart)


class ScopeMemory(VersionedCache[tuple[type[ScopePart], Scope], Hashable, ScopePart]):
    """Of each scope the parts that are asked for often; one object bounds all of them.

    Args:
        most: bytes; 0: nothing is kept.
        clock: seconds, of any origin.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(most, lambda part: part.nbytes, idle=_IDLE, clock=clock)

    def part(
        self, kind: type[P], scope: Scope, make: Callable[[Fits], Awaitable[P | None]]
    ) -> P | None:
        """Return this part of a scope; where there is none and it is asked for often, have it made.

        Whether it is of now is to be asked of its stamp.
        """

        async def made(fits: Fits) -> tuple[Hashable, ScopePart] | None:
            part = await make(fits)
            return None if part is None else (part.stamp, part)

        return cast("P | None", self.get_or_schedule((kind, scope), made))

    def part_at(
        self,
        kind: type[P],
        scope: Scope,
        stamp: Hashable,
        make: Callable[[Fits], Awaitable[P | None]],
    ) -> P | None:
        """Return this part of a scope as of a stamp; one that is of another goes, and is made again."""
        part = self.part(kind, scope, make)
        if part is None or part.stamp == stamp:
            return part
        self.release(scope, part)
        self.part(kind, scope, make)
        return None

    def release(self, scope: Scope, part: ScopePart) -> None:
        """Let go of a part that is no longer so; it is made again once that takes a small share of the time."""
        self.drop((type(part), scope), part)

    def sizes_of(self, kind: type[ScopePart]) -> dict[Scope, float]:
        """Return the bytes of each scope's part of a kind."""
        return {scope: size for (id_, scope), size in self.sizes.items() if id_ is kind}
