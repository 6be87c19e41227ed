"""A list is told with the line that introduces it, and the line with its list."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.listings import listings, with_lists_told

MODES = "The search has three modes:"
LIST = f"{MODES}\n\n- local asks entities\n- global asks reports\n- mix asks both"
STEPS = "Before you leave:\n1. Save your files.\n2. Lock the door.\n3. Hand in the badge."
CODE = "To begin, type:\n\n```bash\nmake setup\nmake demo\n```\n\nThe rest is in the handbook."


def _item(text: str, name: str = "c") -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, name, text, 1.0)


def _told(text: str, said: str, question: str = "Which modes are there?") -> list[str]:
    start = text.index(said)
    spans = with_lists_told(question, [_item(text)], [(0, start, start + len(said))])
    return [text[start:end] for _, start, end in spans]


@pytest.mark.parametrize(
    ("text", "introduction", "items"),
    [
        (
            LIST,
            MODES,
            ["local asks entities", "global asks reports", "mix asks both"],
        ),
        (
            STEPS,
            "Before you leave:",
            ["Save your files.", "Lock the door.", "Hand in the badge."],
        ),
        (CODE, "To begin, type:", ["make setup", "make demo"]),
        ("系统支持：\n\n（一）向量检索\n（二）全文检索", "系统支持：", ["向量检索", "全文检索"]),
        (
            "可以采购的情形：\n1．只有一家供应商的\n2．紧急的",
            "可以采购的情形：",
            ["只有一家供应商的", "紧急的"],
        ),
        ("**要求**：\n- 应返回答案", "**要求**：", ["应返回答案"]),
    ],
    ids=["bullets", "numbers", "code", "Chinese numbers", "wide dots", "one item"],
)
def test_what_a_colon_introduces_is_a_list(text: str, introduction: str, items: list[str]) -> None:
    (found,) = listings(text)
    assert found.introduction is not None
    assert text[slice(*found.introduction)] == introduction
    assert [text[start:end] for start, end in found.items] == items


@pytest.mark.parametrize(
    "text",
    [
        "Prices rise.\nPrices fall.",
        "Note:\nPrices rise.",
        "- only one",
        "| a: |\n| b: |",
        "Output:\n\n```\nno end",
        "```\nmake demo\n```",
        "- It has:\n- nothing that is indented",
    ],
    ids=["lines", "no marks", "one", "a table", "open code", "code by itself", "beside it"],
)
def test_what_is_no_list_has_no_items_that_are_introduced(text: str) -> None:
    assert not [one for one in listings(text) if one.introduction]


def test_lines_indented_below_an_item_belong_to_it() -> None:
    text = "Rules:\n- Rooms are booked\n  by noon.\n- Keys are returned."
    (found,) = listings(text)
    assert [text[a:b] for a, b in found.items] == [
        "Rooms are booked\n  by noon.",
        "Keys are returned.",
    ]


def test_of_a_long_list_of_lists_the_outer_items_are_told() -> None:
    inner = "".join(f"\n  - detail {number}" for number in range(7))
    text = f"Steps:\n1. Plan{inner}\n2. Build{inner}"
    assert _told(text, "Steps:")[1:] == [f"Plan{inner}"[:4], "Build"]


def test_a_list_within_an_item_is_introduced_by_it() -> None:
    text = "- The form asks for:\n  - your name\n  - your room\n- The form is blue."
    assert _told(text, "The form asks for:") == ["The form asks for:", "your name", "your room"]


def test_a_line_that_introduces_a_list_is_told_with_it() -> None:
    assert _told(LIST, MODES) == [
        MODES,
        "local asks entities",
        "global asks reports",
        "mix asks both",
    ]


def test_of_a_line_that_introduces_a_list_the_last_sentence_is_told() -> None:
    text = "Secrets lie in a vault. Three people may read them:\n\n1. Dana\n2. Omar\n3. Ines"
    assert _told(text, "Three people may read them:")[0] == "Three people may read them:"
    assert _told(text, "Secrets lie in a vault.") == ["Secrets lie in a vault."]


def test_an_item_is_told_with_its_list_where_the_line_above_it_is_quoted_too() -> None:
    spans = [
        (0, STEPS.index(said), STEPS.index(said) + len(said))
        for said in ("Lock the door.", "Before you leave:")
    ]
    told = with_lists_told("What of the door before I leave?", [_item(STEPS)], spans)
    assert [STEPS[a:b] for _, a, b in told] == _told(STEPS, "Before you leave:")


def test_an_item_that_answers_by_what_stands_over_it_is_told_with_all_of_its_list() -> None:
    assert _told(STEPS, "Lock the door.", "What must I do before I leave?")[0] == STEPS[:17]


def test_an_item_that_has_words_of_the_question_is_told_by_itself() -> None:
    assert _told(STEPS, "Lock the door.", "What happens to the door?") == ["Lock the door."]


def test_a_list_too_long_for_an_answer_is_not_told() -> None:
    text = "Rooms:\n" + "\n".join(f"- room {number}" for number in range(30))
    assert _told(text, "Rooms:") == ["Rooms:"]


def test_what_else_is_quoted_of_the_list_is_not_told_twice() -> None:
    spans = [(0, LIST.index(said), LIST.index(said) + len(said)) for said in (MODES, "mix asks")]
    other = (1, 0, 4)
    told = with_lists_told("Which modes?", [_item(LIST), _item("Else", "d")], [*spans, other])
    assert [LIST[a:b] for source, a, b in told if not source] == _told(LIST, MODES)
    assert told[-1] == other


async def test_who_asks_which_there_are_is_told_all_of_them() -> None:
    text = "系统**必须**支持以下 6 种检索模式：\n\n1. naive：仅使用向量\n2. local：聚焦于实体\n3. global：社区摘要"
    found = await ExtractiveAnswerer().extract("支持哪些检索模式？", [_item(text)], language="zh")
    assert [one.sentence for one in found.quotations] == [
        "系统**必须**支持以下 6 种检索模式：",
        "naive：仅使用向量",
        "local：聚焦于实体",
        "global：社区摘要",
    ]


async def test_who_asks_how_is_told_the_lines_of_code() -> None:
    found = await ExtractiveAnswerer().extract(
        "What do I type to begin?", [_item(CODE)], language="en"
    )
    assert [one.sentence for one in found.quotations][:3] == [
        "To begin, type:",
        "make setup",
        "make demo",
    ]


async def test_an_item_is_found_by_the_line_above_its_list() -> None:
    """Its own words say nothing of what is asked."""
    text = f"{STEPS}\n\nThe office is closed on Sundays and on holidays."
    found = await ExtractiveAnswerer().extract(
        "What must be done before you leave?", [_item(text)], language="en"
    )
    assert "Hand in the badge." in [one.sentence for one in found.quotations]


async def test_for_who_asks_which_there_are_the_list_goes_before_what_mentions_it() -> None:
    text = "Every field that is wrong is told.\n\nThese are the fields of its body:\n- customer\n- items"
    metadata = {"section_path": ["Create an order"]}
    item = RetrievedItem(ItemKind.CHUNK, "c", text, 1.0, metadata=metadata)
    question = "Which fields does an order have?"
    found = await ExtractiveAnswerer().extract(question, [item], language="en")
    assert [one.sentence for one in found.quotations][:3] == [
        "These are the fields of its body:",
        "customer",
        "items",
    ]


async def test_what_is_new_is_told_by_the_list_under_the_version() -> None:
    text = "- Orders in bulk\n- Webhooks"
    metadata = {"section_path": ["Orders", "3.2 (2026-02-10)"]}
    item = RetrievedItem(ItemKind.CHUNK, "c", text, 1.0, metadata=metadata)
    found = await ExtractiveAnswerer().extract("What is new in 3.2?", [item], language="en")
    assert [one.sentence for one in found.quotations] == ["Orders in bulk", "Webhooks"]


CLAIM = "1. Fill in the claim form.\n\n2. The assistant checks the receipts.\n\n3. Money is sent on Thursdays."


def _under(heading: str) -> list[RetrievedItem]:
    """Return the steps under a heading, and a passage that has the words of questions about them."""
    rule = "No claim of travel costs is paid without approval."
    return [
        RetrievedItem(
            ItemKind.CHUNK, name, text, 1.0, document_id="d", metadata={"section_path": [over]}
        )
        for name, text, over in (("rule", rule, "Approval"), ("steps", CLAIM, heading))
    ]


@pytest.mark.parametrize(
    "question", ["What are the steps of a travel claim?", "What is the procedure for a claim?"]
)
async def test_who_asks_for_steps_is_told_the_list_under_the_heading_that_names_them(
    question: str,
) -> None:
    items = _under("Travel claims")
    found = await ExtractiveAnswerer().extract(question, items, language="en")
    assert [one.sentence for one in found.quotations][:3] == [
        "Fill in the claim form.",
        "The assistant checks the receipts.",
        "Money is sent on Thursdays.",
    ]


async def test_steps_under_another_heading_are_no_answer() -> None:
    question = "What are the steps of a resignation?"
    found = await ExtractiveAnswerer().extract(question, _under("Travel claims"), language="en")
    assert not found.quotations
