"""The words of a knowledge base as arrays, so that another process need not cut its texts again.

Cutting is two thirds of what an index costs (docs/speed.md). With the words go the states of the
documents that they are from, so whoever reads them reads only those again that have changed.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from sextant.retrievers.index import passages
from sextant.retrievers.index.passages import PassageIndex
from sextant.retrievers.index.words import lexical
from sextant.retrievers.index.words.lexical import LexicalIndex, Postings
from sextant.stores.array_files import Arrays
from sextant.stores.chunks import chunk_store
from sextant.stores.graph.arrays import IdTable, halves_of
from sextant.stores.postgresql.migrations import schema_digest
from sextant.text import analysis, characters, stopwords, word_forms

# What decides which words a passage has; words cut by other code are not taken for those of now.
_MODULES: tuple[ModuleType, ...] = (
    analysis,
    characters,
    chunk_store,
    lexical,
    passages,
    stopwords,
    word_forms,
)
_SQL = Path(chunk_store.__file__).parents[1] / "sql"


@cache
def code() -> str:
    """Return what tells this code from another that would cut words otherwise; reads files."""
    read = hashlib.sha256((_SQL / "queries" / "chunks.sql").read_bytes())
    # What is a letter, and what views of passages give.
    read.update(unicodedata.unidata_version.encode())
    read.update(schema_digest().encode())
    for file in (__file__, *(module.__file__ for module in _MODULES)):
        read.update(Path(file or "").read_bytes())
    return read.hexdigest()


def as_arrays(index: PassageIndex) -> Arrays:
    """Everything of an index but its vectors."""
    words, postings = index.lexical, index.lexical.postings
    return {
        "document_ids": halves_of(index.states),
        "document_states": _join_texts(index.states.values()),
        "documents": index.documents,
        "ids": index.ids.halves,
        "terms": _join_texts(sorted(words.vocabulary, key=words.vocabulary.__getitem__)),
        "starts": postings.starts,
        "holders": postings.holders,
        "counts": postings.counts,
        "lengths": words.lengths,
    }


def from_arrays(arrays: Arrays) -> PassageIndex | None:
    """Return the index that arrays were made of; None if they are not such, or do not fit each other."""
    try:
        return _index(arrays)
    except (KeyError, ValueError, IndexError, TypeError):
        return None


def _index(arrays: Arrays) -> PassageIndex:
    documents, states = IdTable(arrays["document_ids"]), _split_texts(arrays["document_states"])
    named = _split_texts(arrays["terms"])
    starts, holders, counts = arrays["starts"], arrays["holders"], arrays["counts"]
    ids, document, lengths = arrays["ids"], arrays["documents"], arrays["lengths"]
    _require(len(states) == len(documents) and ids.shape == (len(lengths), 2))
    _require(document.shape == lengths.shape and _are_rows_below(document, len(documents)))
    _require(len(starts) == len(named) + 1 and starts[0] == 0 and starts[-1] == len(holders))
    _require(holders.shape == counts.shape and _are_rows_below(holders, len(lengths)))
    _require(bool((np.diff(starts) > 0).all()))
    vocabulary = {term: number for number, term in enumerate(named)}
    _require(len(vocabulary) == len(named))
    return PassageIndex(
        {documents[row]: state for row, state in enumerate(states)},
        document.astype(np.int32, copy=False),
        IdTable(ids.astype(np.uint64, copy=False)),
        LexicalIndex(
            vocabulary,
            Postings(
                starts.astype(np.intp, copy=False),
                holders.astype(np.int32, copy=False),
                counts.astype(np.uint16, copy=False),
            ),
            lengths.astype(np.int32, copy=False),
        ),
    )


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError


def _are_rows_below(numbers: npt.NDArray[Any], end: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < end)


# Neither terms nor states have line breaks in them.
def _join_texts(texts: Iterable[str]) -> npt.NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode("utf-8", "surrogatepass"), np.uint8)


def _split_texts(joined: npt.NDArray[Any]) -> list[str]:
    text = joined.tobytes().decode("utf-8", "surrogatepass")
    return text.split("\n") if text else []
