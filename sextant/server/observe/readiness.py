"""Whether the server can do its work: what it depends on, each asked cheaply and not too often."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from sextant.domain.errors import DependencyError, SextantError
from sextant.domain.settings import Settings
from sextant.facade import doctor
from sextant.models.chat.roles import distinct_specs
from sextant.models.embedding.cache import WARM_UP
from sextant.models.embedding.remote import OPENAI
from sextant.models.protocols import Embedder
from sextant.stores.documents.embedding_space import has_all_vectors
from sextant.stores.postgresql.database import Database
from sextant.stores.work.queue import queue_of

_log = logging.getLogger(__name__)

# So long whoever asks waits: what is slower is told as it was last, for a busy machine is not a broken one.
_WAITED = 2.0
# A dependency that says nothing for so long is down.
_PATIENCE = 10.0
_CACHE_SECONDS = 1.0
# Others' servers are not knocked at every second.
_OUTSIDE_CACHE_SECONDS = 10.0
# Nobody takes a document for so long: no worker runs.
_STUCK_SECONDS = 60.0


class DependencyState(StrEnum):
    """How a dependency is. `OFF`: not configured. `DEGRADED`: it answers, and something is amiss."""

    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency as anybody may see it; why it is down stands in the log.

    `required`: without it the server answers nothing; without the others it answers less.
    """

    name: str
    state: DependencyState
    required: bool = False


Check = Callable[[], Awaitable[DependencyState]]


@dataclass(slots=True)
class _RememberedState:
    check: Check
    required: bool
    seconds: float
    state: DependencyState | None = None
    until: float = 0.0
    asking: asyncio.Task[None] | None = None


class ReadinessProbe:
    """Asks the dependencies, all at once, and remembers their answers for a moment.

    Args:
        settings: which there are.
        database: PostgreSQL.
        embedder: the embedding model.
    """

    def __init__(self, settings: Settings, database: Database, embedder: Embedder) -> None:
        self._settings = settings
        self._database = database
        self._embedder = embedder
        near, far = _CACHE_SECONDS, _OUTSIDE_CACHE_SECONDS
        self._known = {
            "database": _RememberedState(self._postgres, required=True, seconds=near),
            "migrations": _RememberedState(self._migrations, required=True, seconds=near),
            "queue": _RememberedState(self._queue, required=False, seconds=near),
            "neo4j": _RememberedState(self._neo4j, required=False, seconds=far),
            "embedding": _RememberedState(self._embedding, required=False, seconds=far),
            "chat": _RememberedState(self._chat, required=False, seconds=far),
        }

    async def dependencies(self) -> list[Dependency]:
        """Return how each is now, or was a moment ago."""
        now = time.monotonic()
        pending = [self._probe(*one) for one in self._known.items() if now >= one[1].until]
        if pending:
            answered, _ = await asyncio.wait(pending, timeout=_WAITED)
            for one in answered:
                one.result()
        return [
            Dependency(name, known.state or DependencyState.DOWN, known.required)
            for name, known in self._known.items()
        ]

    def _probe(self, name: str, known: _RememberedState) -> asyncio.Task[None]:
        """Return one question at a time, however many wait for its answer."""
        if known.asking is None or known.asking.done():
            known.asking = asyncio.create_task(self._ask(name, known))
        return known.asking

    async def _ask(self, name: str, known: _RememberedState) -> None:
        try:
            async with asyncio.timeout(_PATIENCE):
                state = await known.check()
        except (SextantError, OSError, TimeoutError) as error:
            state = DependencyState.DOWN
            if known.state is not DependencyState.DOWN:
                _log.warning("%s is down: %s", name, str(error) or "no answer in time")
        else:
            if known.state is DependencyState.DOWN:
                _log.warning("%s is back", name)
        known.state, known.until = state, time.monotonic() + known.seconds

    async def _postgres(self) -> DependencyState:
        return _state_of(await doctor.examine_database(self._database))

    async def _migrations(self) -> DependencyState:
        return DependencyState.UP if await self._database.is_current() else DependencyState.DEGRADED

    async def _queue(self) -> DependencyState:
        queue = await queue_of(self._database)
        stuck = queue.oldest_waiting_seconds > _STUCK_SECONDS and not queue.running
        return DependencyState.DEGRADED if stuck else DependencyState.UP

    async def _neo4j(self) -> DependencyState:
        return _state_of(await doctor.examine_graph_store(self._settings))

    async def _embedding(self) -> DependencyState:
        if self._settings.embedding.startswith("openai:"):
            await _reachable(self._settings.openai_base_url or OPENAI)
        await self._embedder.embed_query(WARM_UP)  # from memory, from the second time on
        if getattr(self._embedder, "is_silent", False):
            raise TimeoutError("questions wait for it in vain")
        return (
            DependencyState.UP
            if await has_all_vectors(self._database)
            else DependencyState.DEGRADED
        )

    async def _chat(self) -> DependencyState:
        # Down is that of answers, or the only one; of those of other roles the log of a failed call tells.
        specs = distinct_specs(self._settings)
        if not specs:
            return DependencyState.OFF
        addresses = {spec.address: role for role, spec in reversed(specs.items()) if spec.address}
        asked = await asyncio.gather(*map(_reachable, addresses), return_exceptions=True)
        failed = {
            role: found
            for role, found in zip(addresses.values(), asked, strict=True)
            if isinstance(found, BaseException)
        }
        if (first := next(iter(specs))) in failed:
            raise failed[first]
        return DependencyState.DEGRADED if failed else DependencyState.UP


def is_ready(dependencies: list[Dependency]) -> bool:
    """Return whether nothing is down that the server cannot do without."""
    return not any(one.required and one.state is DependencyState.DOWN for one in dependencies)


def _state_of(found: doctor.Examination) -> DependencyState:
    """Return what a finding means; raises why it is down, for the log."""
    if found.health is doctor.Health.OFF:
        return DependencyState.OFF
    if found.health is not doctor.Health.OK:
        raise DependencyError(found.detail, next_step=found.next_step)
    return DependencyState.UP


async def _reachable(url: str) -> DependencyState:
    """Return whether something listens there; it is asked for nothing, which would cost tokens."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    _, writer = await asyncio.open_connection(parts.hostname, port)
    writer.close()
    return DependencyState.UP
