"""Which questions ask for the order or the distance of two events, and which events."""

from __future__ import annotations

import pytest

from sextant.retrievers.lanes.question_terms import two_events


@pytest.mark.parametrize(
    ("question", "events"),
    [
        (
            "Did the studio move to Bern before Mira left the company?",
            ["Did the studio move to Bern", "Mira left the company"],
        ),
        (
            "Did Mira's complaint about the noise occur shortly after Jon comforted her?",
            ["Did Mira's complaint about the noise", "Jon comforted her"],
        ),
        (
            "Is the time between Mira asking Jon to paint the wall and Jon showing her the wall over a week?",
            ["Mira asking Jon to paint the wall", "Jon showing her the wall over a week"],
        ),
        (
            "How many weeks passed from the order of the sofa to its final delivery?",
            ["the order of the sofa", "its final delivery"],
        ),
        ("工作室搬迁是在米拉离职之后吗？", ["工作室搬迁", "米拉离职"]),
        ("工作室搬迁发生在米拉离职之前还是之后？", ["工作室搬迁", "米拉离职"]),
        ("米拉离职之前，工作室已经搬迁了吗？", ["米拉离职", "工作室已经搬迁了"]),
        ("从下订单到收到发货通知相隔多少天？", ["下订单", "收到发货通知"]),
    ],
)
def test_a_question_of_two_events_is_cut_into_them(question: str, events: list[str]) -> None:
    assert two_events(question) == events


@pytest.mark.parametrize(
    "question",
    [
        "Who reigned before Louis XIV became king?",
        "What did the studio do after Mira left the company?",
        "Did Mira leave before 1990?",
        "Did Mira leave before the move, after the fire or before Jon came?",
        "How far is it from the old town hall to the new railway station?",
        "What is the difference between the old town hall and the new railway station?",
        "他之前是做什么的？",
        "米拉离职之后谁接任了经理？",
        "从北京到上海有多远？",
        "之前",
        "before",
        "",
    ],
)
def test_other_questions_stay_whole(question: str) -> None:
    assert two_events(question) == []
