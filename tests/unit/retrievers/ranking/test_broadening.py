"""How far hybrid goes by global: by the question, by what names vouch for, and by what there is."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.retrievers.ranking.fusion import cut_with_reports, insert_reports, share_of_global


def passage(name: str, score: float) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, name, f"text of {name}", score)


def report(name: str, score: float) -> RetrievedItem:
    lanes = {"reports": LaneScore(1, score, contribution=score)}
    return RetrievedItem(ItemKind.COMMUNITY, name, f"text of {name}", score, lanes=lanes)


def test_global_counts_the_less_the_more_the_names_of_a_question_vouch_for() -> None:
    asked = "Who lowers blood sugar?"
    shares = [share_of_global(asked, trust, reported=True) for trust in (0.0, 0.5, 0.95)]
    assert shares == pytest.approx([0.4, 0.2, 0.02])


@pytest.mark.parametrize(
    "asked",
    [
        "What are the main themes of these documents?",
        "What do the documents say about parental leave?",
        "Summarize what is known about the harbour.",
        "总结糖尿病的治疗方法",
        "文档对低血糖说了什么？",
    ],
)
def test_of_an_account_global_gives_nearly_all(asked: str) -> None:
    assert share_of_global(asked, 0.9, reported=True) == 0.9


@pytest.mark.parametrize("asked", ["Who is it?", "What do the documents say about leave?"])
def test_without_reports_global_settles_only_what_is_undecided(asked: str) -> None:
    assert share_of_global(asked, 0.0, reported=False) == 0.02


def test_reports_stand_among_passages_by_their_share() -> None:
    passages = [passage("a", 1.0), passage("b", 0.3), passage("c", 0.1)]
    found = insert_reports(passages, [report("r", 0.5), report("s", 0.25)], 0.4)
    assert [one.id for one in found] == ["a", "r", "b", "s", "c"]
    assert [one.score for one in found] == pytest.approx([1.0, 0.4, 0.3, 0.2, 0.1])
    assert found[1].lanes["reports"].contribution == pytest.approx(0.4)


def test_reports_take_half_of_the_places_of_their_share() -> None:
    ranking = insert_reports(
        [passage(f"p{at}", 1 - at / 100) for at in range(20)],
        [report(f"r{at}", 1 - at / 100) for at in range(6)],
        0.9,
    )
    kinds = [one.kind for one in cut_with_reports(ranking, 10, 0.9)]
    assert kinds.count(ItemKind.COMMUNITY) == 5
    assert len(kinds) == 10
    few = [one.kind for one in cut_with_reports(ranking, 10, 0.3)]
    assert few.count(ItemKind.COMMUNITY) == 2


def test_one_report_at_least_is_there_where_there_is_room_for_it() -> None:
    passages = [passage(f"p{at}", 1 - at / 100) for at in range(20)]
    ranking = insert_reports(passages, [report("r", 0.5), report("s", 0.4)], 0.02)
    assert [one.id for one in cut_with_reports(ranking, 5, 0.02)] == ["p0", "p1", "p2", "p3", "r"]
    assert [one.id for one in cut_with_reports(ranking, 2, 0.02)] == ["p0", "p1"]
    assert [one.id for one in cut_with_reports(passages, 3, 0.02)] == ["p0", "p1", "p2"]


def test_one_place_is_a_passages() -> None:
    ranking = insert_reports([passage("p", 0.5)], [report("r", 0.5)], 0.9)
    assert [one.id for one in cut_with_reports(ranking, 1, 0.9)] == ["p"]
    assert [one.id for one in cut_with_reports(ranking, 2, 0.9)] == ["r", "p"]
