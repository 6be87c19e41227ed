"""The one process of `sextant serve` without --workers, which ends well when it is told to."""

from __future__ import annotations

import signal
from types import FrameType

from uvicorn import Server


class Alone(Server):
    """Uvicorn's server, but the signal that stopped it is not raised again once all is finished.

    Uvicorn would die of it at last, with 143 of SIGTERM, which service managers show as a failure, and
    without Python's exit handlers.
    """

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's
        """See uvicorn; a second Ctrl-C does not wait for what is under way."""
        self.force_exit = self.force_exit or (self.should_exit and sig == signal.SIGINT)
        self.should_exit = True
