"""Which sentences must be carried by a passage, and which say that none is there."""

import pytest

from sextant.text.statements import is_abstention, states


@pytest.mark.parametrize(
    "sentence",
    [
        "The documents do not say who won.",
        "The provided passages don't mention any dogs.",
        "There is no information about pricing in the handbook.",
        "I cannot determine the date from the passages.",
        "This is not mentioned in the documents.",
        "文档中没有提到世界杯。",
        "资料未说明付款日期。",
        "无法从这些段落中确定时间。",
        "我不知道。",
        "文件沒有提到這件事。",
    ],
)
def test_saying_that_the_documents_do_not_tell_is_no_statement(sentence: str) -> None:
    assert is_abstention(sentence)
    assert not states(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "The documents do not say who won, but Brazil did.",
        "文档中没有提到冠军，但冠军是巴西。",
        "Staff do not get paid on Sundays.",
        "合同没有盖章。",
        "You cannot carry over more than five days.",
        "42.",
        "糖尿病没有特效药。",
    ],
)
def test_a_statement_stays_one_whatever_it_denies(sentence: str) -> None:
    assert states(sentence)
    assert not is_abstention(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "# Heading",
        "The steps are:",
        "步骤如下：",
        "\n---\n",
        "Shall I go on?",
        "Yes.",
        "是的。",
        "```python",
    ],
)
def test_headings_lead_ins_and_questions_state_nothing(sentence: str) -> None:
    assert not states(sentence)
