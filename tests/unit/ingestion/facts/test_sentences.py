"""How the facts of a graph read."""

from __future__ import annotations

import pytest

from sextant.ingestion.fact_passages import also_called, describe_entity, readable, sentence


@pytest.mark.parametrize(
    ("relation_type", "said"),
    [
        ("TREATS", "treats"),
        ("ACTED_IN", "acted in"),
        ("birthPlace", "birth place"),
        ("has-part", "has part"),
        ("http://schema.org/birthPlace", "birth place"),
        ("schema:birthPlace", "birth place"),
        ("wdt:P57", "P57"),
        ("CEO", "CEO"),
        ("IS", "is"),
        ("country of citizenship", "country of citizenship"),
        ("好友", "好友"),
        ("_", "_"),
    ],
)
def test_types_are_read_as_one_would_say_them(relation_type: str, said: str) -> None:
    assert readable(relation_type) == said


@pytest.mark.parametrize(
    ("subject", "relation_type", "targets", "said"),
    [
        ("Insulin", "TREATS", ["diabetes"], "Insulin treats diabetes."),
        ("Tom", "ACTED_IN", ["Big", "Hook", "Jaws"], "Tom acted in Big, Hook and Jaws."),
        ("Tom", "BORN_IN", ["Paris, Texas", "Rome"], "Tom was born in Paris, Texas; Rome."),
        ("Titanic", "directedBy", ["James Cameron"], "Titanic is directed by James Cameron."),
        ("Titanic", "director", ["James Cameron"], "Titanic, director: James Cameron."),
        ("Paris", "capital of", ["France"], "Paris is capital of France."),
        ("Tim", "WORKS_AT", ["Apple Inc."], "Tim works at Apple Inc."),
        ("张三", "好友", ["李四", "王五"], "张三的好友是李四、王五。"),
        ("胰岛素", "治疗", ["2型糖尿病"], "胰岛素治疗2型糖尿病。"),
        ("张三", "毕业于", ["MIT"], "张三毕业于 MIT。"),
        ("泰坦尼克号", "导演", ["卡梅隆"], "泰坦尼克号的导演是卡梅隆。"),
        ("胰岛素", "TREATS", ["糖尿病"], "胰岛素 treats 糖尿病。"),
        ("张三", "FRIEND", ["李四"], "张三，friend：李四。"),
        ("Aspirin", "治疗", ["headache"], "Aspirin 治疗 headache。"),
    ],
)
def test_a_relation_reads_as_a_sentence_of_its_language(
    subject: str, relation_type: str, targets: list[str], said: str
) -> None:
    assert sentence(subject, relation_type, targets) == said


@pytest.mark.parametrize(
    ("subject", "relation_type", "target", "description", "said"),
    [
        ("A", "TREATS", "B", "since 1922", "A treats B (since 1922)."),
        ("A", "MADE", "B Inc.", "since 1922", "A made B Inc. (since 1922)."),
        ("A", "TREATS", "B", "It lowers sugar.", "A treats B. It lowers sugar."),
        ("甲", "治疗", "乙", "一线用药", "甲治疗乙（一线用药）。"),
        ("甲", "治疗", "乙", "可降低血糖。", "甲治疗乙。可降低血糖。"),
    ],
)
def test_a_relations_description_comes_along(
    subject: str, relation_type: str, target: str, description: str, said: str
) -> None:
    assert sentence(subject, relation_type, [target], description) == said


def test_other_names_are_told_in_the_language_of_the_name() -> None:
    assert also_called("Folic acid", ["B9", "叶酸"]) == "Folic acid is also called B9 and 叶酸."
    assert also_called("叶酸", ["维生素B9"]) == "叶酸又称维生素B9。"


def test_a_description_says_of_whom_it_is() -> None:
    assert describe_entity("Nora", "American writer") == "Nora: American writer."
    assert describe_entity("Nora", "Nora wrote films.") == "Nora wrote films."
    assert describe_entity("AI", "Maintains itself.") == "AI: Maintains itself."
    assert describe_entity("糖尿病", "慢性病") == "糖尿病：慢性病。"
