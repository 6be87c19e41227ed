"""Which names a document brings, and which passages contain them."""

from __future__ import annotations

from uuid import UUID, uuid5

import pytest

from sextant.domain.documents import Chunk, ParsedDocument, Section
from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.chunk_evidence import (
    EntityAlias,
    links,
    name_trie,
    title_evidence,
)
from sextant.ingestion.graph.extraction.titles import titles_of
from sextant.ingestion.transfer.documents import join_chunks
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine
from sextant.text.name_linker import bare_title

SPACE = UUID(int=7)
SCOPE = Scope("reader", "default")


def document(title: str, *paths: tuple[str, ...]) -> ParsedDocument:
    """Return a document whose sections hold one chunk each."""
    chunks = [
        Chunk(uuid5(SPACE, str(place)), SPACE, place, 0, 0, "text", section_path=path)
        for place, path in enumerate(paths)
    ]
    sections = [
        Section(uuid5(SPACE, "/".join(path)), None, path[-1], len(path), 0, 0, 0, path)
        for path in dict.fromkeys(paths)
        if path
    ]
    return ParsedDocument(title, "", "zh", tuple(sections), tuple(chunks))


@pytest.mark.parametrize(
    ("heading", "bare"),
    [
        ("第3章 治疗原则", "治疗原则"),
        ("第十二节：随访", "随访"),
        ("3.1 Dosage forms", "Dosage forms"),
        ("2.1.3糖尿病分型", "糖尿病分型"),
        ("一、适用人群", "适用人群"),
        ("（二）适用人群", "适用人群"),
        ("附录A 术语表", "术语表"),
        ("Chapter IV: The Return", "The Return"),
        ("图1 系统架构", "系统架构"),
        ("附表二：设备清单", "设备清单"),
        ("Table 3", ""),
        ("2.1 Section 2.1", ""),
        ("6. `config` (required)", "`config` (required)"),
        ("图书馆管理", "图书馆管理"),
        ("表一定要填写", "表一定要填写"),
        ("3D printing", "3D printing"),
        ("2025年工作报告", "2025年工作报告"),
        ("Indexing", "Indexing"),
        ("30 days of notice", "30 days of notice"),
    ],
)
def test_numbering_is_no_part_of_a_heading(heading: str, bare: str) -> None:
    assert bare_title(heading) == bare


def test_a_title_is_also_known_without_its_bracket_and_by_its_abbreviation() -> None:
    [title] = titles_of(document("胰岛素样生长因子（IGF）"))
    assert title.names == ("胰岛素样生长因子（IGF）", "胰岛素样生长因子", "IGF")
    [planet] = titles_of(document("Mercury (planet)"))
    assert planet.names == ("Mercury (planet)", "Mercury")


def test_the_id_of_a_passage_that_came_alone_names_nothing_and_its_title_does() -> None:
    alone, titled = (
        join_chunks(
            DocumentLine(id="c1", title=title),
            [ChunkLine(id="c1", title=title, text="Text.")],
            SPACE,
        )
        for title in ("", "c1")
    )

    assert titles_of(alone) == []
    assert [title.name for title in titles_of(titled)] == ["c1"]


def test_headings_that_stand_in_any_document_name_nothing() -> None:
    parsed = document("手册", ("第1章 概述",), ("2 Introduction",), ("3.1 热控系统",), ("病因",))
    assert [title.name for title in titles_of(parsed)] == ["手册", "热控系统"]


@pytest.mark.parametrize(
    "title",
    ["表", "附表", "Table", "FIGURE", "Section", "Table 3", "表 1", "图2-1", "第三章", "Part II"],
)
def test_what_only_calls_a_document_a_table_a_figure_or_a_part_names_nothing(title: str) -> None:
    assert titles_of(document(title)) == []


@pytest.mark.parametrize(
    "title", ["1984", "2001太空漫游", "Table Mountain", "表里如一", "图书馆", "Marsh Pumps Inc."]
)
def test_a_document_may_be_called_by_a_number_or_begin_like_one(title: str) -> None:
    assert [one.name for one in titles_of(document(title))] == [title]


def test_a_sentence_is_no_name() -> None:
    assert titles_of(document("Look at the pump.")) == []


def test_chunks_stand_under_the_title_and_under_every_heading_above_them() -> None:
    parsed = document("卫星手册", ("热控系统",), ("热控系统", "加热回路"), ("电源分系统",))
    aliases, mentions = title_evidence(SCOPE, SPACE, parsed)
    assert {alias.name for alias in aliases} == {"卫星手册", "热控系统", "加热回路", "电源分系统"}
    under = {name: sum(m.name == name for m in mentions) for name in ("卫星手册", "热控系统")}
    assert under == {"卫星手册": 3, "热控系统": 2}


def found(text: str, *names: str) -> dict[str, str]:
    trie = name_trie(EntityAlias(uuid5(SPACE, name), name) for name in names)
    return {row.name: text[row.start : row.end] for row in links(trie, [(SPACE, text)])}


def test_names_inside_longer_names_count_too_so_that_no_name_hides_another() -> None:
    text = "He moved to New York City."
    assert found(text, "New York", "New York City") == {
        "new york": "New York",
        "new york city": "New York City",
    }
    assert found(text, "New York") == {"new york": "New York"}


def test_latin_names_are_whole_words_with_their_capitals_and_chinese_ones_any_part() -> None:
    assert found("She ate turkey at Turkeyfield. He left.", "Turkey") == {}
    assert found("They crossed Turkey quickly.", "Turkey") == {"turkey": "Turkey"}
    assert found("其热控系统正常", "热控系统") == {"热控系统": "热控系统"}


def test_two_spellings_of_one_name_give_one_mention() -> None:
    trie = name_trie([EntityAlias(SPACE, "Sextant"), EntityAlias(SPACE, "sextant")])
    [row] = links(trie, [(SPACE, "The sextant and the Sextant.")])
    assert (row.name, row.start) == ("sextant", 4)
