"""What retrieval takes and gives: modes, items with their contents, and the context of an answer as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

from sextant.domain.errors import OptionInvalid
from sextant.domain.graph import Entity
from sextant.domain.warnings import Warned


class Mode(StrEnum):
    """The six retrieval modes. `auto` is not a mode: it lets `analyze` choose one."""

    NAIVE = "naive"
    LOCAL = "local"
    GLOBAL = "global"
    HYBRID = "hybrid"
    MIX = "mix"
    BYPASS = "bypass"


AUTO = "auto"

LEAST_SCORE = 1e-9
"""What a result scores at least: above 0, as is promised; a cosine, or the worst of a list, need not be."""

MOST_PASSAGES = 50
"""Passages that one answer may be made of; `top_k` says how many."""


class ItemKind(StrEnum):
    """What a retrieved item is."""

    CHUNK = "chunk"
    ENTITY = "entity"
    RELATION = "relation"
    COMMUNITY = "community"


@dataclass(frozen=True)
class LaneScore:
    """Where one lane put an item: rank from 1, the lane's own score, the weight it had in fusion.

    `contribution` is what the lane adds to the item's score: those of an item sum up to it. None: the
    lane is part of another one (`mix` weighs words, meaning and a walk), or was not told apart.
    """

    rank: int
    score: float
    weight: float = 1.0
    contribution: float | None = None


@dataclass(frozen=True)
class RetrievedItem:
    """One result; `score` is > 0 and descends along a result list.

    `metadata` of a chunk carries `filename, title, source, section_path, section_id, page, start, end,
    modality, ordinal, context`.
    """

    kind: ItemKind
    id: str
    text: str
    score: float
    document_id: str | None = None
    external_id: str | None = None
    lanes: Mapping[str, LaneScore] = field(default_factory=dict[str, LaneScore])
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


def items_of(values: Iterable[object]) -> list[RetrievedItem]:
    """Return items, of which any may be written as a mapping of its fields (`dataclasses.asdict`).

    Raises:
        OptionInvalid: one is neither; the field says which.
    """
    if not isinstance(values, Iterable) or isinstance(values, str | Mapping):
        raise _no_item("items")
    return [
        value if isinstance(value, RetrievedItem) else _item_of(value, f"items[{number}]")
        for number, value in enumerate(values)
    ]


def _item_of(plain: object, field: str) -> RetrievedItem:
    try:
        values = dict(plain)  # type: ignore[call-overload]
        lanes = {name: LaneScore(**lane) for name, lane in (values.get("lanes") or {}).items()}
        named = {"lanes": lanes, "metadata": values.get("metadata") or {}}
        item = RetrievedItem(**values | named | {"kind": ItemKind(values["kind"])})
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise _no_item(field) from error
    if not (isinstance(item.id, str) and isinstance(item.text, str)):
        raise _no_item(field)
    return item


def _no_item(field: str) -> OptionInvalid:
    return OptionInvalid(
        f"{field} is not a retrieved item.",
        next_step="Give a list of items as the state has them: kind, id, text, score and the rest.",
        field=field,
    )


def rescore(item: RetrievedItem, score: float) -> RetrievedItem:
    """Return the item with another score above 0; what lanes contributed changes in proportion."""
    if score == item.score:
        return item
    share = score / item.score
    lanes = {
        name: lane
        if lane.contribution is None
        else LaneScore(lane.rank, lane.score, lane.weight, lane.contribution * share)
        for name, lane in item.lanes.items()
    }
    return replace(item, score=score, lanes=lanes)


@dataclass(frozen=True, slots=True)
class GraphContext:
    """The graph's part of a context, by importance: `{id, name, type}` and `{source, target, type}`."""

    entities: tuple[dict[str, Any], ...] = ()
    relationships: tuple[dict[str, Any], ...] = ()

    @classmethod
    def of(cls, items: Sequence[RetrievedItem]) -> GraphContext:
        """Return the entities among items, in their order, and the relations between them."""
        entities = {
            item.id: {"id": item.id, "name": item.metadata["name"], "type": item.metadata["type"]}
            for item in items
            if item.kind is ItemKind.ENTITY
        }
        joined = (item.metadata for item in items if item.kind is ItemKind.RELATION)
        relationships = (
            {"source": one["source"], "target": one["target"], "type": one["type"]}
            for one in joined
            if one["source"] in entities and one["target"] in entities
        )
        return cls(tuple(entities.values()), tuple(relationships))


@dataclass(frozen=True, slots=True)
class Retrieval(Warned):
    """One retrieval: ranked items, what went wrong on the way, and times in ms.

    `results` are passages, in mode `global` reports of communities and the passages behind them.
    `graph_items` accompany them: entities, relations and reports, each kind best first. `warnings` are the
    sentences of `coded_warnings`, in the question's language.
    """

    results: tuple[RetrievedItem, ...]
    mode: Mode
    graph_items: tuple[RetrievedItem, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    language: str = "en"

    def reader_language(self) -> str:
        """Return the question's language."""
        return self.language

    @property
    def graph_context(self) -> GraphContext:
        """Return what of the graph accompanies the results, in short; put together when it is asked for."""
        return GraphContext.of(self.graph_items)


_OTHER_FIELDS = frozenset({"id", "text", "document_id", "external_id"})


class PassageContent(NamedTuple):
    """The parts of a result that follow from its id."""

    text: str
    document_id: str | None
    external_id: str | None
    metadata: dict[str, Any]


def of_passage(row: Mapping[str, Any]) -> PassageContent:
    """Return the content of a passage, from a row of `ChunkStore.contents`."""
    metadata = {name: value for name, value in row.items() if name not in _OTHER_FIELDS}
    metadata["section_path"] = tuple(row["section_path"])
    return PassageContent(row["text"], row["document_id"], row["external_id"], metadata)


def of_entity(entity: Entity) -> PassageContent:
    """Return the content of an entity."""
    text = f"{entity.name}: {entity.description}" if entity.description else entity.name
    metadata = {
        "name": entity.name,
        "type": entity.entity_type,
        "aliases": entity.aliases,
        "degree": entity.degree,
    }
    return PassageContent(text, None, entity.external_id, metadata)


def assemble_graph_context(
    items: Retrieval | Iterable[RetrievedItem],
) -> dict[str, list[dict[str, Any]]]:
    """Return the entities and relations among `items`, most important first.

    Args:
        items: a retrieval (`GraphRetriever.search`), or items of any kind; the score of an entity or
            relation is its importance. What `aretrieve` returns holds none of them.

    Returns:
        `{"entities": [{id, name, type}], "relationships": [{source, target, type}]}`; a relationship
        leads from `source` to `target`, both ids of entities that are listed.

    Raises:
        OptionInvalid: which of `items` is none.
    """
    found = items.graph_items if isinstance(items, Retrieval) else items_of(items)
    context = GraphContext.of(sorted(found, key=lambda item: (-item.score, item.id)))
    return {"entities": list(context.entities), "relationships": list(context.relationships)}


def assemble_vector_context(items: Retrieval | Iterable[RetrievedItem]) -> list[dict[str, Any]]:
    """Return the passages among `items` in their order: `{text, metadata, score}`.

    `metadata` says where a passage is from: `chunk_id`, `document_id`, `source`, and what else the
    store knows of it (`RetrievedItem`).

    Raises:
        OptionInvalid: which of `items` is none.
    """
    return [
        {
            "text": item.text,
            "metadata": {
                **item.metadata,
                "chunk_id": item.id,
                "document_id": item.document_id,
                "source": item.metadata.get("source") or item.metadata.get("filename") or item.id,
            },
            "score": item.score,
        }
        for item in (items.results if isinstance(items, Retrieval) else items_of(items))
        if item.kind is ItemKind.CHUNK
    ]
