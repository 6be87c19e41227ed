"""Links between passages by name: a passage that names a document or a section mentions it.

Whether a passage mentions a name depends on these two alone: the name stands in it, letter for
letter but for case (so that the keyword index finds exactly these passages), at the bounds of words,
and with its capitals. Names inside longer names count too; which of overlapping mentions to follow
is for readers, who have the offsets. So links do not depend on the order of documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from sextant.domain.documents import Chunk, ParsedDocument
from sextant.domain.graph import UNTYPED, MentionKind
from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.entity_types import CONCEPT, type_of_name
from sextant.ingestion.graph.extraction.titles import titles_of
from sextant.stores.chunks.grams import fold
from sextant.stores.graph.evidence import AliasRow, MentionRow
from sextant.stores.graph.ids import entity_id
from sextant.text.characters import normalise_name
from sextant.text.linking import NameTrie, tokens


class Bearer(NamedTuple):
    """A name as it is spelled in a title, and the entity that bears it."""

    entity_id: UUID
    name: str


Names = NameTrie[Bearer]


def title_evidence(
    scope: Scope, document_id: UUID, parsed: ParsedDocument
) -> tuple[list[AliasRow], list[MentionRow]]:
    """Return the names that a document brings, and which of its chunks stand under which title."""
    aliases: list[AliasRow] = []
    mentions: list[MentionRow] = []
    for title in titles_of(parsed):
        entity = entity_id(scope, title.name)
        source = "document" if title.path is None else "section"
        # A section is about something ("Stations and software") more often than it is called by a name; what is
        # headed 用药原则 is about that.
        entity_type = type_of_name(title.name)
        if title.path is not None and entity_type != CONCEPT:
            entity_type = UNTYPED
        aliases += [AliasRow(entity, name, source, document_id) for name in title.names]
        mentions += [
            MentionRow(entity, chunk.id, MentionKind.TITLE, title.name, entity_type)
            for chunk in parsed.chunks
            if title.path is None or chunk.section_path[: len(title.path)] == title.path
        ]
    return aliases, mentions


def name_trie(bearers: Iterable[Bearer]) -> Names:
    """Return a trie of names that `links` searches texts for."""
    trie: Names = NameTrie({})
    for bearer in bearers:
        trie.add(bearer.name, [bearer])
    return trie


def links(trie: Names, chunks: Iterable[tuple[UUID, str]]) -> Iterator[MentionRow]:
    """Yield one mention for each name that a chunk contains, at its first place.

    Spellings of one name that differ in case are one name; the mention bears its normal form, so
    that it does not show which of them was found.
    """
    for chunk_id, text in chunks:
        seen: set[Bearer] = set()
        for match in trie.occurrences(text):
            found = fold(text[match.start : match.end])
            for entity, name in match.bearers:
                key = Bearer(entity, normalise_name(name))
                if key not in seen and fold(core(name)) == found:
                    seen.add(key)
                    yield _mention(key, chunk_id, match.start, match.end)


def _mention(bearer: Bearer, chunk_id: UUID, start: int, end: int) -> MentionRow:
    return MentionRow(
        bearer.entity_id, chunk_id, MentionKind.ALIAS, bearer.name, start=start, end=end
    )


@lru_cache(maxsize=65_536)
def core(name: str) -> str:
    """Return the name from its first word to its last, as it must stand in a text."""
    words = tokens(name)
    return name[words[0].start : words[-1].end] if words else ""


def texts(chunks: Sequence[Chunk]) -> list[tuple[UUID, str]]:
    """Return ids and texts of chunks, as `links` takes them."""
    return [(chunk.id, chunk.text) for chunk in chunks]
