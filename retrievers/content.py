"""The content of a passage or an entity in a result, beside its rank and score.

Also here: what lanes find by id; the context of an answer as plain values.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

from sextant.domain.graph import Entity
from sextant.domain.retrieval import (
    LEAST_SCORE,
    GraphContext,
    ItemKind,
    LaneScore,
    Retrieval,
    RetrievedItem,
    items_of,
    rerank_item,
)
from sextant.stores.postgresql.values import Scored

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


def with_content(item: RetrievedItem, content: PassageContent) -> RetrievedItem:
    """Return a passage found by its id, with its content."""
    return RetrievedItem(
        item.kind,
        item.id,
        content.text,
        item.score,
        content.document_id,
        content.external_id,
        item.lanes,
        content.metadata,
    )


@dataclass(frozen=True, slots=True)
class LazyHits(Sequence[RetrievedItem]):
    """Hits, best first, none twice; an item is made when it is asked for.

    Attributes:
        ids: of all.
        scores: the lane's own.
        content_at: the content of the hit at a place, if it is at hand; else hits have no text yet.
    """

    ids: Sequence[str]
    scores: Sequence[float]
    content_at: Callable[[int], PassageContent | None] | None = None

    @classmethod
    def of(
        cls, found: Scored, content_at: Callable[[int], PassageContent | None] | None = None
    ) -> LazyHits:
        """Return chunks that a store, or a scope in memory, found; scores of 32 bits, as both give them."""
        scores = [max(score, LEAST_SCORE) for score in array("f", found.scores)]
        return cls(found.ids, scores, content_at)

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, index: int) -> RetrievedItem: ...
    @overload
    def __getitem__(self, index: slice) -> list[RetrievedItem]: ...
    def __getitem__(self, index: int | slice) -> RetrievedItem | list[RetrievedItem]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        return self.item(index, self.scores[index], {})

    def item(self, index: int, score: float, lanes: Mapping[str, LaneScore]) -> RetrievedItem:
        """Return the hit at a place with some score and lanes."""
        id_ = self.ids[index]
        content = None if self.content_at is None else self.content_at(index)
        if content is None:
            return RetrievedItem(ItemKind.CHUNK, id_, "", score, None, None, lanes)
        return RetrievedItem(
            ItemKind.CHUNK,
            id_,
            content.text,
            score,
            content.document_id,
            content.external_id,
            lanes,
            content.metadata,
        )

    def __iter__(self) -> Iterator[RetrievedItem]:
        return map(self.__getitem__, range(len(self)))


def ids_of(hits: Sequence[RetrievedItem]) -> Sequence[str]:
    """Return the ids of a lane's hits."""
    return hits.ids if isinstance(hits, LazyHits) else [hit.id for hit in hits]


def score_at(hits: Sequence[RetrievedItem], index: int) -> float:
    """Return the lane's score of the hit at a place."""
    return hits.scores[index] if isinstance(hits, LazyHits) else hits[index].score


def hit_at(
    hits: Sequence[RetrievedItem], index: int, score: float, lanes: Mapping[str, LaneScore]
) -> RetrievedItem:
    """Return the hit at a place with another score and other lanes."""
    return (
        hits.item(index, score, lanes)
        if isinstance(hits, LazyHits)
        else rerank_item(hits[index], score, lanes)
    )


def has_content(hits: Sequence[RetrievedItem], index: int) -> bool:
    """Return whether the hit at a place comes with its text."""
    return hits.content_at is not None if isinstance(hits, LazyHits) else bool(hits[index].text)


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


def alone(
    lane: str, hits: Sequence[RetrievedItem], wanted: int | None = None
) -> list[RetrievedItem]:
    """Return what one lane found, in its order and with its scores."""
    return [
        rerank_item(hit, hit.score, {**hit.lanes, lane: LaneScore(rank, hit.score, 1.0, hit.score)})
        for rank, hit in enumerate(hits[:wanted], start=1)
    ]
