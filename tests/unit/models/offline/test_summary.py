"""A summary of one document that is named: what its sections say first, in their order."""

from __future__ import annotations

import pytest

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.offline.summary import summary_of_named
from sextant.text.characters import language_of

INCIDENT = "incident-2026-02-11-late-trucks.md"
MINUTES = "项目例会纪要-2026-04-09.md"
FILES = {
    INCIDENT: (
        "Severity: 2\nCommander: Priya Raman",
        "Trucks were shown up to 95 minutes late. No data was lost. The map was not concerned.",
        "A carrier sent messages with an attachment of 14 MB. Consumers ran out of memory.",
    ),
    "incident-2026-05-03-map-outage.md": (
        "The map could not be loaded from 13:20 to 14:55 UTC.",
        "A certificate had expired.",
    ),
    MINUTES: (
        "时间：2026年4月9日 14:00\n主持：沈慕白",
        "掉电缺陷已于4月1日修复，比计划晚了六天。决定：固件推迟到5月15日发布。",
        "供应商的样品通过了高低温试验。决定：首批采购2000只。",
    ),
    "车间安全规定.txt": (
        "进入车间须穿防静电服和劳保鞋。长发须盘入帽内。",
        "| 区域 | 防护 |\n| --- | --- |\n| 焊接 | 护目镜 |",
        "火灾时撤离到东门停车场集合。",
    ),
}
ITEMS = [
    RetrievedItem(
        ItemKind.CHUNK,
        f"{name}{at}",
        text,
        1.0,
        document_id=name,
        metadata={"filename": name, "start": 1000 * at},
    )
    for name, texts in FILES.items()
    for at, text in reversed(list(enumerate(texts)))
]


async def quoted(question: str) -> list[str]:
    found = await ExtractiveAnswerer().extract(question, ITEMS, language=language_of(question))
    return [one.sentence for one in found.quotations]


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        (
            "Summarise the incident of 11 February 2026",
            "Trucks were shown up to 95 minutes late.",
            "Consumers ran out of memory.",
        ),
        (
            "What was the incident of the late trucks about?",
            "Trucks were shown up to 95 minutes late.",
            "Consumers ran out of memory.",
        ),
        (
            "Give me a short summary of the map outage",
            "The map could not be loaded from 13:20 to 14:55 UTC.",
            "A certificate had expired.",
        ),
        ("总结一下车间安全规定", "进入车间须穿防静电服和劳保鞋。", "火灾时撤离到东门停车场集合。"),
        (
            "车间安全规定主要讲什么？",
            "进入车间须穿防静电服和劳保鞋。",
            "火灾时撤离到东门停车场集合。",
        ),
    ],
)
async def test_a_document_that_is_named_is_summed_up_in_its_order(
    question: str, first: str, last: str
) -> None:
    found = await quoted(question)
    assert (found[0], found[-1]) == (first, last)


@pytest.mark.parametrize(
    "question",
    [
        "Summarise the travel policy",
        "Summarise the incidents",
        "What does the incident of the late trucks say about memory?",
        "Who commanded the incident of 11 February 2026?",
        "总结一下差旅制度",
        "车间安全规定里护目镜在哪个区域用？",
        "总结一下",
        "",
    ],
)
def test_what_names_no_document_or_asks_for_something_in_it_is_no_summary(question: str) -> None:
    assert summary_of_named(question, ITEMS) == []
