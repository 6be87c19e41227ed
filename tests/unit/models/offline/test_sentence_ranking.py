"""Sentences of passages, ranked by the words they share with a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.passages import item_titles, quotable_spans
from sextant.models.offline.sentence_ranking import rank_sentences
from sextant.models.offline.wording import (
    asked_things,
    asks_for_several,
    content_words,
    lacking,
    terms,
    without_empty_words,
)

TABLE = "| Code | Meaning |\n| --- | --- |\n| E31 | Emergency stop pressed |\n| E47 | Belt slips |"


def passage(text: str, **metadata: object) -> RetrievedItem:
    return RetrievedItem(ItemKind.CHUNK, "id", text, 1.0, metadata=metadata)


def best(question: str, *passages: RetrievedItem, language: str = "en") -> str:
    return rank_sentences(question, passages, language)[0].text


def test_the_sentence_that_shares_the_rare_words_comes_first() -> None:
    text = "Rust is a language. Rust frees a value when its owner leaves the scope. Rust is fast."
    assert best("When does Rust free a value?", passage(text)) == (
        "Rust frees a value when its owner leaves the scope."
    )


def test_chinese_is_compared_by_characters_and_pairs() -> None:
    text = "糖尿病是常见病。糖尿病患者的主要症状是多饮、多尿。糖尿病可以控制。"
    found = best("糖尿病有哪些症状？", passage(text), language="zh")
    assert found == "糖尿病患者的主要症状是多饮、多尿。"


def test_words_keep_the_marks_within_them() -> None:
    text = "हिमालय में बर्फ़ गिरती है।\n\nभारत की राजधानी दिल्ली है।"
    assert best("राजधानी क्या है?", passage(text)) == "भारत की राजधानी दिल्ली है।"
    assert terms("राजधानी दिल्ली") == ["राजधानी", "दिल्ली"]


def test_a_sentence_gains_from_the_title_above_it() -> None:
    about = passage("He was born in 1899.", title="Duke Ellington")
    other = passage("He was born in 1901.", title="Louis Armstrong")
    assert best("When was Duke Ellington born?", other, about) == "He was born in 1899."


def test_an_identifier_outweighs_common_words() -> None:
    prose = passage("The station shows an error when the belt of the station stops.")
    found = best("What does error E47 on the belt of the station mean?", prose, passage(TABLE))
    assert found == "E47 | Belt slips"


def test_a_row_is_ranked_and_compared_under_its_tables_head() -> None:
    later_rows = passage("| 5 to 9 | 20 |", context="| Years | Days of leave |\n| --- | --- |")
    [row] = rank_sentences("How many days of leave?", [later_rows], "en")
    assert row.text == "5 to 9 | 20"
    assert row.covered == pytest.approx(1.0)
    assert row.meaning == "| Years | Days of leave |\n5 to 9 | 20"


@given(st.integers(1, 999), st.integers(0, 99), st.sampled_from(["", "- ", "2. ", "3、", "• "]))
def test_a_number_that_begins_a_line_is_quoted_whole(whole: int, part: int, mark: str) -> None:
    said = f"{whole}.{part} 版会改为三分钟。"
    [(start, end)] = quotable_spans(text := f"{mark}{said}")
    assert text[start:end] == said


def test_table_heads_rules_and_repeated_headings_are_no_sentences() -> None:
    texts = [found.text for found in rank_sentences("error codes", [passage(TABLE)], "en")]
    assert sorted(texts) == ["E31 | Emergency stop pressed", "E47 | Belt slips"]
    repeated = passage("Error codes\nE31 is an emergency stop.", title="Error codes")
    assert best("error codes", repeated) == "E31 is an emergency stop."


@pytest.mark.parametrize(
    ("question", "said", "table", "row"),
    [
        (
            "经理的住宿标准是多少？",
            "出差申请应提前提交。住宿标准见下表。",
            "| 职级 | 一线城市 |\n| --- | --- |\n| 员工 | 450 |\n| 经理 | 600 |",
            "经理 | 600",
        ),
        (
            "What is the hotel allowance of managers?",
            "Book early. Hotel allowances are in the table below.",
            "| Grade | EUR |\n| --- | --- |\n| Staff | 90 |\n| Managers | 140 |",
            "Managers | 140",
        ),
    ],
)
def test_a_row_answers_rather_than_the_sentence_that_points_to_its_table(
    question: str, said: str, table: str, row: str
) -> None:
    language = "zh" if "？" in question else "en"
    parts = [passage(text, section_path=["4"]) for text in (said, table)]
    assert best(question, *parts, language=language) == row
    elsewhere = passage("| A | B |\n| --- | --- |\n| 1 | 2 |", section_path=["5"])
    assert best(question, parts[0], elsewhere, language=language) in said


@pytest.mark.parametrize(
    ("question", "text", "answer"),
    [
        (
            "How long is the probation period?",
            "During the probation period the notice period is two weeks. The probation period is six months.",
            "The probation period is six months.",
        ),
        (
            "What is the notice period during the probation period?",
            "The probation period is six months. During the probation period the notice period is two weeks.",
            "During the probation period the notice period is two weeks.",
        ),
        ("保修期多长？", "保修期内，人为损坏不免费维修。保修期为三年。", "保修期为三年。"),
    ],
)
def test_a_sentence_is_not_about_what_it_is_set_in(question: str, text: str, answer: str) -> None:
    language = "en" if question.isascii() else "zh"
    assert best(question, passage(text), language=language) == answer


def test_prose_answers_before_code_with_the_same_words() -> None:
    text = (
        "```rust\nlet value = 1; // who owns value in rust\n```\n\nEach value in Rust has an owner."
    )
    assert best("Who owns a value in Rust?", passage(text)) == "Each value in Rust has an owner."
    assert "let value" in best("Who owns a value in Rust?", passage(text.partition("\n\n")[0]))


def test_a_question_in_the_text_does_not_answer_the_same_question() -> None:
    faq = passage("How do I reset the station? Hold the red key for ten seconds.")
    assert best("How do I reset the station?", faq) == "Hold the red key for ten seconds."


def test_a_list_of_labels_answers_only_a_question_for_them() -> None:
    text = "tags: E42, MC-200\n\nA reset after E42 clears the torque limit."
    assert best("What is E42?", passage(text)) == "A reset after E42 clears the torque limit."
    assert best("Which tags does E42 have?", passage(text)) == "tags: E42, MC-200"


def test_a_line_that_only_repeats_the_question_answers_nothing() -> None:
    text = "The reset key\n\nIt is the red one beside the display."
    assert best("Which is the reset key?", passage(text)) == "It is the red one beside the display."
    assert best("Is there a reset key?", passage(text)) == "The reset key"


def test_what_something_is_is_told_by_the_sentence_that_defines_it() -> None:
    text = "Home page of the Larch pump: larch.example. The Larch pump is a dosing pump for acids."
    found = best("What is the Larch pump?", passage(text))
    assert found == "The Larch pump is a dosing pump for acids."


def test_whoever_asks_how_it_is_done_is_shown_what_to_type() -> None:
    text = "The station is reset at night.\n\n```bash\nmc reset station\n```"
    assert best("When is the station reset?", passage(text)) == "The station is reset at night."
    assert best("How do I reset the station?", passage(text)) == "mc reset station"


def test_the_row_of_a_code_goes_before_sentences_that_mention_it() -> None:
    text = "02:17 First E42.\n\n| Code | Meaning |\n| --- | --- |\n| E42 | Torque above limit |"
    assert best("What is E42?", passage(text)) == "E42 | Torque above limit"


@pytest.mark.parametrize(
    ("question", "cell"),
    [("Is there no Heron?", "no"), ("Heron 是什么？", "是")],
)
def test_a_little_word_in_a_cell_names_no_row(question: str, cell: str) -> None:
    apart, joined = (
        rank_sentences(question, [passage(row)], "en")[0].score
        for row in (f"| Kestrel | {cell} | 12 kg |", f"| Kestrel {cell} | 12 kg |")
    )
    assert apart == pytest.approx(joined)


def test_number_words_are_numbers() -> None:
    assert terms("after five years") == terms("after 5 years") == ["5", "year"]
    text = "1 to 4 years: 15 days. 5 to 9 years: 20 days."
    assert best("How many days after five years?", passage(text)) == "5 to 9 years: 20 days."


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("- 先断电。\n2. 再开盖。", ["先断电。", "再开盖。"]),
        ("## Leave\n> Quoted line.", ["Leave", "Quoted line."]),
        ("| E47 | Belt |\n", ["E47 | Belt"]),
        ("短；句。", ["短；句。"]),
        ("甲" * 100 + "；" + "乙" * 100 + "。", ["甲" * 100 + "；", "乙" * 100 + "。"]),
        ("| " + "甲" * 100 + "；" + "乙" * 100 + " |", ["甲" * 100 + "；" + "乙" * 100]),
        ("```bash\nls -l\n```", ["ls -l"]),
        ("  \n\n", []),
        ("E.\n|", ["E."]),
    ],
)
def test_quotes_are_sentences_without_line_marks_and_clauses_of_long_ones(
    text: str, quoted: list[str]
) -> None:
    assert [text[start:end] for start, end in quotable_spans(text)] == quoted


@given(
    st.lists(st.text(alphabet="糖尿病的 RustE47.。；|\n-#?？", max_size=80), max_size=4),
    st.text(alphabet="糖尿病的 RustE47?？", max_size=20),
)
def test_every_candidate_is_a_span_of_its_passage_and_covers_a_share(
    texts: list[str], question: str
) -> None:
    passages = [passage(text) for text in texts]
    ranked = rank_sentences(question, passages, "zh")
    assert [found.score for found in ranked] == sorted(
        (found.score for found in ranked), reverse=True
    )
    for found in ranked:
        assert passages[found.source].text[found.start : found.end] == found.text
        assert found.text == found.text.strip()
        assert found.text
        assert 0 <= found.covered <= 1 + 1e-9


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("保修几年？", ["保修"]),
        ("试用期有几个月？", ["试用期"]),
        ("第几章讲违约？", ["讲", "违约"]),
        ("几何课在哪？", ["几何", "课"]),
    ],
)
def test_what_asks_for_a_number_is_no_word_that_an_answer_must_have(
    question: str, words: list[str]
) -> None:
    assert content_words(question) == words


def test_a_full_name_is_one_thing_of_those_that_are_asked_about() -> None:
    assert asked_things("Who is Omar Said's manager?") == [["omar", "said"], ["manager"]]
    assert lacking([["omar", "said"], ["manager"]], "omar said plans the weekend") == 0.5
    assert lacking([["omar", "said"], ["manager"]], "omar brandt has a manager") == 0.25


@pytest.mark.parametrize(
    ("question", "said", "title", "torn"),
    [
        ("How long is parental leave?", "The leave is 26 days.", "Holidays", 1.0),
        ("How long is parental leave?", "The leave is 26 days.", "Parental leave", 0.0),
        ("How long is parental leave?", "The parents are told.", "Holidays", 0.0),
        ("Who is the chief financial officer?", "Ida is chief security officer.", "Who", 0.5),
        ("Who is the chief security officer?", "Ida is chief security officer.", "Who", 0.0),
        ("Who is the aunt of Sara Ali Khan?", "Mina Khan is an aunt.", "Family", 0.0),
        ("育儿假有多长？", "年假为五天。", "假期", 0.0),
    ],
)
def test_the_head_of_a_compound_alone_is_another_thing(
    question: str, said: str, title: str, torn: float
) -> None:
    [found] = rank_sentences(question, [passage(said, title=title)], "en")
    assert found.torn == torn


@pytest.mark.parametrize("question", ["什么是所有权？", "所有权是什么？"])
def test_a_word_of_characters_that_alone_say_nothing_is_compared_whole(question: str) -> None:
    passages = [
        RetrievedItem(ItemKind.CHUNK, "1", "Rust 用所有权代替垃圾回收。权限由管理员分配。", 1.0)
    ]
    best, other = rank_sentences(question, passages, "zh")
    assert (best.text, best.covered) == ("Rust 用所有权代替垃圾回收。", 1.0)
    assert other.covered < best.covered / 2


def test_what_is_no_word_of_a_question_and_the_same_character_in_a_name_is() -> None:
    assert terms("布什提议什么？") == [*"布什提议", "布什", "什提", "提议"]
    assert "怎" in terms("怎么提议？")


MINUTES = (
    "1. Boathouse roof. Two quotes came in.\n"
    "2. New boat. We will not buy a scull, since the claim has not been settled.\n"
    "二、仓库。二号库漏雨，维修由小陶联系。"
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Why is there no new boat?", "We will not buy a scull, since the claim has not been settled."),
        ("What about the boathouse roof?", "Two quotes came in."),
        ("仓库怎么了？", "二号库漏雨，维修由小陶联系。"),
    ],
)  # fmt: skip
def test_the_title_of_an_item_stands_over_what_is_said_behind_it(
    question: str, answer: str
) -> None:
    assert best(question, passage(MINUTES)) == answer


@pytest.mark.parametrize(
    "text",
    [
        "New boat. We will not buy it.",
        "1. No smoking. Fines are high.",
        "1. 24 days. They lapse in March.",
        "1. New boat.",
        "1. The committee agreed to buy it. It costs much.",
    ],
)
def test_other_short_sentences_are_no_titles_of_items(text: str) -> None:
    assert item_titles(text) == []


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("水箱能装多少水？", ["水箱", "装", "水"]),
        ("逾期还书怎么收费？", ["逾期", "书"]),
        ("加急要加多少钱？", ["加急", "加"]),
        ("图书室星期几休息？", ["图书室", "休息"]),
        ("会议要求什么能力？", ["会议", "要求", "能力"]),
        ("Why can’t I use it in gravel?", ["use", "gravel"]),
    ],
)
def test_what_only_asks_or_says_little_is_no_word_of_a_question(
    question: str, words: list[str]
) -> None:
    assert content_words(question) == words


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("Which fields does an order have?", True),
        ("What are the rules?", True),
        ("有哪些检索模式？", True),
        ("分哪几种？", True),
        ("What is the status?", False),
        ("What does it mean?", False),
        ("What happens then?", False),
        ("哪里开会？", False),
    ],
)
def test_who_asks_which_there_are_asks_for_several(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is new in 3.2?", ["3.2"]),
        ("What’s new in Heron 3.2?", ["heron", "3.2"]),
        ("When was version 3.2 released?", ["version", "3.2"]),
        ("When was the album released?", ["album", "releas"]),
        ("3.2 有哪些更新？", ["3.2"]),
        ("Which new employees get a mentor?", ["new", "employe", "mentor"]),
    ],
)
def test_what_stands_under_a_version_need_not_say_that_it_is_new(
    question: str, words: list[str]
) -> None:
    assert content_words(question) == words


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("How much does a new blade cost?", "How much does a blade cost?"),
        ("What is new in version 2.4?", "What is new in 2.4?"),
        ("2.4 版有什么变化？", "2.4有什么变化？"),
        ("版本2.4有什么变化？", "2.4有什么变化？"),
        ("Which version is new?", "Which version is new?"),
        ("What do new employees get?", "What do new employees get?"),
        ("2.4版本号是什么？", "2.4版本号是什么？"),
    ],
)
def test_a_new_one_is_any_and_a_version_is_called_by_its_number(question: str, rest: str) -> None:
    assert without_empty_words(question) == rest


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("answer: Within 8 hours. Ask us.", ["Within 8 hours.", "Ask us."]),
        ("answer: 每半年校准一次。", ["每半年校准一次。"]),
        ("id: FAQ-007\nstatus: open", ["id: FAQ-007", "status: open"]),
        ("Note: It rains.", ["Note: It rains."]),
    ],
)
def test_a_sentence_is_quoted_without_the_key_of_its_record(text: str, quoted: list[str]) -> None:
    assert [text[start:end] for start, end in quotable_spans(text)] == quoted
