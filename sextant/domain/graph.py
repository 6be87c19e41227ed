"""The knowledge graph.

Entities and relations are derived from evidence rows (a chunk mentions an entity, a chunk states a relation), so
deleting a document removes exactly what only it supported. Ids are deterministic (uuid5 of the scope and the
normalised name), so a graph built in any order, or rebuilt, is the same graph.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from sextant.domain import CAMEL_CASE

CO_OCCURS = "CO_OCCURS"  # type of a relation between two terms that share sentences of a chunk
IS_A = "IS_A"  # type of a relation from a thing to its kind
ABBREVIATES = "ABBREVIATES"  # type of a relation from an abbreviation to its full form
UNTYPED = "TERM"  # type of an entity whose type is unknown
# Metadata key of a document made from the facts of one entity; its value is the entity's id or name.
FACTS_OF = "factsOf"


class MentionKind(StrEnum):
    """The source of a mention."""

    TITLE = "title"  # the chunk, its section or document is titled with the entity's name
    ALIAS = "alias"  # the chunk's text contains a title or alias of the entity
    TERM = "term"  # an offline extractor took the entity from the chunk's text
    NAME = "name"  # the same, and the text shows a name: it has a type, or the chunk repeats it
    MODEL = "model"  # a chat model extracted it
    IMPORT = "import"  # the user said so


HALF_CENTRAL = 10  # relations of an entity whose centrality is 0.5


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the knowledge graph; `degree` counts its relations, `mention_count` its passages.

    `centrality` is degree ÷ (degree + 10), 0..1. It depends on the entity alone, so every store gives the same.
    PageRank of the whole graph would be nearly proportional to the degree in an undirected graph (Grolmusz 2015).
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
    """A directed edge; `weight` is the sum of its evidence, `chunk_ids` are the chunks that state it."""

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
