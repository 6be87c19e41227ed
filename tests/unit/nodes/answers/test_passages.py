"""What of a search goes into a prompt of so many tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from domain.retrieval import ItemKind, RetrievedItem
from domain.text import estimate_tokens
from nodes.answers.passages import laid_out

KINDS = st.sampled_from([ItemKind.CHUNK, ItemKind.COMMUNITY, ItemKind.RELATION])
FOUND = st.lists(st.tuples(KINDS, st.integers(0, 60)), max_size=12)
TOKENS = st.sampled_from([0, 1, 50, 10**6]) | st.integers(0, 200)


def items_of(found: list[tuple[ItemKind, int]]) -> list[RetrievedItem]:
    """Items of so many words."""
    return [
        RetrievedItem(kind, str(number), "word " * words, 1.0)
        for number, (kind, words) in enumerate(found)
    ]


@given(FOUND.map(items_of), TOKENS)
def test_the_best_passage_that_fits_is_in_and_of_the_rest_whatever_fits(
    items: list[RetrievedItem], tokens: int
) -> None:
    layout = laid_out(items, tokens)
    kept = [*layout.passages, *layout.reports, *layout.facts]
    passages = [item for item in items if item.kind is ItemKind.CHUNK]
    fitting = [item for item in passages if tokens_of(item) <= tokens]
    assert layout.passages[:1] == (fitting or passages)[:1]
    spent = sum(map(tokens_of, kept))
    assert spent <= tokens or len([item for item in kept if tokens_of(item)]) == 1
    assert all(spent + tokens_of(item) > tokens for item in items if item not in kept)


def tokens_of(item: RetrievedItem) -> int:
    return estimate_tokens(item.text)
