"""Quotations beside what a table that came with the question says."""

from __future__ import annotations

import pytest

from domain.attachments import Attachment, AttachmentKind
from domain.events import Done
from domain.retrieval import ItemKind, RetrievedItem
from domain.tables.written import Finding
from models.offline.extractive import ExtractiveAnswerer
from nodes.answers.quoting import quoted
from nodes.multimodal.items import attached_items
from testing.meanings import Meanings

E5 = "intfloat/multilingual-e5-small"


async def answered(text: str) -> str:
    """What is said of a table whose largest value is a lamp's, beside a document that says `text`."""
    lamp = Finding("the largest price is 40 (Lamp)", "r1c2", "40", about="Lamp")
    table = Attachment(
        AttachmentKind.TABLE,
        "T1",
        "",
        names=("name", "price"),
        rows=(("Lamp", "40"),),
        findings=(lamp,),
    )
    passage = RetrievedItem(ItemKind.CHUNK, "one", text, 1.0, metadata={"filename": "a.md"})
    answerer = ExtractiveAnswerer(Meanings(E5, {}, otherwise=0.9))
    events = quoted(
        answerer,
        "What does the dearest cost?",
        [passage, *attached_items([table], "en", 500)],
        "en",
    )
    return [event.answer.answer async for event in events if isinstance(event, Done)].pop()


@pytest.mark.parametrize(
    ("text", "quoted_too"),
    [("租期三年，自 2025 年至 2027 年。", False), ("The lamp is made in Delft.", True)],
)
async def test_documents_are_quoted_on_a_row_where_they_name_it(
    text: str, quoted_too: bool
) -> None:
    assert (text in await answered(text)) is quoted_too
