"""Which passage has a sentence that restates the question, and what it gains by that."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sextant.domain.retrieval import ItemKind, LaneScore, RetrievedItem
from sextant.retrievers.ranking.rescorers import QuestionTerms, RescoringQuery, SentenceMatch

QUESTION = "When was the bridge of Arta rebuilt?"


def asked(question: str, **tells: float) -> QuestionTerms:
    return QuestionTerms.of(question, lambda term: tells.get(term, 1.0))


def passage(name: str, score: float, text: str, **metadata: object) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, name, text, score, metadata=metadata)


def boost(question: str, passages: list[RetrievedItem]) -> list[RetrievedItem]:
    return SentenceMatch().rescore(RescoringQuery(question, lambda _: 1.0), passages)


def names(items: list[RetrievedItem]) -> list[str]:
    return [item.id for item in items]


def test_words_that_stand_in_one_sentence_say_more_than_the_same_words_apart() -> None:
    one = asked(QUESTION)
    together = one.sentence_overlap(
        "", "The bridge of Arta was rebuilt in 1606. Masons sing of it."
    )
    apart = one.sentence_overlap("", "The bridge is old. Arta lies on a river. A mill was rebuilt.")
    assert together == pytest.approx(
        (3 + 2) / 6
    )  # three words, two neighbours; "when" says nothing
    assert apart == pytest.approx(1 / 6)


def test_neighbours_in_another_order_are_none() -> None:
    one = asked(QUESTION)
    assert one.sentence_overlap("", "Rebuilt in Arta: the bridge.") == pytest.approx(3 / 6)


def test_what_a_title_says_is_said_in_every_sentence() -> None:
    one = asked(QUESTION)
    text = "It was built in 1606. It was rebuilt in 1912."
    assert one.sentence_overlap("Bridge of Arta", text) > one.sentence_overlap("", text)


def test_a_word_counts_by_what_it_tells_and_not_as_a_part_of_another() -> None:
    one = asked("the art of war", art=3.0, war=1.0)
    assert one.sentence_overlap("", "A party went home.") == 0
    assert one.sentence_overlap("", "On art.") == pytest.approx(3 / 8)


def test_ideographs_count_by_pairs_in_whichever_characters_they_are_written() -> None:
    one = asked("阿尔塔桥重建")
    assert one.sentence_overlap("", "阿爾塔橋重建於1606年。") == pytest.approx((5 + 4) / 10)
    assert one.sentence_overlap("", "阿尔塔。塔桥。桥重。重建。") == pytest.approx((2 + 1) / 10)


@pytest.mark.parametrize("text", ["Beyoncé sang.", "BEYONCE\u0301 SANG", "Ｂｅｙｏｎｃé sang."])
def test_words_are_the_same_with_accents_in_capitals_and_in_wide_letters(text: str) -> None:
    assert asked("What did Beyoncé sing?").sentence_overlap("", text) == pytest.approx(1 / 4)


def test_a_word_in_another_spelling_is_the_same() -> None:
    assert asked("defense colors").sentence_overlap("", "Colours of the defence.") == pytest.approx(
        2 / 4
    )


@pytest.mark.parametrize("question", ["", "???", "what is it"])
def test_a_question_without_terms_is_restated_by_nothing(question: str) -> None:
    assert asked(question).sentence_overlap("Title", "What is it?") == 0


def test_the_passage_that_restates_the_question_comes_first_by_its_lead() -> None:
    found = [
        passage("river", 1.0, "Arta lies on a river. It has a bridge."),
        passage("bridge", 0.6, "The bridge of Arta was rebuilt in 1606."),
        passage("mill", 0.5, "A mill."),
    ]
    ranked = boost(QUESTION, found)
    assert names(ranked) == ["bridge", "river", "mill"]
    assert ranked[0].score == 1
    assert [one.score for one in ranked] == sorted((one.score for one in ranked), reverse=True)
    assert ranked[1].score / ranked[2].score == pytest.approx(2)


def test_where_two_say_as_much_nothing_changes() -> None:
    text = "The bridge of Arta was rebuilt."
    found = [passage("a", 1.0, "A river."), passage("b", 0.9, text), passage("c", 0.8, text)]
    assert boost(QUESTION, found) == found


def test_a_small_lead_lifts_no_passage_over_one_far_ahead() -> None:
    found = [
        passage("a", 1.0, "The bridge of Arta."),
        passage("b", 0.05, "Bridge of Arta. Rebuilt."),
    ]
    assert names(boost(QUESTION, found)) == ["a", "b"]


WORDS = ("arta", "bridge", "rebuilt", "year", "river", "mill", "塔桥", "重建", "阿尔塔")
TEXTS = st.lists(st.sampled_from((*WORDS, ". ", "。", "\n")), max_size=14).map(" ".join)


@example(
    question="arta arta bridge arta",
    texts=["arta arta bridge", "arta arta bridge", "arta arta bridge arta"],
)
@given(question=TEXTS, texts=st.lists(TEXTS, min_size=2, max_size=6))
def test_the_gain_is_that_of_reading_every_sentence_of_every_passage(
    question: str, texts: list[str]
) -> None:
    found = [passage(str(place), 1 - place / 10, text) for place, text in enumerate(texts)]
    read = sorted((asked(question).sentence_overlap("", text) for text in texts), reverse=True)
    lead = read[0] - read[1]
    gained = [one for one in boost(question, found) if "restating" in one.lanes]
    assert [one.lanes["restating"].score for one in gained] == (
        [pytest.approx(lead)] if lead > 1e-9 else []
    )


def test_a_heading_counts_as_a_title() -> None:
    text = "It was rebuilt in 1606."
    found = [
        passage("a", 1.0, text, section_path=("Mills",)),
        passage("b", 0.9, text, section_path=("Epirus", "Bridge of Arta")),
    ]
    assert names(boost(QUESTION, found)) == ["b", "a"]


def test_passages_behind_those_that_are_read_gain_nothing() -> None:
    found = [
        passage(str(number), 1 - number / 100, "A river.")
        for number in range(SentenceMatch().candidates)
    ]
    last = passage("bridge", 0.1, "The bridge of Arta was rebuilt.")
    assert boost(QUESTION, [*found, last])[-1] == last


def test_the_gain_stands_beside_what_the_lanes_gave_and_all_add_up_to_the_score() -> None:
    lanes = {"walk": LaneScore(2, 0.5), "mix": LaneScore(2, 0.5, contribution=0.5)}
    text = "The bridge of Arta was rebuilt."
    found = [
        passage("a", 1.0, "A river."),
        RetrievedItem(ItemKind.CHUNK, "b", text, 0.5, lanes=lanes),
    ]
    first, second = boost(QUESTION, found)
    assert first.lanes["walk"] == lanes["walk"]
    gained, mixed = first.lanes["restating"], first.lanes["mix"]
    assert (gained.rank, gained.weight) == (1, 2)
    assert gained.contribution is not None
    assert mixed.contribution is not None
    assert gained.contribution + mixed.contribution == pytest.approx(first.score)
    assert gained.contribution / mixed.contribution == pytest.approx(2 * gained.score / 0.5)
    assert "restating" not in second.lanes


@pytest.mark.parametrize("found", [[], [passage("a", 1.0, "The bridge of Arta.")]])
def test_none_or_one_passage_has_no_lead(found: list[RetrievedItem]) -> None:
    assert boost(QUESTION, found) == found
