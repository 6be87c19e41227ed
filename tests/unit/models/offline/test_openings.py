"""A section that is called by what is asked for is told from its first sentence on."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.openings import with_opening_told

CAUSE = "The filter used a window of 5 ms. It was changed by mistake. So peaks passed it. Nobody saw that."
TIMELINE = "The incident was opened at two. The motor is not the cause."


def _item(text: str, *path: str, name: str = "c") -> RetrievedItem:
    metadata = {"section_path": path, "document_title": "Incident report"}
    return RetrievedItem(ItemKind.CHUNK, name, text, 1.0, metadata=metadata, document_id="d")


def _told(question: str, said: str, *path: str) -> list[str]:
    start = CAUSE.index(said)
    spans = with_opening_told(question, [_item(CAUSE, *path)], [(0, start, start + len(said))])
    return [CAUSE[start:end] for _, start, end in spans]


def test_what_answers_by_its_heading_is_told_with_what_it_follows() -> None:
    told = _told("What was the root cause?", "So peaks passed it.", "3. Root cause")
    assert told == [
        "The filter used a window of 5 ms.",
        "It was changed by mistake.",
        "So peaks passed it.",
    ]


@pytest.mark.parametrize(
    ("question", "said", "path"),
    [
        ("What did peaks cause?", "So peaks passed it.", ["Root cause"]),
        ("What was the root cause?", "Nobody saw that.", ["Root cause"]),
        ("What was the root cause?", "So peaks passed it.", ["Timeline"]),
        ("What was the root cause?", "So peaks passed it.", ["Root cause", "Timeline"]),
        ("What was the root cause?", "So peaks passed it.", []),
    ],
    ids=["has a word of it", "is far below", "another heading", "a heading above", "no heading"],
)
def test_other_sentences_are_told_by_themselves(question: str, said: str, path: list[str]) -> None:
    assert _told(question, said, *path) == [said]


@pytest.mark.parametrize(
    "question", ["What caused the incident?", "What was the cause of the incident?"]
)
async def test_who_asks_for_the_cause_is_told_what_stands_under_root_cause(question: str) -> None:
    items = [_item(TIMELINE, "Timeline", name="t"), _item(CAUSE, "3. Root cause")]
    found = await ExtractiveAnswerer().extract(question, items, language="en")
    assert found.quotations[0].sentence == "The filter used a window of 5 ms."


async def test_a_section_of_reasons_in_another_language_does_not_go_before() -> None:
    own = "停机的原因是滤波窗口误设为 5 毫秒。"
    items = [_item(CAUSE, "3. Root cause"), _item(own, "复盘", name="z")]
    found = await ExtractiveAnswerer().extract("停机的原因是什么？", items, language="zh")
    assert found.quotations[0].sentence == own


async def test_a_heading_answers_by_the_noun_of_the_verb_that_is_asked() -> None:
    text = "Every request carries a key. Keys are made in the console."
    items = [_item(text, "Authentication"), _item(TIMELINE, "Timeline", name="t")]
    found = await ExtractiveAnswerer().extract("How do I authenticate?", items, language="en")
    assert [one.sentence for one in found.quotations] == [
        "Every request carries a key.",
        "Keys are made in the console.",
    ]
