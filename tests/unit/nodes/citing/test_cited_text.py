from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.answers import Citation, Cited, Token
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.citations import Verdict
from sextant.nodes.citing.cited_text import CitedText
from sextant.text.characters import language_of


def passage(text: str, start: int = 0, filename: str = "a.md") -> RetrievedItem:
    metadata = {"filename": filename, "start": start}
    return RetrievedItem(ItemKind.CHUNK, filename, text, 1.0, metadata=metadata)


DIABETES = passage("糖尿病的典型症状为多饮、多尿、多食和体重下降。诊断依据是血糖。", 100, "指南.md")
RUST = passage("Rust has owners. Each value in Rust has exactly one owner at a time.", 0, "rust.md")
PASSAGES = [DIABETES, RUST]


def run(pieces: Sequence[str]) -> tuple[str, list[Citation], CitedText]:
    answer = CitedText(PASSAGES, language=language_of("".join(pieces)))
    events = [event for piece in pieces for event in answer.feed(piece)] + list(answer.finish())
    text = "".join(event.text for event in events if isinstance(event, Token))
    return text, [event.citation for event in events if isinstance(event, Cited)], answer


def test_markers_count_by_first_use() -> None:
    text, citations, answer = run(
        ["Each value has one owner [2]. 典型症状为多饮、多尿[1]。One owner [2]."]
    )
    assert text == "Each value has one owner [1]. 典型症状为多饮、多尿[2]。One owner [1]."
    assert [citation.marker for citation in citations] == [1, 2, 1]
    assert [source.filename for source in answer.given.sources] == ["rust.md", "指南.md"]


def test_a_citation_quotes_the_sentence_of_the_document_with_its_offsets() -> None:
    _, [citation], _ = run(["典型症状是多饮和多尿[1]。"])
    assert citation.quote == "糖尿病的典型症状为多饮、多尿、多食和体重下降。"
    assert (citation.start, citation.end) == (100, 100 + len(citation.quote))
    assert citation.sentence == "典型症状是多饮和多尿[1]。"
    assert citation.source == "指南.md"


def test_markers_without_a_passage_or_support_are_dropped() -> None:
    text, citations, answer = run(["Some values own a cat [99]. The weather is fine [2]."])
    assert text == "Some values own a cat. (unverified) The weather is fine. (unverified)"
    assert citations == []
    assert not answer.grounded
    assert not answer.given.sources


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("Each value has one owner [99][2].", "Each value has one owner [1]."),
        ("Each value has one owner [99].", "Each value has one owner. [1]"),
        ("Each value has one owner [99] at a time [2].", "Each value has one owner at a time [1]."),
        ("Each value has one owner[99][2].", "Each value has one owner[1]."),
        ("Each value has one owner [99] at a time[2].", "Each value has one owner at a time[1]."),
    ],
)
def test_where_a_marker_is_dropped_the_next_one_stands_in_its_place(
    written: str, shown: str
) -> None:
    assert run([written])[0] == run(list(written))[0] == shown


def test_markers_that_name_several_passages_or_stand_in_other_brackets_are_understood() -> None:
    for shape in ("[2]", "[ 2 ]", "【2】", "[2, 2]", "[2-2]", "[2；2]", "［2］"):
        assert run([f"Each value has one owner {shape}."])[0] == "Each value has one owner [1]."


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("According to passage [2], each value has one owner.", "According to passage [1], each value has one owner."),
        ("According to passage [1], each value has one owner.", "According to passage [1], each value has one owner."),
        ("Each value has one owner, as stated in passage [2].", "Each value has one owner, as stated in passage [1]."),
        ("根据段落[1]，典型症状为多饮、多尿。", "根据段落[1]，典型症状为多饮、多尿。"),
    ],
)  # fmt: skip
def test_a_marker_ahead_of_its_statement_is_of_the_passage_that_says_it(
    written: str, shown: str
) -> None:
    for pieces in ([written], list(written)):
        text, citations, answer = run(pieces)
        assert text == shown
        assert len(citations) == 1
        assert answer.grounded


def test_a_marker_in_a_table_stands_in_its_last_cell_and_none_behind_the_head() -> None:
    table = (
        "| Thing | Owners |\n| --- | --- |\n| Each value in Rust | exactly one owner at a time |\n"
    )
    shown = table.replace("time |", "time [1] |").rstrip("\n")
    for written in (
        table,
        table.replace("time |", "time | [2]"),
        table.replace("ers |", "ers | [2]"),
    ):
        for pieces in ([written], list(written)):
            assert run(pieces)[0] == shown


@pytest.mark.parametrize(
    ("name", "cell", "is_supported"),
    [
        ("收入（亿元）", "7.5", True),
        ("**收入（亿元）**", "**7.5**", True),
        ("收入（亿元）", "5.7", False),
        ("收入（不含税）", "7.5亿元", True),
    ],
)
def test_numbers_of_a_table_have_the_unit_of_their_column(
    name: str, cell: str, *, is_supported: bool
) -> None:
    passage = RetrievedItem(ItemKind.CHUNK, "p", "酱油收入7.5亿元，醋收入2.1亿元。", 1.0)
    text = CitedText([passage], question="各产品收入多少？", language="zh")
    list(text.feed(f"| 产品 | {name} |\n| --- | --- |\n| 酱油 | {cell} |\n"))
    list(text.finish())
    assert (text.finished[-1].verdict is Verdict.SUPPORTED) is is_supported


def test_a_marker_behind_the_stop_belongs_to_the_sentence_before() -> None:
    text, citations, _ = run(["Each value has one owner. [2] 典型症状是多饮。[1]\n"])
    assert text == "Each value has one owner. [1] 典型症状是多饮。[2]"
    assert [citation.sentence for citation in citations] == [
        "Each value has one owner. [1]",
        "典型症状是多饮。[2]",
    ]


@pytest.mark.parametrize(
    "written",
    [
        "Each value has one owner [2]. [1]",
        "Each value has one owner [2].[1]",
        "典型症状是多饮和多尿[2]。[1]",
    ],
)
@pytest.mark.parametrize("behind", ["", " One owner [2].", "\nOne owner [2]."])
def test_a_marker_behind_the_stop_joins_the_one_before_it(written: str, behind: str) -> None:
    both = f"{DIABETES.text}{RUST.text}"
    passages = [passage(both, 0, name) for name in ("one.md", "other.md")]
    for pieces in ([written + behind], list(written + behind)):
        answer = CitedText(passages, language="en")
        events = [event for piece in pieces for event in answer.feed(piece)] + list(answer.finish())
        text = "".join(event.text for event in events if isinstance(event, Token))
        first = written.replace("[1]", "").replace("[2]", "[1][2]").strip()
        assert text == first + behind.replace("[2]", "[1]")
        cited = [event.citation for event in events if isinstance(event, Cited)]
        assert [one.sentence for one in cited[:2]] == [first, first]


def test_a_marker_that_the_model_left_out_joins_the_one_that_says_too_little() -> None:
    sparse = passage("Owners exist. Values have colours and sizes.", 0, "sparse.md")
    answer = CitedText([sparse, RUST], language="en")
    said = "Each value in Rust has exactly one owner at a time [1]."
    text = "".join(
        event.text for event in [*answer.feed(said), *answer.finish()] if isinstance(event, Token)
    )
    assert text == "Each value in Rust has exactly one owner at a time [1][2]."
    assert answer.grounded


def test_no_marker_is_added_to_a_sentence_with_a_name_that_no_passage_has() -> None:
    said = "Ferris Crab says each value in Rust has exactly one owner at a time."
    assert run([said])[0] == f"{said} (unverified)"


def test_no_marker_is_added_for_a_passage_that_is_withheld() -> None:
    answer = CitedText(PASSAGES, withheld={1})
    list(answer.feed(RUST.text))
    list(answer.finish())
    assert answer.given.citations == []
    assert not answer.grounded


@pytest.mark.parametrize("row", ["| Crab | Paris | 1890 |", "`ferris = Crab()`"])
def test_rows_of_tables_and_lines_of_code_carry_no_note(row: str) -> None:
    text, citations, answer = run([row])
    assert (text, citations) == (row, [])
    assert not answer.grounded


def test_a_passage_in_another_language_excuses_no_passage_that_says_too_little() -> None:
    told = "症状有头痛、咳嗽、流涕"
    assert run([f"{told}[2]。"])[0] == f"{told}[1]。"  # words cannot tell
    text, citations, answer = run([f"{told}[1][2]。"])
    assert text == f"{told}[1][2]。（未核实）"
    assert len(citations) == 2
    assert [one.verdict for one in answer.finished] == [Verdict.PARTIAL]


@pytest.mark.parametrize(
    ("statement", "text", "is_marked"),
    [
        ("The library lends books for 14 days [1].", "图书馆借书期限为14天。", False),
        ("The library lends books for 21 days [1].", "图书馆借书期限为14天。", True),
        # Nothing tells which of the two is said of books.
        ("The library lends books for 14 days [1].", "图书馆借书期限为14天，音像资料为7天。", True),
        ("The library lends books for 7 days [1].", "图书馆借书期限为14天，音像资料为7天。", True),
        ("Books are lent for 14 days, films for 7 days [1].", "图书馆借书期限为14天，音像资料为7天。", True),
        ("Books are lent for 7 days, films for 14 days [1].", "图书馆借书期限为14天，音像资料为7天。", True),
    ],
)  # fmt: skip
def test_a_number_that_a_passage_in_another_language_does_not_say_for_certain_is_marked(
    statement: str, text: str, *, is_marked: bool
) -> None:
    answer = CitedText([passage(text)], language="en")
    events = [*answer.feed(statement), *answer.finish()]
    said = "".join(event.text for event in events if isinstance(event, Token))
    assert ("(unverified)" in said) is is_marked


def test_a_comma_behind_a_marker_keeps_its_place() -> None:
    text = run(["Each value has one owner [2], [2] always.", " One owner [2]."])[0]
    assert text.startswith("Each value has one owner [1], [1] always")


def test_brackets_in_code_are_left_alone() -> None:
    text = run(["Write `owner[0]` for the owner [2]."])[0]
    assert text.startswith("Write `owner[0]` for the owner [1].")


def test_a_sentence_whose_passage_lacks_its_number_keeps_its_citation_and_is_marked() -> None:
    text, [citation], answer = run(["Each value has 77 owners [2]."])
    assert text == "Each value has 77 owners [1]. (unverified)"
    assert citation.support == 0.3
    assert not answer.grounded


def test_brackets_in_a_block_of_code_are_left_alone() -> None:
    code = (
        "Each value has one owner [2].\n```rust\nlet first = owners[0];\n```\n典型症状是多饮[1]。"
    )
    text, citations, _ = run(code)
    assert "owners[0];" in text
    assert [citation.marker for citation in citations] == [1, 2]


def test_a_backtick_that_is_never_closed_hides_no_marker() -> None:
    text, citations, _ = run(["Each `value has one owner [2].\n典型症状是头晕[9]。"])
    assert (text, len(citations)) == (
        "Each `value has one owner [1].\n典型症状是头晕。（未核实）",
        1,
    )


def test_brackets_that_are_no_markers_are_left_alone() -> None:
    assert run(["An array [a, b] and [2"])[0] == "An array [a, b] and [2 (unverified)"


def test_a_decimal_point_split_over_pieces_ends_no_sentence() -> None:
    _, [citation], _ = run(["Each value is 3.", "14 for its owner", " [", "2", "]", "."])
    assert citation.sentence == "Each value is 3.14 for its owner [1]."


def test_a_citation_event_follows_its_sentence_at_once() -> None:
    answer = CitedText(PASSAGES)
    list(answer.feed("Each value has one owner [2]. "))
    assert any(isinstance(event, Cited) for event in answer.feed("Next"))


def test_grounded_needs_support_for_every_statement_but_not_for_lead_ins() -> None:
    assert run(["Answer:\n- Each value has exactly one owner [2]."])[2].grounded
    assert not run(["Each value has exactly one owner [2]. Ownership makes tea."])[2].grounded
    assert not run([""])[2].grounded


_ALPHABET = ["Each value has one owner", "典型症状为多饮", "[1]", "[2]", "[9]", "[", "]", "1",
             " ", "\n", ".", "。", "3.14", "`", "```\n", "v", "，", "【2】"]  # fmt: skip


@given(st.lists(st.sampled_from(_ALPHABET), max_size=20), st.data())
def test_the_answer_does_not_depend_on_how_the_text_was_cut(
    words: list[str], data: st.DataObject
) -> None:
    raw = "".join(words)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    edges = [0, *cuts, len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(edges)]
    whole_text, whole_citations, whole = run([raw])
    text, citations, answer = run(pieces)
    assert (text, citations) == (whole_text, whole_citations)
    assert (answer.given.text, answer.given.citations) == (text, citations)
    assert answer.given.sources == whole.given.sources
    assert {citation.marker for citation in citations} == {s.marker for s in answer.given.sources}
    assert all(citation.sentence in text for citation in citations)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[1]Each value has one owner.", "Each value has one owner.[1]"),
        ("[1] Each value has one owner. It is dropped.", "Each value has one owner.[1]"),
        ("[1] Each value has one owner [1].", "Each value has one owner [1]."),
    ],
)
def test_a_marker_that_opens_an_answer_moves_behind_its_sentence(text: str, shown: str) -> None:
    answer = CitedText([passage("Each value has one owner.")])
    for char in text:
        list(answer.feed(char))
    list(answer.finish())
    assert answer.given.text.startswith(shown)


def test_a_label_of_nothing_that_came_with_the_question_goes() -> None:
    answer = CitedText([passage("Each value has one owner.")])
    for _ in (*answer.feed("Each value has one owner [T1]."), *answer.finish()):
        pass
    assert answer.given.text == "Each value has one owner. [1]"
