"""Codes in a question are compared by their letters; what is left of it, by meaning."""

from __future__ import annotations

from collections.abc import Sequence

from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.models.protocols import Vectors
from sextant.testing.hash_embedder import AngleEmbedder
from tests.unit.models.offline.passages import E5, item


async def test_a_code_is_compared_by_its_letters_and_not_by_its_meaning() -> None:
    class Asked(AngleEmbedder):
        async def embed_query(self, text: str) -> Vectors:
            assert "400" not in text
            return await super().embed_query(text)

        async def embed_passages(self, texts: Sequence[str]) -> Vectors:
            assert not any("400" in text for text in texts)
            return await super().embed_passages(texts)

    sheet = item("The NW-400 is manufactured in Utrecht. It weighs 2 kg.")
    found = await ExtractiveAnswerer(Asked(E5, {}, otherwise=0.85)).extract(
        "Where is the NW-400 made?", [sheet], language="en"
    )
    assert found.quotations[0].sentence == "The NW-400 is manufactured in Utrecht."


async def test_what_a_code_means_is_told_by_the_sentence_that_has_it() -> None:
    """Without E5 nothing is left of the question that a sentence could be near to."""
    items = [
        item("- 屏幕显示 E3：水箱没有放到位。\n- 屏幕显示 E5：锅炉温度过高，请断电冷却三十分钟。")
    ]
    answerer = ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.85))
    found = await answerer.extract("E5 是什么意思？", items, language="zh")
    assert [quote.sentence for quote in found.quotations] == [
        "屏幕显示 E5：锅炉温度过高，请断电冷却三十分钟。"
    ]
