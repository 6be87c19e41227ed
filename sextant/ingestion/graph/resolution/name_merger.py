"""Compute the automatic merges of a graph from its current names.

Merged are spellings with one key, names with an alias that the user gave, abbreviations that texts define with one
meaning, and pairs that a chat model has confirmed. Never merged are two types, two ids of the user, or entities that
the user has separated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from uuid import UUID

from sextant.domain.graph import UNTYPED
from sextant.domain.scope import Scope
from sextant.ingestion.graph.resolution.name_keys import spelling_key
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.name_comparison import NamedEntity, Names
from sextant.stores.graph.name_decisions import Merge
from sextant.text.characters import has_cjk

SAME_KEY = "the same name, written differently"
USER_ALIAS = "an alias that the user gave"
DEFINED = "an abbreviation that a text defines"
CONFIRMED = "the chat model says that they are the same"
_SHORTEST_ABBREVIATION = 3  # letters; two stand for too much


def automatic_merges(scope: Scope, names: Names) -> list[Merge]:
    """Return all automatic merges, each into the root of its group.

    The result does not depend on the order of names, decisions and pairs.
    """
    groups = _Groups(names)
    for one, other, reason in _pairs(scope, names):
        groups.join(one, other, reason)
    _join_defined(groups, names)
    return sorted(groups.merges(), key=lambda merge: merge.from_id)


def _pairs(scope: Scope, names: Names) -> Iterator[tuple[UUID, UUID, str]]:
    for group in _by_key(names.named):
        # Each with all before it, so that a member which must stay separate does not split the group.
        for index, one in enumerate(group[1:], start=1):
            yield from ((one, other, SAME_KEY) for other in group[:index])
    for one, other in _by_alias(scope, names):
        yield one, other, USER_ALIAS
    for pair in sorted(names.pairs, key=lambda pair: (-pair.score, pair.one_id, pair.other_id)):
        if pair.verdict == "same":
            yield pair.one_id, pair.other_id, CONFIRMED


def _by_key(named: Iterable[NamedEntity]) -> Iterator[list[UUID]]:
    groups: dict[str, list[tuple[str, UUID]]] = defaultdict(list)
    for one in named:
        if key := spelling_key(one.name):
            groups[key].append((one.name, one.id))
    for key in sorted(groups):
        if len(groups[key]) > 1:
            yield [id_ for _, id_ in sorted(groups[key])]


def _by_alias(scope: Scope, names: Names) -> Iterator[tuple[UUID, UUID]]:
    """Yield entities whose name is the user's alias of exactly one other entity."""
    entities: dict[str, set[UUID]] = defaultdict(set)
    for bearer, norm in names.user_aliases:
        entities[norm].add(bearer)
    there = {one.id: one for one in names.named}
    for norm in sorted(entities):
        named = there.get(entity_id(scope, norm))
        entities[norm] -= {named.id} if named else set()  # its name is no alias
        if named is not None and len(entities[norm]) == 1 and named.external_id is None:
            (bearer,) = entities[norm]
            if bearer in there and bearer != named.id:
                yield named.id, bearer


def _join_defined(groups: _Groups, names: Names) -> None:
    """Join abbreviations with their full forms, unless texts define several."""
    there = {one.id: one for one in names.named}
    meanings: dict[UUID, set[UUID]] = defaultdict(set)
    for short, full in names.definitions:
        if short in there and full in there:
            name = there[short].name
            if has_cjk(name) or len(name) >= _SHORTEST_ABBREVIATION:
                meanings[short].add(full)
    single: list[tuple[UUID, UUID]] = []
    for short in sorted(meanings, key=lambda one: (there[one].name, one)):
        roots = {groups.find(full) for full in meanings[short]}
        if len(roots) == 1:
            single.append((short, min(meanings[short])))
    for short, full in single:
        groups.join(short, full, DEFINED)


@dataclass(slots=True)
class _Group:
    """Entities that are one, with their types and external ids."""

    members: set[UUID] = field(default_factory=set[UUID])
    types: set[str] = field(default_factory=set[str])
    external_ids: set[str] = field(default_factory=set[str])


class _Groups:
    """Disjoint sets of entities, which begin with the user's merges."""

    def __init__(self, names: Names) -> None:
        self._named = {one.id: one for one in names.named}
        self._abbreviations = {short for short, _ in names.definitions}
        self._into = {one.from_id: one.into_id for one in names.merges if not one.automatic}
        self._distinct: dict[UUID, set[UUID]] = defaultdict(set)
        for one, other in names.distinctions:
            self._distinct[one].add(other)
            self._distinct[other].add(one)
        self._parents: dict[UUID, UUID] = {}
        self._groups: dict[UUID, _Group] = {}
        self._reasons: dict[UUID, str] = {}
        for from_id in sorted(self._into):
            self._unite(self.find(from_id), self.find(self._into[from_id]))

    def find(self, entity: UUID) -> UUID:
        """Return the root of the group."""
        root = entity
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        while entity != root:
            self._parents[entity], entity = root, self._parents[entity]
        return root

    def join(self, one: UUID, other: UUID, reason: str) -> None:
        """Join two groups, unless types, ids or the user keep them apart."""
        if one not in self._named or other not in self._named:
            return
        first, second = self.find(one), self.find(other)
        if first != second and self._fit(self._group(first), self._group(second)):
            self._unite(first, second)
            for entity in (one, other):
                self._reasons.setdefault(entity, reason)

    def merges(self) -> Iterator[Merge]:
        """Yield the automatic merges: members that the user has not merged go into the best one of their group."""
        for group in self._groups.values():
            tops = defaultdict(list)
            for member in group.members:
                tops[self._top(member)].append(member)
            if len(tops) < 2:
                continue
            best = max(tops, key=lambda top: max(map(self._rank, tops[top])))
            for top in tops:
                if top != best:
                    reasons = [
                        self._reasons[one] for one in sorted(tops[top]) if one in self._reasons
                    ]
                    yield Merge(top, best, reasons[0] if reasons else SAME_KEY, automatic=True)

    def _top(self, entity: UUID) -> UUID:
        while entity in self._into:
            entity = self._into[entity]
        return entity

    def _rank(self, entity: UUID) -> tuple[bool, bool, int, int, str, int]:
        """Return whose name a group takes: with the user's own id, in full, and mentioned most.

        Names decide before ids, which a copy of the knowledge base does not share.
        """
        named = self._named.get(entity)
        if named is None:
            return False, False, 0, 0, "", entity.int
        is_named, full = named.external_id is not None, entity not in self._abbreviations
        return is_named, full, named.mentions, len(named.name), named.name, entity.int

    def _group(self, root: UUID) -> _Group:
        if root not in self._groups:
            named = self._named.get(root)
            types = {named.entity_type} - {UNTYPED} if named else set()
            external_ids = {named.external_id} if named and named.external_id else set[str]()
            self._groups[root] = _Group({root}, types, external_ids)
        return self._groups[root]

    def _fit(self, one: _Group, other: _Group) -> bool:
        if len(one.types | other.types) > 1 or len(one.external_ids | other.external_ids) > 1:
            return False
        fewer, more = sorted((one.members, other.members), key=len)
        return not any(self._distinct.get(member, set()) & more for member in fewer)

    def _unite(self, first: UUID, second: UUID) -> None:
        if first == second:
            return
        target, gone = self._group(first), self._group(second)
        self._parents[second] = first
        target.members |= gone.members
        target.types |= gone.types
        target.external_ids |= gone.external_ids
        del self._groups[second]
