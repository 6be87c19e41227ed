"""Terms of a passage: what counts as one, in Chinese, English and both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.ingestion.graph.extraction.extract_terms import (
    MOST_TERMS,
    co_occurrences,
    extract_terms,
)
from sextant.text.characters import normalise_name


def names(text: str) -> list[str]:
    return [term.name for term in extract_terms(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("软骨细胞的增殖需要胰岛素样生长因子（IGF）。", {"软骨细胞", "胰岛素样生长因子", "IGF"}),
        (
            "王思佳在2025年3月发布了检修报告，编号INC-2025-017。",
            {"王思佳", "检修报告", "编号", "INC-2025-017"},
        ),
        ("我们在北京大学使用 Transformer 模型。", {"北京大学", "Transformer", "模型"}),
        (
            "He met Arthur Melville at the University of Texas.",
            {"Arthur Melville", "University of Texas"},
        ),
        ("In March, NASA and the E42 team met in Paris.", {"NASA", "E42", "Paris"}),
        ("हिन्दी भाषा भारत की राजभाषा है। हिन्दी भाषा लिखी जाती है।", {"हिन्दी भाषा"}),
        ("Growth of tumours. The growth factor binds a growth factor receptor.", {"growth factor"}),
    ],
)
def test_terms_are_nouns_names_codes_and_repeated_phrases(text: str, expected: set[str]) -> None:
    assert set(names(text)) == expected


def test_a_title_alone_is_no_name() -> None:
    assert names("They met Mr and Mrs Marsh, or Dr. Ines Poe.") == ["Mrs Marsh", "Ines Poe"]


def test_the_number_one_is_of_a_name_and_the_pronoun_of_none() -> None:
    assert names("It was in World War I, under Mary I, here. Yesterday I slept.") == [
        "World War I",
        "Mary I",
    ]


def test_words_without_content_name_nothing_in_capitals_either() -> None:
    assert names("- **WHEN** a pump\n- **THEN** SQL **WHERE** SHALL NOT fail") == ["SQL"]
    assert names("The WHO and the IT department SHALL agree.") == ["WHO", "IT"]


def test_the_letters_of_a_code_are_no_name_of_their_own() -> None:
    assert names("使用 BM25 排名。") == ["BM25"]


def test_what_is_longer_than_any_name_is_no_code() -> None:
    sha, encoded = "9f86d081884c7d65" * 4, "QUJD" * 300 + "1"
    assert names(f"The file {sha} holds {encoded} and 循环水泵.") == [sha, "循环水泵"]


def test_a_sentence_that_begins_with_a_capital_names_nothing_by_that() -> None:
    assert names("Results were good. However, nobody came.") == []


def test_nor_does_an_item_a_cell_or_the_head_of_a_table() -> None:
    text = (
        "1. Check the fan.\n- Let it cool.\n- Graz\n\n"
        "| Module | What to do |\n| --- | --- |\n| Service | Renew the seal |"
    )
    assert names(text) == ["Graz", "Service"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We compared the Plover 5 and the Heron 7.", {"Plover 5", "Heron 7"}),
        ("She bought an iPhone 15 there, and Apollo 11 landed.", {"iPhone 15", "Apollo 11"}),
        ("Toy Story 2 came after it.", {"Toy Story 2"}),
        ("华为 Mate 60 发布了，支持 Windows 11。", {"Mate 60", "Windows 11"}),
        ("| Model | kg |\n| --- | --- |\n| iPhone 15 | 3 |", {"iPhone 15"}),
    ],
)
def test_a_number_behind_a_name_is_of_the_name(text: str, expected: set[str]) -> None:
    assert {name for name in names(text) if name[-1].isdigit()} == expected


@pytest.mark.parametrize(
    "text",
    [
        "See page 5, Table 3 and Figure 12. Page 5 says so, and Page 5 is right.",
        "On May 5, for USD 20, in Berlin 1945 and at the Paris 2024 games.",
        "Only 5 came. Renew 12 seals. About Plover 5.5 and Plover 5% nothing is known.",
        "第3章、表3和图 5。",
    ],
)
def test_a_number_that_counts_dates_or_places_is_of_no_name(text: str) -> None:
    assert not [name for name in names(text) if name[-1].isdigit()]


def test_units_and_what_anything_has_are_no_terms_but_parts_of_some() -> None:
    assert names("餐后 2 小时血糖，在 24 小时内，视情况而定。") == ["血糖"]
    assert names("每天看血糖情况。") == ["血糖情况"]
    assert names("It costs 18 EUR or, on the Plover, RMB 150 and needs 5 MB.") == ["Plover"]
    assert names("Pay in SEK.") == []


def test_nothing_in_an_address_is_a_term() -> None:
    text = "See https://docs.example.org/d/1aB76ClCgdjZ/20Papers (Heron) or write to 40heron@example.org."
    assert names(text) == ["Heron"]
    assert names("见https://example.org/a，由苍鹭公司维护。") == ["苍鹭公司"]


def test_the_first_word_of_a_speech_or_behind_a_colon_is_no_name_by_its_capital() -> None:
    assert names("“Look at it,” said Ada Marsh of the “Heron” project.") == ["Ada Marsh", "Heron"]
    assert names("Marek: Discussed upgrading it.\nOwner: Patricia") == ["Patricia"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("走进TCL中环，ST冠福在Halo控制台上。", {"TCL中环", "ST冠福", "Halo"}),
        ("We ported io.js to Node.js, e.g. by v0.12.3.", {"io.js", "Node.js"}),
        ("城发资本董事长陈子祥见了秦世龙。", {"城发资本", "陈子祥", "秦世龙"}),
        ("李嘉诚医学院和邵逸夫图书馆。", {"李嘉诚医学院", "邵逸夫图书馆"}),
        ("深圳腾讯公司马小明负责。", {"深圳腾讯公司", "马小明"}),
        ("市场监管部门有关于企业的规定和数据。", {"市场监管部门"}),
        ("It needs 5V or 3.3V at GPIO16.", {"GPIO16"}),
    ],
)
def test_names_begin_and_end_where_a_reader_sees_it(text: str, expected: set[str]) -> None:
    assert set(names(text)) == expected


@pytest.mark.parametrize("text", ["", "的的的了了", "a of the", "12 34 56", "。！？"])
def test_text_without_content_has_no_terms(text: str) -> None:
    assert names(text) == []


def test_a_possessive_and_another_case_are_the_same_term() -> None:
    [term] = extract_terms("We met Melville's friends, and MELVILLE saw them; so did Melville.")
    assert (term.name, len(term.spans)) == ("Melville", 3)


def test_pairs_count_the_sentences_that_two_terms_share() -> None:
    text = "北京大学研究胰岛素。北京大学位于北京。胰岛素来自北京大学。"
    terms = extract_terms(text)
    pairs = {
        frozenset({terms[a].name, terms[b].name}): times
        for a, b, times in co_occurrences(text, terms)
    }
    assert pairs[frozenset({"北京大学", "胰岛素"})] == 2
    assert frozenset({"胰岛素", "北京"}) not in pairs


PIECES = [
    "胰岛素",
    "北京大学",
    " Growth Factor",
    "E42-7",
    "的",
    "。",
    ". ",
    "\n",
    "A",
    "É́",
    "𠀀",
    "(",
    "'s",
]


@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=4), max_size=30).map("".join))
def test_every_span_spells_its_term_and_terms_are_few_and_distinct(text: str) -> None:
    terms = extract_terms(text)
    norms = [normalise_name(term.name) for term in terms]
    assert len(terms) <= MOST_TERMS
    assert len(set(norms)) == len(norms)
    for term, norm in zip(terms, norms, strict=True):
        assert {normalise_name(text[s.start : s.end]) for s in term.spans} == {norm}


ENGLISH = (
    "O'Brien's",
    "well-known ",
    "Plover 5",
    "it's ",
    "A-1 ",
    "_x",
    "Dr. ",
    "the ",
    "x2 ",
    ". ",
    "'",
)


@given(
    st.lists(
        st.sampled_from(ENGLISH) | st.text(st.characters(max_codepoint=127), max_size=6),
        max_size=30,
    ).map("".join)
)
def test_a_text_has_the_same_terms_whatever_follows_in_another_script(text: str) -> None:
    assert extract_terms(text + ".\n") == extract_terms(text + ".\n…")
