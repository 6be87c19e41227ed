"""A summary rests on the whole document that the question names."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, Mode, Retrieval, RetrievedItem
from sextant.nodes.answers.without_model import with_whole_of_named


def passage(document: str, place: int) -> RetrievedItem:
    return RetrievedItem(
        ItemKind.CHUNK,
        f"{document}/{place}",
        f"Sentence {place} of the text.",
        1.0,
        document_id=document,
        metadata={"filename": document, "start": place},
    )


FOUND = [passage("travel policy.md", 3), passage("handbook.md", 0)]
WHOLE = [passage("travel policy.md", place) for place in range(4)]


@pytest.mark.parametrize(
    ("question", "asked_for"),
    [
        ("Summarise the travel policy", ["travel policy.md"]),
        ("What is the travel policy about?", ["travel policy.md"]),
        ("Who wrote the travel policy?", []),
        ("Summarise the security policy of last year", []),
        ("Give me an overview of all documents", []),
    ],
)
async def test_a_document_is_read_whole_where_it_is_to_be_summed_up(
    question: str, asked_for: list[str]
) -> None:
    searched = list[str]()

    async def search(document: str) -> Retrieval:
        searched.append(document)
        return Retrieval(tuple(WHOLE), Mode.NAIVE)

    items = await with_whole_of_named(question, FOUND, search)
    assert searched == asked_for
    assert [item.id for item in items] == (
        [item.id for item in [*WHOLE, FOUND[1]]] if asked_for else [item.id for item in FOUND]
    )
