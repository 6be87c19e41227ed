"""What the features of a sentence say of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sextant.models.offline.candidates import read_sentences
from sextant.models.offline.features import SENTENCE_FEATURES, Evidence
from sextant.text.characters import language_of
from tests.unit.models.offline.passages import item

TABLE = "| City | Hotel limit |\n| --- | --- |\n| Tokyo | 190 |\n| Vienna | 120 |"


def measure(question: str, *texts: str, title: str = "") -> list[dict[str, float]]:
    """Return the features of each sentence of some passages."""
    items = [replace(item(text), metadata={"title": title}) for text in texts]
    sentences = read_sentences(question, items)
    evidence = Evidence(question, items, sentences, language_of(question))
    rows = evidence.measure_sentences()
    return [dict(zip(SENTENCE_FEATURES, map(float, row), strict=True)) for row in rows]


def test_a_sentence_holds_the_share_of_the_question_that_its_words_tell() -> None:
    whole, half, none = measure(
        "Who repaired the belt?", "Ann repaired the belt. The belt is black. It rains."
    )
    assert whole["overlap"] == pytest.approx(1.0)
    assert 0 < half["overlap"] < 1
    assert none["overlap"] == 0


def test_a_title_holds_what_the_sentence_does_not_repeat() -> None:
    (said,) = measure("How heavy is the Heron?", "It weighs 800 kg.", title="Heron")
    assert said["heading_overlap"] > 0


def test_a_row_is_read_under_the_head_of_its_table() -> None:
    tokyo, vienna = measure("What is the hotel limit in Tokyo?", TABLE)
    assert tokyo["overlap"] == pytest.approx(1.0)
    assert 0 < vienna["overlap"] < 1


@pytest.mark.parametrize(
    ("question", "text", "match"),
    [
        ("When was it built?", "It was built in 1907.", 1),
        ("When was it built?", "It was built of brick.", -1),
        ("How many rooms are there?", "There are twelve rooms.", 1),
        ("Who built it?", "It was built by Mira Sand.", 1),
        ("Who built it?", "It was built of brick.", -1),
        ("它是哪一年建成的？", "它于1907年建成。", 1),
        ("它是哪一年建成的？", "它用砖建成。", -1),
        ("为什么停机？", "由于皮带打滑而停机。", 1),
        ("Is it old?", "It is a lamp of 1907.", 0),
        ("什么是食品浪费？", "本法所称食品浪费，是指未能合理利用食品。", 1),
        ("什么是食品浪费？", "各级人民政府应当反对食品浪费。", 0),
        ("保修多久？", "保修期为十八个月。", 1),
        ("保修多久？", "两台电机都保修。", -1),
        ("How soon do you reply?", "We reply within two working days.", 1),
        ("How soon do you reply?", "Line 4 replies.", -1),
        ("When was it built?", "Rust is gone. See #1907.", -1),
    ],
)
def test_the_kind_of_thing_that_is_asked_for_is_found(question: str, text: str, match: int) -> None:
    assert measure(question, text)[0]["answer_type"] == match


@pytest.mark.parametrize("question", ["What is Tokyo?", "What is the climate of Vienna?"])
def test_a_row_answers_no_question_for_what_its_table_has_no_column(question: str) -> None:
    assert {one["answer_type"] for one in measure(question, TABLE)} == {0}


def test_words_that_ask_or_say_little_are_no_part_of_what_is_asked() -> None:
    assert measure("仓库的门需要多少把钥匙？", "仓库的门有三把钥匙。")[0]["overlap"] > 0.99


def test_what_a_follow_up_names_itself_tells_more_than_what_it_borrowed() -> None:
    own, borrowed = measure(
        "And for the motor? (warranty)", "The motor is covered for five years. A warranty is given."
    )
    assert own["overlap"] == pytest.approx(2 / 3)
    assert borrowed["overlap"] == pytest.approx(1 / 3)


def test_simplified_and_traditional_characters_are_the_same() -> None:
    assert measure("臺北辦公室", "台北办公室。")[0]["overlap"] == pytest.approx(1.0)


def test_a_sentence_in_another_language_is_told_so() -> None:
    found = measure("皮带打滑怎么办？", "Tension the belt. ", "张紧皮带。")
    assert [one["other_language"] for one in found] == [1.0, 0.0]


def test_the_head_of_a_table_cannot_be_quoted() -> None:
    sentences = read_sentences("limit", [item(TABLE)])
    assert [one.text for one in sentences] == ["Tokyo | 190", "Vienna | 120"]


def test_an_answer_is_measured_by_what_its_passage_and_others_lack() -> None:
    items = [item("Ann repaired the belt."), item("Bert cleans the hall.")]
    question = "Who repaired the belt on Monday?"
    sentences = read_sentences(question, items)
    evidence = Evidence(question, items, sentences, "en")
    told = evidence.measure_answer(sentences, evidence.measure_sentences(), np.asarray([2.0, 1.0]))
    assert told["missing"] == pytest.approx(1 / 3)
    assert told["usual_passage_overlap"] == 0


@pytest.mark.parametrize(
    ("question", "label", "number"),
    [
        ("产假有多少天？", "第八条 产假期间的津贴按平均工资支付。", "第七条 产假共九十八天。"),
        ("产假有多少天？", "表二 产假与八角。", "产假有三十天。"),
        ("How many seats has the hall?", "Article 8 is of seats of the hall.", "The hall has 80."),
    ],
)
def test_the_number_of_an_article_is_no_number_of_anything(
    question: str, label: str, number: str
) -> None:
    named, counted = measure(question, label, number)
    assert (named["answer_type"], counted["answer_type"]) == (-1.0, 1.0)


def test_which_article_it_is_asks_for_the_number_of_one() -> None:
    (said,) = measure("产假在第几条？", "第八条 产假。")
    assert said["answer_type"] == 1.0


def test_where_a_link_leads_says_nothing() -> None:
    linked, _ = measure(
        "When does Heron 16 end?", "The plan (https://example.org/heron/16/end).", "In May."
    )
    assert linked["overlap"] == 0
