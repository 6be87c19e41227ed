"""A field that repeats the question is no answer, a section that alone is named is, and notes come with what refers to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from tests.unit.models.offline.passages import item


def form(*lines: str) -> RetrievedItem:
    return replace(item("\n\n".join(lines)), id=lines[1])


RECEIPTS = [
    form("Receipt", f"Guest: {name}", "Room type: double", f"Balance due: {due} EUR")
    for name, due in (("Ida Moor", "340.00"), ("Tom Reed", "95.00"), ("Una Voss", "120.00"))
]
BILLS = [
    form("电费单", f"户名：{name}", "付款方式：银行转账", f"应缴金额：{due}元")
    for name, due in (("王芳", "85.20"), ("李强", "120.50"), ("赵敏", "64.00"))
]


def section(title: str, text: str, document: str = "plan") -> RetrievedItem:
    metadata = {"section_path": ["Plan", title], "document_title": "Plan"}
    return replace(item(text), document_id=document, metadata=metadata)


STAGES = [
    section(
        f"Stage {number}",
        f"{work} The team of stage {number} reports on Fridays. Lunch is at noon.",
    )
    for number, work in enumerate(
        ("Clear the site of rubble.", "Pour the foundations.", "Raise the timber frame."), start=1
    )
]
FAULTS = [
    section("E-17", "电机过热。停机冷却二十分钟。"),
    section("E-18", "皮带打滑。请张紧皮带。"),
]


async def quote(question: str, items: Sequence[RetrievedItem]) -> list[str]:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, items, language=language)
    return [one.sentence for one in found.quotations]


LISTED_FAULTS = [
    section(
        "Errors",
        "E15 Water in the base. Close the tap. E24 The hose is bent. Straighten it.\n\nU7: The flame went out. Wait.\n\nU8\nThe tank is empty. Fill it.\n\n"
        "**HEAT_04** The head is hot. Let it cool.\n\n"
        "U9：电源中断。请更换网线。\n\nU5 has no meaning. It is old.\n\n"
        "| Code | Meaning |\n| --- | --- |\n| F5 | Drain blocked |\n| F6 | Door open |",
    )
]
ARTICLES = [
    section("HX-47 cable", "It is made in Bergen. The colour is orange."),
    section("KL-30 水泵", "水泵产自青岛。颜色为橙色。"),
    section("历史", "一九九八年起用KL-30代替旧泵。"),
]
CHANGES = [
    section(
        "2.4.0 (https://example.org/2.3.0...2.4.0)",
        "Doors open. " + " ".join(f"Fix part{a}." for a in "ABCDEF"),
    ),
    section("2.3.0 (https://example.org/2.2.0...2.3.0)", "Rust is gone. (#7)"),
]


@pytest.mark.parametrize(
    ("question", "items", "answer"),
    [
        ("What is the balance due of Ida Moor?", RECEIPTS, "Balance due: 340.00 EUR"),
        ("王芳的应缴金额是多少？", BILLS, "应缴金额：85.20元"),
    ],
)
async def test_a_field_that_repeats_the_question_goes_behind_what_is_asked(
    question: str, items: Sequence[RetrievedItem], answer: str
) -> None:
    assert (await quote(question, items))[0] == answer


async def test_a_field_answers_what_asks_for_its_label() -> None:
    assert (await quote("Who is Tom Reed?", RECEIPTS))[0] == "Guest: Tom Reed"


@pytest.mark.parametrize(
    ("question", "items", "told"),
    [
        (
            "What happens in stage 3?",
            STAGES,
            [
                "Raise the timber frame.",
                "The team of stage 3 reports on Fridays.",
                "Lunch is at noon.",
            ],
        ),
        ("E-17怎么办？", FAULTS, ["电机过热。", "停机冷却二十分钟。"]),
        ("E-18怎么排除？", FAULTS, ["皮带打滑。", "请张紧皮带。"]),
        ("如何修复E-17？", FAULTS, ["电机过热。", "停机冷却二十分钟。"]),
        (
            "How do I clear P-3?",
            [section("Fault P-3", "The paper is torn. Open flap B.")],
            ["The paper is torn.", "Open flap B."],
        ),
        ("What should I do about E24?", LISTED_FAULTS, ["E24 The hose is bent.", "Straighten it."]),
        ("How do I fix U7?", LISTED_FAULTS, ["U7: The flame went out.", "Wait."]),
        ("How do I fix U8?", LISTED_FAULTS, ["U8", "The tank is empty.", "Fill it."]),
        ("How do I fix HEAT_04?", LISTED_FAULTS, ["**HEAT_04** The head is hot.", "Let it cool."]),
        ("How do I fix HEAT_05?", LISTED_FAULTS, []),
        ("F6是什么意思？", LISTED_FAULTS, ["F6 | Door open"]),
        ("U9怎么处理？", LISTED_FAULTS, ["U9：电源中断。", "请更换网线。"]),
        (
            "What changed in Heron 2.4.0?",
            CHANGES,
            ["Doors open.", *map("Fix part{}.".format, "ABCDE")],
        ),
        ("Heron 2.3.0 更新了什么？", CHANGES, ["Rust is gone."]),
        ("What changed in version 2.3.0?", CHANGES, ["Rust is gone."]),
        ("What is the colour of the HX-47?", ARTICLES, ["The colour is orange."]),
        ("KL-30的颜色是什么？", ARTICLES, ["颜色为橙色。"]),
        ("KL-30是什么？", ARTICLES, ["水泵产自青岛。", "颜色为橙色。"]),
    ],
)
async def test_a_section_that_alone_is_named_is_told_in_its_order(
    question: str, items: Sequence[RetrievedItem], told: list[str]
) -> None:
    assert await quote(question, items) == told


@pytest.mark.parametrize(
    ("question", "items"),
    [
        ("How many people work in stage 3?", STAGES),
        ("What happens in stage 3?", [*STAGES, replace(STAGES[2], document_id="other")]),
        ("What happens in stage 9?", STAGES),
        ("E-17和E-18怎么排除？", FAULTS),
        ("How do I fix U5?", LISTED_FAULTS),
    ],
)
async def test_what_asks_for_more_or_names_no_one_section_tells_none_whole(
    question: str, items: Sequence[RetrievedItem]
) -> None:
    assert (await quote(question, items))[:1] != ["Raise the timber frame."]


async def test_a_note_comes_with_what_refers_to_it() -> None:
    fares = "| Fare | Price |\n| --- | --- |\n| Night | 12 EUR [note 2] |\n| Day | 8 EUR |"
    notes = [section("Fares", "[note 1] Net of tax."), section("Fares", "[note 2] From 23:00 on.")]
    foreign = section("Fares", "[note 2] Of another text.", document="other")
    found = await quote(
        "What is the price of the night fare?", [section("Fares", fares), foreign, *notes]
    )
    assert found == ["Night | 12 EUR [note 2]", "[note 2] From 23:00 on."]


async def test_a_note_in_the_passage_comes_before_one_of_its_label_elsewhere() -> None:
    text = "退款须在七天内申请[注1]。\n\n[注1] 节假日顺延。"
    found = await quote(
        "退款须在几天内申请？", [section("退款", text), section("发货", "[注1] 偏远地区除外。")]
    )
    assert found[:2] == ["退款须在七天内申请[注1]。", "[注1] 节假日顺延。"]
