"""What is said of another one of the kind that a question names answers nothing, however alike its words are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.siblings import Siblings


@dataclass(frozen=True)
class Said:
    source: int
    start: int
    text: str


def item(text: str, *path: str, document: str = "d") -> RetrievedItem:
    metadata = {"section_path": path}
    return RetrievedItem(
        ItemKind.CHUNK, text[:20], text, 1.0, metadata=metadata, document_id=document
    )


async def answers(question: str, *items: RetrievedItem, language: str = "en") -> Sequence[str]:
    found = await ExtractiveAnswerer().extract(question, items, language=language)
    return [quotation.sentence for quotation in found.quotations]


MOTORS = item("The motor M-4 runs at 900 rpm. The motor M-7 runs at 1200 rpm.")
LOCKERS = item("The key of locker 12 is with Ann. The key of locker 31 is with Bob.")


@pytest.mark.parametrize(
    ("question", "passage", "expected"),
    [
        ("How fast does motor M-7 run?", MOTORS, "The motor M-7 runs at 1200 rpm."),
        ("Who has the key of locker 31?", LOCKERS, "The key of locker 31 is with Bob."),
        (
            "阀门AB-12的压力是多少？",
            item("阀门AB-12的压力为三兆帕。阀门XK-3的压力为五兆帕。"),
            "阀门AB-12的压力为三兆帕。",
        ),
        (
            "2号车间的主管是谁？",
            item("2号车间的主管是王芳。7号车间的主管是李强。"),
            "2号车间的主管是王芳。",
        ),
    ],
)
async def test_only_what_is_named_is_told_of(
    question: str, passage: RetrievedItem, expected: str
) -> None:
    language = "en" if question.isascii() else "zh"
    assert await answers(question, passage, language=language) == [expected]


@pytest.mark.parametrize(
    "question", ["Who has the key of locker 32?", "Who has the key to locker 3?"]
)
async def test_of_one_that_is_nowhere_nothing_is_told(question: str) -> None:
    assert not await answers(question, LOCKERS)


async def test_a_sentence_under_its_name_goes_before_one_that_names_another_there() -> None:
    passage = item("The fan draws 45 watts. The fan F-9 draws 60 watts.", "Fan F-7")
    assert await answers("How many watts does the fan F-7 draw?", passage) == [
        "The fan draws 45 watts."
    ]


async def test_what_stands_under_a_line_that_names_another_is_of_that() -> None:
    passage = item("Lot 17\n\nPrice: 20 EUR\n\nLot 18\n\nPrice: 35 EUR")
    assert await answers("What is the price of lot 18?", passage) == ["Price: 35 EUR"]


async def test_a_bound_is_told_of_those_within_it() -> None:
    passage = item("Staff from grade 5 and above fly business class.")
    assert await answers("Which class do staff of grade 6 fly?", passage)


def test_who_compares_is_told_of_the_other_one() -> None:
    said = [Said(0, 31, "The motor M-7 runs at 1200 rpm.")]
    assert Siblings("Which motor is faster than M-4?", [MOTORS]).without(said) == said
    assert not Siblings("How fast is the motor M-4?", [MOTORS]).without(said)


@pytest.mark.parametrize(
    "question",
    ["How do I fix DB-17?", "How can we resolve DB-17?", "DB-17怎么处理？", "如何解决DB-17？"],
)
async def test_who_asks_how_an_error_is_dealt_with_is_told_what_stands_under_it(
    question: str,
) -> None:
    first, second = (
        ("The lock file is left over. Delete it.", "The disk is full. Clear the cache.")
        if question.isascii()
        else ("锁文件残留。请删除该文件。", "磁盘已满。请清空缓存。")
    )
    items = item(first, "Errors", "DB-17"), item(second, "Errors", "DB-18", document="d")
    told = await answers(question, *items, language="en" if question.isascii() else "zh")
    assert told
    assert all(sentence in first for sentence in told)


async def test_the_section_that_is_asked_about_is_told_from_its_beginning() -> None:
    items = (
        item("Dig the trench.\n\nThe foreman signs sheet 1.", "Day 1"),
        item("Lay the pipes.\n\nThe foreman signs sheet 2.", "Day 2"),
    )
    told = await answers("What happens on day 2?", *items)
    assert told[0] == "Lay the pipes."
    assert "Dig the trench." not in told


async def test_a_note_answers_with_what_refers_to_it() -> None:
    items = (
        item("| Kind | Limit |\n| --- | --- |\n| Ferry | 30 EUR [note 4] |\n| Lunch | 15 EUR |"),
        item("[note 4] Only before 09:00."),
        item("[note 5] Only before 11:00."),
    )
    told = await answers("When is a ferry allowed?", *items)
    assert told[0] == "[note 4] Only before 09:00."
    assert "[note 5] Only before 11:00." not in told


async def test_a_field_that_holds_but_a_part_of_the_question_answers_nothing() -> None:
    passage = item("Employee: Dee Fox\n\nNet pay: 2,900 EUR\n\nPeriod: May 2025")
    assert await answers("What is the net pay of Dee Fox?", passage) == ["Net pay: 2,900 EUR"]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Where did the John Kim of Orion Labs study?", False),
        ("Where did Orion Labs' John Kim study?", False),
        ("Where did the John Kim of Vega Motors study?", True),
        ("Where did John Kim study?", True),
        ("海宁公司的王芳毕业于哪所大学？", False),
        ("远东医院的王芳毕业于哪所大学？", True),
    ],
)
async def test_what_is_said_of_a_namesake_answers_nothing(question: str, told: bool) -> None:
    vega = item("John Kim runs the workshop at Vega Motors. John Kim studied at Yale.", "Vega")
    orion = item("John Kim is a welder at Orion Labs.", "Orion", document="o")
    hospital = item("王芳是远东医院的护士长。王芳毕业于复旦大学。", "医院", document="e")
    company = item("王芳是海宁公司的会计。", "公司", document="f")
    english = question.isascii()
    items = (vega, orion) if english else (hospital, company)
    answer = " ".join(await answers(question, *items, language="en" if english else "zh"))
    assert ("Yale" in answer or "复旦" in answer) is told


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("412实验室的负责人是谁？", ["412实验室的负责人是赵敏。"]),
        ("415实验室的负责人是谁？", []),
    ],
)
async def test_a_number_right_before_a_noun_is_a_name(
    question: str, expected: Sequence[str]
) -> None:
    passage = item("411实验室的负责人是钱伟。412实验室的负责人是赵敏。")
    assert await answers(question, passage, language="zh") == expected


async def test_what_is_counted_in_a_unit_is_no_name() -> None:
    passage = item("30天内退货全额退款。运费由买方承担。")
    assert await answers("45天内退货可以退款吗？", passage, language="zh")


async def test_a_sentence_about_somebody_answers_nothing_that_only_a_namesake_is_told_of() -> None:
    items = (
        item("Ann Bell runs the laboratory at Crest Labs. Ann Bell trained in Lyon.", "Crest"),
        item("Ann Bell is a pilot at Delta Air.", "Delta", document="o"),
    )
    assert await answers("Where did the Ann Bell of Delta Air train?", *items) == []
    told = await answers("Where did the Ann Bell of Crest Labs train?", *items)
    assert "Ann Bell trained in Lyon." in told


async def test_a_note_stands_behind_what_refers_to_it_where_that_tells_what_is_asked() -> None:
    passage = item("Trainees get 12 days [note 2] of rest.\n\n[note 2] Interns get a share.")
    told = await answers("How many days of rest do trainees get?", passage)
    assert told[0] == "Trainees get 12 days [note 2] of rest."
