"""Places that are there or not: so many in all, and so many of one caller."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sextant.domain.errors import Limited, Overloaded


class Shares:
    """The places of one kind of work, for which nobody waits.

    Args:
        most: in all.
        most_of_one: of one caller.
        all_taken: what is said where none is left.
        share_taken: what is said where the caller has as many as it may.
    """

    def __init__(
        self,
        *,
        most: float = math.inf,
        most_of_one: int,
        all_taken: Callable[[], Overloaded] | None = None,
        share_taken: Callable[[], Limited],
    ) -> None:
        self._most, self._most_of_one = most, most_of_one
        self._all_taken, self._share_taken = all_taken, share_taken
        self._taken = Counter[str | None]()

    @contextmanager
    def slot(self, caller: str | None) -> Iterator[None]:
        """Have a place meanwhile.

        Args:
            caller: whose share it comes from; None: nobody shares with others.

        Raises:
            Overloaded, Limited: there is none left.
        """
        self.require_free()
        if caller is not None and self._taken[caller] >= self._most_of_one:
            raise self._share_taken()
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken -= Counter([caller])  # drops what comes to 0

    def require_free(self) -> None:
        """Make sure that there is a place.

        Raises:
            Overloaded: all are taken.
        """
        if self._all_taken is not None and self._taken.total() >= self._most:
            raise self._all_taken()
