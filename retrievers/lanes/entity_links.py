"""Linking a question to entities of the graph: those that it names, else those that are nearest to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from sextant.domain.errors import ConflictError, InputError, SextantError
from sextant.domain.warnings import WarningCode
from sextant.models.protocols import Vectors
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.scope_index import ScopeIndex
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.warnings import go_without
from sextant.stores.graph.protocol import EntityHit, GraphStore

# A name is linked at full strength if its words have this share of the idf of an unseen word.
_FULL_STRENGTH_SHARE = 0.5
# A weaker link names nothing in particular: its words stand in many passages.
_MIN_NAME_STRENGTH = 0.25
# Entities that a search by words, and one by meaning, finds for a question that names none.
_NEAREST = 5
# Their strength relative to a name: sharing words with the question is much weaker evidence.
_NEAREST_STRENGTH = 0.03


def link_strength(lexical: LexicalIndex, words: str) -> float:
    """Return how far to trust that these words of a question name an entity, 0..1.

    Words that every other passage holds ("time", "country") name nothing, even if a passage has them as its title.
    """
    share = lexical.information_of(words) / (_FULL_STRENGTH_SHARE * lexical.most_information)
    return min(1.0, share) ** 2


def link_question(index: ScopeIndex, question: str) -> dict[int, float]:
    """Return the entities (rows) that the question names, with the strength of each link."""
    named: dict[int, float] = {}
    for _, entities, strength in _find_links(index, question):
        for entity in entities:
            named[entity] = max(strength, named.get(entity, 0.0))
    return {entity: strength for entity, strength in named.items() if strength > 0}


def link_names(index: ScopeIndex, text: str) -> dict[str, list[str]]:
    """Return the names in `text`, as written there, with the ids of their entities; without weak links."""
    return {
        name: index.entities.texts_of(list(entities))
        for name, entities, strength in _find_links(index, text)
        if strength >= _MIN_NAME_STRENGTH
    }


def _find_links(index: ScopeIndex, text: str) -> Iterator[tuple[str, tuple[int, ...], float]]:
    for match in index.names.find(text):
        name = text[match.start : match.end]
        yield name, match.bearers, link_strength(index.lexical, name)


async def find_nearest_entities(
    graph: GraphStore, query: LaneQuery, index: ScopeIndex, vector: Vectors | None
) -> dict[int, float]:
    """Return the entities (rows) nearest to the question by words and meaning, with the strength of each link.

    None, and a warning, if the graph store fails.
    """
    try:
        by_words, by_meaning = await asyncio.gather(
            graph.entities_by_text(query.scope, query.text, _NEAREST),
            _find_by_vector(graph, query, vector),
        )
    except (InputError, ConflictError):
        raise
    except SextantError as error:
        go_without("graph", error, query, WarningCode.GRAPH_STORE_FAILED)
        return {}
    hits = ((index.entities.row_of(hit.entity.id), hit.score) for hit in (*by_meaning, *by_words))
    return {row: _NEAREST_STRENGTH * score for row, score in hits if row is not None and score > 0}


async def _find_by_vector(
    graph: GraphStore, query: LaneQuery, vector: Vectors | None
) -> Sequence[EntityHit]:
    return [] if vector is None else await graph.entities_by_vector(query.scope, vector, _NEAREST)
