"""Questions for what something is, and the sentences that say so."""

from __future__ import annotations

import pytest

from sextant.text.characters import normalise
from sextant.text.statements import definition_pattern


@pytest.mark.parametrize(
    ("question", "saying", "beside"),
    [
        ("What is libtasn1?", "Libtasn1 is a library for ASN.1.", "Libtasn1 home page"),
        (
            "What is libtasn1?",
            "Libtasn1 (4.19) provides parsing.",
            "It uses libtasn1. All is well.",
        ),
        ("What is C++?", "C++ is a language.", "It is written in C++."),
        ("What is a base?", "Here, a base is a plan.", "For many, your base is changed daily."),
        ("What are crates?", "Crates are units of compilation.", "Crates.io hosts many."),
        ("What does mode bypass do?", "Mode bypass lets the model answer.", "Set the mode bypass."),
        ("什么是社区报告？", "社区报告是对一组实体的概述。", "社区报告，见下文。"),
        ("熔断器是什么？", "熔断器（F1）用于保护电路。", "更换熔断器。"),
    ],
)
def test_a_definition_names_what_it_defines_and_says_what_it_is(
    question: str, saying: str, beside: str
) -> None:
    defined = definition_pattern(question)
    assert defined is not None
    assert defined.search(normalise(saying))
    assert not defined.search(normalise(beside))


@pytest.mark.parametrize(
    "question",
    [
        "Who is the owner?",
        "What is it, and who made it?",
        "What is?",
        "哪个是默认值？",
        "是什么？",
        "",
    ],
)
def test_other_questions_ask_for_none(question: str) -> None:
    assert definition_pattern(question) is None


def test_a_name_is_no_pattern() -> None:
    defined = definition_pattern("What is a.*(b?")
    assert defined is not None
    assert defined.search("a.*(b is one.")
    assert not defined.search("axxb is one.")
