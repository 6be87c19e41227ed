"""All answers under way: a slot for each, within bounds, and those that ended lately."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable

from sextant.domain.errors import (
    Limited,
    Overloaded,
    RunNotFound,
)
from sextant.domain.settings import RunSettings
from sextant.server.answer_run import AnswerRun, Encode, Events, nothing
from sextant.server.auth.caller import Principal
from sextant.server.expiring_set import ExpiringSet

log = logging.getLogger(__name__)


class Runs:
    """All runs of this process, so many at a time, and the ended ones for a while.

    Args:
        settings: the bounds.
    """

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.graphs = ExpiringSet()
        self._turns = asyncio.Semaphore(settings.starting)
        self._live: dict[str, AnswerRun] = {}
        self._of_caller = Counter[str]()
        self._long_of_caller = Counter[
            str
        ]()  # reports, of which a caller has half the share at most
        # By the time of their end, the oldest first.
        self._finished: dict[str, AnswerRun] = {}
        self._finished_bytes = 0

    @property
    def live(self) -> int:
        """Return answers under way."""
        return len(self._live)

    def start(
        self,
        principal: Principal,
        ask: Callable[[], Events],
        encode: Encode = nothing,
        *,
        keep: bool = False,
        language: str = "en",
        seconds: float = 0.0,
    ) -> AnswerRun:
        """Begin an answer if there is a slot for it; refused, it has cost nothing.

        Args:
            principal: whose slot it takes; without a login there is nobody to share them with.
            ask: begins it.
            encode: what is sent of its events.
            keep: have `find` find it, until `keep_seconds` after its end.
            language: in which to tell that it was late or cancelled.
            seconds: that it may take, where that is longer than `runs.seconds`.

        Raises:
            Overloaded: the server has no slot left.
            Limited: the caller has none left.
        """
        self.require_slot()
        self._check_share(principal)
        limit = max(seconds, self.settings.seconds)
        is_long = seconds > self.settings.seconds
        if is_long:
            self._check_long_share(principal)
        run = AnswerRun(principal.user_id, ask(), encode, limit, self._turns, language=language)
        self._live[run.run_id] = run
        self._of_caller[principal.quota_key] += 1
        if is_long:
            self._long_of_caller[principal.quota_key] += 1
        run.when_over(lambda _: self._over(run, principal, keep=keep, is_long=is_long))
        return run

    def find(self, run_id: str, user_id: str) -> AnswerRun:
        """Return a run of this user, under way or ended not long ago.

        Raises:
            RunNotFound: there is none, or it is somebody else's.
        """
        self._forget_old()
        run = self._live.get(run_id) or self._finished.get(run_id)
        if run is None or run.user_id != user_id:
            raise RunNotFound(
                "No answer of that id is under way or kept in this process.",
                next_step="Ask the question again; of several server processes, only the one that "
                "answers can go on.",
            )
        return run

    async def close(self) -> None:
        """Stop whatever is under way."""
        live = list(self._live.values())
        for run in live:
            run.stop()
        await asyncio.gather(*(run.over() for run in live))
        self._finished.clear()

    def require_slot(self) -> None:
        """Make sure that one more answer could begin.

        Raises:
            Overloaded: the server has no slot left.
        """
        if len(self._live) >= self.settings.concurrent:
            raise Overloaded(
                f"All {self.settings.concurrent} slots of this server are taken.",
                next_step="Try again in a few seconds.",
            )

    def _check_share(self, principal: Principal) -> None:
        if principal.login and self._of_caller[principal.quota_key] >= self.settings.per_user:
            raise Limited(
                f"You have {self.settings.per_user} answers under way, as many as you may.",
                next_step="Wait until one of them ends.",
            )

    def _check_long_share(self, principal: Principal) -> None:
        """Leave half of a caller's slots to questions that are answered soon."""
        most = max(1, self.settings.per_user // 2)
        if principal.login and self._long_of_caller[principal.quota_key] >= most:
            raise Limited(
                f"You have {most} report{'s' if most > 1 else ''} under way, as many as you may.",
                next_step="Wait until one of them ends, or ask with less effort. The limit is half of "
                "SEXTANT_RUNS__PER_USER.",
            )

    def _over(self, run: AnswerRun, principal: Principal, *, keep: bool, is_long: bool) -> None:
        run.end()
        del self._live[run.run_id]
        self._of_caller -= Counter([principal.quota_key])  # drops what comes to 0
        if is_long:
            self._long_of_caller -= Counter([principal.quota_key])
        if keep:
            self._finished[run.run_id] = run
            self._finished_bytes += _size(run)
        self._forget_old()

    def _forget_old(self) -> None:
        latest = time.monotonic() - self.settings.keep_seconds
        for run in list(self._finished.values()):
            if run.ended_at > latest and self._finished_bytes <= self.settings.keep_bytes:
                return
            del self._finished[run.run_id]
            self._finished_bytes -= _size(run)


def _size(run: AnswerRun) -> int:
    return sum(map(len, run.parts))
