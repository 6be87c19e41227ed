"""What is said of a namesake answers nothing, however alike its words are."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer


def item(text: str, *path: str, document: str = "d") -> RetrievedItem:
    metadata = {"section_path": path}
    return RetrievedItem(
        ItemKind.CHUNK, text[:20], text, 1.0, metadata=metadata, document_id=document
    )


async def answers(question: str, *items: RetrievedItem, language: str = "en") -> Sequence[str]:
    found = await ExtractiveAnswerer().extract(question, items, language=language)
    return [quotation.sentence for quotation in found.quotations]


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
