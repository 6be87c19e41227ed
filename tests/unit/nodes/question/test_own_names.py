"""A question by an alias is read as one by the name that the passages have."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.answers.without_model import replace_aliases
from tests.unit.nodes.conftest import item

BORN = item("James Cameron was born in Kapuskasing.", "born")
CALLED = item("James Cameron is also called Jim Cameron.", "called")


def entity(name: str, *aliases: str) -> RetrievedItem:
    return RetrievedItem(
        ItemKind.ENTITY, name, name, 0.5, metadata={"name": name, "aliases": aliases}
    )


@pytest.mark.parametrize(
    ("question", "name", "aliases", "texts", "read"),
    [
        (
            "Where was JIM CAMERON born?",
            "James Cameron",
            ["Jim", "Jim Cameron"],
            ["James Cameron was born in Kapuskasing.", "James Cameron is also called Jim Cameron."],
            "Where was James Cameron born?",
        ),
        (
            "消渴症有哪些并发症？",
            "糖尿病",
            ["消渴症"],
            ["糖尿病的并发症是视网膜病变。", "糖尿病又称消渴症。"],
            "糖尿病有哪些并发症？",
        ),
        (r"Where is C:\tmp?", r"D:\g", [r"C:\tmp"], [r"D:\g is full."], r"Where is D:\g?"),
    ],
)
def test_an_alias_that_passages_do_not_go_by_is_the_name(
    question: str, name: str, aliases: list[str], texts: list[str], read: str
) -> None:
    items = [item(text, str(place)) for place, text in enumerate(texts)]

    assert replace_aliases(question, items, [entity(name, *aliases)]) == read


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("Where was Jim Cameron born?", ["James Cameron is here.", "Jim Cameron was born there."]),
        ("Where was Jim Cameron born?", ["James Cameron is also called Jim Cameron."]),
        ("Where was Jim Cameron born?", ["Nobody is named."]),
        ("Is James Cameron Jim Cameron?", [BORN.text, CALLED.text]),
        ("Where were Jim Camerons born?", [BORN.text, CALLED.text]),
        ("What is Jim Cameron?", [BORN.text, CALLED.text]),
    ],
)
def test_one_that_passages_go_by_or_that_is_asked_of_itself_stays(
    question: str, texts: list[str]
) -> None:
    items = [item(text, str(place)) for place, text in enumerate(texts)]

    assert replace_aliases(question, items, [entity("James Cameron", "Jim Cameron")]) == question
