"""Documents of ready-made chunks: offsets, sections and the bytes that they are stored as."""

from __future__ import annotations

from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.documents import HeadingSource
from sextant.domain.errors import FileBroken
from sextant.ingestion.transfer.documents import is_packed, join_chunks, pack, unpack
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine

_LETTERS = st.text("ab \n糖", min_size=1, max_size=6).filter(str.strip)


@given(st.none() | st.text("ab \n糖", max_size=20), st.lists(_LETTERS, max_size=6))
def test_every_chunk_lies_where_its_offsets_say(text: str | None, pieces: list[str]) -> None:
    chunks = [ChunkLine(id=str(place), text=piece) for place, piece in enumerate(pieces)]

    parsed = join_chunks(DocumentLine(id="d", text=text), chunks, uuid4())

    assert [parsed.text[chunk.start : chunk.end] for chunk in parsed.chunks] == pieces
    assert parsed.text.startswith(text or "")
    assert [chunk.external_id for chunk in parsed.chunks] == [chunk.id for chunk in chunks]


def test_the_given_text_stays_as_it_is_when_it_has_all_chunks() -> None:
    text = "alpha beta alpha gamma"
    chunks = [ChunkLine(id=str(n), text=part) for n, part in enumerate(["alpha", "beta", "alpha"])]

    parsed = join_chunks(DocumentLine(id="d", text=text), chunks, uuid4())

    assert parsed.text == text
    assert [chunk.start for chunk in parsed.chunks] == [0, 6, 11]


def test_titled_chunks_are_sections_and_their_titles_searched() -> None:
    chunks = [ChunkLine(id="1", title="Dose", text="Twice a day."), ChunkLine(id="2", text="Rest.")]

    parsed = join_chunks(DocumentLine(id="d", title="Leaflet"), chunks, uuid4())

    root, dose = parsed.sections
    assert (dose.title, dose.parent_id, dose.path) == ("Dose", root.id, ("Dose",))
    assert [chunk.section_id for chunk in parsed.chunks] == [dose.id, root.id]
    assert [chunk.context for chunk in parsed.chunks] == ["Dose", "Leaflet"]


def test_packed_bytes_give_the_same_document_and_change_with_it() -> None:
    document, chunks = DocumentLine(id="d", title="T"), [ChunkLine(id="1", text="x\ny")]
    key = uuid4()

    content = pack(document, chunks)

    assert is_packed(content)
    assert not is_packed(b'{"type":"document"}\n')
    assert unpack(content, key) == join_chunks(document, chunks, key)
    assert pack(document, [ChunkLine(id="1", text="x\nz")]) != content
    with pytest.raises(FileBroken):
        unpack(content[:-3], key)


def test_sections_of_a_document_make_a_tree_and_chunks_lie_where_they_say() -> None:
    document = DocumentLine.model_validate(
        {"id": "d", "title": "T", "text": "one two one", "pageCount": 3, "sections": [
            {"title": "A", "level": 1, "start": 0, "end": 7},
            {"title": "B", "level": 2, "start": 4, "end": 7, "page": 2, "headingSource": "style"},
            {"title": "C", "level": 1, "start": 8, "end": 99},
        ]}
    )  # fmt: skip
    lines = [
        {"id": "1", "text": "one", "section": 2, "start": 8, "title": "One", "page": 3, "modality": "table"},
        {"id": "2", "text": "two", "section": 1, "start": 4},
        {"id": "3", "text": "one", "section": 7, "start": 5},
    ]  # fmt: skip

    parsed = join_chunks(document, [ChunkLine.model_validate(line) for line in lines], uuid4())

    root, a, b, c = parsed.sections
    assert [one.parent_id for one in (a, b, c)] == [root.id, a.id, root.id]
    assert (b.path, b.page, b.heading_source) == (("A", "B"), 2, HeadingSource.STYLE)
    assert c.end == len(parsed.text)  # no section reaches beyond the text
    first, second, third = parsed.chunks
    assert (first.start, first.section_path, first.context, first.page) == (8, ("C",), "", 3)
    assert (second.section_path, second.title) == (("A", "B"), "")
    # Neither the place nor the section is there: it is looked for, and the document's own.
    assert (third.text, third.section_id) == ("one", root.id)
    assert parsed.page_count == 3
