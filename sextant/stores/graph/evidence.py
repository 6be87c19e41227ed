"""Evidence for entities and relations, as rows for COPY.

Also here: names and ids of the graph, by which an entity has the same id in every run and on every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, UUID, uuid5

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import NIL
from sextant.text.characters import clean_text, normalise_name, remember_short

_ENTITIES = uuid5(NAMESPACE_URL, "sextant:entity")
_GRAPHS = uuid5(NAMESPACE_URL, "sextant:graph")


@remember_short(65_536)  # a term is asked for by each of its mentions
def entity_id(scope: Scope, name: str, homonym: str = "") -> UUID:
    """Return the id of the entity with this name, in any spelling, in a knowledge base.

    `homonym` distinguishes entities of one name to which the user has given ids.
    """
    key = f"{scope.user_id}\0{scope.graph_id}\0{normalise_name(name)}"
    return uuid5(_ENTITIES, f"{key}\0{homonym}" if homonym else key)


@lru_cache(maxsize=1000)  # every name is salted with it
def graph_key(scope: Scope) -> UUID:
    """Return the key of a knowledge base in a store that all tenants share, from its user and name."""
    return uuid5(_GRAPHS, f"{scope.user_id}\0{scope.graph_id}")


def relation_id(source_id: UUID, target_id: UUID, relation_type: str) -> UUID:
    """Return the id of a relation; `relation_key` in SQL computes the same."""
    key = source_id.bytes + target_id.bytes + relation_type.encode()
    return UUID(bytes=hashlib.md5(key, usedforsecurity=False).digest())


def name_digest(norm: str) -> int:
    """Return a hash of a normalised name as a signed 64-bit integer, since long names fit no index."""
    digest = hashlib.blake2b(norm.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


LONGEST_TYPE = 200  # characters of the type of an entity or relation
LONGEST_NAME = 100_000  # characters; anything longer is a mistake
HEAVIEST = 1e12  # a greater weight is a mistake, and makes sums useless


class MentionRow(NamedTuple):
    """A mention of an entity in a chunk; without `chunk_id`, an assertion by the user (kind IMPORT).

    `name` is the entity's name as the source spells it; for kind ALIAS it is the alias that was
    found, which must be one of the entity's. `start` and `end` are offsets into the chunk's text.
    """

    entity_id: UUID
    chunk_id: UUID | None
    kind: MentionKind
    name: str
    entity_type: str = "TERM"
    description: str = ""
    external_id: str | None = None
    start: int = 0
    end: int = 0


class RelationRow(NamedTuple):
    """A relation stated by a chunk; without `chunk_id`, an assertion by the user."""

    source_id: UUID
    target_id: UUID
    relation_type: str
    chunk_id: UUID | None
    weight: float = 1.0
    description: str = ""


class AliasRow(NamedTuple):
    """A name of an entity in texts; deleted with `document_id`, or the user's if that is None.

    `source`: document or section (a title), import or manual.
    """

    entity_id: UUID
    name: str
    source: str
    document_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class GraphEvidence:
    """A batch of evidence of any size; rows with equal keys count once.

    The key of a mention is (entity, chunk, kind, and for ALIAS the alias), of a relation (source,
    target, type, chunk), of an alias (entity, normalised name, document).
    """

    mentions: Sequence[MentionRow] = ()
    relations: Sequence[RelationRow] = ()
    aliases: Sequence[AliasRow] = ()


def one_line(text: str) -> str:
    """Return a name as it is stored: storable characters only, white space collapsed."""
    return " ".join(clean_text(text).split())


@dataclass(slots=True)
class EvidenceRows:
    """Evidence as rows for COPY, in the column order of the temporary tables; texts are cleaned.

    `ordinal` numbers the rows: of two with the same key the later one counts.
    """

    ordinal: int
    mentions: list[tuple[Any, ...]] = field(default_factory=list)
    relations: list[tuple[Any, ...]] = field(default_factory=list)
    aliases: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, evidence: GraphEvidence) -> None:
        """Add the rows that can be stored, and skip the others."""
        tidy = cache(one_line)
        self._add_mentions(evidence.mentions, tidy)
        self._add_relations(evidence.relations, tidy)
        self._add_aliases(evidence.aliases)

    def _add_mentions(self, rows: Sequence[MentionRow], tidy: Callable[[str], str]) -> None:
        for index, row in enumerate(rows):
            entity, chunk, kind, name, entity_type, description, external_id, *span = row
            name, entity_type = tidy(name), tidy(entity_type)
            surface = name_digest(normalise_name(name)) if kind is MentionKind.ALIAS else 0
            is_stored = _is_name(name) and _is_type(entity_type)
            if not is_stored or (chunk is None and kind is not MentionKind.IMPORT):
                continue
            texts = (name, entity_type, clean_text(description))
            key = (self.ordinal + index, entity, chunk or NIL, kind.value, surface)
            self.mentions.append((*key, *texts, external_id and clean_text(external_id), *span))
        self.ordinal += len(rows)

    def _add_relations(self, rows: Sequence[RelationRow], tidy: Callable[[str], str]) -> None:
        first, append = self.ordinal, self.relations.append
        for index, row in enumerate(rows):
            source, target, kind, chunk, weight, description = row
            kind = tidy(kind)
            same = source.int == target.int  # faster than comparing the objects
            if same or not 0 < weight <= HEAVIEST or not _is_type(kind):
                continue
            text = description and clean_text(description)
            append((first + index, source, target, kind, chunk or NIL, float(weight), text))
        self.ordinal += len(rows)

    def _add_aliases(self, rows: Sequence[AliasRow]) -> None:
        for entity, spelling, source, document_id in rows:
            name = one_line(spelling)
            if not _is_name(name):
                continue
            norm = normalise_name(name)
            self.aliases.append((entity, name_digest(norm), norm, name, source, document_id or NIL))
        self.ordinal += len(rows)


def _is_name(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME


def _is_type(name: str) -> bool:
    return 0 < len(name) <= LONGEST_TYPE
