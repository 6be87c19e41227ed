"""What happens in a scenario is told with what is so then."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.lines import lines_of
from sextant.models.offline.scenarios import given_in, scenarios

ENGLISH = """- **GIVEN** a full mailbox
- **WHEN** a letter arrives
- **THEN** it is sent back
- **AND** the sender is told why
- **WHEN** the mailbox is emptied
- **THEN** letters are taken again"""
CHINESE = """**给定**：
- 一组检索结果
- 原始分数

**当**：调用 `rank_results()` 方法

**那么**：
- 结果按相关性降序排列
- 多样性被考虑

**验证**：手工检查"""


def _found(text: str) -> list[list[str]]:
    return [
        [text[a:b] for a, b in ([one.introduction] if one.introduction else []) + [*one.items]]
        for one in scenarios(lines_of(text))
    ]


def test_each_scenario_has_what_happens_and_what_is_so_then() -> None:
    assert _found(ENGLISH) == [
        ["**WHEN** a letter arrives", "**THEN** it is sent back", "**AND** the sender is told why"],
        ["**WHEN** the mailbox is emptied", "**THEN** letters are taken again"],
    ]
    assert _found(CHINESE) == [
        ["**当**：调用 `rank_results()` 方法", "结果按相关性降序排列", "多样性被考虑"]
    ]


@pytest.mark.parametrize(
    "text",
    [
        "When a letter arrives, it is sent back.\nThe sender is told.",
        "当用户到达时，门会打开。\n那么就可以进去了。",
        "- WHEN a letter arrives\n- GIVEN a full mailbox\n- THEN it is sent back",
        "When it rains\n" + "It is wet.\n" * 9 + "Then it is dry",
        "When it rains\nThen",
    ],
    ids=["prose", "Chinese prose", "another begins", "far apart", "nothing is so"],
)
def test_prose_is_no_scenario(text: str) -> None:
    assert not _found(text)


def test_what_is_given_says_nothing_by_itself() -> None:
    assert [ENGLISH[a:b] for a, b in given_in(ENGLISH)] == ["- **GIVEN** a full mailbox"]
    said = [CHINESE[a:b] for a, b in given_in(CHINESE)]
    assert said == ["**给定**：", "- 一组检索结果", "- 原始分数"]
    assert not given_in("Given a full mailbox\nletters are sent back.")


@pytest.mark.parametrize(
    ("question", "text", "first", "last"),
    [
        (
            "What happens when a letter arrives?",
            ENGLISH,
            "**WHEN** a letter arrives",
            "**AND** the sender is told why",
        ),
        (
            "rank_results 方法应该做什么？",
            CHINESE,
            "**当**：调用 `rank_results()` 方法",
            "多样性被考虑",
        ),
    ],
    ids=["English", "Chinese"],
)
async def test_who_asks_what_then_is_told_all_of_it(
    question: str, text: str, first: str, last: str
) -> None:
    item = RetrievedItem(ItemKind.CHUNK, "c", text, 1.0)
    found = await ExtractiveAnswerer().extract(question, [item], language="zh")
    assert [one.sentence for one in found.quotations][0::2] == [first, last]


async def test_what_is_only_given_is_no_answer() -> None:
    text = f"{CHINESE}\n\n检索结果按原始分数保存一天。"
    item = RetrievedItem(ItemKind.CHUNK, "c", text, 1.0)
    found = await ExtractiveAnswerer().extract("检索结果保存多久？", [item], language="zh")
    assert [one.sentence for one in found.quotations] == ["检索结果按原始分数保存一天。"]
