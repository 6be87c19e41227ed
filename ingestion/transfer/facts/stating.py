"""Makes passages of what the lines of an import say about entities and no chunk of it does.

They are ordinary documents and chunks, put among the lines before anything is stored; each relation then
names the passage that states it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from domain.scope import Scope
from domain.text import normalise_name
from ingestion.transfer.batches import next_of
from ingestion.transfer.facts.passages import Subject, document_of, passages_of
from ingestion.transfer.facts.spooled import FactSpool, Named
from ingestion.transfer.lines import ChunkLine, EntityLine, Mentioned
from ingestion.transfer.placing import placed
from ingestion.transfer.spool import DOCUMENTS_ROOM, Numbered, Spool, size_of
from stores.graph.ids import entity_id
from stores.graph.transfer import (
    Graph,
    bearers,
    entities_by_external_id,
    known_entities,
    owned_entities,
)

_BATCH = 2000


class FactStater:
    """Makes passages of the facts of one import; `stored` is the graph as it is before."""

    def __init__(self, scope: Scope, lines: Spool, stored: Graph) -> None:
        self._scope = scope
        self._lines = lines
        self._stored = stored
        self._facts = FactSpool(lines.rows)

    async def state(self, on_done: Callable[[int], None]) -> None:
        """Put the passages among the lines; `on_done` is told how many entities and relations were read."""
        done = 0
        documents = self._lines.documents()
        while some := await next_of(documents, _BATCH // 10, size_of, DOCUMENTS_ROOM):
            chunks = [chunk for _, chunks in some for chunk in chunks]
            await asyncio.to_thread(self._hear, chunks)
        names = self._lines.entities()
        while groups := await next_of(names, _BATCH):
            await self._meet(groups)
            on_done(done := done + sum(map(len, groups)))
        relations = self._lines.relations()
        while batch := await next_of(relations, _BATCH):
            ends = await self._ends({end for _, one in batch for end in (one.source, one.target)})
            await asyncio.to_thread(self._facts.add_facts, batch, ends)
            on_done(done := done + len(batch))
        subjects = self._facts.subjects()
        while told := await next_of(subjects, _BATCH // 10):
            await asyncio.to_thread(self._tell, told)

    def _hear(self, chunks: Sequence[ChunkLine]) -> None:
        listed = [one for chunk in chunks for one in chunk.entities]
        names = [one.name if isinstance(one, Mentioned) else one for one in listed]
        triples = [triple for chunk in chunks for triple in chunk.triples]
        ends = [end for triple in triples for end in (triple[0], triple[2])]
        self._facts.add_told([*names, *ends], triples)

    async def _meet(self, groups: Sequence[Sequence[Numbered[EntityLine]]]) -> None:
        external = [line.id for group in groups for _, line in group if line.id]
        known = await entities_by_external_id(self._stored, external)
        plain = [entity_id(self._scope, group[0].line.name) for group in groups]
        owners = await owned_entities(self._stored, plain)
        met = [
            (
                Subject(
                    _key(line.id, line.name),
                    line.name,
                    line.id or "",
                    line.description.strip(),
                    here == named,
                    number,
                ),
                line.aliases,
            )
            for named, group in zip(plain, groups, strict=True)
            for number, _, line, here in placed(self._scope, named, group, owners, known)
            if here is not None
        ]
        await asyncio.to_thread(self._facts.add_subjects, met)

    def _tell(self, subjects: Sequence[Subject]) -> None:
        for subject in subjects:
            told = [
                (
                    passage.line,
                    [
                        line
                        for one in passage.facts
                        for line in self._facts.lines_of(subject.key, one)
                    ],
                )
                for passage in passages_of(
                    subject, self._facts.facts(subject.key), self._facts.aliases(subject.key)
                )
            ]
            if told:
                self._lines.add_told(Numbered(subject.line, document_of(subject)), told)

    async def _ends(self, named: Collection[str]) -> dict[str, Named]:
        """Whom relations name, in the order of `EvidenceWriter`: by id, by name, by an alias of one alone."""
        ends = await asyncio.to_thread(self._described, named)
        for find in (self._by_id, self._by_name, self._by_alias):
            if lost := [end for end in named if end not in ends]:
                ends |= await find(lost)
        return ends

    def _described(self, named: Collection[str]) -> dict[str, Named]:
        found = self._facts.by_key([_key(end, "") for end in named])
        return {end: found[key] for end in named if (key := _key(end, "")) in found}

    async def _by_id(self, ids: Sequence[str]) -> dict[str, Named]:
        known = await entities_by_external_id(self._stored, ids)
        return {
            own: Named(_key(own, ""), one.name, own, one.id == entity_id(self._scope, one.name))
            for own, one in known.items()
        }

    async def _by_name(self, names: Sequence[str]) -> dict[str, Named]:
        ids = {name: entity_id(self._scope, name) for name in names}
        owners = await owned_entities(self._stored, [*ids.values()])
        there = await known_entities(self._stored, [*ids.values()])
        norms = {name: normalise_name(name) for name in names}
        described = await asyncio.to_thread(self._facts.by_norm, norms.values())
        in_chunks = await asyncio.to_thread(self._facts.named, norms.values())
        found = dict[str, Named]()
        for name, one in ids.items():
            if norms[name] in described:
                found[name] = described[norms[name]]
            elif owner := owners.get(one):
                found[name] = Named(
                    _key(owner.external_id, owner.name), owner.name, owner.external_id or ""
                )
            elif one in there or norms[name] in in_chunks:
                found[name] = Named(_key(None, name), name)
        return found

    async def _by_alias(self, names: Sequence[str]) -> dict[str, Named]:
        norms = {name: normalise_name(name) for name in names}
        stored = await bearers(self._stored, [*norms.values()])
        owners = await owned_entities(self._stored, [one for _, one, _ in stored])
        bearing = defaultdict[str, dict[str, Named]](dict)
        for norm, named in await asyncio.to_thread(self._facts.by_alias, norms.values()):
            bearing[norm][named.key] = named
        for norm, one, own in stored:
            ext = owners[one].external_id if one in owners else None
            plain = one == entity_id(self._scope, own)
            key = _key(ext, own)
            bearing[norm].setdefault(key, Named(key, own, ext or "", plain))
        return {
            name: next(iter(bearing[norm].values()))
            for name, norm in norms.items()
            if len(bearing[norm]) == 1
        }


def _key(own_id: str | None, name: str) -> str:
    """What tells an entity from all others: the user's own id, else its name."""
    return f"id {own_id}" if own_id else f"name {normalise_name(name)}"
