import pytest

from sextant.nodes.citing.assessment import AnswerEvidence
from sextant.nodes.citing.evidence_index import Support
from tests.unit.nodes.conftest import item

PLANS = (
    "| Plan | Price | Storage |\n| --- | --- | --- |\n| Basic | $9 | 40 GB |\n| Team | $29 | 250 GB |\n"
    "| Campus | $65 | 1,200 GB |\n| Business | $79 | 900 GB |\n| Total | $182 | 2,390 GB |"
)
WALLS = "The main wall is 17 m high, the competition wall 15 m and the training wall 12 m."
BUDGET = "服务器采购预算为18万元，培训预算为4万元，差旅预算为2.5万元。"


def _is_supported(question: str, sentence: str, passage: str) -> bool:
    found = AnswerEvidence([item(passage)], question).assess(sentence)
    return found.support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("question", "right", "wrong", "passage"),
    [
        ("Which plan has the most storage?", "Campus, 1,200 GB.", "Business, 900 GB.", PLANS),
        ("Which plan is the cheapest?", "Basic, at $9.", "Team, at $29.", PLANS),
        (
            "Which plan is the second most expensive?",
            "Campus, at $65.",
            "Team, at $29.",
            PLANS,
        ),
        (
            "Which wall is the highest?",
            "The main wall is the highest at 17 m.",
            "The competition wall is the highest at 15 m.",
            WALLS,
        ),
        ("哪项预算最高？", "服务器采购预算最高，为18万元。", "培训预算最高，为4万元。", BUDGET),
    ],
)
def test_the_highest_is_the_one_with_the_highest_number(
    question: str, right: str, wrong: str, passage: str
) -> None:
    assert _is_supported(question, right, passage)
    assert not _is_supported(question, wrong, passage)


@pytest.mark.parametrize(
    ("question", "sentence", "passage"),
    [
        (
            "What is the maximum load of the Kite?",
            "The maximum load of the Kite is 40 kg.",
            "| Model | Load |\n| --- | --- |\n| Kite | 40 kg |\n| Heron | 60 kg |",
        ),
        (
            "Which pump in hall A is the heaviest?",
            "P1, with 40 kg.",
            "| Pump | Hall | Weight |\n| --- | --- | --- |\n| P1 | hall A | 40 kg |\n| P2 | hall A | 30 kg |\n| P3 | hall B | 60 kg |",
        ),
    ],
)
def test_what_is_compared_with_others_than_the_whole_column_is_not_refused(
    question: str, sentence: str, passage: str
) -> None:
    assert _is_supported(question, sentence, passage)
