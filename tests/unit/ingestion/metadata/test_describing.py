"""What a document's chunks and sections are said to be about."""

from __future__ import annotations

import asyncio
import math
import threading
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.documents import Chunk, Modality, ParsedDocument, Section
from sextant.ingestion.graph.extraction.extract_terms import extract_terms
from sextant.ingestion.offline_descriptions import (
    KEYWORDS,
    SUMMARY_CHARS,
    TOPICS,
    describe,
    describe_in_parts,
)
from sextant.text.characters import normalise_name

ROOT = UUID(int=1)
CONTRACT = [
    ("第3章 付款条款", "甲方应在验收后三十日内支付合同款。付款节点包括预付款、进度款和验收款。"),
    ("第3章 付款条款", "预付款比例为合同总额的百分之三十。本条所称银行保函由乙方提供。"),
    ("第4章 违约责任", "逾期交付的，乙方支付违约金。违约金不超过合同总额的百分之十。"),
]


def document(parts: list[tuple[str, str]], **given_: object) -> ParsedDocument:
    """Return a document with a section for each title, the root above them all."""
    titles = dict.fromkeys(title for title, _ in parts)
    sections = [Section(ROOT, None, "合同", 0, 0, 0, 99)]
    sections += [
        Section(uuid5(ROOT, title), ROOT, title, 1, place, 0, 9, path=(title,))
        for place, title in enumerate(titles, start=1)
    ]
    chunks = [
        Chunk(
            uuid5(ROOT, f"chunk {place}"),
            uuid5(ROOT, title),
            place,
            0,
            len(text),
            text,
            section_path=(title,),
        )
        for place, (title, text) in enumerate(parts)
    ]
    whole = ParsedDocument("合同", "", "zh", tuple(sections), tuple(chunks))
    return ParsedDocument(
        **{name: getattr(whole, name) for name in whole.__dataclass_fields__} | given_
    )


def test_chunks_carry_the_semantic_metadata_of_the_seed() -> None:
    first, second, third = describe(document(CONTRACT, metadata={"format": "docx"})).parsed.chunks
    assert first.section_path == ("第3章 付款条款",)
    assert first.topic_labels[0] == "付款条款"
    assert first.topics == second.topics != third.topics
    assert set(first.topics) <= set(first.topic_labels)
    assert first.summary == "付款节点包括预付款、进度款和验收款。"
    assert "预付款" in first.keywords
    assert "违约金" in third.keywords
    assert first.tags == ("zh", "docx")


async def test_a_call_that_is_cancelled_leaves_no_thread_at_work_for_the_whole_document(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed = document([("Chapter", f"The valve {number} opens.") for number in range(600)])
    assert (await describe_in_parts(parsed)) == describe(parsed)

    begun, goes_on, read = threading.Event(), threading.Event(), list[str]()

    def extract(chunks: Sequence[Chunk]) -> dict[UUID, Sequence[object]]:
        read.extend(chunk.text for chunk in chunks)
        begun.set()
        goes_on.wait()
        return {}

    monkeypatch.setattr("sextant.ingestion.offline_descriptions._extract", extract)
    describing = asyncio.create_task(describe_in_parts(parsed))
    await asyncio.to_thread(begun.wait)
    describing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await describing
    goes_on.set()
    assert 0 < len(read) < 600


def test_a_rare_term_comes_before_one_that_every_chunk_has() -> None:
    """tf-idf by hand: worth = weight · ln(1 + chunks / chunks with it)."""
    parsed = describe(document(CONTRACT)).parsed
    terms = [{normalise_name(t.name): t for t in extract_terms(c.text)} for c in parsed.chunks]
    name = next(iter(terms[2]))
    holders = sum(name in own for own in terms)
    worth = terms[2][name].weight * math.log(1 + 3 / holders)
    better = [
        one
        for key, term in terms[2].items()
        if term.weight * math.log(1 + 3 / sum(key in own for own in terms)) > worth
        for one in [term.name]
    ]
    assert parsed.chunks[2].keywords.index(terms[2][name].name) >= len(better)


def test_the_structure_tree_carries_summaries_and_keywords() -> None:
    parsed = describe(document(CONTRACT, metadata={"tags": ["legal", "2026"]})).parsed
    root, payment, breach = parsed.sections
    assert payment.summary in {chunk.summary for chunk in parsed.chunks[:2]}
    assert breach.summary == parsed.chunks[2].summary
    assert root.summary in {chunk.summary for chunk in parsed.chunks}
    assert "违约金" in breach.keywords
    assert root.tags == ("legal", "2026", "zh")
    assert set(breach.keywords).isdisjoint({"预付款"})


def test_neighbours_are_the_chunks_before_and_after_in_the_section() -> None:
    one, two, other = describe(document(CONTRACT)).parsed.chunks
    assert (one.neighbours, two.neighbours, other.neighbours) == ((two.id,), (one.id,), ())


def test_what_is_there_stays() -> None:
    parsed = document(CONTRACT)
    given_ = Chunk(
        **{
            **{name: getattr(parsed.chunks[0], name) for name in Chunk.__dataclass_fields__},
            "summary": "Said by the user.",
            "keywords": ("own",),
        }
    )
    described = describe(
        ParsedDocument("合同", "", "zh", parsed.sections, (given_, *parsed.chunks[1:]))
    ).parsed.chunks[0]
    assert (described.summary, described.keywords) == ("Said by the user.", ("own",))


def test_english_prose_without_names_still_has_keywords() -> None:
    text = "the payment is due within thirty days after the invoice; late payment bears interest."
    parsed = describe(document([("Terms", text)])).parsed
    assert {"payment", "invoice", "interest"} <= set(parsed.chunks[0].keywords)
    assert parsed.sections[1].keywords == parsed.chunks[0].keywords


def test_a_table_is_summed_up_by_its_first_line_and_tagged() -> None:
    parsed = document([("Prices", "| item | price |\n| --- | --- |\n| Tea | 3 |")])
    table = Chunk(
        **{
            **{name: getattr(parsed.chunks[0], name) for name in Chunk.__dataclass_fields__},
            "modality": Modality.TABLE,
        }
    )
    [chunk] = describe(ParsedDocument("x", "", "en", parsed.sections, (table,))).parsed.chunks
    assert chunk.summary == "item · price"
    assert chunk.tags == ("en", "table")


@pytest.mark.parametrize("text", ["", "   ", "。。。", "👍👍", "123 456", "\n\n"])
def test_text_that_says_nothing_is_described_by_nothing(text: str) -> None:
    [chunk] = describe(document([("x", text)])).parsed.chunks
    assert chunk.keywords == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["第1章 总则", "2 Terms", "附则"]),
            st.text(alphabet="糖尿病患者的症状付款节点 ABCabc.。,，\n1|", max_size=80),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_bounds_hold_and_describing_again_changes_nothing(parts: list[tuple[str, str]]) -> None:
    described = describe(document(parts))
    for chunk in described.parsed.chunks:
        assert len(chunk.summary) <= SUMMARY_CHARS
        assert len(chunk.keywords) <= KEYWORDS
        assert len(chunk.topics) <= TOPICS
        assert chunk.id not in chunk.neighbours
    assert describe(described.parsed).parsed == described.parsed
    assert describe(document(parts)).parsed == described.parsed


def test_a_file_that_is_an_image_has_the_tag_image_once() -> None:
    parsed = document([("", "A red square.")], metadata={"format": "image"})
    shown = replace(parsed, chunks=(replace(parsed.chunks[0], modality=Modality.IMAGE),))
    assert describe(shown).parsed.chunks[0].tags == ("zh", "image")
