"""Questions to begin with, of headings."""

from __future__ import annotations

from uuid import NAMESPACE_OID, uuid5

import pytest

from sextant.facade.conversations import examples_of
from sextant.stores.documents.document_reader import DocumentHeading


def document(name: str, language: str, *headings: str | None) -> list[DocumentHeading]:
    own = uuid5(NAMESPACE_OID, name)
    return [DocumentHeading(own, f"{name}.md", name, language, heading) for heading in headings]


def asked(*documents: list[DocumentHeading], language: str = "", most: int = 9) -> list[str]:
    headings = [heading for own in documents for heading in own]
    return [one.question for one in examples_of(headings, language, most)]


@pytest.mark.parametrize(
    ("language", "heading", "question"),
    [
        ("en", "2.2 Remote work", "What about “Remote work”?"),
        ("zh", "3.1 付款节点", "“付款节点”是什么？"),
        ("zh", "第二章 主要症状", "“主要症状”是什么？"),
        ("zh", "五、颱風與地震", "“颱風與地震”是什么？"),
        ("en", "3. How long are measurements kept?", "How long are measurements kept?"),
        ("zh", "多久需要校准一次？", "多久需要校准一次？"),
        ("en", "How is the belt cleaned? (FAQ-007, en, Heron 3)", "How is the belt cleaned?"),
        ("en", "(confidential)", "What about “(confidential)”?"),
        ("zh", "Rust ownership rules", "What about “Rust ownership rules”?"),
    ],
)
def test_a_heading_becomes_a_question_in_its_language_without_its_number(
    language: str, heading: str, question: str
) -> None:
    assert asked(document("d", language, heading), most=1) == [question]


def test_every_document_has_its_turn_with_its_best_heading() -> None:
    handbook = document("Handbook", "en", "Hours", "What leave is", "Annual leave", "Sick leave")
    questions = document("FAQ", "en", "Firewall ports", "Which ports must be open?")
    assert asked(handbook, questions, most=5) == [
        "Which ports must be open?",
        "What about “Annual leave”?",
        "What about “Firewall ports”?",
        "What about “Sick leave”?",
        "What about “Hours”?",
    ]


def test_documents_in_the_readers_language_come_first() -> None:
    english, chinese = document("A", "en", "Sick leave"), document("乙", "zh", "付款节点")
    assert asked(english, chinese, language="zh", most=2)[0] == "“付款节点”是什么？"
    assert asked(english, chinese, language="en", most=2)[0] == "What about “Sick leave”?"


def test_a_document_in_both_languages_is_asked_in_the_readers() -> None:
    faq = document("FAQ", "en", "面板显示 E51 怎么办？", "What does E51 mean?")
    assert asked(faq, language="en", most=1) == ["What does E51 mean?"]
    assert asked(faq, language="zh", most=1) == ["面板显示 E51 怎么办？"]


def test_documents_without_headings_are_asked_for_what_they_say_in_all() -> None:
    assert asked(document("Notes of May", "en", None), document("会议纪要", "zh", None)) == [
        "What are the key points of “Notes of May”?",
        "《会议纪要》主要讲什么？",
    ]


def test_the_same_question_of_two_documents_is_offered_once_and_none_of_no_documents() -> None:
    twice = [document(name, "en", "Sick leave") for name in ("A", "B")]
    assert asked(*twice).count("What about “Sick leave”?") == 1
    assert asked() == []
