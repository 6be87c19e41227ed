"""What a line of an import may say, and what is said about one that cannot be used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.transfer.line_reader import read_line
from sextant.ingestion.transfer.lines import (
    ChunkLine,
    DocumentLine,
    EntityLine,
    LineInvalid,
    LineProblem,
    RelationLine,
    created_at,
)


def relation(**more: Any) -> dict[str, Any]:
    return {"type": "relation", "source": "e1", "target": "e2", "relationType": "R", **more}


def outline(*sections: tuple[int, ...], text: str = "糖尿病的指南") -> bytes:
    """Return a document whose sections start and end so, on the first level unless a third number says."""
    lines = [
        {"title": "A", "start": start, "end": end, "level": (more or [1])[0]}
        for start, end, *more in sections
    ]
    return json.dumps({"type": "document", "id": "d", "text": text, "sections": lines}).encode()


def test_reads_every_kind_of_the_format() -> None:
    lines = [
        {"type": "document", "id": "d1", "title": "T", "text": "x", "createdAt": "2024-05-01"},
        {
            "type": "chunk",
            "id": "c1",
            "documentId": "d1",
            "text": "x",
            "triples": [["a", "r", "b"]],
        },
        {
            "type": "entity",
            "id": "e1",
            "name": "糖尿病",
            "entityType": "DISEASE",
            "aliases": ["DM"],
        },
        relation(weight=2, chunkIds=["c1"]),
    ]

    read = [read_line(json.dumps(line).encode()) for line in lines]

    assert [type(line) for line, _ in read] == [DocumentLine, ChunkLine, EntityLine, RelationLine]
    assert not any(remarks for _, remarks in read)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"type": "document"', "Not JSON"),
        (b"\xff\xfe\xfd", "Not JSON"),
        (b"[" * 200_000, "The JSON cannot be read"),
        (
            b'{"type": "entity", "name": "\xff"}',
            "Not JSON: byte 29 is not UTF-8. Save the file as UTF-8.",
        ),
        (
            b'{"x": ' + b"[" * 200_000,
            "The JSON cannot be read: its lists or objects are nested too deeply",
        ),
        (
            b'{"type": "document", "id": "d", "metadata": {"n": ' + b"9" * 5000 + b"}}",
            "The JSON cannot be read: a number has more than 4,300 digits. Write it as text.",
        ),
        (b"[1, 2]", "Not a JSON object."),
        (5, "Not a line: give a dict"),
        (b'{"type": "documnet", "id": "d1"}', "type: must be document, chunk, entity, "),
        (b'{"id": "d1"}', "type: must be document, chunk, entity, "),
        (b'{"type": "document"}', "id: Field required."),
        (b'{"type": "chunk", "id": "c1", "text": ""}', "text: "),
        (b'{"type": "entity", "id": "e1", "name": " \\u0000\\t"}', "name: must not be empty."),
        (b'{"type": "entity", "id": "e1", "name": "\\u200b"}', "name: must not be empty."),
        (b'{"type": "document", "id": "", "text": "x"}', "id: must not be empty."),
        (b'{"type": "chunk", "id": "c1", "text": "\\u0000"}', "text: must not be empty."),
        (b'{"type": "chunk", "id": "c1", "text": " \\n\\u3000 "}', "text: must not be empty."),
        (
            b'{"type": "entity", "name": "a", "aliases": "b"}',
            "aliases: Input should be a valid list.",
        ),
        (b'{"type": "entity", "name": "", "aliases": [""]}', "name: must not be empty."),
        (
            b'{"type": "chunk", "id": "c", "text": "x", "triples": {"a": 1}}',
            "triples: Input should",
        ),
        (
            json.dumps({"type": "entity", "id": "e" * 5000, "name": "a"}).encode(),
            "id: String should have at most 1,000 characters, not 5,000; shorten it.",
        ),
        (
            json.dumps({"type": "document", "id": "d", "filename": "f" * 300}).encode(),
            "filename: String should have at most 255 characters, not 300; shorten it.",
        ),
        (
            json.dumps(relation(weight=float("nan"))).encode(),
            "weight: Input should be a finite number",
        ),
        (
            json.dumps(relation(weight=float("inf"))).encode(),
            "weight: Input should be a finite number",
        ),
        (json.dumps(relation(weight=0)).encode(), "weight: "),
        (json.dumps(relation(weight=True)).encode(), "weight: must be a number."),
        (json.dumps(relation(target="e1")).encode(), "The relation connects 'e1' with itself."),
        (json.dumps(relation(relationType="r" * 201)).encode(), "relationType: "),
        (outline((5, 3)), "sections[0].start: 5 lies after its end, 3."),
        (
            outline((0, 2), (2, 7)),
            "sections[1].end: 7 lies beyond the document's text, which has 6",
        ),
        (outline((-1, 2)), "sections[0].start: "),
        (outline((0, 1, True)), "sections[0].level: must be a number."),
        (outline((False, True)), "sections[0].start: must be a number."),
        (
            json.dumps({"type": "document", "id": "d", "title": "题" * 1001}).encode(),
            "title: String should have at most 1,000 characters, not 1,001; shorten it.",
        ),
        (
            json.dumps({"type": "chunk", "id": "c", "text": "x", "title": "t" * 10**6}).encode(),
            "title: String should have at most 1,000 characters, not 1,000,000; shorten it.",
        ),
        (
            json.dumps(
                {"type": "document", "id": "d", "createdAt": "9999-12-31T23:59-10:00"}
            ).encode(),
            "createdAt: must lie within the years 1 to 9999 in every time zone.",
        ),
        (
            json.dumps(
                {"type": "document", "id": "d", "createdAt": "0001-01-01T00:00+14:00"}
            ).encode(),
            "createdAt: must lie within the years 1 to 9999 in every time zone.",
        ),
    ],
)
def test_says_why_a_line_cannot_be_used(raw: Any, reason: str) -> None:
    with pytest.raises(LineInvalid) as caught:
        read_line(raw)

    assert reason in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_line_that_is_no_json_is_told_with_the_character_where_it_breaks_off() -> None:
    with pytest.raises(LineInvalid, match=r"double quotes, at character 21\. Check") as caught:
        read_line(b'{"type": "document",\r\n')

    assert "line 2" not in str(caught.value)


def said_of(remarks: Sequence[LineProblem]) -> list[tuple[str, bool]]:
    return [(remark.reason, remark.kept) for remark in remarks]


def test_an_unknown_key_is_passed_over_and_its_likeness_named() -> None:
    line, remarks = read_line(
        {"type": "chunk", "id": "c1", "text": "x", "docmentId": "d1", "colour": "red"}
    )

    assert said_of(remarks) == [
        ("The key 'docmentId' is unknown and was ignored. Did you mean 'documentId'?", True),
        (
            "The key 'colour' is unknown and was ignored. "
            "Keys: type, id, documentId, title, text, entities, triples, start, section, page, modality, context.",
            True,
        ),
    ]
    assert line.wire() == {"type": "chunk", "id": "c1", "text": "x"}


@pytest.mark.parametrize(
    "said", ["9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+14:00", "soon", 7]
)
def test_metadata_tell_no_date_that_could_not_be_read_again(said: object) -> None:
    assert created_at({"createdAt": said}) is None


@pytest.mark.parametrize("text", ["The ferry leaves at nine. " * 2_000, "渡轮九点离开。" * 2_000])
def test_a_passage_that_is_too_long_for_a_vector_is_kept_and_told_of(text: str) -> None:
    line, [remark] = read_line({"type": "chunk", "id": "c1", "text": text})
    assert line.wire()["text"] == text
    assert remark.reason.startswith(f"text: {len(text):,} characters")
    assert read_line({"type": "chunk", "id": "c1", "text": text[:8_000]})[1] == []


def test_sections_may_overlap() -> None:
    line, remarks = read_line(outline((0, 6), (0, 4, 2), (3, 6, 2), (5, 6)))
    assert isinstance(line, DocumentLine)
    assert (len(line.sections), remarks) == (4, [])


def test_an_unknown_key_of_a_section_is_told_with_its_place() -> None:
    sections = [{"title": "A", "level": 1, "start": 0, "end": 1, "parent": 0}]
    document = {"type": "document", "id": "d1", "text": "A", "sections": sections}
    _, remarks = read_line(json.dumps(document).encode())
    assert said_of(remarks) == [
        (
            "sections[0]: The key 'parent' is unknown and was ignored. "
            "Keys: title, level, start, end, headingSource, page.",
            True,
        )
    ]


def test_without_a_text_only_the_order_of_offsets_can_be_wrong() -> None:
    assert read_line(outline((0, 99), text=""))[1] == []
    with pytest.raises(LineInvalid):
        read_line(outline((9, 3), text=""))


def test_a_triple_that_joins_an_entity_to_itself_goes_and_the_chunk_stays() -> None:
    line, remarks = read_line(
        {"type": "chunk", "id": "c", "text": "x", "triples": [["A", "is", "ａ"], ["A", "is", "B"]]}
    )

    assert isinstance(line, ChunkLine)
    assert line.triples == [("A", "is", "B")]
    assert "with itself" in remarks[0].reason


@pytest.mark.parametrize(
    ("key", "items", "good", "reasons"),
    [
        (
            "triples",
            [["a", "b"], ["a", "is", "b"], "a is b", ["a", "is", "b", "c"], ["a", " ", "b"]],
            [("a", "is", "b")],
            [
                "triples[0]: must be a list of three texts, [subject, relation, object].",
                "triples[2]: must be a list of three texts, [subject, relation, object].",
                "triples[3]: must be a list of three texts, [subject, relation, object].",
                "triples[4][1]: must not be empty.",
            ],
        ),
        (
            "entities",
            [5, "a", "", {"name": ""}, {"name": "b", "entityType": 1, "description": 2}],
            ["a"],
            [
                "entities[0]: Input should be a valid string.",
                "entities[2]: must not be empty.",
                "entities[3].name: must not be empty.",
                "entities[4].entityType: Input should be a valid string.",
            ],
        ),
    ],
)
def test_what_a_chunk_lists_badly_is_left_out_by_itself_and_its_text_stays(
    key: str, items: list[Any], good: list[Any], reasons: list[str]
) -> None:
    line, remarks = read_line({"type": "chunk", "id": "c", "text": "x", key: items})

    assert isinstance(line, ChunkLine)
    assert (line.text, getattr(line, key)) == ("x", good)
    assert said_of(remarks) == [(reason, False) for reason in reasons]


def test_an_alias_that_is_no_name_is_left_out_and_the_entity_stays() -> None:
    line, remarks = read_line({"type": "entity", "name": "糖尿病", "aliases": ["DM", " ", None]})

    assert isinstance(line, EntityLine)
    assert line.aliases == ["DM"]
    assert said_of(remarks) == [
        ("aliases[1]: must not be empty.", False),
        ("aliases[2]: Input should be a valid string.", False),
    ]


@pytest.mark.parametrize(
    "name",
    ["长" * 5000, "😀", "a:b/c~2 AND (", "`}) DETACH DELETE n //", "'; drop table x; --", "+"],
)
def test_any_name_that_can_be_seen_is_a_name(name: str) -> None:
    line, _ = read_line({"type": "entity", "id": "e1", "name": name})

    assert isinstance(line, EntityLine)
    assert line.name == name


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists, max_leaves=5))
def test_no_value_anywhere_raises_anything_else(value: object) -> None:
    for key in ("id", "name", "aliases", "entityType", "metadata", "type"):
        row = {"type": "entity", "id": "e1", "name": "n", key: value}
        try:
            line, _ = read_line(row)
        except LineInvalid:
            continue
        json.dumps(line.wire(), allow_nan=False)


def test_a_line_that_is_written_reads_the_same() -> None:
    line = DocumentLine(
        id="d1",
        title="T",
        text="x",
        metadata={"n": [1, {"a": "b"}]},
        created_at="2024-05-01T10:00Z",
    )

    assert read_line(line.wire()) == (line, [])


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**30])
def test_an_integer_beyond_64_bits_in_metadata_keeps_its_digits(number: int) -> None:
    raw = b'{"type": "document", "id": "d", "text": "x", "metadata": {"n": %d}}' % number

    line, _ = read_line(raw)

    assert isinstance(line, DocumentLine)
    assert line.metadata == {"n": str(number)}


def test_a_byte_order_mark_before_a_line_is_passed_over() -> None:
    line, remarks = read_line(b'\xef\xbb\xbf{"type": "entity", "name": "WHO"}')

    assert (line, remarks) == (EntityLine(name="WHO"), [])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "不是 JSON，第 1 个字符处出错（Expecting value）。请检查引号、逗号和括号。"),
        ({"type": "entity", "name": ""}, "name: 不能为空。"),
        ({"type": "relation", "source": "甲", "target": "乙"}, "relationType: 缺少这一项。"),
        ({"type": "foo"}, "type: 应为 document、chunk、entity、relation、decision 之一。"),
        ({"type": "chunk", "id": 7, "text": "x"}, "id: 应为文本。"),
        (
            {"type": "relation", "source": "甲", "target": "甲", "relationType": "R"},
            "这条 relation 把 '甲' 与其自身相连。请给出两个不同的实体。",
        ),
    ],
)
def test_what_is_wrong_with_a_line_is_told_in_chinese(
    line: bytes | dict[str, object], reason: str
) -> None:
    with pytest.raises(LineInvalid) as caught:
        read_line(line)
    assert caught.value.coded.in_language("zh") == reason
