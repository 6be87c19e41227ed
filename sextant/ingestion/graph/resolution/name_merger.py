"""Which entities are one by their names: a function of what is there, and of nothing that was.

Merges happen by themselves only where a mistake is unlikely: spellings with one key, an alias that
the user gave, an abbreviation that texts define and that stands for one thing only, and pairs that a
chat model has confirmed. They never join two types, two of the user's own ids, or what the user has
told apart.

Also here: pairs of like names among very many, without comparing each with each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import numpy as np
import numpy.typing as npt

from sextant.domain.scope import Scope
from sextant.ingestion.graph.resolution.name_keys import spelling_key
from sextant.stores.graph.ids import entity_id
from sextant.stores.graph.resolution.comparison import NamedEntity, Names
from sextant.stores.graph.resolution.decisions import Merge
from sextant.text.characters import has_cjk, normalise_name

_BANDS, _ROWS = 16, 4
# Of names that fall into one bucket each is paired with so many neighbours at most.
_NEIGHBOURS = 16
_LEAST_AGREEMENT = 0.45
# Names hashed at a time: on the way each of their characters takes some 80 bytes.
_HASHED_AT_ONCE = 1 << 13
# Pairs compared at a time: numbered names (SN-0001, SN-0002, …) make 250 pairs each.
_AT_ONCE = 1 << 14

_Hashes = npt.NDArray[np.uint32]
Pairs = npt.NDArray[np.int64]  # shape (n, 2), the smaller place first


def like_pairs(names: Sequence[str], is_new: npt.NDArray[np.bool_], most: int) -> Pairs:
    """Return pairs of names that are probably alike, likeliest first.

    Args:
        names: names as they are written; they are compared normalised.
        is_new: of each name, shape (len(names),); at least one name of a pair is new.
        most: how many pairs at most.

    Returns:
        Indices of the two names of each pair, shape (pairs, 2).
    """
    if len(names) < 2 or not is_new.any():
        return np.empty((0, 2), np.int64)
    signatures = _signatures([normalise_name(name) for name in names])
    best, agreement = np.empty(0, np.int64), np.empty(0, np.float32)
    # Band by band, with the likeliest so far: all pairs of all bands are gigabytes where names are numbered.
    for band in _band_keys(signatures):
        met = _met(band, is_new)
        agreed = _agreement(signatures, met)
        near = agreed >= _LEAST_AGREEMENT
        pairs, positions = np.unique(np.r_[best, met[near]], return_index=True)
        agreed = np.r_[agreement, agreed[near]][positions]
        order = np.argsort(-agreed, kind="stable")[:most]
        best, agreement = pairs[order], agreed[order]
    return np.stack(np.divmod(best, len(names)), axis=1)


def _agreement(signatures: _Hashes, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    """Of each pair of `_met`, the share of hashes that are the same in both signatures."""
    agreed = np.empty(len(pairs), np.float32)
    for start in range(0, len(pairs), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        first, second = np.divmod(pairs[part], len(signatures))
        agreed[part] = (signatures[first] == signatures[second]).mean(axis=1)
    return agreed


def _signatures(names: Sequence[str]) -> _Hashes:
    """Shape (names, 64): the least hash of each name's n-grams under 64 permutations."""
    least = np.empty((len(names), _BANDS * _ROWS), np.uint32)
    for start in range(0, len(names), _HASHED_AT_ONCE):
        part = slice(start, start + _HASHED_AT_ONCE)
        least[part] = _least(names[part])
    return least


def _least(names: Sequence[str]) -> _Hashes:
    text = "".join(f" {name} " for name in names)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    lengths = np.array([len(name) + 2 for name in names])
    ends = np.repeat(np.cumsum(lengths), lengths)
    hashes, owners = _grams(codes, ends, np.repeat(np.arange(len(names)), lengths))
    starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
    dice = np.random.default_rng(0x5E47)
    factors = dice.integers(1, 2**63, _BANDS * _ROWS, np.uint64) | np.uint64(1)
    shifts = dice.integers(0, 2**63, _BANDS * _ROWS, np.uint64)
    least = np.empty((len(names), _BANDS * _ROWS), np.uint32)
    for column, (factor, shift) in enumerate(zip(factors, shifts, strict=True)):
        permuted = (hashes * factor + shift) >> np.uint64(32)
        least[:, column] = np.minimum.reduceat(permuted, starts)
    return least


def _grams(
    codes: npt.NDArray[np.uint64], ends: npt.NDArray[np.int64], owners: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return hashes of the n-grams that begin at each character, and whose they are; see `naming.grams`."""
    after = np.r_[codes[1:], np.zeros(1, np.uint64)]
    last = np.r_[codes[2:], np.zeros(2, np.uint64)][: len(codes)]
    positions = np.arange(len(codes))
    ideograph = (codes >= 0x3400) & (codes <= 0x9FFF) | (codes >= 0x20000) & (codes <= 0x3134F)
    mixed = codes * np.uint64(0x9E3779B97F4A7C15) ^ after * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = np.where(ideograph, mixed, mixed ^ last * np.uint64(0x165667B19E3779F9))
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    whole = positions + 2 < ends  # an ideograph before the closing space begins no pair
    grams = whole | ((positions + 3 == ends) & ~ideograph)
    return mixed[grams], owners[grams]


def _band_keys(signatures: _Hashes) -> Iterator[npt.NDArray[np.uint64]]:
    """Of each band in turn, a key for each name."""
    for start in range(0, _BANDS * _ROWS, _ROWS):
        keys = np.zeros(len(signatures), np.uint64)
        for row in range(start, start + _ROWS):
            keys = (keys ^ signatures[:, row]) * np.uint64(0x100000001B3)
            keys ^= keys >> np.uint64(31)
        yield keys


def _met(keys: npt.NDArray[np.uint64], is_new: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return pairs of names with the same key, at least one of them new, as `smaller · names + larger`."""
    order = np.argsort(keys, kind="stable")
    ranked = keys[order]
    found = []
    for step in range(1, min(_NEIGHBOURS, len(keys) - 1) + 1):
        equal = np.flatnonzero(ranked[step:] == ranked[:-step])
        if not len(equal):
            break
        one, other = order[equal], order[equal + step]
        pairs = np.minimum(one, other) * len(keys) + np.maximum(one, other)
        found.append(pairs[is_new[one] | is_new[other]])
    return np.concatenate(found) if found else np.empty(0, np.int64)


SAME_KEY = "the same name, written differently"
USER_ALIAS = "an alias that the user gave"
DEFINED = "an abbreviation that a text defines"
CONFIRMED = "the chat model says that they are the same"
_UNTYPED = "TERM"
_SHORTEST_ABBREVIATION = 3  # letters; two stand for too much


def automatic_merges(scope: Scope, names: Names) -> list[Merge]:
    """Return all automatic merges, each directly into the entity that the others of its group become.

    Equal names, decisions and pairs give equal merges, in whatever order they are listed.
    """
    groups = _Groups(names)
    for one, other, reason in _pairs(scope, names):
        groups.join(one, other, reason)
    _join_defined(groups, names)
    return sorted(groups.merges(), key=lambda merge: merge.from_id)


def _pairs(scope: Scope, names: Names) -> Iterator[tuple[UUID, UUID, str]]:
    for group in _by_key(names.named):
        # Each with all before it, so that one which may not be joined does not part the others.
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
    """Yield entities that bear as their name what the user calls another, and only that one."""
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
    """Join abbreviations with what they stand for, unless texts give them several meanings."""
    there = {one.id: one for one in names.named}
    meanings: dict[UUID, set[UUID]] = defaultdict(set)
    for short, full in names.definitions:
        if short in there and full in there and _is_telling(there[short].name):
            meanings[short].add(full)
    single: list[tuple[UUID, UUID]] = []
    for short in sorted(meanings, key=lambda one: (there[one].name, one)):
        roots = {groups.find(full) for full in meanings[short]}
        if len(roots) == 1:
            single.append((short, min(meanings[short])))
    for short, full in single:
        groups.join(short, full, DEFINED)


def _is_telling(short: str) -> bool:
    return has_cjk(short) or len(short) >= _SHORTEST_ABBREVIATION


@dataclass(slots=True)
class _Group:
    """Entities that are one, and what keeps others out."""

    members: set[UUID] = field(default_factory=set[UUID])
    types: set[str] = field(default_factory=set[str])
    external_ids: set[str] = field(default_factory=set[str])


class _Groups:
    """Disjoint sets of entities; the user's merges are there from the beginning."""

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
        """Return the entity that stands for the group."""
        root = entity
        while (parent := self._parents.get(root, root)) != root:
            root = parent
        while entity != root:
            self._parents[entity], entity = root, self._parents[entity]
        return root

    def join(self, one: UUID, other: UUID, reason: str) -> None:
        """Make two groups one, unless something speaks against it."""
        if one not in self._named or other not in self._named:
            return
        first, second = self.find(one), self.find(other)
        if first != second and self._fit(self._group(first), self._group(second)):
            self._unite(first, second)
            for entity in (one, other):
                self._reasons.setdefault(entity, reason)

    def merges(self) -> Iterator[Merge]:
        """Yield what follows: everything that no decision of the user merges goes into the best of its group."""
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
            types = {named.entity_type} - {_UNTYPED} if named else set()
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
