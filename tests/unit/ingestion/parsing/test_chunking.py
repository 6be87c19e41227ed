"""Structure and chunks: every promise of both, on documents that hypothesis makes up."""

from __future__ import annotations

import re
import subprocess
import sys
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.documents import Modality, ParsedDocument
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Paragraph, Table
from sextant.ingestion.parsing.draft import draft, finish, from_wire, to_wire
from sextant.text.characters import clean_text, estimate_tokens

DOCUMENT = UUID("00000000-0000-0000-0000-00000000d0c5")
PROSE = st.text(
    "糖尿病患者的，。！？；“”abc de.,!?\n\r\t \u3000\xa0|#-1Ⅱ😀\x00\ud800\u200b", max_size=300
)
CELL = st.text("甲乙ab |\n\x00", max_size=12)
HEADINGS = st.builds(HeadingBlock, PROSE.map(lambda text: text[:40]), st.integers(0, 9))
PARAGRAPHS = st.builds(Paragraph, PROSE, st.none() | st.integers(1, 9))
TABLES = st.builds(
    Table,
    st.lists(st.lists(CELL, max_size=4), max_size=8),
    st.integers(0, 3),
    st.none() | st.integers(1, 9),
)
BLOCKS = st.lists(HEADINGS | PARAGRAPHS | TABLES, max_size=14)


def document(blocks: list[Block], tokens: int = 32, version: str = "v") -> ParsedDocument:
    made = draft(Blocks(blocks), "notes.txt", tokens)
    return finish(from_wire(to_wire(made)), DOCUMENT, version)


@given(BLOCKS, st.integers(8, 60))
def test_a_chunk_is_the_text_at_its_offsets(blocks: list[Block], tokens: int) -> None:
    parsed = document(blocks, tokens)

    for chunk in parsed.chunks:
        assert parsed.text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip() == chunk.text != ""
        assert clean_text(chunk.text) == chunk.text


@given(BLOCKS, st.integers(8, 60))
def test_every_character_outside_headings_is_in_exactly_one_chunk(
    blocks: list[Block], tokens: int
) -> None:
    made = draft(Blocks(blocks), "notes.txt", tokens)
    covered = [0] * len(made.text)
    for cut in made.cuts:
        for place in range(cut.start, cut.end):
            covered[place] += 1
    headings = {
        place for node in made.sections for place in range(node.heading.start, node.heading.end)
    }

    assert max(covered, default=0) <= 1
    left_out = [p for p, count in enumerate(covered) if not count and not made.text[p].isspace()]
    assert set(left_out) <= headings


@given(BLOCKS, st.integers(8, 60))
def test_chunks_come_in_order_each_inside_its_one_section(blocks: list[Block], tokens: int) -> None:
    parsed = document(blocks, tokens)
    sections = {section.id: section for section in parsed.sections}

    assert [chunk.ordinal for chunk in parsed.chunks] == list(range(len(parsed.chunks)))
    for before, after in zip(parsed.chunks, parsed.chunks[1:], strict=False):
        assert before.end <= after.start
    for chunk in parsed.chunks:
        home = sections[chunk.section_id]
        assert home.start <= chunk.start < chunk.end <= home.end
        assert chunk.section_path == home.path
        deeper = [s for s in parsed.sections if s.parent_id == home.id]
        assert not any(s.start < chunk.end and chunk.start < s.end for s in deeper)


@given(BLOCKS)
def test_sections_nest_without_overlap(blocks: list[Block]) -> None:
    parsed = document(blocks)
    root, *others = parsed.sections
    by_id = {section.id: section for section in parsed.sections}

    assert (root.level, root.start, root.end, root.path) == (0, 0, len(parsed.text), ())
    ends: dict[UUID, int] = {}
    for section in others:
        assert section.parent_id
        parent = by_id[section.parent_id]
        assert parent.start <= section.start <= section.end <= parent.end
        assert section.level == parent.level + 1 == len(section.path)
        assert section.path == (*parent.path, section.title)
        assert ends.get(parent.id, 0) <= section.start
        ends[parent.id] = section.end


@given(BLOCKS, st.integers(32, 60))
def test_no_chunk_is_larger_than_asked(blocks: list[Block], tokens: int) -> None:
    made = draft(Blocks(blocks), "notes.txt", tokens)

    for cut in made.cuts:
        # Rounding up part by part, and the blanks between parts, may cost a little.
        assert estimate_tokens(made.text[cut.start : cut.end]) <= tokens + 1


@given(BLOCKS)
def test_ids_follow_from_document_version_and_place(blocks: list[Block]) -> None:
    once, again, other = document(blocks), document(blocks), document(blocks, version="w")

    assert once == again
    assert not {chunk.id for chunk in once.chunks} & {chunk.id for chunk in other.chunks}
    assert len({chunk.id for chunk in once.chunks}) == len(once.chunks)
    assert len({section.id for section in once.sections}) == len(once.sections)


@pytest.mark.parametrize(
    "sentence",
    [
        "糖尿病患者的主要症状是多饮、多尿、多食和体重下降。",
        "The payment is due within 30 days (net). ",
    ],
)
def test_prose_is_cut_at_sentences(sentence: str) -> None:
    parsed = document([Paragraph(sentence * 40)], 100)

    assert len(parsed.chunks) > 3
    assert all(chunk.text.endswith(("。", ".")) for chunk in parsed.chunks)


def test_small_paragraphs_of_one_section_share_a_chunk_and_sections_do_not() -> None:
    parsed = document(
        [
            HeadingBlock("One", 1),
            Paragraph("First."),
            Paragraph("Second."),
            HeadingBlock("Two", 1),
            Paragraph("Third."),
        ],
        100,
    )

    assert [chunk.text for chunk in parsed.chunks] == ["First.\n\nSecond.", "Third."]


@pytest.mark.parametrize("stop", [":", "：", "：**"])
def test_a_line_that_introduces_a_list_goes_with_it(stop: str) -> None:
    before, items = "Rooms are booked by noon. " * 3, "- north room\n- south room\n- east room"
    introduction = f"These rooms are free{stop}"
    parsed = document([Paragraph(before), Paragraph(introduction), Paragraph(items)], 32)

    assert [chunk.text for chunk in parsed.chunks] == [before.strip(), f"{introduction}\n\n{items}"]


def test_a_line_that_introduces_more_than_fits_stays_where_it_is() -> None:
    before, introduction = "Rooms are booked by noon.", "These rooms are free for everybody:"
    parsed = document(
        [Paragraph(before), Paragraph(introduction), Paragraph("north room " * 14)], 32
    )

    assert parsed.chunks[0].text == f"{before}\n\n{introduction}"


def test_a_table_is_cut_by_rows_and_later_rows_carry_the_header_as_context() -> None:
    rows = [["型号", "价格"], *([f"苍鹭{n}", f"{n} 元"] for n in range(30))]
    parsed = document([Paragraph("Before. " * 16), Table(rows), Paragraph("After.")], 80)

    tables = [chunk for chunk in parsed.chunks if chunk.modality is Modality.TABLE]
    assert len(tables) > 3
    assert tables[0].text.startswith("| 型号 | 价格 |\n| --- | --- |\n| 苍鹭0 | 0 元 |")
    assert tables[0].context == ""
    assert {chunk.context for chunk in tables[1:]} == {"| 型号 | 价格 |\n| --- | --- |"}
    assert all(line.startswith("| 苍鹭") for chunk in tables[1:] for line in chunk.text.split("\n"))
    assert parsed.chunks[-1].text == "After."


def test_a_list_goes_with_what_introduces_it() -> None:
    items = [
        f"{number}. Bring the {thing}." for number, thing in enumerate(("bag", "key", "map"), 1)
    ]
    before, lead = "the garden wall " * 7, "For the walk you need:"
    parsed = document([*map(Paragraph, (before.strip() + ".", lead, *items))], 46)

    assert parsed.chunks[1].text == "\n\n".join([lead, *items])


def test_the_period_above_a_table_goes_with_each_part_of_it() -> None:
    rows = [["Zone", "Sales"], *([f"North {n}", f"{n}"] for n in range(30))]
    parsed = document([Paragraph("In millions\nJanuary–June 2023"), Table(rows)], 80)

    first, *others = parsed.chunks
    assert first.text.startswith("In millions\nJanuary–June 2023\n\n| Zone")
    assert all("January–June 2023" in chunk.context for chunk in others)


def test_a_caption_goes_with_its_table() -> None:
    rows = [["型号", "价格"], *([f"苍鹭{n}", f"{n} 元"] for n in range(30))]
    parsed = document([Paragraph("正文。"), Paragraph("表 2 价格（元）"), Table(rows)], 80)

    text, first, second, *_ = parsed.chunks
    assert text.text == "正文。"
    assert first.text.startswith("表 2 价格（元）\n\n| 型号")
    assert second.context.startswith("表 2 价格（元）\n\n| 型号")


def test_a_sentence_too_long_for_a_chunk_is_cut_at_a_pause() -> None:
    parsed = document([Paragraph("患者应当注意饮食，" * 60)], 50)

    assert len(parsed.chunks) > 5
    assert all(chunk.text.endswith("，") for chunk in parsed.chunks)


def test_a_heading_with_nothing_below_it_can_still_be_found() -> None:
    parsed = document([HeadingBlock("Opening", 1), HeadingBlock("Thank you", 1)])

    assert [chunk.text for chunk in parsed.chunks] == ["Opening", "Thank you"]


def test_the_first_page_of_its_text_is_a_chunks_page() -> None:
    parsed = document([Paragraph("One.", 3), Paragraph("Two.", 4)], 100)

    assert [(chunk.text, chunk.page) for chunk in parsed.chunks] == [("One.\n\nTwo.", 3)]


@pytest.mark.parametrize(
    ("blocks", "metadata", "expected"),
    [
        ([HeadingBlock("Shown title", 0), HeadingBlock("Part", 1)], "Metadata", "Shown title"),
        ([HeadingBlock("Part", 1)], "Metadata title", "Metadata title"),
        ([HeadingBlock("Part", 1)], "Microsoft Word - x.doc", "Part"),
        ([HeadingBlock("Part", 1)], "report", "Part"),
        ([Paragraph("Acme Ltd"), HeadingBlock("Part", 1)], "", "Part"),
        ([Paragraph("One."), Paragraph("Two."), HeadingBlock("Part", 1)], "", "report"),
    ],
)
def test_the_title_is_what_a_reader_sees_first(
    blocks: list[Block], metadata: str, expected: str
) -> None:
    assert draft(Blocks([*blocks, Paragraph("x")], metadata), "report.pdf", 100).title == expected


@pytest.mark.parametrize(
    "hostile",
    ["A. " * 30_000, "字" * 200_000, "QUJD" * 50_000, "。" * 100_000, "\n".join("a" * 20_000)],
)
def test_hostile_prose_is_cut_without_losing_a_character(hostile: str) -> None:
    parsed = document([Paragraph(hostile)], 320)

    blanks = re.compile(r"\s+")
    assert blanks.sub("", "".join(chunk.text for chunk in parsed.chunks)) == blanks.sub("", hostile)


def test_threads_of_a_fresh_process_decode_their_first_drafts_at_once() -> None:
    made = to_wire(
        draft(Blocks([HeadingBlock("Part", 1), Paragraph("It opens at nine.")]), "a.md", 100)
    )
    code = """
import sys, threading
from sextant.ingestion.parsing.draft import from_wire
data, start = sys.stdin.buffer.read(), threading.Barrier(8)
threads = [threading.Thread(target=lambda: (start.wait(), from_wire(data))) for _ in range(8)]
sys.setswitchinterval(1e-6)
for thread in threads: thread.start()
"""
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code], input=made, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b"")
