"""The next hop of a question: what its first passages name, asked for what they do not say."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.question.wording import bridges, wording_of
from tests.unit.nodes.conftest import item

QUESTION = "When did the state where Pocahontas Mounds is located become part of the Union?"
MOUNDS = item("Pocahontas Mounds is located in Mississippi.", "mounds")
UNION = item("Tennessee and Ohio became part of the Union.", "union")
SEA = item("The sea at Biloxi.", "sea")


def named(*names: str, kind: ItemKind = ItemKind.ENTITY) -> list[RetrievedItem]:
    return [RetrievedItem(kind, name, name, 0.5, metadata={"name": name}) for name in names]


def test_what_a_passage_names_is_asked_for_what_it_does_not_say() -> None:
    assert bridges(QUESTION, [MOUNDS], named("Mississippi", "London")) == [
        "Mississippi state become part Union"
    ]


def test_the_first_two_passages_lead_on_each_with_what_is_open_there() -> None:
    around = named("Biloxi", "Ohio", "Mississippi")
    assert bridges(QUESTION, [MOUNDS, UNION, SEA], around) == [
        "Mississippi state become part Union",
        "Ohio state Pocahontas Mounds located become",
    ]


def test_what_the_question_names_itself_leads_nowhere() -> None:
    assert bridges(QUESTION, [MOUNDS], named("pocahontas mounds")) == []


def test_only_entities_lead_on_and_each_once() -> None:
    around = [*named("Mississippi", "Mississippi"), *named("located", kind=ItemKind.RELATION)]
    assert len(bridges(QUESTION, [MOUNDS], around)) == 1


def test_four_names_of_a_passage_lead_on_the_most_important_first() -> None:
    names = ["Ann", "Bob", "Cid", "Dan", "Eve"]
    crowd = item("Eve, Dan, Cid, Bob and Ann met.", "crowd")
    assert [query.split()[0] for query in bridges("Who left?", [crowd], named(*names))] == names[:4]


@pytest.mark.parametrize("passages", [[], [SEA]])
def test_passages_that_name_nothing_lead_nowhere(passages: list[RetrievedItem]) -> None:
    assert bridges(QUESTION, passages, named("Mississippi")) == []


def test_a_passages_headings_say_what_it_says() -> None:
    assert wording_of(SEA).says("biloxi")
    assert wording_of(item("Its coast.", "Mississippi.md")).says("mississippi")
