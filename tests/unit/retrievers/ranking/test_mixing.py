"""The ranking of `mix`: a two-hop question over six passages, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import numpy.typing as npt
import pytest

from sextant.retrievers.arrays import SparseScores
from sextant.retrievers.index.lexical import LexicalIndex
from sextant.retrievers.index.walk import ScopeGraph, WalkIndex
from sextant.retrievers.lanes.entities import link_strength
from sextant.retrievers.ranking.mix_ranker import (
    GraphRanking,
    MixParameters,
    PageRankMixer,
    QuerySignals,
)
from sextant.text.name_linker import NameTrie

MIXER = PageRankMixer()
_TITLES = ["Pocahontas Mounds", "Mississippi", "Tennessee", "Oath", "Chess", "Cheese"]
_PASSAGES = [
    "Pocahontas Mounds is an archaeological site in Hinds County, Mississippi.",
    "Mississippi was admitted to the Union in 1817.",
    "Tennessee was admitted to the Union in 1796.",
    "The oath of allegiance is sworn to the Union and the state.",
    "The rules of a game on a board.",
    "Milk that was curdled and pressed.",
]
_QUESTION = "When was the state of Pocahontas Mounds admitted to the Union?"


def graph_of(
    passages: int,
    entities: int,
    titles: npt.ArrayLike = (),
    mentions: npt.ArrayLike = (),
    *,
    relations: npt.ArrayLike = (),
    statements: npt.ArrayLike = (),
) -> WalkIndex:
    """Return passages that are titled with entities, and mention some: pairs of their numbers; relations have a type besides.

    Statements are pairs of a relation and the passage that states it.
    """
    related = np.asarray(relations, np.int64).reshape(-1, 3)
    return WalkIndex(
        ScopeGraph(
            passages=passages,
            entities=entities,
            types=int(related[:, 2].max(initial=-1)) + 1,
            mentions=np.asarray(mentions, np.int64).reshape(-1, 2),
            titles=np.asarray(titles, np.int64).reshape(-1, 2),
            relations=related,
            relation_weights=np.ones(len(related), np.float32),
            statements=np.asarray(statements, np.int64).reshape(-1, 2),
        )
    )


def ranked(question: str = _QUESTION, near: np.ndarray | None = None) -> GraphRanking:
    """Return every passage is titled with an entity, and mentions those whose names it contains."""
    lexical = LexicalIndex.build(
        f"{title}\n{text}" for title, text in zip(_TITLES, _PASSAGES, strict=True)
    )
    names = NameTrie({title: [row] for row, title in enumerate(_TITLES)})
    mentions = [
        (row, entity)
        for row, text in enumerate(_PASSAGES)
        for match in names.find(text)
        for entity in match.bearers
    ]
    graph = graph_of(
        len(_PASSAGES),
        len(_TITLES),
        titles=np.array([(row, row) for row in range(len(_TITLES))], np.int64),
        mentions=np.array(sorted(set(mentions)), np.int64).reshape(-1, 2),
    )
    named = {
        match.bearers[0]: link_strength(lexical, question[match.start : match.end])
        for match in names.find(question)
    }
    nearness = None if near is None else SparseScores(np.arange(len(near)), near)
    return MIXER.rank(graph, QuerySignals(lexical.match(question), nearness, named))


def test_the_second_hop_that_the_question_does_not_name_comes_second() -> None:
    assert np.argsort(-ranked().passages)[:2].tolist() == [0, 1]


def test_words_alone_do_not_tell_the_second_hop_from_its_double() -> None:
    fit = ranked().relevance
    assert fit[1] == pytest.approx(fit[2], rel=0.05)


def test_passages_that_share_nothing_with_the_question_get_nothing() -> None:
    passages = ranked().passages
    assert passages[4] == passages[5] == 0


def test_vectors_raise_what_is_near() -> None:
    near = np.array([0, 0, 0, 0, 1, 0], np.float32)
    assert ranked(near=near).passages[4] > 0


def test_a_question_that_touches_nothing_ranks_nothing() -> None:
    ranking = ranked("完全无关的问题")
    assert not ranking.passages.any()
    assert not ranking.entities.any()


@pytest.mark.parametrize("ranking", [MIXER.rank, partial(MIXER.rank, entities_alone=True)])
def test_a_graph_without_passages_has_entities_to_tell_all_the_same(
    ranking: Callable[[WalkIndex, QuerySignals], GraphRanking],
) -> None:
    index = graph_of(0, 2, relations=[(0, 1, 0)])
    found = ranking(index, QuerySignals(LexicalIndex.build(()).match(_QUESTION), named={0: 1.0}))
    assert len(found.passages) == 0
    assert found.entities[0] > found.entities[1] > 0


def test_a_name_of_common_words_is_hardly_a_name() -> None:
    lexical = LexicalIndex.build([*(f"time flies {n}" for n in range(30)), "Kraus House"])
    assert link_strength(lexical, "Kraus House") == 1
    assert link_strength(lexical, "time") < 0.01
    assert link_strength(lexical, "unheard of") == 0


def test_passages_to_which_the_graph_leads_alike_keep_their_seeds() -> None:
    """Neither is titled, neither mentions anything: each has the cube of its relevance."""
    lexical = LexicalIndex.build(["red apple", "red plum", "kiwi"])
    ranking = MIXER.rank(graph_of(3, 0), QuerySignals(lexical.match("red apple")))
    half = ranking.relevance[1]
    assert ranking.passages / ranking.passages[0] == pytest.approx([1, half**3, 0])


def test_a_parameter_changes_the_ranking_of_its_own_mixer_alone() -> None:
    lexical = LexicalIndex.build(["red apple", "red plum", "kiwi"])
    graph, signals = graph_of(3, 0), QuerySignals(lexical.match("red apple"))
    flat = PageRankMixer(MixParameters(sharpness=1)).rank(graph, signals)
    sharp = MIXER.rank(graph, signals)
    assert flat.passages[1] / flat.passages[0] == pytest.approx(flat.relevance[1])
    assert sharp.passages[1] / sharp.passages[0] < flat.passages[1] / flat.passages[0]


def test_a_passage_gains_nothing_by_having_few_entities_where_nothing_is_named() -> None:
    """The first fits better and hands its mass on to those that share its entities; the second keeps its own."""
    passages = [
        "red sweet ripe apple",
        "red sweet ripe apple tree",
        *(["kiwi fig plum pear melon grape"] * 12),
    ]
    shared = [(row, row - 2) for row in range(2, 14)]
    graph = graph_of(14, 12, mentions=[*((0, entity) for _, entity in shared), *shared])
    signals = QuerySignals(LexicalIndex.build(passages).match("red sweet ripe apple"))
    ranking, around = MIXER.rank(graph, signals), MIXER.rank(graph, signals, entities_alone=True)
    assert np.argsort(-ranking.passages)[:2].tolist() == [0, 1]
    assert np.argsort(-around.passages)[:2].tolist() == [
        1,
        0,
    ]  # which goes by where the walk dwells


def test_a_single_passage_is_ranked_though_none_is_there_to_be_ahead_of() -> None:
    match = LexicalIndex.build(["red apple"]).match("red apple")
    ranking = MIXER.rank(graph_of(1, 1, titles=[(0, 0)]), QuerySignals(match, named={0: 1.0}))
    assert ranking.passages[0] > 0


def test_of_a_large_graph_what_is_about_a_named_entity_is_walked_though_it_shares_no_word() -> None:
    """The last of 1,200 passages mentions what the question names, in other words than the question's."""
    texts = ["red apple", *(["plum"] * 1_198), "kiwi"]
    graph = graph_of(1_200, 1, mentions=[(1_199, 0)])
    ranking = MIXER.rank(
        graph, QuerySignals(LexicalIndex.build(texts).match("red apple"), named={0: 1.0})
    )
    assert np.argsort(-ranking.passages)[:2].tolist() in ([0, 1_199], [1_199, 0])
    assert ranking.passages[1_199] > ranking.passages[1:1_199].max()


def test_a_passage_titled_with_a_named_entity_leads_on_though_it_shares_no_word() -> None:
    """Liu's own passage says nothing that is asked; of the two whom it mentions one was born, as is asked."""
    texts = ["letters", "Chen was born by the sea in spring", "Wang left", "Zhu was born", "plum"]
    graph = graph_of(5, 3, titles=[(row, row) for row in range(3)], mentions=[(0, 1), (0, 2)])
    ranking = MIXER.rank(
        graph, QuerySignals(LexicalIndex.build(texts).match("born"), named={0: 1.0})
    )
    assert ranking.passages.argmax() == 1


def test_a_passage_that_states_what_is_asked_of_the_named_fits_better_than_its_double() -> None:
    """Two passages read alike; one of them states the relation that the question asks for."""
    graph = graph_of(3, 2, relations=[(0, 1, 0)], statements=[(0, 1)])
    match = LexicalIndex.build(["Liu", "a friend", "a friend"]).match("friend")
    signals = QuerySignals(match, named={0: 1.0}, type_match={0: 1.0})
    fit = MIXER.relevance(graph, signals)
    assert 1 == fit[1] > fit[2] > fit[0]
