"""Check the user's assertions column by column, which is fast for batches without errors."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sextant.domain.graph import MentionKind
from sextant.stores.graph.evidence import (
    HEAVIEST,
    GraphEvidence,
    MentionRow,
    RelationRow,
    name_fault,
    one_line,
    type_fault,
)
from sextant.text.characters import clean_text

Made = TypeVar("Made")


class Asserted(NamedTuple):
    """Valid assertions with cleaned texts; the ends of relations are 128-bit integers.

    `named` are rows of (entity, name, type, description, external id, start, end).
    """

    named: list[tuple[Any, ...]]
    sources: list[int]
    targets: list[int]
    types: list[str]
    weights: array[float]
    descriptions: list[str]


def collect_assertions(evidence: GraphEvidence) -> Asserted | None:
    """Return `evidence` as columns; None if its rows must be checked one by one with `Accepted`.

    That is the case if a row is invalid or comes from a passage, or if there are aliases.
    """
    if evidence.aliases:
        return None
    named, stated = _mention_columns(evidence.mentions), _relation_columns(evidence.relations)
    return None if named is None or stated is None else Asserted(named, *stated)


def _mention_columns(rows: Sequence[MentionRow]) -> list[tuple[Any, ...]] | None:
    if not rows:
        return []
    columns = zip(*rows, strict=True)
    entities, chunks, kinds, spelt, classes, descriptions, external_ids, *spans = columns
    names, types = [one_line(name) for name in spelt], _each(one_line, classes)
    if any(chunks) or {*kinds} != {MentionKind.IMPORT}:
        return None
    if any(map(name_fault, names)) or any(map(type_fault, {*types})):
        return None
    texts = [clean_text(text) for text in descriptions]
    ids = [external_id and clean_text(external_id) for external_id in external_ids]
    return list(zip(entities, names, types, texts, ids, *spans, strict=True))


def _relation_columns(
    rows: Sequence[RelationRow],
) -> tuple[list[int], list[int], list[str], array[float], list[str]] | None:
    if not rows:
        return [], [], [], array("d"), []
    starts, ends, kinds, chunks, weights, descriptions = zip(*rows, strict=True)
    sources, targets = [one.int for one in starts], [one.int for one in ends]
    types = _each(one_line, kinds)
    try:
        weight_array = array("d", weights)
    except OverflowError:  # an integer too large for a float
        return None
    if any(chunks) or any(map(operator.eq, sources, targets)) or any(map(type_fault, {*types})):
        return None
    values = np.frombuffer(weight_array)
    if not ((values > 0) & (values <= HEAVIEST)).all():  # false for NaN, too
        return None
    return sources, targets, types, weight_array, _each(clean_text, descriptions)


def _each(make: Callable[[str], Made], texts: Iterable[str]) -> list[Made]:
    """Apply `make` to each text, once for equal texts."""
    made = {text: make(text) for text in {*texts}}
    return [made[text] for text in texts]
