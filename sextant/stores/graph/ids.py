"""Compute names and ids of the graph: an entity has the same id in every run and on every machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from operator import add
from uuid import NAMESPACE_URL, UUID, uuid5

from sextant.domain.scope import Scope
from sextant.stores.graph.arrays import relation_bytes
from sextant.text.analysis import Analyzer, Tokenizer, drop_stop_word
from sextant.text.characters import normalise_name, remember_short
from sextant.text.stopwords import CHINESE_STOP_WORDS

_ENTITIES = uuid5(NAMESPACE_URL, "sextant:entity")
_GRAPHS = uuid5(NAMESPACE_URL, "sextant:graph")


@remember_short(65_536)  # a term is asked for by each of its mentions
def entity_id(scope: Scope, name: str, homonym: str = "") -> UUID:
    """Return the id of the entity with this name, in any spelling, in a knowledge base.

    `homonym` distinguishes entities of one name to which the user has given ids.
    """
    key = f"{scope.user_id}\0{scope.graph_id}\0{normalise_name(name)}"
    return uuid5(_ENTITIES, f"{key}\0{homonym}" if homonym else key)


@lru_cache(maxsize=1000)  # every word of every name is salted with it
def graph_key(scope: Scope) -> UUID:
    """Return the key of a knowledge base in a store that all tenants share, from its user and name."""
    return uuid5(_GRAPHS, f"{scope.user_id}\0{scope.graph_id}")


def relation_id(source_id: UUID, target_id: UUID, relation_type: str) -> UUID:
    """Return the id of a relation; `relation_key` in SQL computes the same."""
    return UUID(bytes=relation_bytes(source_id.bytes, target_id.bytes, relation_type))


def name_digest(norm: str) -> int:
    """Return a hash of a normalised name as a signed 64-bit integer, since long names fit no index."""
    digest = hashlib.blake2b(norm.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def name_tokens(text: str, scope_id: int) -> list[int]:
    """Return the hashed terms of a name or a question in the index of names.

    The terms are pairs of adjacent CJK characters and whole words otherwise, like those of Lucene's
    CJKAnalyzer, without stop words. They are salted with the scope: one index serves all tenants.
    """
    salt = scope_id.to_bytes(4, "big", signed=True)
    return [_token(word, salt) for word in sorted({*_WORDS.terms(normalise_name(text))})]


@remember_short(100_000)  # names share their words
def _token(word: str, salt: bytes) -> int:
    digest = hashlib.blake2b(word.encode(), digest_size=8, salt=salt).digest()
    return int.from_bytes(digest, "big", signed=True)


def _telling_pairs(ideographs: str) -> Iterable[str]:
    if len(ideographs) == 1:
        return ideographs
    return (pair for pair in map(add, ideographs, ideographs[1:]) if pair not in CHINESE_STOP_WORDS)


_WORDS = Analyzer(Tokenizer(_telling_pairs), (drop_stop_word,))
