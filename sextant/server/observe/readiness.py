"""Readiness of the server: cheap checks of its dependencies, cached for a moment."""

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
from sextant.stores.queue import queue_of

_log = logging.getLogger(__name__)

_WAITED = 2.0  # seconds that a request waits for checks; slower ones show their last state
_OUTSIDE_CACHE_SECONDS = 10.0  # for services of others
_PATIENCE = 10.0  # seconds after which a silent dependency is down


class DependencyState(StrEnum):
    """The state of a dependency. `OFF`: not configured. `DEGRADED`: it answers, but not in full order."""

    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Dependency:
    """A dependency without details; the log has the reason why it is down.

    `required`: the server cannot answer without it.
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
    """Checks all dependencies at once, and caches their states for a moment.

    Args:
        settings: the configured dependencies.
        database: PostgreSQL.
        embedder: the embedding model.
    """

    def __init__(self, settings: Settings, database: Database, embedder: Embedder) -> None:
        self._settings = settings
        self._database = database
        self._embedder = embedder
        near, far = 1.0, _OUTSIDE_CACHE_SECONDS
        self._known = {
            "database": _RememberedState(self._postgres, required=True, seconds=near),
            "migrations": _RememberedState(self._migrations, required=True, seconds=near),
            "queue": _RememberedState(self._queue, required=False, seconds=near),
            "neo4j": _RememberedState(self._neo4j, required=False, seconds=far),
            "embedding": _RememberedState(self._embedding, required=False, seconds=far),
            "chat": _RememberedState(self._chat, required=False, seconds=far),
        }

    async def dependencies(self) -> list[Dependency]:
        """Return the state of each dependency."""
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
        """Return the running check, or begin one; all requests share it."""
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
        # A document that waits longer than a minute means that no worker runs.
        stuck = queue.oldest_waiting_seconds > 60.0 and not queue.running
        return DependencyState.DEGRADED if stuck else DependencyState.UP

    async def _neo4j(self) -> DependencyState:
        return _state_of(await doctor.examine_graph_store(self._settings))

    async def _embedding(self) -> DependencyState:
        if self._settings.embedding.startswith("openai:"):
            await _reachable(self._settings.openai_base_url or OPENAI)
        await self._embedder.embed_query(WARM_UP)  # cached from the second time on
        if getattr(self._embedder, "is_silent", False):
            raise TimeoutError("questions wait for it in vain")
        return (
            DependencyState.UP
            if await has_all_vectors(self._database)
            else DependencyState.DEGRADED
        )

    async def _chat(self) -> DependencyState:
        # DOWN: the model of answers is down. DEGRADED: a model of another role is.
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
    """Return whether no required dependency is down."""
    return not any(one.required and one.state is DependencyState.DOWN for one in dependencies)


def _state_of(found: doctor.Examination) -> DependencyState:
    """Return the state of an examination, or raise the reason why the dependency is down."""
    if found.health is doctor.Health.OFF:
        return DependencyState.OFF
    if found.health is not doctor.Health.OK:
        raise DependencyError(found.detail, next_step=found.next_step)
    return DependencyState.UP


async def _reachable(url: str) -> DependencyState:
    """Connect to a server without a request, which would cost tokens."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    _, writer = await asyncio.open_connection(parts.hostname, port)
    writer.close()
    return DependencyState.UP
