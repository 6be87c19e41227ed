"""What of a search goes into a prompt of so many tokens."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.answers.passages import lay_out_passages, number_passages, with_reports
from sextant.nodes.prompt_lines import KNOWLEDGE_TOKENS, format_reports
from sextant.text.characters import estimate_tokens

KINDS = st.sampled_from([ItemKind.CHUNK, ItemKind.COMMUNITY, ItemKind.RELATION])
FOUND = st.lists(st.tuples(KINDS, st.integers(0, 60)), max_size=12)
TOKENS = st.sampled_from([0, 1, 50, 10**6]) | st.integers(0, 200)


def items_of(found: list[tuple[ItemKind, int]]) -> list[RetrievedItem]:
    """Return items of so many words."""
    return [
        RetrievedItem(kind, str(number), "word " * words, 1.0)
        for number, (kind, words) in enumerate(found)
    ]


@given(FOUND.map(items_of), TOKENS)
def test_the_best_passage_that_fits_is_in_and_of_the_rest_whatever_fits(
    items: list[RetrievedItem], tokens: int
) -> None:
    passages, reports = with_reports(items, tokens)
    kept = [*passages, *reports]
    found = [item for item in items if item.kind is ItemKind.CHUNK]
    fitting = [item for item in found if tokens_of(item) <= tokens]
    assert passages[:1] == (fitting or found)[:1]
    spent = sum(map(tokens_of, kept))
    assert spent <= tokens or len([item for item in kept if tokens_of(item)]) == 1
    left = (item for item in items if item not in kept and item.kind is not ItemKind.RELATION)
    assert all(spent + tokens_of(item) > tokens for item in left)


@given(FOUND.map(items_of), TOKENS)
def test_passages_come_before_what_the_graph_adds_to_them(
    items: list[RetrievedItem], tokens: int
) -> None:
    layout = lay_out_passages("word?", items, tokens)
    alone = [item for item in items if item.kind is ItemKind.CHUNK]
    assert layout.passages == lay_out_passages("word?", alone, tokens).passages
    left = max(0, tokens - sum(map(tokens_of, layout.passages)))
    assert estimate_tokens(layout.knowledge) <= min(left, KNOWLEDGE_TOKENS)


def tokens_of(item: RetrievedItem) -> int:
    whole = item.kind is ItemKind.COMMUNITY
    return estimate_tokens(format_reports([item]) if whole else item.text)


def test_the_headings_above_several_passages_are_named_once() -> None:
    def passage(name: str, *path: str) -> RetrievedItem:
        place = {"filename": name, "section_path": path}
        return RetrievedItem(ItemKind.CHUNK, name, "Text.", 1.0, metadata=place)

    found = [
        passage("a.md", "Travel", "Trains"),
        passage("b.md", "Travel", "Trains"),
        passage("a.md", "Travel", "Flights", "Abroad"),
        passage("a.md", "Travel", "Flights", "Abroad"),
        passage("a.md", "Travel"),
        passage("c.md"),
    ]
    origins = re.findall('from="(.*)"', number_passages(found))
    assert origins == [
        "a.md > Travel > Trains",
        "b.md > Travel > Trains",
        "a.md > … > Flights > Abroad",
        "a.md > … > Abroad",
        "a.md > Travel",
        "c.md",
    ]
