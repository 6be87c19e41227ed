"""Resolve entities: merge names of one thing where that is safe, and list similar names as candidates.

After every change of a graph the automatic merges are recomputed from its names and the user's decisions
(`sextant.ingestion.graph.resolution.name_merger`), and those that no longer follow are undone. So merges do not depend
on the order in which documents came and went. Only new and changed names are compared with the others for candidates.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import Field

from sextant.domain.errors import GraphNotFound, SextantError, describe_reason
from sextant.domain.graph import UNTYPED
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode, distinct
from sextant.ingestion.graph.resolution.name_keys import find_like_names, initials, spelling_key
from sextant.ingestion.graph.resolution.name_merger import automatic_merges
from sextant.ingestion.progress import OnStage, silent
from sextant.models.chat.call_limits import Refusals
from sextant.models.chat.replies import Numbers
from sextant.models.chat.structured import ModelReply
from sextant.prompts import SAME, as_data
from sextant.stores.graph.name_comparison import (
    NamedEntity,
    Names,
    Pair,
    ResolutionStore,
    note_compared,
    note_pairs,
    note_version,
)
from sextant.stores.graph.name_decisions import replace_merges
from sextant.stores.graph.record import GraphRecord
from sextant.stores.postgresql.database import Database
from sextant.text.characters import language_of

if TYPE_CHECKING:
    from sextant.models.chat.chat_model import ChatModel  # brings LangChain, half a second

_log = logging.getLogger(__name__)

LEAST_LIKENESS = 0.6  # Jaccard's coefficient of n-grams (docs/graph.md, Candidates)
_MOST_CANDIDATES = 20_000  # of one run
_SAME, _SIMILAR, _INITIALS = "the same name", "similar spelling", "the initials of"
_PAIRS_A_CALL, _CALLS = 20, 10  # for the chat model in one run


@dataclass(frozen=True, slots=True)
class ResolutionOutcome:
    """The numbers of automatic merges made and undone, candidates found, and pairs that the model judged."""

    merged: int = 0
    unmerged: int = 0
    candidates: int = 0
    judged: int = 0
    warnings: tuple[CodedWarning, ...] = ()


async def resolve(
    database: Database,
    scope: Scope,
    chat: ChatModel | None = None,
    *,
    on_progress: OnStage | None = None,
) -> ResolutionOutcome:
    """Update the automatic merges of a graph; do nothing if it has not changed.

    Args:
        database: the database of the graph.
        scope: the knowledge base.
        chat: judges candidates, the most similar first; None: they are left to the user.
        on_progress: called with (`names` or `merges`, done, total; 0: unknown) if there is anything to do.

    Raises:
        DatabaseUnavailable: what was stored stays; a later call continues.
        GraphNotFound: the knowledge base was deleted meanwhile.
    """
    store = ResolutionStore(database)
    version, compared_version = await store.versions(scope)
    undecided = chat is not None and await store.candidates(scope, 1, both_owned=False)
    if not version or (version == compared_version and not undecided):
        return ResolutionOutcome()
    report = on_progress or silent
    report("names", 0, 0)
    names = await store.names(scope)
    report("names", 0, len(names.named))
    compared = await asyncio.to_thread(_compare, names)
    judged = await _judge_pairs(chat, names, compared.kept)
    judged_names = replace(names, pairs=judged.known)
    wanted = await asyncio.to_thread(automatic_merges, scope, judged_names)
    # Automatic merges that are no longer wanted, and those that are new.
    there = {one.from_id: one.into_id for one in names.merges if one.automatic}
    into = {merge.from_id: merge.into_id for merge in wanted}
    old = sorted(one for one, root in there.items() if into.get(one) != root)
    new = [merge for merge in wanted if there.get(merge.from_id) != merge.into_id]
    report("names", len(names.named), len(names.named))
    if new:
        report("merges", 0, len(new))
    async with GraphRecord(database).writing(scope) as writer:
        if not writer.version:
            raise GraphNotFound(
                f"The knowledge base {scope.graph_id!r} was deleted meanwhile.",
                next_step="Nothing to do.",
                field="graph_id",
            )
        unchanged = writer.version == names.version
        await note_compared(writer, compared.gone, compared.hashes, compared.found)
        await note_pairs(writer, judged.fresh)
        await replace_merges(writer, old, new)
        if unchanged:  # otherwise the next run compares the new names
            await note_version(writer)
    if new:
        report("merges", len(new), len(new))
    lasting = {merge.from_id for merge in new}
    unmerged = sum(one not in lasting for one in old)
    return ResolutionOutcome(
        len(new), unmerged, len(compared.found), len(judged.fresh), judged.warnings
    )


def _by_ids(pairs: Iterable[Pair]) -> dict[tuple[UUID, UUID], Pair]:
    return {(pair.one_id, pair.other_id): pair for pair in pairs}


@dataclass(frozen=True, slots=True)
class _Compared:
    """Names that are gone, hashes of new names, found candidates, and all known pairs."""

    gone: list[UUID]
    hashes: dict[UUID, int]
    found: list[Pair]
    kept: list[Pair]


def _compare(names: Names) -> _Compared:
    hashes = {one.id: _hash(one) for one in names.named}
    fresh = {one: value for one, value in hashes.items() if names.compared.get(one) != value}
    gone = {one for one in names.compared if hashes.get(one) != names.compared[one]}
    known = [pair for pair in names.pairs if pair.one_id not in gone and pair.other_id not in gone]
    found = {(pair.one_id, pair.other_id): pair for pair in _candidates(names.named, set(fresh))}
    for pair in known:
        found.pop((pair.one_id, pair.other_id), None)
    return _Compared(sorted(gone), fresh, list(found.values()), [*known, *found.values()])


def _candidates(named: Sequence[NamedEntity], fresh: set[UUID]) -> Iterator[Pair]:
    """Yield pairs with at least one new name."""
    alike = (
        _pair(one, other, _SIMILAR, likeness)
        for likeness, first, second in find_like_names([one.name for one in named], LEAST_LIKENESS)
        for one, other in [(named[first], named[second])]
        if not fresh.isdisjoint((one.id, other.id)) and _may_be_one(one, other)
    )
    yield from nlargest(_MOST_CANDIDATES, alike, key=lambda pair: (pair.score, pair.one_id))
    yield from _by_initials(named, fresh)
    yield from _under_two_ids(named, fresh)


def _under_two_ids(named: Sequence[NamedEntity], fresh: set[UUID]) -> Iterator[Pair]:
    """Yield pairs of spellings of one name to which the user has given different ids."""
    spelt: dict[str, list[NamedEntity]] = defaultdict(list)
    for one in named:
        if one.external_id is not None and (key := spelling_key(one.name)):
            spelt[key].append(one)
    for same in spelt.values():
        before = dict[str, NamedEntity]()  # by type
        for one in sorted(same, key=lambda one: (one.entity_type != UNTYPED, one.name, one.id)):
            other = before.get(one.entity_type) or before.get(UNTYPED)
            if other is not None and not fresh.isdisjoint((one.id, other.id)):
                yield _pair(one, other, _SAME, 1.0)
            before[one.entity_type] = one


def _by_initials(named: Sequence[NamedEntity], fresh: set[UUID]) -> Iterator[Pair]:
    """Yield abbreviations that are the initials of exactly one name."""
    full: dict[str, list[NamedEntity]] = defaultdict(list)
    for one in named:
        if letters := initials(one.name):
            full[letters].append(one)
    for short in named:
        meant = full.get(short.name, [])
        is_new = len(meant) == 1 and (short.id in fresh or meant[0].id in fresh)
        if is_new and _may_be_one(short, meant[0]):
            yield _pair(short, meant[0], _INITIALS, LEAST_LIKENESS)


def _may_be_one(one: NamedEntity, other: NamedEntity) -> bool:
    types = {one.entity_type, other.entity_type} - {UNTYPED}
    return len(types) < 2 and spelling_key(one.name) != spelling_key(other.name)


def _pair(one: NamedEntity, other: NamedEntity, reason: str, score: float) -> Pair:
    first, second = sorted((one.id, other.id))
    return Pair(first, second, "open", reason, score)


def _hash(one: NamedEntity) -> int:
    digest = hashlib.blake2b(f"{one.name}\0{one.entity_type}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


class SameNames(ModelReply):
    """The numbers of the pairs that are one thing."""

    same: Numbers = Field(default_factory=list[int])


@dataclass(frozen=True, slots=True)
class _Judged:
    """All known pairs, those that the chat model has just judged, and its failures."""

    known: list[Pair]
    fresh: Sequence[Pair] = ()
    warnings: tuple[CodedWarning, ...] = ()


async def _judge_pairs(chat: ChatModel | None, names: Names, pairs: list[Pair]) -> _Judged:
    """Have the chat model judge similar names, the likeliest first.

    A batch that fails is skipped, so that it does not block the others in every run.
    """
    if chat is None:
        return _Judged(pairs)
    known = _by_ids(pairs)
    named = {one.id: one for one in names.named}
    waiting = _waiting(named, pairs)
    judged, failures, refusals = list[Pair](), list[CodedWarning](), Refusals()
    for start in range(0, min(len(waiting), _CALLS * _PAIRS_A_CALL), _PAIRS_A_CALL):
        try:
            judged += await _verdicts(chat, named, waiting[start : start + _PAIRS_A_CALL])
        except SextantError as error:
            _log.warning("similar names were not compared by the chat model: %s", error)
            reason = {"reason": describe_reason(error)}
            failures.append(CodedWarning(WarningCode.NAMES_NOT_COMPARED, reason))
            if refusals.gone(error):
                break
        else:
            refusals.answered()
    return _Judged(list((known | _by_ids(judged)).values()), judged, tuple(distinct(failures)))


def _waiting(named: Mapping[UUID, NamedEntity], pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs that a chat model may decide, the likeliest first."""
    return sorted(
        (
            pair
            for pair in pairs
            if pair.verdict == "open"
            and None in {named[pair.one_id].external_id, named[pair.other_id].external_id}
        ),
        key=lambda pair: (-pair.score, pair.one_id, pair.other_id),
    )


async def _verdicts(
    chat: ChatModel, named: Mapping[UUID, NamedEntity], batch: Sequence[Pair]
) -> list[Pair]:
    lines = [
        f"{index}. {_display_name(named[pair.one_id])} | {_display_name(named[pair.other_id])}"
        for index, pair in enumerate(batch, start=1)
    ]
    listed = as_data("\n".join(lines))
    prompt = SAME.messages(language_of(listed), pairs=listed)
    answer, _ = await chat.structured(prompt, SameNames, patient=False)
    same = set(answer.same)
    return [
        replace(pair, verdict="same" if index in same else "different")
        for index, pair in enumerate(batch, start=1)
    ]


def _display_name(one: NamedEntity) -> str:
    name = one.name[:200]
    return name if one.entity_type == UNTYPED else f"{name} ({one.entity_type})"
