"""Answers under way, each in a slot and a task of its own, and the events of those that ended recently."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, aclosing

from sextant.domain.answers import Answer, Done, Event, Failed, Interrupted, Status
from sextant.domain.concurrency import Shares
from sextant.domain.errors import (
    Cancelled,
    DecisionNeeded,
    RunNotFound,
    TimedOut,
    Wording,
    error_of,
)
from sextant.domain.scope import Principal
from sextant.domain.settings import RunSettings
from sextant.domain.versioned_cache import VersionedCache
from sextant.graph.streaming import as_failed
from sextant.server.connections import PING
from sextant.text.characters import count_noun

log = logging.getLogger(__name__)

# Returns an event and its id as bytes to send; empty if it is not sent.
Encode = Callable[[Event, str], bytes]
Events = AsyncGenerator[Event]

# The node of a status while an answer waits for its turn.
QUEUE = "queue"


def send_nothing(_: Event, __: str) -> bytes:
    """Encode no event, for an answer that is not streamed."""
    return b""


class AnswerRun:
    """One answer in a task of its own: `stop` ends it, a client that leaves does not.

    Its events are encoded once and kept with the run, so a reader can begin anywhere, and a slow reader delays neither
    the model nor other readers.

    Args:
        user_id: the owner of the run.
        events: of the answer; the last is `Done`, `Failed` or `Interrupted`.
        encode: encodes each event.
        seconds: time limit of the whole answer.
        turns: acquired until the first result. The first steps are work of this process, so if a hundred answers did
            them at once, all would be late with their first words.
        language: of the errors about time and cancellation.
    """

    def __init__(
        self,
        user_id: str,
        events: Events,
        encode: Encode,
        seconds: float,
        turns: asyncio.Semaphore,
        *,
        language: str = "en",
    ) -> None:
        self.run_id = secrets.token_hex(16)
        self.user_id = user_id
        self.parts: list[bytes] = []
        self.ended = False
        self.node = ""
        self._encode = encode
        self._seconds = seconds
        self._turns = turns
        self._language = language
        self._has_turn = False
        self._last: Done | Failed | Interrupted | None = None
        self._telling = asyncio.Event()
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._go(events))

    async def begun(self, seconds: float) -> bool:
        """Wait at most `seconds` for an event other than a status; return whether there was one.

        Raises:
            SextantError: the answer has failed.
        """
        try:
            async with asyncio.timeout(seconds):
                await self._telling.wait()
        except TimeoutError:
            return False
        self._raise_failure()
        return True

    async def answer(self) -> Answer:
        """Wait for the answer.

        Raises:
            DecisionNeeded: a person must decide first.
            SextantError: the answer failed.
        """
        await asyncio.wait({self._task})
        self._raise_failure()
        match self._last:
            case Done(answer=answer):
                return answer
            case Interrupted(request=request):
                raise DecisionNeeded.of(request)
        raise _cancel_task().speak(self._language)  # stopped before it began

    async def read(self, ping_seconds: float, after: int = 0) -> AsyncIterator[bytes]:
        """Yield the encoded events from number `after` on until the end, with pings in between."""
        while True:
            if after < len(self.parts):
                part = b"".join(self.parts[after:])
                after = len(self.parts)
                yield part
            elif self.ended:
                return
            else:
                try:
                    async with asyncio.timeout(ping_seconds):
                        await self._news.wait()
                except TimeoutError:
                    yield PING

    def stop(self) -> None:
        """Cancel the answer with its model call; one whose last event is out is closed in peace."""
        if not self._is_told:
            self._task.cancel()

    def when_over(self, call: Callable[[AnswerRun], None]) -> None:
        """Call `call` when the run has ended in any way."""
        self._task.add_done_callback(lambda _: call(self))

    async def over(self) -> None:
        """Wait until the run has ended in any way."""
        await asyncio.wait({self._task})

    async def _go(self, given: Events) -> None:
        try:
            async with asyncio.timeout(self._seconds), aclosing(given) as events:
                if self._turns.locked():
                    self._note(Status(QUEUE))
                await self._turns.acquire()
                self._has_turn = True
                async for event in events:
                    self._note(event)
        except TimeoutError:
            self._fail(
                TimedOut.worded(
                    {
                        "en": Wording(
                            f"The answer took longer than {self._seconds:g} s.",
                            "Ask again, or for less at once.",
                        ),
                        "zh": Wording(
                            f"回答超过了 {self._seconds:g} 秒。", "请再问一次，或一次少问一些。"
                        ),
                    }
                )
            )
        except asyncio.CancelledError:
            self._fail(_cancel_task())
        except Exception as error:  # noqa: BLE001 - every run ends with an event
            self._fail(error)
        finally:
            self._give_turn()

    def _fail(self, error: Exception) -> None:
        """Note why the answer failed; an error after its last event is only logged."""
        if not self._is_told:
            self._note(as_failed(error, self._language))
        else:
            log.warning("an answer that had ended was not closed as it should be: %s", error)

    def _give_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._turns.release()

    def _note(self, event: Event) -> None:
        if isinstance(event, Status):
            self.node = event.node
        else:
            self._telling.set()
            self._give_turn()
        if isinstance(event, Done | Failed | Interrupted):
            self._last = event
        if part := self._encode(event, f"{self.run_id}-{len(self.parts) + 1}"):
            self.parts.append(part)
            self._wake()

    def end(self) -> None:
        """Note that no event will follow."""
        self.ended = True
        self._telling.set()
        self._wake()

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    @property
    def _is_told(self) -> bool:
        """Return whether the last event is out."""
        return self._last is not None

    def _raise_failure(self) -> None:
        if isinstance(failure := self._last, Failed):
            raise error_of(failure.code, failure.message, **(failure.detail or {}))


def _cancel_task() -> Cancelled:
    return Cancelled.worded(
        {
            "en": Wording("The answer was cancelled.", "Ask again."),
            "zh": Wording("回答已被取消。", "请再问一次。"),
        }
    )


class Runs:
    """All runs of this process: a limited number at a time, and the ended ones for a while.

    Args:
        settings: the limits.
    """

    def __init__(self, settings: RunSettings) -> None:
        self.settings = settings
        self.graphs = VersionedCache[tuple[str, str], None, None](10_000, lifetime=60.0)
        self._turns = asyncio.Semaphore(settings.starting)
        self._live: dict[str, AnswerRun] = {}
        per_user = settings.per_user
        self._shares = Shares(
            per_user,
            Wording(
                f"You have {per_user} answers under way, as many as you may.",
                "Wait until one of them ends.",
            ),
            total=settings.concurrent,
            all_taken=Wording(
                f"All {settings.concurrent} slots of this server are taken.",
                "Try again in a few seconds.",
            ),
        )
        # The other half is left to questions that are answered soon.
        reports = max(1, per_user // 2)
        self._reports = Shares(
            reports,
            Wording(
                f"You have {count_noun(reports, 'report')} under way, as many as you may.",
                "Wait until one of them ends, or ask with less effort. The limit is half of "
                "SEXTANT_RUNS__PER_USER.",
            ),
        )
        self._finished = VersionedCache[str, None, AnswerRun](
            settings.keep_bytes, _size, lifetime=settings.keep_seconds
        )

    @property
    def live(self) -> int:
        """Return the number of answers under way."""
        return len(self._live)

    def start(
        self,
        principal: Principal,
        ask: Callable[[], Events],
        encode: Encode = send_nothing,
        *,
        keep: bool = False,
        language: str = "en",
        seconds: float = 0.0,
    ) -> AnswerRun:
        """Begin an answer if there is a slot for it.

        Args:
            principal: the caller; without a login only the server's total counts.
            ask: begins the answer.
            encode: encodes its events.
            keep: let `find` return it until `keep_seconds` after its end.
            language: of the errors about time and cancellation.
            seconds: time limit, if longer than `runs.seconds`.

        Raises:
            Overloaded: the server has no slot left.
            Limited: the caller has no slot left.
        """
        caller = principal.quota_key if principal.login else None
        limit = max(seconds, self.settings.seconds)
        with ExitStack() as slots:
            slots.enter_context(self._shares.slot(caller))
            if seconds > self.settings.seconds:
                slots.enter_context(self._reports.slot(caller))
            run = AnswerRun(principal.user_id, ask(), encode, limit, self._turns, language=language)
            taken = slots.pop_all()
        self._live[run.run_id] = run
        run.when_over(lambda _: self._over(run, taken, keep=keep))
        return run

    def find(self, run_id: str, user_id: str) -> AnswerRun:
        """Return a run of this user, under way or ended recently.

        Raises:
            RunNotFound: there is none, or it belongs to another user.
        """
        finished = self._finished.peek(run_id)
        run = finished[1] if finished else self._live.get(run_id)
        if run is None or run.user_id != user_id:
            raise RunNotFound(
                "No answer of that id is under way or kept in this process.",
                next_step="Ask the question again; of several server processes, only the one that "
                "answers can go on.",
            )
        return run

    async def close(self) -> None:
        """Stop all runs."""
        live = list(self._live.values())
        for run in live:
            run.stop()
        await asyncio.gather(*(run.over() for run in live))
        await self._finished.close()

    def require_slot(self) -> None:
        """Check that one more answer could begin.

        Raises:
            Overloaded: the server has no slot left.
        """
        self._shares.require_free()

    def _over(self, run: AnswerRun, slots: ExitStack, *, keep: bool) -> None:
        run.end()
        del self._live[run.run_id]
        slots.close()
        if keep and _size(run) <= self.settings.keep_bytes:
            self._finished.put(run.run_id, None, run)


def _size(run: AnswerRun) -> int:
    return sum(map(len, run.parts))
