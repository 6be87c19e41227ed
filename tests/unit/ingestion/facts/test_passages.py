"""Which passages the facts of an import become."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.fact_passages import Fact, Subject, document_of, passages_of

facts = st.lists(
    st.builds(
        Fact,
        st.sampled_from(["CAUSES", "TREATS", "并发症"]),
        st.sampled_from(["id 1", "id 2", "id 3", "id 4"]),
        st.sampled_from(["Metformin", "糖尿病", "头痛", "Fever 🤒", "two\nlines"]),
        st.sampled_from(["", "since 1922", "It helps."]),
    ),
    max_size=40,
    unique_by=lambda one: one[:2],
).map(sorted)


@given(facts)
def test_each_fact_is_told_once_with_all_that_is_said_of_it(facts: list[Fact]) -> None:
    passages = list(passages_of(Subject("name insulin", "Insulin"), facts))

    assert sorted(fact for passage in passages for fact in passage.facts) == facts
    for passage in passages:
        text = passage.line.text
        assert "Insulin" in text
        assert all(fact.name in text and fact.description in text for fact in passage.facts)
    ids = [passage.line.id for passage in passages]
    assert len(ids) == len(set(ids))


def test_a_hub_has_many_passages_and_a_changed_fact_changes_only_its_own() -> None:
    hub = Subject("id h", "Hub")
    facts = [Fact("LINKS", f"id {n:05}", f"Target {n:05}") for n in range(10_000)]

    before = list(passages_of(hub, facts))
    facts[5000] = Fact("LINKS", "id x", "Target 05000 B")
    after = list(passages_of(hub, facts))

    assert len(before) == len(after) == 1250
    assert max(len(one.line.text) for one in before) < 500
    changed = {one.line.id for one in before} ^ {one.line.id for one in after}
    assert len(changed) == 2


def test_a_long_description_is_several_passages_of_whole_sentences() -> None:
    sentences = [f"Sentence {n} says a little." for n in range(200)]
    subject = Subject("id e1", "Insulin", "e1", " ".join(["Insulin is a hormone.", *sentences]))

    texts = [one.line.text for one in passages_of(subject, ())]

    assert len(texts) > 4
    assert " ".join(texts) == subject.description
    assert all(len(text) <= 1000 and text.endswith(".") for text in texts)


def test_what_is_one_word_is_cut_and_lost_nowhere() -> None:
    texts = [one.line.text for one in passages_of(Subject("k", "X", "", "x" * 5000), ())]

    assert "".join(texts) == f"X: {'x' * 1000}.{'x' * 4000}"


def test_names_are_never_cut_however_long() -> None:
    long = "n" * 5000
    facts = [
        Fact("TREATS", "id t", "t" * 5000, "It helps. " * 300),
        Fact("TREATS", "id u", "u" * 5000),
    ]

    told = [one for one in passages_of(Subject("id n", long), facts) if one.facts]

    assert [one.line.text[:10_008] for one in told] == [
        f"{long} treats {'t' * 5000}",
        f"{long} treats {'u' * 5000}",
    ]


def test_a_document_says_that_it_is_of_a_graph() -> None:
    line = document_of(Subject("id e1", "TCP/IP", "e1"))

    assert (line.id, line.title, line.filename) == ("facts of id e1", "TCP/IP", "TCP-IP (graph)")
    assert line.metadata == {"tags": ["graph"], "factsOf": "e1"}
    assert document_of(Subject("name 糖尿病", "糖尿病")).filename == "糖尿病（图谱）"
    assert len(document_of(Subject("name " + "n" * 90_000, "n" * 90_000)).id) < 100


def test_a_homonym_is_not_told_by_its_name_alone() -> None:
    (one,) = passages_of(Subject("id m2", "Mercury", "m2", "A metal.", plain=False), ())

    assert one.line.entities == []
