"""Sentences that say what something is, and those that only look so."""

from __future__ import annotations

import pytest

from sextant.ingestion.graph.extraction.entity_types import find_defined, find_parts

NAMES = (
    *(
        "Cargo",
        "Ada Marsh",
        "Rust",
        "糖尿病",
        "所有权",
        "Heron",
        "Ownership",
        "data race",
        "杭州",
        "Chinook",
    ),
    "借用检查器",
)


def defined(text: str) -> list[tuple[str, str, str]]:
    found = list(find_defined(text, NAMES))
    for one in found:
        assert text[one.start :].startswith(one.name)
        assert text[one.kind.start : one.kind.end] == one.kind.text
        assert one.description in " ".join(text.split())
    return [(one.name, one.kind.text, one.entity_type) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Cargo is the build tool of Rust.", ("Cargo", "build tool", "TOOL")),
        ("The Heron is a sorting machine.", ("Heron", "sorting machine", "PRODUCT")),
        (
            "Ada Marsh (born 1901) was an English novelist.",
            ("Ada Marsh", "English novelist", "PERSON"),
        ),
        ("所有权是一种内存管理机制。", ("所有权", "内存管理机制", "CONCEPT")),
        (
            "糖尿病是一组由缺陷和（或）障碍引起、以高血糖为特征的代谢性疾病。",
            ("糖尿病", "代谢性疾病", "DISEASE"),
        ),
        ("糖尿病是指血糖升高，须治疗。", ("糖尿病", "血糖升高", "CONCEPT")),
        ("“所有权”指一人独占。", ("所有权", "一人独占", "CONCEPT")),
        ("“所有权”是一种独占关系。", ("所有权", "独占关系", "CONCEPT")),
        ("杭州是一种生活。", ("杭州", "生活", "TERM")),
        ("A data race is a bug.", ("data race", "bug", "CONCEPT")),
        ("Ownership is a promise. See what ownership is.", ("Ownership", "promise", "CONCEPT")),
        ("Ownership is a set of rules.", ("Ownership", "rules", "CONCEPT")),
        ("Chinook is a joy.", ("Chinook", "joy", "TERM")),
        ("The Ownership is a promise of ownership.", ("Ownership", "promise", "TERM")),
        ('"Ownership" is a series on ownership.', ("Ownership", "series", "TERM")),
        ("Ownership was a promise of ownership.", ("Ownership", "promise", "TERM")),
        ("Chinook is a disease caused by a plant.", ("Chinook", "disease", "DISEASE")),
    ],
)
def test_a_sentence_says_what_something_is(text: str, expected: tuple[str, str, str]) -> None:
    assert defined(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Rust is fast, and speed is a virtue.",
        "Rust keeps memory safe because ownership is a mechanism.",
        "What Cargo is, nobody knows.",
        "Cargoes is a game.",
        "糖尿病是常见的。",
        "所有权指一人独占。",
        "借用检查器是编译器里的一个部件。",
        "糖尿病患者的主要症状是一种疾病。",
    ],
)
def test_what_is_said_of_something_else_is_none_of_it(text: str) -> None:
    assert defined(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Slate is a build tool. It is a tool. This was the method.", ("Slate", "TOOL")),
        ("Brisket is a joy.", None),
        ("Slate was there. The tool is a joy.", None),
        ("借用检查是一种机制，它是一种工具。", None),
        ("绘图仪是一种设备。", ("绘图仪", "PRODUCT")),
        ("我们用的绘图仪是一种设备。", None),
        ("Slate是构建工具。", ("Slate", "TOOL")),
        ("绘图仪是一种喜悦。", ("绘图仪", "CONCEPT")),
        ("绘图仪是喜悦。", None),
    ],
)
def test_what_a_definition_begins_with_is_a_name(
    text: str, expected: tuple[str, str] | None
) -> None:
    found = [(one.name, one.entity_type) for one in find_defined(text, ())]
    assert found == ([expected] if expected else [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Bolt is part of the Heron.", ("Bolt", "Heron")),
        ("Heron Bolts are an essential part of Heron.", ("Heron Bolts", "Heron")),
        ("借用检查器（checker）是所有权系统的一部分。", ("借用检查器", "所有权系统")),
        ("借用检查器也是Rust的所有权系统的重要组成部分。", ("借用检查器", "所有权系统")),
        ("Bolt is apart from Heron.", None),
        ("Bolt is part of Nothing.", None),
        ("借用检查器是一部分。", None),
        ("The bolt of the Bolt is part of the Heron.", None),
        ("部件检查器是系统的一部分。", ("部件检查器", "系统")),
        ("他的检查器是系统的一部分。", None),
        ("The spindle is part of the lathe", ("spindle", "lathe")),
        ("A thermocouple is part of the control unit.", ("thermocouple", "control unit")),
        ("The safety valve is a part of a boiler that heats water.", ("safety valve", "boiler")),
        ("The pump was part of the Heron's frame.", ("pump", "Heron")),
        ("筘座是织机的一部分。", ("筘座", "织机")),
        ("砚池是砚台的重要组成部分。", ("砚池", "砚台")),
        ("This is part of the plan.", None),
        ("The one that turns is part of the lathe.", None),
        ("The spindle is part of what turns.", None),
        ("The fee is part of the EUR 30 price.", None),
        ("这个是织机的一部分。", None),
        ("我们都是集体的一部分。", None),
    ],
)
def test_a_sentence_says_what_something_is_part_of(
    text: str, expected: tuple[str, str] | None
) -> None:
    names = ("Bolt", "Heron", "Heron Bolts", "借用检查器", "检查器", "所有权系统", "系统")
    parts = list(find_parts(text, names))
    assert [(one.part, one.whole) for one in parts] == ([expected] if expected else [])
    for one in parts:
        assert text.startswith(one.part, one.part_start)
        assert text.startswith(one.whole, one.whole_start)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("刹车片是制动系统的一部分。", "制动系统"),
        ("心脏是循环系统的重要组成部分。", "循环系统"),
        ("刹车片是该系统的一部分。", "系统"),
        ("客服部是我们公司的一部分。", "公司"),
        ("The pad is part of the braking system.", "braking system"),
        ("The pad is part of the braking, which wears.", "braking"),
    ],
)
def test_a_whole_is_all_that_is_named_and_not_the_word_it_ends_or_begins_with(
    text: str, whole: str
) -> None:
    names = ("刹车片", "心脏", "客服部", "系统", "公司", "pad", "braking")
    [found] = find_parts(text, names)
    assert found.whole == whole
    assert text.startswith(whole, found.whole_start)
