"""Sentences that say what something is, and those that only look so."""

from __future__ import annotations

import pytest

from sextant.ingestion.graph.extraction.entity_types import find_defined

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
        (
            "Ada Marsh was a Welsh film and stage actor best known as Mrs Poole.",
            ("Ada Marsh", "Welsh film and stage actor", "PERSON"),
        ),
        ("Chinook is a city and seat of a county.", ("Chinook", "city", "LOCATION")),
        ("所有权是一种内存管理机制。", ("所有权", "内存管理机制", "CONCEPT")),
        (
            "糖尿病是一组由缺陷和（或）障碍引起、以高血糖为特征的代谢性疾病。",
            ("糖尿病", "代谢性疾病", "DISEASE"),
        ),
        ("糖尿病是指血糖升高，须治疗。", ("糖尿病", "血糖升高", "TERM")),
        ("“所有权”指一人独占。", ("所有权", "一人独占", "TERM")),
        ("“所有权”是一种独占关系。", ("所有权", "独占关系", "TERM")),
        ("A data race is a bug.", ("data race", "bug", "TERM")),
        ("Ownership is a set of rules.", ("Ownership", "rules", "CONCEPT")),
        ("Chinook is a joy.", ("Chinook", "joy", "TERM")),
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
