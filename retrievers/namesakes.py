"""Find what a name in a question may mean: all things of that name, and what the documents say of each.

Entities with ids of an import are different things. An extracted entity is whatever has its name: it is several things
if documents define it in words that have nothing in common, or as the abbreviation of several names.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from sextant.domain.graph import UNTYPED, Entity
from sextant.domain.scope import Scope
from sextant.retrievers.index.scope_index import ScopeIndex
from sextant.retrievers.lanes.entities import MIN_NAME_STRENGTH, link_strength
from sextant.stores.chunks.stored import FullForm, Mention, read_full_forms, read_mentions
from sextant.stores.graph.protocol import GraphStore
from sextant.stores.postgresql.database import Database
from sextant.text.analysis import extract_keywords, terms
from sextant.text.characters import language_of, normalise_name

# In a few documents every name stands in many passages, so that only those of more count as common words.
_FEW_PASSAGES = 20
# A name of more things is a common word.
_MOST_MEANINGS = 6
_CLAUSE_END = re.compile(r"[,.;:](?:\s|$)|[，。；：]")
_MOST_WORDS = 40


@dataclass(frozen=True, slots=True)
class Meaning:
    """One of the things of a name.

    Attributes:
        name: its full name.
        entity_type: its type.
        description: what the documents say of it.
        words: the words of its description, in lower case, without those of its name.
        ids: its id and those of the passages that describe it.
        document_ids: those of their documents.
    """

    name: str
    entity_type: str
    description: str
    words: Collection[str]
    ids: Collection[str]
    document_ids: Collection[str]


async def find_meanings(
    index: ScopeIndex, graph: GraphStore, database: Database, scope: Scope, text: str
) -> dict[str, list[Meaning]]:
    """Return the names of several things in `text`, as written there, each with its things.

    Raises:
        GraphStoreUnavailable, DatabaseUnavailable: a store does not answer.
    """
    by_name: dict[str, dict[UUID, Entity]] = {}
    for match in index.names.find(text):
        found = await graph.get_entities(scope, [index.entities[row] for row in match.bearers])
        by_name[text[match.start : match.end]] = {one.id: one for one in found}
    # The index has no alias that is another entity's name.
    for hit in await graph.entities_by_alias(scope, [*by_name]):
        names = {normalise_name(name) for name in (hit.entity.name, *hit.entity.aliases)}
        for name, entities in by_name.items():
            if normalise_name(name) in names:
                entities[hit.entity.id] = hit.entity
    by_name = {
        name: entities
        for name, entities in by_name.items()
        if link_strength(index.lexical, name) >= MIN_NAME_STRENGTH
        or all(one.mention_count <= _FEW_PASSAGES for one in entities.values())
    }
    ids = list({id_ for entities in by_name.values() for id_ in entities})
    mentions, full = defaultdict[UUID, list[Mention]](list), defaultdict[UUID, list[FullForm]](list)
    for row in await read_mentions(database, scope, ids):
        mentions[row.entity_id].append(row)
    for form in await read_full_forms(database, scope, ids):
        full[form.short_id].append(form)
    meanings = {
        name: _distinct(name, [(one, mentions[one.id], full[one.id]) for one in entities.values()])
        for name, entities in by_name.items()
    }
    return {name: found for name, found in meanings.items() if 2 <= len(found) <= _MOST_MEANINGS}


def _distinct(
    name: str, entities: Sequence[tuple[Entity, Sequence[Mention], Sequence[FullForm]]]
) -> list[Meaning]:
    """Return what a name means; a bare term that nothing describes counts only if there is nothing else."""
    meanings = [meaning for entity in entities for meaning in _meanings_of(name, *entity)]
    described = [
        one
        for one in meanings
        if one.description
        or one.entity_type != UNTYPED
        or normalise_name(one.name) != normalise_name(name)
    ]
    # What reads the same leaves nothing to choose.
    return list({(one.name, one.entity_type, one.description): one for one in described}.values())


def _meanings_of(
    name: str, entity: Entity, mentions: Sequence[Mention], full: Sequence[FullForm]
) -> list[Meaning]:
    """Return the things that an entity is, one or several."""
    if imported := [row for row in mentions if row.is_imported]:
        return [_meaning_of(name, entity, imported)]
    defined = defaultdict[tuple[str, ...], list[FullForm]](list)
    for form in full:  # "Feed-Forward Networks" and "feed forward network" are one
        defined[tuple(terms(form.name))].append(form)
    if len(defined) > 1:
        return [
            _meaning_of(name, Entity(rows[0].entity_id, rows[0].name, rows[0].entity_type), rows)
            for rows in defined.values()
        ]
    groups = _group_definitions(name, mentions)
    return [_meaning_of(name, entity, rows) for rows in (groups if len(groups) > 1 else [mentions])]


def _group_definitions(name: str, mentions: Sequence[Mention]) -> list[list[Mention]]:
    """Return definitions in groups that have no word in common, and no document; cells of a table define nothing."""
    groups: list[tuple[set[str], list[Mention]]] = []
    for row in mentions:
        if row.in_table:
            continue
        definition = first_clause(row.description)
        words = _words(definition, name)
        if not words:
            continue
        # Definitions in different languages may say the same.
        signs = {*words, str(row.document_id)}
        near = [
            group
            for group in groups
            if group[0] & signs or language_of(group[1][0].description) != language_of(definition)
        ]
        groups = [group for group in groups if group not in near]
        rows = [one for _, before in near for one in before]
        groups.append((signs.union(*(known for known, _ in near)), [*rows, row]))
    return [rows for _, rows in groups]


def _meaning_of(name: str, entity: Entity, mentions: Sequence[Mention | FullForm]) -> Meaning:
    descriptions = " ".join(dict.fromkeys(row.description for row in mentions if row.description))
    description = descriptions or entity.description
    kind = "" if entity.entity_type == UNTYPED else entity.entity_type
    return Meaning(
        entity.name,
        entity.entity_type,
        description,
        sorted(_words(" ".join((kind, entity.name, *entity.aliases, description)), name)),
        sorted(
            {
                str(entity.id),
                *(str(id_) for one in mentions for id_ in (one.entity_id, one.chunk_id)),
            }
        ),
        sorted({str(row.document_id) for row in mentions}),
    )


def first_clause(text: str) -> str:
    """Return a text up to its first mark, which no space needs to follow in Chinese."""
    return _CLAUSE_END.split(text)[0]


def _words(text: str, name: str) -> frozenset[str]:
    """Return the words of a text in lower case, without those of a name."""
    return frozenset(extract_keywords(text, _MOST_WORDS)) - {*extract_keywords(name, _MOST_WORDS)}
