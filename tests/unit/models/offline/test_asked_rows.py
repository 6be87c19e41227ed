"""Of a table, the row that is asked for is quoted, and not those beside it."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.testing.hash_embedder import AngleEmbedder

LIMITS = """| City | Limit (EUR) |
| --- | --- |
| Vienna | 140 |
| Tokyo | 180 |
| Other cities | 110 |"""
CEILINGS = """| 城市 | 住宿上限（元） |
| --- | --- |
| 北京 | 650 |
| 苏州 | 450 |
| 其他城市 | 400 |"""

COURSES = """| 课程 | 价格 |
| --- | --- |
| 进阶班 | 3200 |
| 入门班 | 1800 |"""
GRADES = """| Grade | Use |
| --- | --- |
| c | bridges |
| a | frames |"""

PLANS = """| Plan | Price (EUR) | Users |
| --- | ---: | --- |
| Basic | 29 | 5 |
| Team | 99 | 20 |
| Business | 249 | 100 |
| Enterprise | 899 | unlimited |"""


async def quoted(question: str, table: str, language: str) -> set[str]:
    item = RetrievedItem(ItemKind.CHUNK, "table", table, 1.0)
    meanings = AngleEmbedder("intfloat/multilingual-e5-small", {}, otherwise=0.91)
    found = await ExtractiveAnswerer(meanings).extract(question, [item], language=language)
    return {quotation.sentence for quotation in found.quotations}


APPROVALS = """| City | Hotel per night | Approved by |
| --- | --- | --- |
| Hamburg | 140 EUR | Team lead |
| Oslo | 210 EUR | Department head |
| Other cities | 120 EUR | Department head |"""
LEAVE = """| Group | Years of service | Days of leave |
| --- | --- | --- |
| Office staff | 0–4 | 26 |
| Office staff | 5 or more | 29 |
| Drivers | 0–4 | 28 |
| Drivers | 5 or more | 31 |"""


YEARS = """| Years of employees | Days of leave |
| --- | --- |
| less than 1 | 12, pro rata |
| 1 to 4 | 15 |
| 5 to 9 | 20 |
| 10 or more | 25 |"""


async def test_the_name_of_a_column_singles_out_no_row() -> None:
    found = await quoted("Which cities need approval by the department head?", APPROVALS, "en")
    assert found == {
        "Oslo | 210 EUR | Department head",
        "Other cities | 120 EUR | Department head",
    }


async def test_of_the_rows_in_whose_range_a_number_lies_those_of_whom_is_named_answer() -> None:
    question = "How many days of leave do drivers with more than five years of service get?"
    assert await quoted(question, LEAVE, "en") == {"Drivers | 5 or more | 31"}


async def test_rows_of_one_name_are_quoted_together_where_nothing_tells_which_is_meant() -> None:
    assert await quoted("How many days of leave do drivers get?", LEAVE, "en") == {
        "Drivers | 0–4 | 28",
        "Drivers | 5 or more | 31",
    }


async def test_all_rows_are_quoted_where_none_has_a_word_of_the_question() -> None:
    """Whoever is new has been there for less than a year, which no word says."""
    found = await quoted("How many days of leave do new employees get?", YEARS, "en")
    assert found == {"less than 1 | 12, pro rata", "1 to 4 | 15", "5 to 9 | 20", "10 or more | 25"}


async def test_a_row_that_is_called_by_a_number_word_is_asked_for_by_it() -> None:
    boats = "| Boat | Boats | Weight |\n| --- | --- | --- |\n| Eight | 3 | 96 kg |\n| Four | 5 | 52 kg |"
    assert await quoted("What is the weight of a four?", boats, "en") == {"Four | 5 | 52 kg"}


async def test_the_name_of_a_column_is_no_name_of_a_row() -> None:
    question = "How much may I spend on a hotel per night in Lisbon?"
    assert await quoted(question, APPROVALS, "en") == {"Other cities | 120 EUR | Department head"}


async def test_a_row_whose_table_tells_nothing_of_what_is_asked_is_no_answer() -> None:
    assert await quoted("What is the dress code for office staff?", LEAVE, "en") == set()


@pytest.mark.parametrize(
    ("question", "table", "language", "row"),
    [
        pytest.param("What is the hotel limit in Tokyo?", LIMITS, "en", "Tokyo | 180", id="named"),
        pytest.param("苏州的住宿上限是多少？", CEILINGS, "zh", "苏州 | 450", id="named-zh"),
        pytest.param(
            "What is the hotel limit in the city of Paris?",
            LIMITS,
            "en",
            "Other cities | 110",
            id="in-no-row-so-the-row-for-all-others",
        ),
        pytest.param(
            "广州的住宿上限是多少？",
            CEILINGS,
            "zh",
            "其他城市 | 400",
            id="in-no-row-so-the-row-for-all-others-zh",
        ),
        pytest.param(
            "And in Tokyo? (Vienna, hotel, limit)",
            LIMITS,
            "en",
            "Tokyo | 180",
            id="a-follow-up-for-its-own-row",
        ),
        pytest.param(
            "那苏州呢？ (北京, 住宿上限)",
            CEILINGS,
            "zh",
            "苏州 | 450",
            id="a-follow-up-for-its-own-row-zh",
        ),
        pytest.param(
            "那入门班呢？ (进阶班, 价格)",
            COURSES,
            "zh",
            "入门班 | 1800",
            id="a-follow-up-for-the-row-that-has-most-of-it",
        ),
        pytest.param(
            "And in Tokyo? (Beijing, hotel, limit)",
            CEILINGS,
            "en",
            "其他城市 | 400",
            id="a-follow-up-for-a-city-in-no-row-so-the-row-for-all-others",
        ),
        pytest.param("What is grade a for?", GRADES, "en", "a | frames", id="a-letter-as-a-name"),
    ],
)
async def test_only_the_row_that_is_asked_for_is_quoted(
    question: str, table: str, language: str, row: str
) -> None:
    assert await quoted(question, table, language) == {row}


@pytest.mark.parametrize(
    "question",
    [
        "What are the hotel limits in Tokyo and Vienna?",
        "What are the hotel limits in Vienna (Austria) and Tokyo?",
    ],
)
async def test_two_rows_are_quoted_where_two_are_asked_for(question: str) -> None:
    found = await quoted(question, LIMITS, "en")
    assert found == {"Tokyo | 180", "Vienna | 140"}


async def test_the_row_for_others_answers_nothing_about_a_row_that_is_there() -> None:
    assert "Other cities | 110" not in await quoted("Hotel limit in Vienna?", LIMITS, "en")


@pytest.mark.parametrize(
    ("question", "table", "language", "rows"),
    [
        pytest.param(
            "Which plans have a price of more than 100?",
            PLANS,
            "en",
            {"Business | 249 | 100", "Enterprise | 899 | unlimited"},
            id="over",
        ),
        pytest.param(
            "How many plans have a price under 100?",
            PLANS,
            "en",
            {"Basic | 29 | 5", "Team | 99 | 20"},
            id="counted",
        ),
        pytest.param(
            "Which plans have a price of no less than 249?",
            PLANS,
            "en",
            {"Business | 249 | 100", "Enterprise | 899 | unlimited"},
            id="no-less-than",
        ),
        pytest.param(
            "Which plans have a price no lower than 249?",
            PLANS,
            "en",
            {"Business | 249 | 100", "Enterprise | 899 | unlimited"},
            id="no-lower-than",
        ),
        pytest.param(
            "哪些城市的住宿上限超过420元？",
            CEILINGS,
            "zh",
            {"北京 | 650", "苏州 | 450"},
            id="over-zh",
        ),
    ],
)
async def test_every_row_that_keeps_a_bound_is_quoted(
    question: str, table: str, language: str, rows: set[str]
) -> None:
    assert await quoted(question, table, language) == rows


SITES = """| Site | Opened | Employees | Price (EUR) |
| --- | --- | --- | --- |
| Graz | 2014 | 120 | 380 |
| Suzhou | 2019 | 230 | 290 |
| Porto | 2021 | 90 | 410 |
| Tallinn | 2009 | 410 | 520 |"""


@pytest.mark.parametrize(
    ("question", "table", "language", "row"),
    [
        ("Which site has the most employees?", SITES, "en", "Tallinn | 2009 | 410 | 520"),
        ("Which site has the lowest price?", SITES, "en", "Suzhou | 2019 | 230 | 290"),
        ("哪个城市的住宿上限最低？", CEILINGS, "zh", "其他城市 | 400"),
    ],
)
async def test_the_row_with_the_largest_or_smallest_value_is_quoted(
    question: str, table: str, language: str, row: str
) -> None:
    assert await quoted(question, table, language) == {row}


async def test_of_a_part_of_a_table_no_row_is_shown_as_the_largest() -> None:
    head, rest = SITES.splitlines()[:2], SITES.splitlines()[2:]
    parts = ["\n".join([*head, *rest[:2]]), "\n".join([*head, *rest[2:]])]
    items = [RetrievedItem(ItemKind.CHUNK, str(at), part, 1.0) for at, part in enumerate(parts)]
    meanings = AngleEmbedder("intfloat/multilingual-e5-small", {}, otherwise=0.91)
    question = "Which site has the most employees?"
    found = await ExtractiveAnswerer(meanings).extract(question, items, language="en")
    assert found.quotations == ()


async def test_the_best_of_a_column_that_is_not_asked_for_answers_nothing() -> None:
    table = "\n".join(" | ".join(line.split(" | ")[:2]) + " |" for line in SITES.splitlines())
    assert len(await quoted("Which site is the best for sites to visit?", table, "en")) != 1


@pytest.mark.parametrize(
    "question", ["Which sites cost more than 400 EUR?", "Which sites have a price above 400?"]
)
async def test_a_bound_is_on_the_column_that_its_unit_or_a_word_of_its_name_tells(
    question: str,
) -> None:
    found = await quoted(question, SITES, "en")
    assert found == {"Tallinn | 2009 | 410 | 520", "Porto | 2021 | 90 | 410"}


async def test_a_bound_on_no_column_for_certain_chooses_no_rows() -> None:
    two = PLANS.replace("unlimited", "1000")
    found = await quoted("Which plans have more than 100?", two, "en")
    assert "Enterprise | 899 | 1000" not in found


PARTS = """| Part no | Name | Price (EUR) | Stock |
| --- | --- | --- | --- |
| P-0099 | bolt 99 | 12.50 | 40 |
| P-0100 | pump 100 | 54.09 | 230 |"""
RATES = """| Distance | Rate (EUR) |
| --- | --- |
| up to 500 km | 0.30 |
| over 500 km | 0.45 |"""


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Which parts cost more than 100 EUR?", "en"),
        ("which parts have a price over 100?", "en"),
        ("How many parts have a price above 100?", "en"),
        ("哪些 parts 的 price 高于100？", "zh"),
    ],
)
async def test_a_row_is_no_answer_where_none_at_hand_keeps_the_bound(
    question: str, language: str
) -> None:
    assert await quoted(question, PARTS, language) == set()


async def test_a_row_that_states_a_bound_itself_may_be_asked_for() -> None:
    assert await quoted("Which rate applies to a distance over 500 km?", RATES, "en")


TRAINS = """| Line | From | To |
| --- | --- | --- |
| RJ 60 | Vienna | Graz |
| RJ 62 | Vienna | Graz |
| NJ 4 | Vienna | Zurich |
| EC 1 | Linz | Graz |"""
STORES = """| 产品 | 库存 |
| --- | --- |
| 键盘 | 320 |
| 音箱 | 26 |"""
TASKS = """| 任务 | 截止日期 |
| --- | --- |
| 申请预算 | 2026-10-16 |
| 更新手册 | 2026-10-30 |"""


async def test_all_rows_that_have_what_is_asked_are_quoted_where_all_are_asked_for() -> None:
    every = await quoted("Which trains go from Vienna to Graz?", TRAINS, "en")
    assert every == {"RJ 60 | Vienna | Graz", "RJ 62 | Vienna | Graz"}


@pytest.mark.parametrize(
    ("question", "table"),
    [
        ("哪些产品没有库存？", STORES),
        ("哪些产品的库存比音箱多？", STORES),
        ("哪些任务在10月20日之前截止？", TASKS),
    ],
)
async def test_rows_answer_no_list_that_they_may_not_belong_to(question: str, table: str) -> None:
    """Here the table is not at hand, so that nothing is computed over it."""
    body = table.split("\n", 2)[2]
    item = RetrievedItem(ItemKind.CHUNK, "table", body, 1.0)
    meanings = AngleEmbedder("intfloat/multilingual-e5-small", {}, otherwise=0.91)
    found = await ExtractiveAnswerer(meanings).extract(question, [item], language="zh")
    assert found.quotations == ()


async def test_a_property_is_asked_for_by_its_adjective() -> None:
    data = (
        "The sealer:\n\n| Property | Value |\n| --- | --- |\n| Mains | 230 V |\n| Weight | 185 kg |"
    )
    assert "Mains | 230 V" not in await quoted("How heavy is the sealer?", data, "en")
    assert "Weight | 185 kg" in await quoted("How heavy is the sealer?", data, "en")
