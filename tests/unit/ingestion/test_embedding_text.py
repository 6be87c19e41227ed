"""What is embedded for a chunk."""

from __future__ import annotations

from uuid import UUID

from sextant.domain.documents import Chunk
from sextant.ingestion.job_runner import embedding_text


def test_a_chunk_is_embedded_with_where_it_stands_and_its_tables_header() -> None:
    chunk = Chunk(
        UUID(int=1), UUID(int=2), 0, 0, 9, "| 电机 | 4860 |",
        section_path=("报价", "部件"), context="| 名称 | 价格 |",
    )  # fmt: skip

    assert (
        embedding_text("价目表", chunk) == "价目表 > 报价 > 部件\n| 名称 | 价格 |\n| 电机 | 4860 |"
    )


def test_a_title_that_is_also_the_first_section_is_said_once() -> None:
    chunk = Chunk(UUID(int=1), UUID(int=2), 0, 0, 4, "Text.", section_path=("Guide", "Use"))

    assert embedding_text("Guide", chunk) == "Guide > Use\nText."
