"""The knowledge graph: what is derived, and the evidence from which it is derived.

Entities and relations hold nothing that cannot be computed again from evidence rows (a chunk that
mentions an entity, a chunk that states a relation), so that deleting a document removes exactly
what only it supported. Ids are deterministic (uuid5 of the scope and the normalised name), so that
a graph built in another order, or rebuilt, is the same graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from sextant.domain.wire import CAMEL_CASE

# The type of a relation that says no more than that two terms share sentences of a chunk.
CO_OCCURS = "CO_OCCURS"
# The type of a relation from a thing to what a passage says it is.
IS_A = "IS_A"
# The type of a relation to what a text says something is part of.
# The type of an entity of which nothing more is known than that texts have a word for it.
UNTYPED = "TERM"
# Metadata of a document whose passages tell the facts of a graph: of this entity, by the user's id or its name.
FACTS_OF = "factsOf"


class MentionKind(StrEnum):
    """How a chunk came to mention an entity."""

    TITLE = "title"  # the chunk, its section or document is titled with the entity's name
    ALIAS = "alias"  # the chunk's text contains a title or alias of the entity
    TERM = "term"  # an offline extractor took the entity from the chunk's text
    MODEL = "model"  # a chat model extracted it
    IMPORT = "import"  # the user said so


# Relations with which an entity is half as central as can be.
HALF_CENTRAL = 10


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the knowledge graph; `degree` counts its relations, `mention_count` its passages.

    `centrality` is degree ÷ (degree + 10), 0..1. It follows from the entity alone, so every store and
    every order of changes gives the same; PageRank, which would have to be computed for the whole
    graph, is nearly proportional to the degree where edges have no direction (Grolmusz 2015).
    """

    id: UUID
    name: str
    entity_type: str = UNTYPED
    description: str = ""
    aliases: tuple[str, ...] = ()
    degree: int = 0
    centrality: float = field(init=False)
    mention_count: int = 0
    external_id: str | None = None

    def __post_init__(self) -> None:
        """Derive the centrality."""
        central = self.degree / (self.degree + HALF_CENTRAL)
        object.__setattr__(self, "centrality", central)


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed edge; `weight` is the sum of its evidence, `chunk_ids` where it is stated."""

    id: UUID
    source_id: UUID
    target_id: UUID
    relation_type: str
    description: str = ""
    weight: float = 1.0
    chunk_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of a community report and the chunks that support it."""

    __pydantic_config__ = CAMEL_CASE

    text: str
    chunk_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Community:
    """A community of entities with its report; level 0 is the coarsest, `rating` is in 0..10."""

    id: UUID
    level: int
    parent_id: UUID | None
    title: str
    summary: str
    findings: tuple[Finding, ...]
    rating: float
    entity_ids: tuple[UUID, ...]
