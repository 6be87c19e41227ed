"""The entities that a question is about: those that it names, or the nearest that the store finds."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from sextant.domain.errors import ConflictError, InputError, SextantError
from sextant.domain.warnings import WarningCode
from sextant.models.protocols import Vectors
from sextant.retrievers.index.scope_index import ScopeIndex
from sextant.retrievers.index.words.lexical import LexicalIndex
from sextant.retrievers.lanes.lane import LaneQuery
from sextant.retrievers.lanes.warnings import go_without
from sextant.stores.graph.protocol import EntityHit, GraphStore

# A name of words with this share of the information of an unseen word is linked at full strength.
_FULL_STRENGTH_SHARE = 0.5
_TELLING_LINK = 0.25
_NEAREST = 5
# A name that shares words with the question, or lies near it, is much weaker evidence than the name itself.
_BY_WORDS, _BY_MEANING = 0.03, 0.01


def link_strength(lexical: LexicalIndex, words: str) -> float:
    """Return how far to trust that these words of the question name an entity, 0..1.

    Words that every other passage holds ("time", "country") name nothing, though a passage may be
    titled with them.
    """
    telling = lexical.information_of(words) / (_FULL_STRENGTH_SHARE * lexical.most_information)
    return min(1.0, telling) ** 2


def link_question(index: ScopeIndex, question: str) -> dict[int, float]:
    """Return entities that the question names, with the strength of each link."""
    named: dict[int, float] = {}
    for _, entities, strength in _links(index, question):
        for entity in entities:
            named[entity] = max(strength, named.get(entity, 0.0))
    return {entity: strength for entity, strength in named.items() if strength > 0}


def link_names(index: ScopeIndex, text: str) -> dict[str, list[str]]:
    """Name in `text`, as written there, with the ids of the entities that bear them.

    Without names of words that most passages hold ("time", "country"), which name nothing.
    """
    return {
        name: index.entities.texts_of(list(entities))
        for name, entities, strength in _links(index, text)
        if strength >= _TELLING_LINK
    }


def _links(index: ScopeIndex, text: str) -> Iterator[tuple[str, tuple[int, ...], float]]:
    for match in index.names.find(text):
        name = text[match.start : match.end]
        yield name, match.bearers, link_strength(index.lexical, name)


async def nearest_entities(
    graph: GraphStore, query: LaneQuery, index: ScopeIndex, vector: Vectors | None
) -> dict[int, float] | None:
    """Return entities whose names share words with the question or lie near it, with the strength of each link.

    None where the store does not answer, of which the query is warned.
    """
    try:
        by_words, by_meaning = await asyncio.gather(
            graph.entities_by_text(query.scope, query.text, _NEAREST),
            _by_meaning(graph, query, vector),
        )
    except (InputError, ConflictError):
        raise
    except SextantError as error:
        go_without("graph", error, query, WarningCode.GRAPH_STORE_FAILED)
        return None
    return _strengths(index, by_meaning, _BY_MEANING) | _strengths(index, by_words, _BY_WORDS)


async def _by_meaning(
    graph: GraphStore, query: LaneQuery, vector: Vectors | None
) -> list[EntityHit]:
    if vector is None:
        return []
    return await graph.entities_by_vector(query.scope, vector, _NEAREST)


def _strengths(index: ScopeIndex, hits: Sequence[EntityHit], strength: float) -> dict[int, float]:
    """Return row of each entity found → strength of its link: `strength` × the search's score, 0..1."""
    found = ((index.entities.row_of(hit.entity.id), hit.score) for hit in hits)
    return {row: strength * score for row, score in found if row is not None and score > 0}
