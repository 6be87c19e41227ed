from hypothesis import given
from hypothesis import strategies as st

from nodes.support import QuotedPassage, Wording, claim_of
from tests.unit.nodes.conftest import item


def test_stop_words_and_plurals_do_not_count() -> None:
    assert claim_of("What are the symptoms of the illness?").words == {"symptom", "illnes"}
    assert claim_of("什么是血糖？").pairs == {"血糖"}


def test_a_number_is_one_term() -> None:
    assert claim_of("HbA1c 7.0 %，1,000 元").words >= {"7.0", "1000"}


def test_two_sentences_are_quoted_only_when_one_carries_too_little() -> None:
    passage = QuotedPassage(item("Rust is safe. It has one owner. The borrow is checked.", start=7))
    one = passage.best_quote(claim_of("one owner"))
    assert one is not None
    assert one.text == "It has one owner."
    two = passage.best_quote(claim_of("one owner, borrow checked"))
    assert two is not None
    assert two.text == "It has one owner. The borrow is checked."
    assert (two.start, two.support) == (7 + len("Rust is safe. "), 1.0)


def test_what_no_sentence_speaks_of_has_no_quote() -> None:
    assert QuotedPassage(item("今天天气很好。")).best_quote(claim_of("血糖")) is None
    assert QuotedPassage(item("")).best_quote(claim_of("血糖")) is None


@given(st.text(max_size=200), st.text(max_size=60), st.integers(0, 1000))
def test_a_quote_is_the_documents_text_at_its_offsets(text: str, claim: str, start: int) -> None:
    quote = QuotedPassage(item(text, start=start)).best_quote(claim_of(claim))
    if quote is not None:
        assert (" " * start + text)[quote.start : quote.end] == quote.text
        assert 0 <= quote.support <= 1
        assert quote.support > 0 or quote.foreign


@given(st.text(max_size=80))
def test_a_text_covers_itself(text: str) -> None:
    assert Wording(text).covers(claim_of(text)) == (1.0 if claim_of(text) else 0.0)
