"""Whether a table that was found is what the question is about, before anything is computed of it."""

from __future__ import annotations

import pytest

from sextant.domain.documents import Modality
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.answers.computed import compute_tables, read_tables
from sextant.tables.cells.stored import TablePart
from sextant.text.characters import language_of

STAFF = """| 姓名 | 性别 | 部门 | 年龄 |
| --- | --- | --- | --- |
| 王伟 | 男 | 研发 | 34 |
| 李娜 | 女 | 市场 | 29 |
| 张敏 | 女 | 研发 | 41 |"""
GOODS = """| 编号 | 产品名称 | 类别 | 库存 |
| --- | --- | --- | --- |
| K-1 | 键盘 | 外设 | 320 |
| H-1 | 耳机 | 音频 | 0 |
| H-2 | 音箱 | 音频 | 26 |"""
PARTS = """| Part | Stock | Minimum stock |
| --- | --- | --- |
| P-1 | 12 | 20 |
| P-2 | 45 | 30 |"""
TOOLS = """| Tool | City | Owner |
| --- | --- | --- |
| Vice | Oslo | Ida |
| Lamp | Graz | Per |
| Drill | Oslo | Ida |"""
PROJECTS = """| 项目 | 项目经理 | 预算（万元） |
| --- | --- | --- |
| 官网 | 周敏 | 18 |
| 门店 | 周敏 | 40 |
| 仓储 | 何伟 | 25 |"""
EMPLOYEES = """| Employee | City |
| --- | --- |
| Ida | Oslo |
| Per | Graz |
| Mina | Graz |"""


async def told(question: str, *texts: str) -> list[str]:
    items = [
        RetrievedItem(
            ItemKind.CHUNK,
            text,
            text,
            1.0,
            document_id=text,
            metadata={"modality": Modality.TABLE, "filename": "table.csv", "start": 0},
        )
        for text in texts
    ]

    async def parts(text: str) -> list[TablePart]:
        return [TablePart(text, 0, 0, text, "")]

    found = await read_tables(question, items, parts)
    tables = compute_tables(question, found, language_of(question))
    return [one.text for table in tables for _, one in table.sentences]


@pytest.mark.parametrize(
    ("question", "text", "count"),
    [
        ("研发部门有哪些人？", STAFF, 3),
        ("女员工有多少人？", STAFF, 1),
        ("音频类有哪些产品？", GOODS, 3),
        ("外设类产品有几个？", GOODS, 1),
        ("总库存是多少？", GOODS, 1),
        ("哪些部件的库存低于最低库存？", PARTS, 1),
        ("周敏负责的项目预算合计多少万元？", PROJECTS, 1),
        ("周敏负责哪些项目？", PROJECTS, 3),
        ("Which tools does Ida manage?", TOOLS, 3),
        ("How many tools is Ida responsible for?", TOOLS, 1),
        ("Which tools does the Ida team have?", TOOLS, 3),
    ],
)
async def test_words_made_up_of_what_a_table_has_are_its_own(
    question: str, text: str, count: int
) -> None:
    assert len(await told(question, text)) == count


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("女客户有多少人？", STAFF),
        ("研发部门有哪些设备？", STAFF),
        ("音频类有哪些合同？", GOODS),
        ("哪些车辆的库存低于最低库存？", PARTS),
    ],
)
async def test_a_table_that_does_not_speak_of_something_tells_nothing_of_it(
    question: str, text: str
) -> None:
    assert await told(question, text) == []


async def test_who_asks_of_people() -> None:
    found = await told("Who is not in Oslo?", TOOLS, EMPLOYEES)
    assert any("Mina" in one for one in found)
    assert not any("Lamp" in one for one in found)


async def test_of_several_tables_one_is_asked_that_has_the_column_and_not_only_the_word() -> None:
    tasks = "| Task | Notes |\n| --- | --- |\n| Call | all suppliers |\n| Pack | boxes |"
    parts = "| Part | Supplier |\n| --- | --- |\n| P-1 | Norbolt |\n| P-2 | Norbolt |"
    found = await told("Which suppliers do we have?", tasks, parts)
    assert found == ["there is 1 value of Supplier (2 rows)", "Supplier: Norbolt"]
