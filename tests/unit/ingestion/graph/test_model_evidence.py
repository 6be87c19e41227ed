"""What a model writes down of passages: which of them it speaks of, and where the names stand."""

from __future__ import annotations

from uuid import UUID

import pytest

from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.extraction_prompts import (
    ModelExtractions,
    assign_extractions,
    extractions_of,
)
from sextant.ingestion.graph.extraction.model_evidence import (
    ReadPassage,
    find_name,
    model_evidence,
)
from sextant.models.chat.structured import json_schema, read_structured

FORM = extractions_of(("PERSON",))


def read(text: str) -> ModelExtractions:
    return read_structured(text, FORM)


def names(text: str, count: int, *, is_cut: bool = False) -> dict[int, list[str]]:
    found = assign_extractions(read(text), count, is_cut=is_cut)
    return {at: [one.name for one in found[at].entities] for at in sorted(found)}


@pytest.mark.parametrize(
    "text",
    [
        '{"passages":[{"passage":1,"entities":[{"name":"A","type":"PERSON"}],"relations":[]},{"passage":2,"entities":["B"]}]}',
        '{"passages":[{"passage":0,"entities":["A"]},{"passage":1,"entities":[["B","PERSON"]]}]}',
        '{"passages":[{"entities":["A"]},{"entities":["B"]}]}',
        '{"passages":{"1":{"entities":["A"]},"2":{"entities":["B"]}}}',
        '[{"passage":"[1]","entities":["A"]},{"passage":"passage 2","entities":["B"]}]',
    ],
    ids=["as asked", "from 0", "in order", "by number", "bare"],
)
def test_an_answer_is_read_by_number_or_by_order(text: str) -> None:
    assert names(text, 2) == {0: ["A"], 1: ["B"]}


def test_a_model_is_told_to_leave_out_no_passage() -> None:
    told = json_schema(extractions_of(("PERSON",), 3, 5))["properties"]["passages"]
    assert (told["minItems"], told["maxItems"]) == (3, 3)
    lists = told["items"]["properties"]
    assert (lists["entities"]["maxItems"], lists["relations"]["maxItems"]) == (5, 5)


def test_of_all_passages_with_one_number_twice_the_order_counts() -> None:
    text = '{"passages":[{"passage":1,"entities":["A"]},{"passage":1,"entities":["B"]}]}'
    assert names(text, 2) == {0: ["A"], 1: ["B"]}


def test_an_answer_without_passages_speaks_of_all() -> None:
    assert names('{"entities":["A"],"relations":[]}', 2) == {0: ["A"], 1: ["A"]}


def test_passages_that_were_not_shown_are_no_passages() -> None:
    text = '{"passages":[{"passage":1,"entities":["A"]},{"passage":7,"entities":["B"]}]}'
    assert names(text, 2) == {0: ["A"]}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"passages":[{"passage":1,"entities":["A"]},{"passage":2,"entities":["B","C', {0: ["A"]}),
        ('{"passages":[{"passage":1,"entities":[{"name":"A"},{"name":"B', {0: ["A"]}),
        ('{"passages":[{"passage":1,"entities":[{"name":"A"}],"relations":[["A","is', {0: ["A"]}),
        ('{"passages":[{"passage":1,"entities":[{"name":"A"}],"rel', {0: ["A"]}),
    ],
    ids=["in the second", "in an entity", "in a relation", "between the lists"],
)
def test_a_cut_answer_speaks_of_its_whole_passages_and_of_the_first(
    text: str, kept: dict[int, list[str]]
) -> None:
    assert names(text, 2, is_cut=True) == kept


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("Ann", "The annual report of Ann Lee", "Ann"),
        ("Marie Curie", "marie\n curie's notes", "marie\n curie"),
        ("router", "Two routers failed", "router"),
        ("居里夫人", "由居里夫人发现", "居里夫人"),
        ("C++", "written in C++.", "C++"),
        ("Ann", "an annual report", ""),
    ],
)
def test_a_name_stands_where_its_words_do_as_wholes(name: str, text: str, place: str) -> None:
    start, end = find_name(name, text)
    assert text[start:end] == place


def stated(answer: str, text: str) -> tuple[set[str], list[str]]:
    """Return the names of entities, and the types of relations, that an answer about one passage leaves."""
    passage = ReadPassage(UUID(int=1), text)
    found = assign_extractions(read(answer), 1)
    evidence = model_evidence(Scope("ada", "kb"), [passage], found, ("PERSON",))
    return {row.name for row in evidence.mentions}, [
        row.relation_type for row in evidence.relations
    ]


def test_a_name_that_no_passage_has_is_made_up_and_so_is_what_relates_it() -> None:
    answer = '{"entities":["Ada Marsh","Bela Poe"],"relations":[["Bela Poe","knows","Ada Marsh"]]}'
    assert stated(answer, "Ada Marsh works in Graz.") == ({"Ada Marsh"}, [])


def test_words_and_numbers_are_no_names() -> None:
    answer = '{"entities":["She","in","2009","US"],"relations":[["She","lives in","US"]]}'
    assert stated(answer, "She came in 2009 to the US.") == ({"US"}, [])
    answer = '{"entities":["Will","May"],"relations":[]}'
    assert stated(answer, "May they see if Will did?") == ({"Will"}, [])


def test_of_two_names_only_some_relations_count() -> None:
    listed = ",".join(f'["Ada","r{number}","Graz"]' for number in range(50))
    answer = f'{{"entities":["Ada","Graz"],"relations":[{listed}]}}'
    assert stated(answer, "Ada works in Graz.") == ({"Ada", "Graz"}, ["R0", "R1", "R2", "R3"])
