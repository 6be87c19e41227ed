"""What is said of another one of the kind that a question names answers nothing, however alike its words are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.distractors import Siblings
from sextant.models.offline.extractive import ExtractiveAnswerer
from tests.unit.models.offline.passages import item

MOTORS = "The motor M-4 runs at 900 rpm. The motor M-7 runs at 1200 rpm."
LOCKERS = "The key of locker 12 is with Ann. The key of locker 31 is with Bob."
ROOMS = "411实验室的负责人是钱伟。412实验室的负责人是赵敏。"


async def answers(question: str, *items: RetrievedItem) -> Sequence[str]:
    language = "en" if question.isascii() else "zh"
    found = await ExtractiveAnswerer().extract(question, items, language=language)
    return [quotation.sentence for quotation in found.quotations]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("How fast does motor M-7 run?", MOTORS, "The motor M-7 runs at 1200 rpm."),
        ("Who has the key of locker 31?", LOCKERS, "The key of locker 31 is with Bob."),
        (
            "2号车间的主管是谁？",
            "2号车间的主管是王芳。7号车间的主管是李强。",
            "2号车间的主管是王芳。",
        ),
        ("412实验室的负责人是谁？", ROOMS, "412实验室的负责人是赵敏。"),
        (
            "When does the north gate open?",
            "The south gate opens at eight. The gate in the north opens at six.",
            "The gate in the north opens at six.",
        ),
        ("北门几点开？", "南门早上八点开。北门早上六点开。", "北门早上六点开。"),
        (
            "3 型电池用什么充电？",
            "2 型电池用慢充充电。3 型电池用快充充电。",
            "3 型电池用快充充电。",
        ),
    ],
)
async def test_only_what_is_named_is_quoted(question: str, text: str, expected: str) -> None:
    assert await answers(question, item(text)) == [expected]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who has the key of locker 32?", LOCKERS),
        ("Who has the key to locker 3?", LOCKERS),
        ("415实验室的负责人是谁？", ROOMS),
        ("1 型电池用什么充电？", "2 型电池用慢充充电。3型电池用快充充电。"),
        ("When does the north gate open?", "The south gate opens at eight in the morning."),
        ("What does the winter ticket cost?", "The summer ticket costs 12 EUR."),
        ("Who leads the Tuesday class?", "The Friday class is led by Ann."),
        ("北门几点开？", "南门早上八点开。"),
        ("下午几点开门？", "上午九点开门。"),
    ],
)
async def test_of_one_that_is_nowhere_nothing_is_quoted(question: str, text: str) -> None:
    assert not await answers(question, item(text))


async def test_a_sentence_is_about_what_was_named_last_before_it() -> None:
    pumps = "The pump P-20 weighs 14 kg. Its flow is 40 litres. The pump P-30 weighs 19 kg. Its flow is 75 litres."
    assert await answers("What is the flow of the pump P-20?", item(pumps)) == [
        "The pump P-20 weighs 14 kg.",
        "Its flow is 40 litres.",
    ]


async def test_what_stands_under_a_heading_belongs_to_what_that_names() -> None:
    passage = replace(
        item("The fan draws 45 watts. The fan F-9 draws 60 watts."),
        metadata={"section_path": ("Fan F-7",)},
    )
    assert await answers("How many watts does the fan F-7 draw?", passage) == [
        "The fan draws 45 watts."
    ]


RELEASES = [
    replace(item(text), metadata={"section_path": (f"Relay {version}",)})
    for version, text in (
        ("2.4", "Published on 3 May 2024. Supports PostgreSQL 13 to 16."),
        ("2.5", "Published on 18 November 2024. Drops PostgreSQL 13."),
        ("2.5.1", "Published on 2 December 2024."),
    )
]
ZH_RELEASES = "3.1 版于2023年6月12日发布，新增人脸识别。3.2 版于2024年1月5日发布，修复了时间错误。"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When was Relay 2.5 published?", ["Published on 18 November 2024."]),
        ("When was Relay 2.5.1 published?", ["Published on 2 December 2024."]),
        ("Does Relay 2.5 support PostgreSQL 13?", ["Drops PostgreSQL 13."]),
        ("When was Relay 2.6 published?", []),
    ],
)
async def test_a_version_is_not_one_of_another_number(question: str, expected: list[str]) -> None:
    assert (await answers(question, *RELEASES))[:1] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("3.1版新增了什么？", ["3.1 版于2023年6月12日发布，新增人脸识别。"]),
        ("3.2版什么时候发布的？", ["3.2 版于2024年1月5日发布，修复了时间错误。"]),
        ("3.3版新增了什么？", []),
    ],
)
async def test_a_chinese_version_is_not_one_of_another_number(
    question: str, expected: list[str]
) -> None:
    assert await answers(question, item(ZH_RELEASES)) == expected


def test_two_that_are_named_are_no_siblings_of_each_other() -> None:
    sentence = "The motor M-7 runs at 1200 rpm."
    start, items = MOTORS.index(sentence), [item(MOTORS)]
    assert not Siblings("Does motor M-4 fit motor M-7?", items).are_named(0, start, sentence)


async def test_what_is_counted_in_a_unit_is_no_name() -> None:
    assert await answers("45天内退货可以退款吗？", item("30天内退货全额退款。运费由买方承担。"))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which class do staff of grade 6 fly?", "Staff in grade 5 and above fly business class."),
        ("6级员工坐什么舱？", "5级及以上员工坐商务舱。"),
    ],
)
async def test_a_bound_holds_for_those_within_it(question: str, text: str) -> None:
    assert await answers(question, item(text))


def test_who_compares_may_be_answered_by_the_other_one() -> None:
    sentence = "The motor M-7 runs at 1200 rpm."
    start, items = MOTORS.index(sentence), [item(MOTORS)]
    assert not Siblings("Which motor is faster than M-4?", items).are_named(0, start, sentence)
    assert Siblings("How fast is the motor M-4?", items).are_named(0, start, sentence)
