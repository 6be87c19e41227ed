import pytest

from sextant.text.vocabulary import Vocabulary


@pytest.mark.parametrize(
    ("text", "phrase", "share"),
    [
        ("Who supplies the pumps?", "pump supply", 1.0),
        ("Who supplies the pumps?", "the pump's warranty", 0.5),
        ("Who supplies the pumps?", "who and what", 0.0),
        ("糖尿病患者的主要症状", "糖尿病的症状", 1.0),
        ("糖尿病患者的主要症状", "糖尿病的并发症", 0.5),
        ("臺北的房價", "台北房价", 1.0),
        ("Who supplies the pumps?", "", 0.0),
    ],
)
def test_the_share_of_a_phrase_is_that_of_its_telling_words(
    text: str, phrase: str, share: float
) -> None:
    assert Vocabulary(text).share(phrase) == pytest.approx(share)


@pytest.mark.parametrize(
    ("phrase", "given"),
    [
        ("When did the state join the United States?", True),
        ("When did the state of Mississippi join the United States?", False),
        ("Did the state join in 1817?", False),
        ("Which state is it?", True),
        ("Where are mounds?", False),
    ],
)
def test_a_phrase_with_a_name_or_number_from_elsewhere_is_not_given(
    phrase: str, *, given: bool
) -> None:
    text = "When did the state become part of the United States, and why did it join?"
    assert Vocabulary(text).gives(phrase) is given
