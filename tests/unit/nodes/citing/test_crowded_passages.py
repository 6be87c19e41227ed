"""What is said of one thing in a passage that says the like of others beside it, in both languages."""

from __future__ import annotations

import pytest

from sextant.nodes.citing.assessment import AnswerEvidence
from sextant.nodes.citing.evidence_index import Support
from tests.unit.nodes.conftest import item

MILL = (
    "The mill was built in 1874 and grinds 3.2 tonnes of rye a day. Oats are ground on Fridays only, 900 kg at most. The miller"
    " is Hanne Dahl; her deputy is Per Lund. The upper wheel turns at 9 rpm, the lower wheel at 14 rpm. Visitors pay 6 EUR,"
    " children under 12 nothing. The lease ends on 30 June 2034 and costs EUR 18,500 a year. Flour is kept for eight months,"
    " bran for six weeks. The mill must not run when the water is below 40 cm."
)
WAGES = (
    "正式员工每月10日发放工资，实习生每月15日发放。加班费平日为1.5倍，周末为2倍，法定节假日为3倍。年终奖按考核等级发放："
    "A级4个月，B级2个月，C级不发。财务负责人是吕青，审批人是周岚。餐补每天25元。"
)


def _is_supported(question: str, statement: str) -> bool:
    passage = MILL if question.isascii() else WAGES
    evidence = AnswerEvidence([item(passage, "a.md")], question)
    return evidence.assess(statement).support is Support.SUPPORTED


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("How much rye does the mill grind a day?", "It grinds 3,200 kg of rye a day."),
        ("Who is the miller?", "The miller is Hanne Dahl."),
        ("What do visitors pay?", "Visitors pay six euros; children under twelve are free."),
        ("When does the lease end?", "The lease runs out at the end of June 2034."),
        ("When does the lease end?", "2034-06-30"),
        ("What does the lease cost?", "€18.5k per year."),
        ("How long is bran kept?", "Bran keeps for six weeks, flour for eight months."),
        ("When may the mill run?", "Only with at least 40 cm of water."),
        ("实习生几号发工资？", "每月15号。"),
        ("周末加班费是几倍？", "周末加班费为两倍。"),
        ("B级年终奖是多少？", "两个月工资。"),
        ("餐补多少？", "每天二十五元。"),
    ],
)
def test_what_is_said_of_it_is_supported(question: str, statement: str) -> None:
    assert _is_supported(question, statement)


@pytest.mark.parametrize(
    ("question", "statement"),
    [
        ("How much rye does the mill grind a day?", "It grinds 900 kg of rye a day."),
        ("Who is the miller?", "Per Lund is the miller."),
        ("How fast does the lower wheel turn?", "The lower wheel turns at 9 rpm."),
        ("When does the lease end?", "The lease ends on 30 July 2034."),
        ("How long is bran kept?", "Bran is kept for eight months."),
        ("When may the mill run?", "The mill may run when the water is below 40 cm."),
        ("实习生几号发工资？", "实习生每月10日发工资。"),
        ("周末加班费是几倍？", "周末加班费为3倍。"),
        ("B级年终奖是多少？", "B级发4个月。"),
        ("审批人是谁？", "审批人是吕青。"),
    ],
)
def test_what_is_said_of_another_one_is_not(question: str, statement: str) -> None:
    assert not _is_supported(question, statement)


YARD = (
    "The slipway takes boats up to nine metres; the crane takes boats up to fourteen metres. Code A4 stands for a blown fuse,"
    " code A7 stands for a wet sensor. The yard is run by Mette Krogh and the chandlery by Olaf Sande. Wooden hulls are painted"
    " every spring, steel hulls only after sandblasting. Owners pay for the launch, the yard pays for the pressure wash."
    " Wax is removed with white spirit; resin is removed with acetone. The launch to Holm runs in summer and the launch to"
    " Vik all year. The north gate is closed at night, the south gate is open all night."
)
HALLS = (
    "宿舍管理员是田立，夜间值班员是马洪，田立分管报修，马洪分管门禁。一号楼住本科生，二号楼住研究生，三号楼住留学生。电费由学生"
    "分摊，水费由学校承担。黄色标签表示待检查，绿色标签表示可使用。"
)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("What does code A4 stand for?", "A blown fuse.", "A4 stands for a wet sensor."),
        ("Who runs the chandlery?", "Olaf Sande.", "Mette Krogh runs the chandlery."),
        ("Who pays for the launch?", "Owners.", "The yard pays for the launch."),
        ("How is wax removed?", "With white spirit.", "With acetone."),
        ("When are steel hulls painted?", "Only after sandblasting.", "Steel hulls are painted every spring."),
        ("Which gate is closed at night?", "The north gate is closed at night.", "The south gate is closed at night."),
        ("Which launch runs all year?", "The launch to Vik.", "The launch to Holm runs all year."),
        ("宿舍管理员是谁？", "田立。", "马洪。"),
        ("谁分管报修？", "田立。", "马洪分管报修。"),
        ("二号楼住什么人？", "研究生。", "二号楼住本科生。"),
        ("电费由谁承担？", "由学生分摊。", "电费由学校承担。"),
        ("黄色标签表示什么？", "待检查。", "黄色标签表示可使用。"),
    ],
)  # fmt: skip
def test_one_clause_is_not_said_of_what_another_one_is_about(
    question: str, right: str, wrong: str
) -> None:
    evidence = AnswerEvidence([item(YARD if question.isascii() else HALLS, "a.md")], question)
    assert evidence.assess(right).support is Support.SUPPORTED
    assert evidence.assess(wrong).support is not Support.SUPPORTED


LIFTS = "| | Crane 2 | Crane 2 L | Crane 30 |\n|---|---|---|---|\n| Reach | 8 m | 11 m | 19 m |\n| Load | 180 kg | 210 kg | 900 kg |"
DRONES = "| 型号 | 重量 | 续航 |\n|---|---|---|\n| 海燕2 | 3.2千克 | 45分钟 |\n| 海燕2 Pro | 4.1千克 | 60分钟 |"
SHIPS = "| Ship | Built | Passengers | Cars |\n| --- | --- | --- | --- |\n| Vega | 1998 | 250 | 38 |\n| Vega II | 2016 | 390 | 62 |"


@pytest.mark.parametrize(
    ("passage", "question", "right", "wrong"),
    [
        (LIFTS, "What is the reach of the Crane 2?", "8 metres.", "11 metres."),
        (LIFTS, "What is the reach of the Crane 2 L?", "It reaches 11 m.", "The reach is 8 m."),
        (LIFTS, "What is the load of the Crane 2 L?", "210 kg", "180 kg"),
        (SHIPS, "How many passengers can the Vega carry?", "It can carry 250 passengers.", "390."),
        (SHIPS, "How many cars can the Vega II carry?", "62 cars.", "The Vega II can carry 38 cars."),
        (DRONES, "海燕2的续航是多久？", "海燕2的续航是45分钟。", "60分钟。"),
    ],
)  # fmt: skip
def test_a_cell_is_of_the_row_and_column_that_are_named_and_not_of_a_longer_name(
    passage: str, question: str, right: str, wrong: str
) -> None:
    evidence = AnswerEvidence([item(passage, "a.md")], question)
    assert evidence.assess(right).support is Support.SUPPORTED
    assert evidence.assess(wrong).support is not Support.SUPPORTED


def test_the_last_of_several_clauses_may_be_about_all_of_them() -> None:
    farm = "Anna feeds the hens, Ola feeds the sheep, and both clean the barn on Fridays."
    evidence = AnswerEvidence([item(farm, "a.md")], "What does Anna do?")
    assert evidence.assess("Anna cleans the barn on Fridays.").support is Support.SUPPORTED
    assert evidence.assess("Anna feeds the sheep.").support is not Support.SUPPORTED
