"""Which entities the ends of relations and decisions are: by the user's id, a name, or an alias."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from sextant.domain.scope import Scope
from sextant.ingestion.transfer.spool import Spool
from sextant.stores.graph.ids import entity_id
from sextant.stores.graph.transfer import (
    entities_by_external_id,
    find_entities_by_name,
    find_known_entities,
)
from sextant.stores.graph.writing import GraphWriter
from sextant.text.characters import normalise_name

# Entities of this import that are remembered because relations named them: 20 MB.
_MOST_MET = 50_000


class End(NamedTuple):
    """An entity that a line names, and what it is called."""

    id: UUID
    name: str


class Ends:
    """Finds entities of this import, else those stored before; whatever fits first, of id, name and alias."""

    def __init__(self, scope: Scope, writer: GraphWriter, lines: Spool) -> None:
        self._scope = scope
        self._writer = writer
        self._lines = lines
        self._met: dict[str, End] = {}
        self._shared: set[str] = set()

    async def find(self, named: Collection[str]) -> dict[str, End]:
        """Return the entities of these names or ids that are there."""
        ends = await asyncio.to_thread(self._of_import, named)
        for look in (self._by_id, self._by_name, self._by_alias):
            if lost := [end for end in named if end not in ends]:
                ends |= await look(lost)
        return ends

    def lost(self, end: str) -> str:
        """Return why an end is none of what was found, as a sentence."""
        if end in self._shared:
            return f"Several entities have the alias {end!r:.80}; give the id of the one you mean."
        return f"There is no entity {end!r:.80}."

    def _of_import(self, named: Collection[str]) -> dict[str, End]:
        """Return the entities that this import brings under these ids; once all are noted they stay so."""
        if len(self._met) > _MOST_MET:
            self._met.clear()
        new = [end for end in named if end not in self._met]
        self._met |= {own: End(*one) for own, one in self._lines.entities_by_id(new).items()}
        return {end: self._met[end] for end in named if end in self._met}

    async def _by_id(self, ids: Sequence[str]) -> dict[str, End]:
        found = await entities_by_external_id(self._writer, ids)
        return {end: End(known.id, known.name) for end, known in found.items()}

    async def _by_name(self, names: Sequence[str]) -> dict[str, End]:
        ids = {name: entity_id(self._scope, name) for name in names}
        stored = await find_known_entities(self._writer, list(ids.values()))
        spooled = await asyncio.to_thread(
            lambda: {one for one in ids.values() if self._lines.mentioned(one)}
        )
        there = stored | spooled
        return {name: End(one, name) for name, one in ids.items() if one in there}

    async def _by_alias(self, names: Sequence[str]) -> dict[str, End]:
        """Return the entities that have one of these aliases from the user; an alias of several means none of them."""
        norms = {name: normalise_name(name) for name in names}
        found = defaultdict[str, dict[UUID, str]](dict)
        here = await asyncio.to_thread(self._lines.bearers, list(norms.values()))
        for norm, entity, own in [
            *await find_entities_by_name(self._writer, list(norms.values())),
            *here,
        ]:
            found[norm][entity] = own
        self._shared |= {name for name, norm in norms.items() if len(found[norm]) > 1}
        return {
            name: End(*next(iter(found[norm].items())))
            for name, norm in norms.items()
            if len(found[norm]) == 1
        }
