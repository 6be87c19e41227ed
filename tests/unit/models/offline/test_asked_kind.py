"""A sentence answers only if it, or the heading over it, has the kind of thing that is asked for."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer

RELEASES = {
    "4.1.0 (2025-06-30)": "Added: dark mode",
    "4.0.0 (2025-03-11)": "Removed: the dark theme",
}


def item(text: str, *path: str) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, text[:8], text, 1.0, metadata={"section_path": path})


@pytest.mark.parametrize(
    "question", ["Which version added dark mode?", "When was dark mode added?"]
)
async def test_what_only_a_heading_tells_is_quoted_under_it(question: str) -> None:
    items = [item(text, "Changelog", heading) for heading, text in RELEASES.items()]
    found = await ExtractiveAnswerer().extract(question, items, language="en")
    best = found.quotations[0]
    assert (best.under, best.sentence) == ("4.1.0 (2025-06-30)", "Added: dark mode")


async def test_the_day_in_a_documents_title_does_not_say_when_all_in_it_was() -> None:
    items = [item("The belt was replaced.", "Minutes of 18 September 2025")]
    found = await ExtractiveAnswerer().extract("When was the belt replaced?", items, language="en")
    assert not found.quotations


async def test_who_asks_for_somebody_is_not_told_of_things() -> None:
    items = [item("The printer is repaired on the second floor of the house.")]
    found = await ExtractiveAnswerer().extract("Who repairs the printer?", items, language="en")
    assert not found.quotations


@pytest.mark.parametrize("heading", ["5.3 Versions", "1. INC-2025-017", "Office 2019"])
async def test_the_number_of_a_chapter_or_a_code_is_no_version(heading: str) -> None:
    items = [item("The drum was replaced by a belt.", "Handbook", heading)]
    found = await ExtractiveAnswerer().extract(
        "Which version replaced the drum by a belt?", items, language="en"
    )
    assert not found.quotations


async def test_a_release_is_told_above_the_heading_of_its_part() -> None:
    path = ("Log", "3.3.0 (17 October 2024)", "New")
    items = [item("Exits can be grouped.", *path)]
    found = await ExtractiveAnswerer().extract(
        "In which version can exits be grouped?", items, language="en"
    )
    assert [one.under for one in found.quotations] == ["3.3.0 (17 October 2024)"]


@pytest.mark.parametrize(
    ("question", "text", "told"),
    [
        (
            "How many parking spaces does the office in Cork have?",
            "The office in Cork has 40 desks.",
            False,
        ),
        ("How many desks does the office in Cork have?", "The office in Cork has 40 desks.", True),
        ("How many people work in the office in Cork?", "Of our 90 staff 40 work in Cork.", True),
        ("机房有多少个机柜？", "机房的数据量为 310 GB，迁移用了 2 人。", False),
        ("机房有多少台服务器？", "机房有 12 台服务器。", True),
        ("How many days of sick leave are paid?", "You have 26 days of leave per year.", False),
        (
            "How many days of sick leave are paid?",
            "Up to 15 days of sick leave are paid in full.",
            True,
        ),
        (
            "How many days of annual leave are there?",
            "You have 26 days of vacation per year.",
            False,
        ),
        ("How many servers are in eu-central-1?", "The servers were moved to eu-central-1.", False),
    ],
)
async def test_a_number_answers_only_of_what_is_counted(
    question: str, text: str, *, told: bool
) -> None:
    language = "zh" if "机" in question else "en"
    found = await ExtractiveAnswerer().extract(question, [item(text)], language=language)
    assert bool(found.quotations) is told


MINUTES = item(
    "Present: Anna Reuter, Jon Baker. Apologies: Pavel Hruska. The committee meets again on 7 July.",
    "Minutes of the harbour committee",
)
PROTOCOL = item("参会：顾清、沈一鸣。请假：丁岚。罗敏联系印厂。", "品牌组例会纪要")


@pytest.mark.parametrize(
    ("question", "items", "answer"),
    [
        ("Who missed the meeting of the committee?", MINUTES, "Apologies: Pavel Hruska."),
        ("Who was present at the meeting?", MINUTES, "Present: Anna Reuter, Jon Baker."),
        ("谁没有参加品牌组例会？", PROTOCOL, "请假：丁岚。"),
        ("谁参加了品牌组例会？", PROTOCOL, "参会：顾清、沈一鸣。"),
    ],
)
async def test_who_was_there_and_who_was_not_are_lines_of_minutes(
    question: str, items: RetrievedItem, answer: str
) -> None:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, [items], language=language)
    assert found.quotations[0].sentence == answer


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("S2 Mini 卖多少钱？", "| 型号 | 价格 |\n| --- | --- |\n| S2 Mini | 1,899 元 |"),
        ("早上几点上班？", "上班时间为九点半到十八点半。"),
        ("什么时候发工资？", "工资于每月十日发放。"),
        ("售后电话是多少？", "仍不出水请联系售后 400-820-7711。"),
    ],
)
async def test_words_that_only_ask_are_not_missed_in_the_answer(question: str, text: str) -> None:
    found = await ExtractiveAnswerer().extract(question, [item(text)], language="zh")
    assert found.quotations


async def test_who_did_something_at_a_meeting_is_no_question_of_who_was_there() -> None:
    found = await ExtractiveAnswerer().extract(
        "1935年参加遵义会议的刘少奇是谁的支持者？",
        [item("在1935年的遵义会议上，刘少奇是毛泽东的支持者。")],
        language="zh",
    )
    assert found.quotations
