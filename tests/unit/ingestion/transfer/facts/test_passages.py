"""Which passages the facts of an import become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from ingestion.transfer.facts.passages import Fact, Passage, Subject, document_of, passages_of
from ingestion.transfer.facts.spooled import FactSpool, Named
from ingestion.transfer.spool import Numbered, Stated, spool

NAMES = ["Insulin", "Metformin", "糖尿病", "头痛", "Fever"]
ENDS = {name: Named(f"name {name}", name) for name in NAMES}

relations = st.builds(
    Stated,
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from(["TREATS", "CAUSES", "并发症"]),
    st.sampled_from(["", "since 1922", "It helps."]),
    st.just(1.0),
    st.sampled_from([[], [], ["c1"]]),
)
triples = st.tuples(
    st.sampled_from(NAMES), st.sampled_from(["TREATS", "CAUSES"]), st.sampled_from(NAMES)
)


def told(
    lines: Sequence[Stated], heard: Sequence[tuple[str, str, str]] = ()
) -> list[tuple[Subject, list[Passage]]]:
    with spool() as kept:
        facts = FactSpool(kept.rows)
        facts.add_told([], heard)
        facts.add_facts([Numbered(n, line) for n, line in enumerate(lines, start=1)], ENDS)
        return [(one, list(passages_of(one, facts.facts(one.key)))) for one in facts.subjects()]


@given(st.lists(relations, max_size=40), st.lists(triples, max_size=3))
def test_each_fact_that_no_chunk_states_is_told_once_as_its_last_line_says(
    lines: list[Stated], heard: list[tuple[str, str, str]]
) -> None:
    of = {(one.source, one.relation_type, one.target): one for one in lines if not one.chunk_ids}
    stated = {(one.source, one.relation_type, one.target) for one in lines if one.chunk_ids}
    wanted = {key for key in of if key[0] != key[2]} - stated - set(heard)

    passages = told(lines, heard)

    found = Counter(
        (subject.name, fact.relation_type, fact.name)
        for subject, some in passages
        for passage in some
        for fact in passage.facts
    )
    assert found == Counter(wanted)
    for subject, some in passages:
        for passage in some:
            text = passage.line.text
            assert subject.name in text
            assert all(fact.name in text for fact in passage.facts)
            assert all(
                of[subject.name, fact.relation_type, fact.name].description in text
                for fact in passage.facts
            )
    ids = [passage.line.id for _, some in passages for passage in some]
    assert len(ids) == len(set(ids))


@given(st.lists(relations, max_size=20, unique_by=lambda one: one[:3]), st.randoms())
def test_the_order_of_lines_changes_no_passage(lines: list[Stated], random: object) -> None:
    shuffled = list(lines)
    getattr(random, "shuffle")(shuffled)  # noqa: B009 - hypothesis' own type is private

    def lines_of(passages: list[tuple[Subject, list[Passage]]]) -> list[dict[str, object]]:
        return [passage.line.wire() for _, some in passages for passage in some]

    assert lines_of(told(shuffled)) == lines_of(told(lines))


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
