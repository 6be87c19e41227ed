"""The parts that a question asks for, by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.nodes.question.wording import (
    MOST_PARTS,
    clauses_of,
    joined_parts,
    sides_of,
    telling_words,
)


def test_the_telling_words_of_a_question_are_whole_in_any_script() -> None:
    assert telling_words("हिन्दी भाषा") == ["हिन्दी", "भाषा"]
    assert telling_words("What is the Rock-n-Roll of R&D?") == ["Rock-n-Roll", "R&D"]


def parts_of(question: str) -> list[str]:
    return clauses_of(question) or sides_of(question)


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Who founded Acme Corp, and when was it sold?",
            ["Who founded Acme Corp", "when was it sold? (Acme Corp)"],
        ),
        (
            "What is the warranty of Heron 3? How do I claim it?",
            ["What is the warranty of Heron 3?", "How do I claim it? (Heron 3)"],
        ),
        (
            "What are the signs of Graves' disease and how is it treated?",
            ["What are the signs of Graves' disease", "how is it treated? (Graves)"],
        ),
        (
            "Which is older, Acme Corp or Beta Ltd?",
            ["Which is older, Acme Corp?", "Which is older, Beta Ltd?"],
        ),
        (
            "Are both Duke Energy and Pizza Inn based in Massachusetts?",
            [
                "Are both Duke Energy based in Massachusetts?",
                "Are both Pizza Inn based in Massachusetts?",
            ],
        ),
        ("Heron 3 和 Heron 5 哪个更快？", ["Heron 3 哪个更快？", "Heron 5 哪个更快？"]),
        ("付款节点有哪些，违约金是多少？", ["付款节点有哪些", "违约金是多少？ (付款, 节点)"]),
        (
            "What are the signs of gout, and how is it treated?",
            ["What are the signs of gout", "how is it treated? (signs, gout)"],
        ),
        (
            "Compare the treatment and the diet advice for gout.",
            ["treatment for gout", "diet advice for gout"],
        ),
        (
            "What is the difference between the Gold plan and the Silver plan?",
            ["Gold plan", "Silver plan"],
        ),
        ("胰岛素和二甲双胍有什么区别？", ["胰岛素有什么区别？", "二甲双胍有什么区别？"]),
        ("请比较一下痛风的治疗与饮食", ["请比较一下痛风的治疗", "请比较一下痛风的饮食"]),
        ("比较年假和病假的天数", ["年假的天数", "病假的天数"]),
        ("年假与病假分别有几天？", ["年假分别有几天？", "病假分别有几天？"]),
        (
            "E51 报警怎么办，保修期多长，多久清洁一次？",
            ["E51 报警怎么办", "保修期多长 (E51)", "多久清洁一次？ (E51)"],
        ),
        ("年假有几天？病假呢？", ["年假有几天？", "病假呢？ (年假, 几天)"]),
        (
            "《甲》是什么类型的电影？它的导演是谁？",
            ["《甲》是什么类型的电影？", "它的导演是谁？ (甲)"],
        ),
    ],
)
def test_several_questions_and_sides_of_a_comparison_are_told_apart(
    question: str, parts: list[str]
) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "",
        "糖尿病患者的主要症状是什么？",
        "When did the state where Pocahontas Mounds is located become part of the United States?",
        "In which country and when was the actor who plays John born?",
        "Who is the singer with a husky voice and whose third album is Diamond Cut?",
        "Which year was the author of War and Peace born?",
        "When Columbus sailed to America, what was the first region he arrived in?",
        "昆明的主要公路包括320国道、京昆高速和哪一条道路？",
        "中华人民共和国成立于哪一年？",
    ],
)
def test_a_question_that_asks_one_thing_has_no_parts(question: str) -> None:
    assert parts_of(question) == []


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What does it say about leave and travel?",
            ["What does it say about leave?", "What does it say about travel?"],
        ),
        ("Explain annual leave and sick leave", ["Explain annual leave", "Explain sick leave"]),
        ("痛风的治疗和饮食建议是什么？", ["痛风的治疗是什么？", "痛风的饮食建议是什么？"]),
        ("补贴、限额以及流程有哪些？", ["补贴有哪些？", "限额有哪些？", "流程有哪些？"]),
        (
            "Summarise the contract: payment, delivery and penalties.",
            [f"Summarise the contract: {one}" for one in ("payment", "delivery", "penalties")],
        ),
        (
            "List holidays, leave and travel for interns.",
            ["List holidays for interns", "List leave for interns", "List travel for interns"],
        ),
        ("Which parts of the manual deal with safety, and do they apply to the XL?", []),
        ("How long is the probation?", []),
        ("多久清洁一次？", []),
        (
            "How is diabetes diagnosed and treated?",
            ["How is diabetes diagnosed?", "How is diabetes treated?"],
        ),
    ],
)
def test_things_that_are_joined_without_being_compared_are_parts_too(
    question: str, parts: list[str]
) -> None:
    assert parts_of(question) == []
    assert joined_parts(question) == parts


@given(st.text(max_size=200))
def test_there_are_none_or_two_to_four_parts_that_say_something(question: str) -> None:
    parts = parts_of(question) or joined_parts(question)
    assert not parts or 2 <= len(parts) <= MOST_PARTS
    assert all(part.strip() for part in parts)
