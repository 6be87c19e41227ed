"""The walk over passages and entities: known masses, and what holds on every graph."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sextant.retrievers.index.walk as subgraph_module
from sextant.retrievers.index.walk import ScopeGraph, Subgraph, WalkIndex


def graph_of(  # noqa: PLR0917 - reads as a row of a table
    passages: int,
    entities: int,
    mentions: list[tuple[int, int]],
    titles: Sequence[tuple[int, int]] = (),
    relations: Sequence[tuple[int, int, int]] = (),
    types: int = 1,
) -> ScopeGraph:
    """Return a graph with relations of weight 1 that no passage states."""
    return ScopeGraph(
        passages=passages,
        entities=entities,
        types=types,
        mentions=np.array(sorted(set(mentions)), np.int64).reshape(-1, 2),
        titles=np.array(sorted(set(titles)), np.int64).reshape(-1, 2),
        relations=np.array(relations, np.int64).reshape(-1, 3),
        relation_weights=np.ones(len(relations), np.float32),
        statements=np.empty((0, 2), np.int64),
    )


def whole(graph: ScopeGraph) -> Subgraph:
    return Subgraph(WalkIndex(graph), np.arange(graph.passages), np.arange(graph.entities))


def walked(
    graph: ScopeGraph, passage: int, fit: list[float] | None = None, **match: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return masses of passages and entities after a walk from one passage."""
    seeds = np.zeros(graph.passages, np.float32)
    seeds[passage] = 1
    fits = np.array(fit or [0.0] * graph.passages, np.float32)
    matches = {int(kind[1:]): value for kind, value in match.items()}
    return whole(graph).walk(seeds, {}, fits, matches)


def test_mass_goes_from_a_passage_over_its_entity_to_the_passage_so_titled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(subgraph_module, "STEPS", 2)
    passages, entities = walked(graph_of(2, 1, [(0, 0)], [(1, 0)]), 0)
    # The entity, known to one passage and the title of another, weighs 3: 3 / (3 + 5) leaves.
    # Step 1 from (1, 0 | 0): the passage keeps 0.15 + 0.85 × 0.625, the entity gets 0.85 × 0.375.
    kept, given_ = 0.68125, 0.31875
    # Step 2: the entity hands 1 / 1.3 to the passage it titles and 0.3 / 1.3 back.
    assert passages[1] == pytest.approx(0.85 * given_ / 1.3, abs=1e-5)
    back = given_ * 0.3 / 1.3
    assert passages[0] == pytest.approx(0.15 + 0.85 * (0.625 * kept + back), abs=1e-5)
    assert entities[0] == pytest.approx(0.85 * 0.375 * kept, abs=1e-5)


def test_a_passage_without_entities_keeps_its_mass() -> None:
    passages, _ = walked(graph_of(2, 1, [(1, 0)]), 0)
    assert passages.tolist() == pytest.approx([1, 0])


def test_a_passage_that_names_only_its_own_title_keeps_its_mass() -> None:
    passages, _ = walked(graph_of(2, 1, [(0, 0), (1, 0)], [(0, 0)]), 0)
    assert passages.tolist() == pytest.approx([1, 0])


def test_of_the_passages_that_mention_an_entity_the_fitting_one_gets_more() -> None:
    graph = graph_of(3, 1, [(0, 0), (1, 0), (2, 0)])
    passages, _ = walked(graph, 0, fit=[0, 0.1, 0.9])
    assert passages[2] > 10 * passages[1] > 0


def test_a_relation_of_the_type_that_is_asked_for_draws_the_mass() -> None:
    friend, daughter = 0, 1
    graph = graph_of(3, 3, [(0, 0), (1, 1), (2, 2)], [], [(0, 1, friend), (0, 2, daughter)], 2)
    passages, _ = walked(graph, 0)
    assert passages[1] == pytest.approx(passages[2])
    asked, _ = walked(graph, 0, t1=1.0)
    assert asked[2] > 10 * asked[1]


def test_relations_are_walked_both_ways() -> None:
    graph = graph_of(2, 2, [(0, 0), (1, 1)], [], [(1, 0, 0)])
    assert walked(graph, 0)[0][1] > 0


def test_an_entity_of_few_passages_tells_more() -> None:
    index = WalkIndex(graph_of(4, 2, [(0, 0), (0, 1), (1, 1), (2, 1), (3, 1)]))
    assert index.information[0] == pytest.approx(1)
    assert index.information[1] < 0.2


def test_mentions_of_what_every_other_passage_mentions_are_not_walked() -> None:
    everywhere = [(passage, 0) for passage in range(0, 400, 2)]
    index = WalkIndex(graph_of(400, 2, [*everywhere, (0, 1), (2, 1)], [(4, 0)]))
    assert index.mentions_of(np.array([0, 2, 4]))[1].tolist() == [1, 1]
    assert index.titled_by(0).tolist() == [4]
    # How little it tells is known still.
    assert index.information[0] < 0.2 < index.information[1]


def test_in_a_small_knowledge_base_nothing_is_mentioned_too_often() -> None:
    index = WalkIndex(graph_of(20, 1, [(passage, 0) for passage in range(20)]))
    assert len(index.mentions_of(np.arange(20))[1]) == 20


def test_neighbours_and_titles_can_be_asked() -> None:
    index = WalkIndex(graph_of(2, 2, [(0, 0), (0, 1)], [(1, 1)]))
    owner, entities, shares = index.shares_of(np.array([1, 0]))
    assert owner.tolist() == [1, 1]
    assert entities.tolist() == [0, 1]
    assert shares.sum() == pytest.approx(1)
    assert shares[1] == pytest.approx(3 * shares[0])
    assert index.titled_by(1).tolist() == [1]
    assert index.titled_by(0).tolist() == []


def test_an_empty_graph_walks_nowhere() -> None:
    empty = np.zeros(0, np.float32)
    passages, entities = whole(graph_of(0, 0, [])).walk(empty, {}, empty, {})
    assert passages.size == entities.size == 0


@st.composite
def graphs(draw: st.DrawFn) -> ScopeGraph:
    passages, entities = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    passage, entity = st.integers(0, passages - 1), st.integers(0, entities - 1)
    pairs = st.lists(st.tuples(passage, entity), max_size=12)
    relations = st.lists(st.tuples(entity, entity, st.integers(0, 1)), max_size=8)
    proper = [link for link in draw(relations) if link[0] != link[1]]
    return graph_of(passages, entities, draw(pairs), draw(pairs), proper, 2)


@given(graphs(), st.data())
def test_mass_is_conserved_and_never_negative(graph: ScopeGraph, data: st.DataObject) -> None:
    fits = st.lists(st.floats(0, 1, width=32), min_size=graph.passages, max_size=graph.passages)
    passages, entities = walked(graph, 0, fit=data.draw(fits), t0=0.5)
    assert (passages >= 0).all()
    assert (entities >= 0).all()
    assert passages.sum() + entities.sum() == pytest.approx(1, abs=1e-4)


@given(graphs(), st.randoms(use_true_random=False))
def test_numbering_of_passages_and_entities_changes_nothing(
    graph: ScopeGraph, random: object
) -> None:
    passage_of, entity_of = list(range(graph.passages)), list(range(graph.entities))
    random.shuffle(passage_of)  # type: ignore[attr-defined]
    random.shuffle(entity_of)  # type: ignore[attr-defined]
    renumbered = graph_of(
        graph.passages,
        graph.entities,
        [(passage_of[p], entity_of[e]) for p, e in graph.mentions.tolist()],
        [(passage_of[p], entity_of[e]) for p, e in graph.titles.tolist()],
        [(entity_of[s], entity_of[t], kind) for s, t, kind in graph.relations.tolist()],
        graph.types,
    )
    here, _ = walked(graph, 0)
    there, _ = walked(renumbered, passage_of[0])
    assert there[passage_of] == pytest.approx(here, abs=1e-5)
