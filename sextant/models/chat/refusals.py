"""When to give a chat model up, of many calls that each can do without an answer."""

from __future__ import annotations

from dataclasses import dataclass

from sextant.domain.errors import ModelUnavailable, SextantError

# It is not about one prompt then, and the next would be refused, too.
_GONE_AFTER = 3


@dataclass(slots=True)
class Refusals:
    """How many calls in a row a model has refused, while others wait for whoever makes them."""

    in_a_row: int = 0

    def answered(self) -> None:
        """Take note that a call was answered."""
        self.in_a_row = 0

    def gone(self, error: SextantError) -> bool:
        """Take note of a call that failed, and say whether further ones are in vain.

        Silence is waited for once. A status may be about this prompt alone, which a filter refuses or a
        server breaks at: the third in a row is not. An answer that is of no use is an answer.
        """
        if not isinstance(error, ModelUnavailable):
            self.answered()
            return False
        self.in_a_row += 1
        is_silent = error.usage is None
        return is_silent or self.in_a_row >= _GONE_AFTER
