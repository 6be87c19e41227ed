"""Sentences in another language than the question's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.other_language import answering, foreign_sentences, without_identifiers


def passage(text: str, **metadata: object) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, "id", text, 1.0, metadata=metadata)


FAQ = "id: FAQ-4\nquestion: Which ports must be open?\nanswer: TCP 8883 and TCP 443.\nNo other one."


def test_only_sentences_in_the_other_language_are_offered_by_their_places() -> None:
    passages = [passage("端口须开放。"), passage("Ports must be open. 端口须开放。")]
    [one] = foreign_sentences("哪些端口？", passages)
    assert (one.source, one.text) == (1, "Ports must be open.")
    assert passages[1].text[one.start : one.end] == one.text


def test_a_field_of_one_word_says_nothing() -> None:
    assert "id: FAQ-4" not in [one.text for one in foreign_sentences("哪些端口？", [passage(FAQ)])]


def test_a_question_in_the_text_lends_its_nearness_to_its_answer() -> None:
    offered = foreign_sentences("需要开放哪些端口？", [passage(FAQ)])
    found = answering(offered, [0.9, 0.8, 0.8], 0.79, known_beside=0.0)
    assert found[0].text == "TCP 8883 and TCP 443."


def test_a_row_in_both_languages_is_compared_by_what_is_in_the_other() -> None:
    row = passage(
        "| Article | Name | Price |\n| --- | --- | --- |\n| H3 | Sorting station 分拣站 | 38 |"
    )
    [one] = foreign_sentences("新员工有多少天年假？", [row])
    assert "分拣站" not in one.meaning
    assert "Sorting station" in one.meaning
    assert "分拣站" in one.text


def test_what_a_question_names_by_an_identifier_is_asked_of_nothing_else() -> None:
    report = passage("The filter window was too short.", document_title="Incident INC-2025-017")
    other = passage("The depot was stopped by snow.")
    [one] = foreign_sentences("INC-2025-017 事故的原因是什么？", [other, report])
    assert one.source == 1
    assert without_identifiers("INC-2025-017 事故的原因是什么？") == "事故的原因是什么？"


def test_the_row_with_the_names_of_the_question_goes_before_those_beside_it() -> None:
    limits = passage(
        "| 城市 | 职级 | 住宿上限 |\n| --- | --- | --- |\n| 北京 | 经理 | 700 |\n| 上海 | 员工 | 480 |\n| 上海 | 经理 | 650 |"
    )
    offered = foreign_sentences("Hotel limit for managers in Shanghai", [limits])
    found = answering(offered, [0.8] * len(offered), 0.762, known_beside=0.0)
    assert [one.text for one in found] == ["上海 | 经理 | 650"]


def test_a_row_that_has_the_asked_code_as_a_cell_says_what_it_is() -> None:
    manual = passage(
        "| Code | Meaning |\n| --- | --- |\n| E42 | Torque above limit |\n\nReset the station when E42 returns."
    )
    offered = foreign_sentences("E42 是什么意思？", [manual])
    found = answering(offered, [0.8, 0.85], 0.79, known_beside=0.0)
    assert [one.text for one in found] == ["E42 | Torque above limit"]


def test_a_name_in_the_same_letters_speaks_for_a_row() -> None:
    plans = passage("| Plan | Price |\n| --- | --- |\n| Starter | 19 |\n| Team | 79 |")
    offered = foreign_sentences("Team 套餐每月多少钱？", [plans])
    found = answering(offered, [0.81] * len(offered), 0.79, known_beside=0.0)
    assert [one.text for one in found] == ["Team | 79"]


def test_nothing_answers_that_is_no_nearer_than_usual() -> None:
    offered = foreign_sentences("期限多久？", [passage("Payment is due. The sun is hot.")])
    assert answering(offered, [0.78, 0.77], 0.79, known_beside=None) == []
    assert [one.text for one in answering(offered, [0.81, 0.78], 0.79, known_beside=None)] == [
        "Payment is due."
    ]


def test_beside_its_own_language_a_question_is_answered_by_documents_with_a_word_of_it() -> None:
    travel = passage("差旅费超支 6 万元。")
    [beside_the_point] = foreign_sentences("How much parental leave is there?", [travel])
    assert answering([beside_the_point], [0.8], 0.762, known_beside=0.0) == []
    assert answering([beside_the_point], [0.8], 0.762, known_beside=None) == [beside_the_point]


def test_a_question_of_which_no_passage_knows_a_word_is_answered_only_by_what_is_very_near() -> (
    None
):
    travel = passage("差旅费超支 6 万元。")
    offered = foreign_sentences("By how much was travelling overspent?", [travel])
    assert answering(offered, [0.8], 0.762, known_beside=0.0) == []
    assert answering(offered, [0.82], 0.762, known_beside=0.0) == offered
    assert answering(offered, [0.8], 0.762, known_beside=0.3) == offered


def test_what_answers_across_languages_stands_out_among_what_is_offered() -> None:
    report = passage(
        "扭矩滤波窗口误设为 5 毫秒。停机历时三个小时。皮带由供应商更换。固件已经发布。"
    )
    offered = foreign_sentences("quantum chromodynamics lattice", [report])
    assert answering(offered, [0.8, 0.79, 0.79, 0.78], 0.762, known_beside=0.3) == []
    found = answering(offered, [0.8, 0.75, 0.75, 0.74], 0.762, known_beside=0.3)
    assert [one.text for one in found] == ["扭矩滤波窗口误设为 5 毫秒。"]


def test_what_a_document_in_the_questions_own_language_knows_all_words_of_is_asked_of_that() -> (
    None
):
    fees = passage("上门费：保修期外每次 60 元。")
    offered = foreign_sentences("How much do I pay for a lost laptop?", [fees])
    assert answering(offered, [0.83], 0.762, known_beside=0.0) == offered
    assert answering(offered, [0.83], 0.762, known_beside=1.0) == []


def test_a_line_of_a_version_and_a_date_says_little() -> None:
    dated, said = passage("版本 3.2，2025 年 6 月。"), passage("净水器须由持证人员安装。")
    [little] = foreign_sentences("Can I work from Brazil?", [dated])
    [something] = foreign_sentences("Can I work from Brazil?", [said])
    assert little.bonus < something.bonus


@pytest.mark.parametrize(
    "said", ["Date: 2 June 2026.", "Updated on 1 March 2026.", "Published in May 2024."]
)
def test_what_tells_only_a_day_is_offered_only_to_who_asks_when(said: str) -> None:
    items = [passage(f"{said} The pump was repaired by the team on 4 May 2024.")]
    told = [one.text for one in foreign_sentences("净利润目标是多少？", items)]
    assert told == ["The pump was repaired by the team on 4 May 2024."]
    assert said in [one.text for one in foreign_sentences("哪天发布的？", items)]


NOTICE = "垃圾回收时间为每日下午五时三十分。库存 14 台，租金 3500 元。"


@pytest.mark.parametrize(
    ("question", "offered"),
    [
        ("How many pears?", 0),
        ("How many were sold in total?", 0),
        ("When is dinner?", 0),
        ("How much is the rent?", 2),
        ("When is the waste collected?", 2),
    ],
)
def test_a_question_of_one_word_is_asked_only_of_a_document_that_has_it_where_both_languages_were_found(
    question: str, offered: int
) -> None:
    beside = passage("Leave at least 900 mm of free space.")
    assert len(foreign_sentences(question, [beside, replace(passage(NOTICE), id="zh")])) == offered


def test_with_nothing_in_its_own_language_beside_a_question_of_one_word_is_compared_by_meaning() -> (
    None
):
    assert len(foreign_sentences("What are clades?", [passage(NOTICE)])) == len("ab")


CODES = "- 屏幕显示 E3：水箱没有放到位。\n- 屏幕显示 E5：锅炉温度过高。"


def test_a_sentence_about_another_code_is_not_offered_for_the_one_that_is_asked_of() -> None:
    [one] = foreign_sentences("What does E3 mean?", [passage(CODES)])
    assert one.text == "屏幕显示 E3：水箱没有放到位。"


def test_the_title_of_an_item_is_not_offered_but_stands_over_what_is() -> None:
    minutes = passage("1. Boathouse roof. Kerr can start in June.")
    [one] = foreign_sentences("船库的屋顶由谁来修？", [minutes])
    assert (one.text, one.meaning) == (
        "Kerr can start in June.",
        "Boathouse roof.\nKerr can start in June.",
    )


@pytest.mark.parametrize(("beside", "left"), [([], 3), ([passage("每个值有一个所有者。")], 1)])
def test_beside_the_own_language_who_asks_why_is_answered_by_what_gives_a_reason(
    beside: list[RetrievedItem], left: int
) -> None:
    text = (
        "Each value has one owner.\nThe depot is in Leiden.\nRust is used since it has no pauses."
    )
    offered = foreign_sentences("为什么用这种语言？", [passage(text), *beside])
    found = answering(offered, [0.9, 0.9, 0.9], 0.79, known_beside=0.0)
    assert [one.text for one in found] == text.splitlines()[-left:]
