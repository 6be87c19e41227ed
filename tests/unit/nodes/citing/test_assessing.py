"""Whether passages support a sentence, by what it says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sextant.nodes.citing.assessment import AnswerEvidence, supporting
from sextant.nodes.citing.evidence_index import Support
from sextant.nodes.citing.support import COMPUTED, ComputedSentence, is_opposed
from tests.unit.nodes.conftest import item


def assess(statement: str, *passages: str, question: str = "") -> Support:
    items = [item(text, f"{number}.md") for number, text in enumerate(passages)]
    return AnswerEvidence(items, question).assess(statement).support


LIMITS = "| Class | City | Limit |\n| --- | --- | --- |\n| North | Lyon, Nice | 650 EUR |\n| South | Metz | 480 EUR |\n| East | other cities | 380 EUR |"
LEAD = "New staff get a mentor for six months. Staff may work from home after a probation period of three months."
PLANS = "With the Silver plan within 4 hours, and with the Gold plan within 2 hours."


@pytest.mark.parametrize(
    ("question", "statement", "passage", "support"),
    [
        ("What is the limit in Lyon?", "650 EUR.", LIMITS, Support.SUPPORTED),
        ("What is the limit in Lyon?", "The limit in Lyon is 480 EUR.", LIMITS, Support.CONTRADICTED),
        ("What is the limit in Lyon?", "The limit in Lyon is 650 USD.", LIMITS, Support.CONTRADICTED),
        ("How long is the probation period?", "Three months.", LEAD, Support.SUPPORTED),
        ("How long is the probation period?", "The probation period is six months.", LEAD, Support.CONTRADICTED),
        ("How fast is Gold?", "Within two hours.", PLANS, Support.SUPPORTED),
        ("How fast is Gold?", "Within four hours.", PLANS, Support.CONTRADICTED),
        ("Which cities are in class North?", "Lyon and Nice.", LIMITS, Support.SUPPORTED),
        ("Which cities are in class North?", "Metz.", LIMITS, Support.PARTIAL),
    ],
)  # fmt: skip
def test_a_value_is_bound_to_its_subject(
    question: str, statement: str, passage: str, support: Support
) -> None:
    assert assess(statement, passage, question=question) is support


TARGETS = "| Measurement | Target |\n| --- | --- |\n| Fasting glucose | 4.4 to 7.0 mmol/L |\n| Blood pressure | below 130/80 mmHg |\n| Pulse | 60 to 80 |"
TOURS = "国内演出每场补助 300 元，国外演出每场补助 90 欧元。"


@pytest.mark.parametrize(
    ("question", "statement", "passage", "support"),
    [
        ("What is the target of fasting glucose?", "60 to 80.", TARGETS, Support.CONTRADICTED),
        ("What is the target of fasting glucose?", "4.4 to 7.0.", TARGETS, Support.SUPPORTED),
        ("What does a domestic concert get?", "It gets 90 euros.", TOURS, Support.PARTIAL),
        ("What does a domestic concert get?", "It gets 300 yuan.", TOURS, Support.PARTIAL),
        ("What does a concert get?", "It gets 300 yuan.", "每场演出补助 300 元。", Support.FOREIGN),
    ],
)  # fmt: skip
def test_a_value_of_another_row_or_of_an_unknown_subject_is_not_supported(
    question: str, statement: str, passage: str, support: Support
) -> None:
    assert assess(statement, passage, question=question) is support


@pytest.mark.parametrize(
    ("question", "statement", "passage", "support"),
    [
        ("支气管炎的症状是什么？", "支气管炎的症状是咳嗽、发热。", "支气管炎的症状是咳嗽、发热。", Support.SUPPORTED),
        ("What are the signs of scarlet fever?", "Spots.", "The signs of scarlet fever are spots.", Support.SUPPORTED),
    ],
)  # fmt: skip
def test_what_is_said_of_something_else_in_the_place_of_what_is_asked_for_is_not_supported(
    question: str, statement: str, passage: str, support: Support
) -> None:
    assert assess(statement, passage, question=question) is support


def test_a_list_that_several_rows_say_together_is_supported_and_quoted_whole() -> None:
    evidence = AnswerEvidence([item(LIMITS)], "What are the limits of the classes?")
    found = evidence.assess("Class North: 650 EUR, class South: 480 EUR, class East: 380 EUR.")
    assert found.support is Support.SUPPORTED
    [(_, quote)] = supporting(evidence, found)
    assert all(limit in quote.text for limit in ("650", "480", "380"))


HALL = "The hall is open from 9:30 to 20:00 on weekdays and from 10:00 to 17:00 on Saturdays. It is closed on Sundays."
LENT = "Adults may borrow ten films for four weeks. Magazines and maps cannot be borrowed. The fine is €0.30 per day."
CARD = "The pass costs €20 a year; students and pensioners pay €10."
ROLES = "质检部主任为段雅琴，出口部联系人为白文斌。\n检验费用由出口部承担，每批860元；加急检验在24小时内完成，费用为1,500元。"
POOL = "入池前须淋浴，并佩戴泳帽；泳镜自愿佩戴。\n样品保存期为18个月，水分不得超过6.5%。"
CLUB = (
    "The club meets weekly in May. The bill is sent quarterly. Members may send 30 letters a week. "
    "A visit must be announced at least five days ahead. Poles longer than 90 cm are carried apart."
)
MOVED = "A visit may be moved until 48 hours before it begins. A visit rose from 90 minutes to two hours."
FINES = "首次迟到的，可扣除押金的20%；第二次迟到的，扣除比例为50%。"
CHAIRS = "The teal chair: height 82 cm, weight 7 kg. The coral chair: height 90 cm, weight 9 kg."
DRILLS = "电锯：保修期2年，退货期30天。电钻：保修期3年，退货期14天。"
QUARTERS = "Profit was $5 million in the first three quarters and $2 million in the third quarter."
NOTICE = "员工辞职，须提前3个月书面通知公司。"
BIKES = (
    "A bike has one week of warranty with checks every day; lessons take place three times a week."
)
QUARTER = "2024年第二季度，公司实现营业收入8.2亿元，同比下降3%。前两季度累计营业收入15.9亿元，同比增长1%。"
TO_BRING = "To get a pass bring the following:\n\n- a valid identity card\n- one passport photo\n\nThe pass costs €20."


@pytest.mark.parametrize(
    ("question", "statement", "passage", "is_supported"),
    [
        ("Is the hall open on Sundays?", "It is open on Sundays from 10:00 to 17:00.", HALL, False),
        ("When is the hall open on Saturdays?", "From 10 am to 5 pm.", HALL, True),
        ("What is the fine?", "The fine is 30 cents a day.", LENT, True),
        ("Can maps be borrowed?", "Maps can be borrowed for four weeks.", LENT, False),
        ("What do students pay?", "Students pay 20 euros a year.", CARD, False),
        ("How much is the pass for students?", "10 € per year.", CARD, True),
        ("质检部主任是谁？", "质检部主任是段雅琴。", ROLES, True),
        ("加急检验要多少钱？", "加急检验每批860元。", ROLES, False),
        ("加急检验要多少钱？", "加急检验费用为1500元。", ROLES, True),
        ("样品保存多久？", "样品保存期为一年半。", POOL, True),
        ("水分上限是多少？", "水分不得超过百分之六点五。", POOL, True),
        ("What do I need for a pass?", "- one passport photo", TO_BRING, True),
        ("When does the club meet?", "The club meets every week in May.", CLUB, True),
        ("How often is the bill sent?", "Every three months.", CLUB, True),
        ("How often is the bill sent?", "Every two months.", CLUB, False),
        ("When must a visit be announced?", "No later than five days ahead of the visit.", CLUB, True),
        ("What must be carried apart?", "Poles shorter than 90 cm.", CLUB, False),
        ("Until when may a visit be moved?", "It may be moved until 48 hours before it begins.", MOVED, True),
        ("How long is a visit now?", "Two hours (raised from 90 minutes).", MOVED, True),
        ("How long is a visit?", "A visit takes 90 minutes.", MOVED, False),
        ("How long was a visit?", "A visit was 90 minutes long.", MOVED, True),
        ("何时开业？", "开业日期是5月1日。", "开业日期由5月1日改为6月18日。", False),
        ("何时开业？", "开业日期是6月18日。", "开业日期由5月1日改为6月18日。", True),
        ("何时开业？", "原定5月1日开业。", "开业日期由5月1日改为6月18日。", True),
        ("第二次迟到罚多少？", "第二次迟到可扣除押金的20%。", FINES, False),
        ("第二次迟到罚多少？", "第二次迟到扣除50%。", FINES, True),
        ("第二季度收入是多少？", "第二季度营业收入为8.2亿元，较去年同期减少3%。", QUARTER, True),
        ("第二季度收入是多少？", "第二季度营业收入为15.9亿元。", QUARTER, False),
        ("第二季度收入是多少？", "第二季度营业收入为8.2亿元，环比下降3%。", QUARTER, False),
        ("前两季度收入是多少？", "前两季度营业收入为8.2亿元。", QUARTER, False),
        ("前两季度收入是多少？", "前两季度营业收入为15.9亿元。", QUARTER, True),
        ("收入是多少？", "前两季度营业收入为8.2亿元，其中第二季度15.9亿元。", QUARTER, False),
        ("收入是多少？", "前两季度营业收入为15.9亿元，其中第二季度8.2亿元。", QUARTER, True),
        ("What was the profit of the third quarter?", "It was $5 million.", QUARTERS, False),
        ("What was the profit of the third quarter?", "It was $2 million.", QUARTERS, True),
        ("For the teal chair, what is the weight?", "Weight: 7 kg.", CHAIRS, True),
        ("For the teal chair, what is the weight?", "Weight: 9 kg.", CHAIRS, False),
        ("电钻的保修期和退货期多长？", "保修期3年，退货期14天。", DRILLS, True),
        ("电钻的保修期和退货期多长？", "保修期3年，退货期30天。", DRILLS, False),
        ("辞职要提前多久？", "三个月。", NOTICE, True),
        ("辞职要提前多久？", "两个月。", NOTICE, False),
        ("How long is the warranty?", "A bike has a week of warranty.", BIKES, True),
    ],
)  # fmt: skip
def test_days_rates_denials_and_roles_are_told_apart(
    question: str, statement: str, passage: str, *, is_supported: bool
) -> None:
    found = assess(statement, passage, question=question)
    assert (found is Support.SUPPORTED) is is_supported


REVIEW = "In millions of CHF\n\n| | Sales | Profit |\n| --- | --- | --- |\n| North | 12,553 | 2,713 |\n| South | 9,467 | 1,570 |"
BUDGET = "| 项目 | 金额（万元） | 占比 |\n| --- | --- | --- |\n| 设备 | 168 | 42% |\n| 软件 | 232 | 58% |"
STOPPED = "The line stood still for 3 hours and 42 minutes."
NETWORK = "The network has 29 lines (including 24 metro lines and 5 tram lines)."
PARCEL = "The parcel weighs 1 kg (2.2 lb)."
HEAVY = "Parcels must not exceed 8 kg."
BREAD = "The newspaper had an article advising that geese should not be fed with bread because it harms them and the water."
PART_TIME = "非全日制用工双方当事人不得约定试用期。"
OFFICES = "租赁公司应当与被派遣司机订立两年以上的合同。用车公司支付加班费。"
LEASES = "租约三个月以上不满一年的，押金不超过一个月租金；一年以上不满三年的，押金不超过二个月租金；三年以上固定期限和无固定期限的租约，押金不超过六个月租金。"
MODULES = "| Code | Reported by |\n| --- | --- |\n| F43 | MC-200 |\n| F51 | GW-20 |"
PROBATION = "合同期限一年以上不满三年的，试用期不得超过二个月；三年以上的，试用期不得超过六个月。"


@pytest.mark.parametrize(
    ("question", "statement", "passage", "is_supported"),
    [
        ("What were the sales of North?", "North had sales of CHF 12.553 billion.", REVIEW, True),
        ("What were the sales of North?", "CHF 12,553 million.", REVIEW, True),
        ("What were the sales of North?", "CHF 12,553.", REVIEW, False),
        ("What were the sales of North?", "CHF 12,553 thousand.", REVIEW, False),
        ("设备的金额是多少？", "1,680,000元。", BUDGET, True),
        ("设备的金额是多少？", "168元。", BUDGET, False),
        ("设备的占比是多少？", "42%。", BUDGET, True),
        ("How long did the line stand still?", "222 minutes.", STOPPED, True),
        ("How long did the line stand still?", "3 hours.", STOPPED, False),
        ("How many lines does the network have?", "It has 29 lines.", NETWORK, True),
        ("How many lines does the network have?", "It has 24 lines.", NETWORK, False),
        ("How many metro lines are there?", "24 metro lines.", NETWORK, True),
        ("How heavy is the parcel?", "It weighs 2.2 kg.", PARCEL, False),
        ("How heavy is the parcel?", "It weighs 2.2 lb.", PARCEL, True),
        ("May parcels exceed 8 kg?", "Yes, parcels may exceed 8 kg.", HEAVY, False),
        ("How heavy may a parcel be?", "At most 8 kg.", HEAVY, True),
        ("Should geese be fed with bread?", "No, geese should not be fed with bread.", BREAD, True),
        ("非全日制用工可以约定试用期吗？", "可以，非全日制用工可以约定试用期。", PART_TIME, False),
        ("非全日制用工可以约定试用期吗？", "不可以，非全日制用工不得约定试用期。", PART_TIME, True),
        ("被派遣司机与谁订立合同？", "被派遣司机与租赁公司订立两年以上的合同。", OFFICES, True),
        ("合同期限一年以上不满三年的，试用期多久？", "试用期最多2个月。", PROBATION, True),
        ("Which wood is lighter?", "Pine is heavier than oak.", "Pine is lighter than oak.", False),
        ("二线用药是什么？", "二线用药是阿卡波糖。", "一线用药是阿卡波糖。", False),
        ("两年期租约的押金多少？", "最多二个月租金。", LEASES, True),
        ("两年期租约的押金多少？", "最多六个月租金。", LEASES, False),
        ("Which module reports F51?", "F51 is reported by the MC-200.", MODULES, False),
        ("Which module reports F51?", "F51 is reported by the GW-20.", MODULES, True),
        ("故障 T-7 中有几台停机？", "共11台停机。", "T-7 中 11 台分拣站同时停机。", True),
        ("乙肝用什么药？", "首选恩替卡韦。", "乙肝患者首选恩替卡韦抗病毒治疗。", True),
    ],
)  # fmt: skip
def test_scales_units_parts_and_denials_are_told_apart(
    question: str, statement: str, passage: str, *, is_supported: bool
) -> None:
    found = assess(statement, passage, question=question)
    assert (found is Support.SUPPORTED) is is_supported


FEES = "The day ticket costs €12 and the monthly ticket €48. The trial period is two weeks, the notice period four weeks."
COVER = "甲方购买的意外险保额为50万元，医疗险保额为20万元。1 级高血压首选氨氯地平，2 级高血压首选缬沙坦。"
DOSES = "| 药物 | 剂量 |\n| --- | --- |\n| 缬沙坦 | 起始80毫克，最大320毫克 |"
PRICE = "合同总价为860,000元。"
ORDER = "第一次检查在安装后15天，第二次检查在安装后30天。一级柜的风速为0.4米/秒，二级柜的风速为0.5米/秒。每亩施有机肥1.5吨。"
RACE = "The marathon entry fee is $80, the half marathon entry fee $45. Check-in starts at 15:00, check-out is by 11:00."
ROUTES = "| Route | Length |\n| --- | --- |\n| Ridge 20 | 41 km |\n| Ridge 20 XL | 57 km |"


@pytest.mark.parametrize(
    ("question", "statement", "passage", "is_supported"),
    [
        ("How much is the day ticket?", "The day ticket costs 12 euros.", FEES, True),
        ("How much is the day ticket?", "The price of a day ticket is €12.", FEES, True),
        ("How long is the trial period?", "There is a trial period of two weeks.", FEES, True),
        ("How long is the trial period?", "It lasts two weeks.", FEES, True),
        ("How long is the trial period?", "The notice period is two weeks.", FEES, False),
        ("意外险的保额是多少？", "意外险的保额是五十万元。", COVER, True),
        ("意外险的保额是多少？", "保险金额为50万元。", COVER, True),
        ("意外险的保额是多少？", "医疗险的保额是50万元。", COVER, False),
        ("1 级高血压首选什么药？", "首选药物是氨氯地平。", COVER, True),
        ("1 级高血压首选什么药？", "3级高血压首选氨氯地平。", COVER, False),
        ("缬沙坦的最大剂量是多少？", "缬沙坦的最大剂量是320毫克。", DOSES, True),
        ("缬沙坦的最大剂量是多少？", "缬沙坦的起始剂量是320毫克。", DOSES, False),
        ("第二次检查在什么时候？", "第2次检查在安装后30天。", ORDER, True),
        ("第二次检查在什么时候？", "第一次检查在安装后30天。", ORDER, False),
        ("二级柜的风速是多少？", "二级柜的风速是0.5米/秒。", ORDER, True),
        ("二级柜的风速是多少？", "一级柜的风速是0.5米/秒。", ORDER, False),
        ("What is the entry fee of the half marathon?", "The entry fee is $45.", RACE, True),
        ("When is check-out?", "Check-out is by 11 a.m.", RACE, True),
        ("How long is Ridge 20 XL?", "Ridge 20 XL is 57 km long.", ROUTES, True),
        ("How long is the trial period?", "Visitors get two weeks.", FEES, False),
        ("What is the total price of the contract?", "The total price is CNY 0.86M.", PRICE, True),
    ],
)  # fmt: skip
def test_a_value_of_something_else_than_its_clause_names_is_not_supported(
    question: str, statement: str, passage: str, *, is_supported: bool
) -> None:
    found = assess(statement, passage, question=question)
    assert (found is Support.SUPPORTED) is is_supported


HANDBOOK = "试用期为六个月。离职须提前三十天书面通知。"
LEAVING = "The probation period is six months. Staff who resign give thirty days of notice."


@pytest.mark.parametrize(
    ("question", "statement", "text", "heading", "is_supported"),
    [
        ("试用期是多久？", "试用期为半年。", HANDBOOK, "试用与离职", True),
        ("试用期是多久？", "期限为六个月。", HANDBOOK, "试用与离职", True),
        ("How long is the probation period?", "Probation lasts six months.", LEAVING, "Probation and notice", True),
    ],
)  # fmt: skip
def test_a_heading_of_several_things_lends_no_value_to_each(
    question: str, statement: str, text: str, heading: str, *, is_supported: bool
) -> None:
    passage = item(text)
    passage = replace(passage, metadata={**passage.metadata, "section_path": (heading,)})
    found = AnswerEvidence([passage], question).assess(statement).support
    assert (found is Support.SUPPORTED) is is_supported


def test_what_cannot_be_shown_is_neither_supported_nor_contradicted() -> None:
    question = "How long is the probation period?"
    assert assess("The probation period may be shortened.", LEAD, question=question) in {
        Support.PARTIAL,
        Support.UNSUPPORTED,
    }


@given(st.text(max_size=80), st.text(max_size=120), st.text(max_size=40))
def test_any_text_is_assessed_and_quoted_as_it_stands(said: str, text: str, asked: str) -> None:
    evidence = AnswerEvidence([item(text, start=7)], asked)
    for _, quote in supporting(evidence, evidence.assess(said)):
        assert (" " * 7 + text)[quote.start : quote.end] == quote.text


DOSE = "肾功能减退者不可服用二甲双胍。"
OWNER = "Rust keeps memory safe without a garbage collector by giving every value one owner."
LEAFLET = (
    "Norvasol tablets\n\nDo not take it if you are pregnant or breast-feeding. "
    "Do not take a double dose to make up for a forgotten one."
)
LEAVE = "Unused days may not be carried over to the next year."


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("肾功能减退者可服用二甲双胍。", DOSE),
        ("Unused days may be carried over to the next year.", LEAVE),
        ("这台设备没有接地保护。", "这台设备有接地保护。"),
        ("The belt can't be replaced.", "The belt can be replaced by the operator."),
        ("Rust does not keep memory safe by giving values one owner.", OWNER),
        ("Rust keeps memory safe with a garbage collector.", OWNER),
        ("Visitors may not park in the yard.", "Visitors may park in the yard, but not overnight."),
        ("报纸可以外借。", "报纸、地方志和工具书不外借，仅限馆内阅览。"),
        ("可以带入书库。", "读者不得带入书库，但可以带入自习室。"),
        ("项目经理必须参加。", "培训不对外包人员开放，除项目经理外均须参加。"),
        (
            "Guests may bring a static cord.",
            "Guests may bring their own cords except static cords.",
        ),
        ("You can take it if you are pregnant.", LEAFLET),
        ("Take a double dose.", LEAFLET),
        ("未经培训的人员可以使用冲床。", "未经培训的人员不得使用冲床。"),
        ("Chalk is allowed on the mats.", "Chalk is allowed except on the mats."),
        (
            "Eating is forbidden in the lounge.",
            "Eating is forbidden in all labs except the lounge.",
        ),
    ],
)
def test_a_statement_that_denies_what_the_passage_says_or_the_reverse_is_not_carried(
    statement: str, passage: str
) -> None:
    assert assess(statement, passage) is Support.CONTRADICTED


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("肾功能减退者不可服用二甲双胍。", DOSE),
        ("二甲双胍是一线用药。", "没有禁忌证时，二甲双胍是一线用药。"),
        ("每次最多报销 500 元。", "每次报销不超过 500 元。"),
        ("They are paid on the 10th.", "They are paid on the 10th, but not in cash."),
        ("The station needs no cable.", "The station runs without a cable."),
        ("Rust keeps memory safe by giving values one owner.", OWNER),
        ("Rust does not use a garbage collector.", OWNER),
        ("图表的别称是曲棍球杆曲线。", "图表的名字是曲棍球杆曲线。"),
        ("The response takes up to 2 hours.", "The response takes no more than 2 hours."),
        ("特别的设备在无人机上。", "特别的设备装在无人机上。"),
        ("饮料可以带入自习室。", "读者不得将饮料带入书库，但可以带入自习室。"),
        ("Loose chalk is not allowed.", "Chalk balls are allowed, loose chalk is forbidden."),
        ("With consent.", "Subletting is forbidden without consent."),
        ("You must not take it if you are pregnant.", LEAFLET),
        ("休息室可以饮食。", "除休息室外，所有房间禁止饮食。"),
        ("Dogs may not enter.", "Neither dogs nor cats may enter."),
        ("没有预约的访客可以登记。", "没有预约的访客可以在前台登记。"),
    ],
)
def test_denial_of_something_else_and_bounds_contradict_nothing(
    statement: str, passage: str
) -> None:
    assert not is_opposed(statement, passage)
    assert assess(statement, passage) is not Support.CONTRADICTED


TABLE = "| Plan | Price (EUR) |\n| --- | --- |\n| Basic | 20 |\n| Team | 90 |"


@pytest.mark.parametrize("start", [0, 70])
@pytest.mark.parametrize(
    ("statement", "carried"),
    [
        ("The largest price is 90, of the plan Team", True),
        ("The largest price is 90, of Basic", False),
        ("Guests stay 90 days", False),
        ("The largest price is 91 (Team)", False),
    ],
)
def test_a_computed_sentence_carries_only_what_it_says(
    statement: str, carried: bool, start: int
) -> None:
    row = start + TABLE.index("Team"), start + len(TABLE) - 2
    told = ComputedSentence("the largest Price (EUR) is 90 (Team)", *row)
    passage = item(TABLE, start=start)
    passage = replace(passage, metadata={**passage.metadata, COMPUTED: (told,)})
    evidence = AnswerEvidence([passage])
    found = evidence.assess(statement)
    assert (found.support is Support.SUPPORTED) is carried
    if carried:
        [(_, quote)] = supporting(evidence, found)
        assert quote.text.strip("| ") == "Team | 90"


STOCK = "| Product | City | Stock |\n| --- | --- | --- |\n| Lamp | Oslo | 2 |\n| Desk | Oslo | 30 |\n| Chair | Vik | 48 |"


@pytest.mark.parametrize(
    ("statement", "carried"),
    [
        ("2 products are in Oslo.", True),
        ("2 products are in Vik.", False),
        ("There are 2 chairs.", False),
    ],
)
def test_a_number_computed_over_several_rows_is_not_that_of_one_of_them(
    statement: str, carried: bool
) -> None:
    told = ComputedSentence("2 rows have City = Oslo", 0, len(STOCK))
    passage = item(STOCK)
    passage = replace(passage, metadata={**passage.metadata, COMPUTED: (told,)})
    found = AnswerEvidence([passage], "How many products are in Oslo?").assess(statement)
    assert (found.support is Support.SUPPORTED) is carried


ZH_PRICE = "合同总价为 2,350,000 元（含税），分三期支付。质保期为 24 个月。"
EN_PRICE = "The total contract price is CNY 1,680,000, payable in three instalments. The warranty is 24 months."


@pytest.mark.parametrize("amount", ["CNY 2.35M", "RMB 2,350,000", "人民币2,350,000元", "CNY 2,350,000", "RMB 2.35 million", "235万元（人民币）"])  # fmt: skip
def test_a_currency_has_many_names_in_chinese(amount: str) -> None:
    asked = "合同总价是多少？"
    assert assess(f"合同总价为{amount}。", ZH_PRICE, question=asked) is Support.SUPPORTED
    wrong = amount.replace("35", "45")
    assert assess(f"合同总价为{wrong}。", ZH_PRICE, question=asked) is Support.CONTRADICTED


@pytest.mark.parametrize("amount", ["RMB 1.68 million", "¥1.68 million", "1.68 million yuan", "renminbi 1.68 million", "人民币168万元"])  # fmt: skip
def test_a_currency_has_many_names_in_english(amount: str) -> None:
    asked = "What is the total contract price?"
    said = f"The total contract price is {amount}."
    assert assess(said, EN_PRICE, question=asked) is Support.SUPPORTED


@pytest.mark.parametrize(
    "amount", ["USD 2,350,000", "2,350,000美元", "EUR 2.35M", "2,350,000 港元"]
)
def test_another_currency_is_another_value(amount: str) -> None:
    said = f"合同总价为{amount}。"
    assert assess(said, ZH_PRICE, question="合同总价是多少？") is Support.CONTRADICTED


PRICES = "| Name | Price (CNY) | Price (EUR) |\n| --- | --- | --- |\n| Gold plan | 29800 | 3840 |\n| Silver plan | 16800 | 2160 |"


@pytest.mark.parametrize("amount", ["EUR 3,840", "3,840 EUR", "€3,840", "3,840 euros"])
def test_a_price_in_another_currency_beside_it_is_no_rival(amount: str) -> None:
    asked = "How much is the Gold plan in euros?"
    assert assess(f"{amount} [1].", PRICES, question=asked) is Support.SUPPORTED
    wrong = amount.replace("3,840", "29,800")
    assert assess(wrong, PRICES, question=asked) is Support.CONTRADICTED
    assert assess("EUR 2,160.", PRICES, question=asked) is Support.CONTRADICTED
    assert (
        assess(f"{amount}.", PRICES, question="How much is the Gold plan in CNY?")
        is not Support.SUPPORTED
    )


YARD = "Parking is allowed in the yard and not at the gate. Drinks may be taken into the foyer, and not into the hall."
BALCONY = "员工可以在露台吸烟，但不得在机房吸烟。"


@pytest.mark.parametrize(
    ("question", "statement", "passage", "is_supported"),
    [
        ("Is parking allowed in the yard?", "Parking is allowed in the yard.", YARD, True),
        ("Is parking allowed in the yard?", "Parking is not allowed in the yard.", YARD, False),
        ("Is parking allowed at the gate?", "Parking is not allowed at the gate.", YARD, True),
        ("Is parking allowed at the gate?", "Parking is allowed at the gate.", YARD, False),
        ("May I take a drink into the foyer?", "Drinks may be taken into the foyer.", YARD, True),
        ("May I take a drink into the foyer?", "Drinks may not be taken into the foyer.", YARD, False),
        ("May I take a drink into the hall?", "Drinks may be taken into the hall.", YARD, False),
        ("可以在露台吸烟吗？", "可以在露台吸烟。", BALCONY, True),
        ("可以在露台吸烟吗？", "不得在露台吸烟。", BALCONY, False),
        ("可以在机房吸烟吗？", "可以在机房吸烟。", BALCONY, False),
    ],
)  # fmt: skip
def test_a_denial_holds_in_its_own_clause(
    question: str, statement: str, passage: str, *, is_supported: bool
) -> None:
    found = assess(statement, passage, question=question)
    assert (found is Support.SUPPORTED) is is_supported


STEPS = "1、2 级哮喘首选沙丁胺醇；3 级哮喘首选布地奈德。1 号楼的电梯由华升维护。2 号楼的电梯由通力维护。"
TYPES = "没有禁忌证时，二甲双胍是 2 型糖尿病的一线用药。"
WIRES = "The wire of phase one is brown, the wire of phase two is black. The head of Ward B is Dr. Noor. The head of Ward C is Dr. Pell."
GRADES = "Grades 1 and 2 are treated with salbutamol. Grade 3 is treated with budesonide."
BOUNDED = (
    "Pumps of grades 1 to 3 are checked by Tuvex. Pumps of grade 4 and above are checked by Norsk."
)
ROMAN = "Type I valves are tested every four years. Type II valves are tested every ten months."
FUSES = "| Phase | Wire |\n| --- | --- |\n| Phase 1 | brown |\n| Phase 2 | black |"
LISTED = "Grade 3:\n\n- inhaled budesonide\n\nGrade 1:\n\n- inhaled salbutamol"
LETTERS = "Plan A costs 12 EUR per month. Plan B costs 30 EUR per month. Class I lifts are checked by Tuvex, Class II lifts by Norsk."


@pytest.mark.parametrize(
    ("question", "statement", "passage", "is_supported"),
    [
        ("3 级哮喘首选什么药？", "布地奈德。", STEPS, True),
        ("1 号楼的电梯由谁维护？", "1 号楼的电梯由华升维护。", STEPS, True),
        ("1 号楼的电梯由谁维护？", "1 号楼的电梯由通力维护。", STEPS, False),
        ("1 型糖尿病首选什么药？", "1 型糖尿病首选二甲双胍。", TYPES, False),
        ("2 型糖尿病首选什么药？", "2 型糖尿病首选二甲双胍。", TYPES, True),
        ("Which wire is phase two?", "The wire of phase two is black.", WIRES, True),
        ("Who is the head of Ward C?", "The head of Ward C is Dr. Noor.", WIRES, False),
        ("Who is the head of Ward C?", "Dr. Pell heads Ward C.", WIRES, True),
        ("How is grade 2 treated?", "Grade 2 is treated with salbutamol.", GRADES, True),
        ("Who checks grade 2 pumps?", "Grade 2 pumps are checked by Tuvex.", BOUNDED, True),
        ("What colour is the wire of phase 2?", "Black.", FUSES, True),
        ("What colour is the wire of phase 2?", "Brown.", FUSES, False),
        ("How is grade 3 treated?", "With inhaled budesonide.", LISTED, True),
        ("What should I bring?", "Bring an identity card.", "Do not forget to bring:\n\n- an identity card\n- a pen", True),
        ("How is grade 3 treated?", "With inhaled salbutamol.", LISTED, False),
        ("How much is Plan A?", "Plan A costs 12 EUR per month.", LETTERS, True),
        ("How much is Plan A?", "Plan B costs 12 EUR per month.", LETTERS, False),
        ("Who checks Class I lifts?", "Class I lifts are checked by Tuvex.", LETTERS, True),
        ("How often are Type I valves tested?", "Type I valves are tested every four years.", ROMAN, True),
        ("How often are Type II valves tested?", "Type II valves are tested every four years.", ROMAN, False),
        ("How often are Type II valves tested?", "Every ten months.", ROMAN, True),
    ],
)  # fmt: skip
def test_what_a_number_or_letter_marks_is_not_said_of_another_mark(
    question: str, statement: str, passage: str, *, is_supported: bool
) -> None:
    found = assess(statement, passage, question=question)
    assert (found is Support.SUPPORTED) is is_supported


LEAVE = "员工工作满一年不满十年的，年假 5 天；工作满十年不满二十年的，年假 10 天；工作满二十年的，年假 15 天。"


@pytest.mark.parametrize(
    ("asked", "days"),
    [("工作满十年", 10), ("工作十二年", 10), ("工作三年", 5), ("工作满二十年", 15)],
)
@pytest.mark.parametrize("said", ["年假为 {} 天。", "{} 天。", "工作满十年的年假为 {} 天。"])
def test_a_value_is_bound_to_the_range_that_is_asked_for(asked: str, days: int, said: str) -> None:
    stated = said.replace("工作满十年", asked)
    for one in (5, 10, 15):
        found = assess(stated.format(one), LEAVE, question=f"{asked}有几天年假？")
        assert (found is Support.SUPPORTED) is (one == days)


CHAIRS = """Korean economist Hoesung Lee is the chair since October 8, 2015. Before him the panel was led by his deputy Ismail Gizouli,
who was named acting chair after Rajendra Pachauri resigned in February 2015. The chairs before were Rajendra Pachauri,
elected in May 2002; Robert Watson in 1997; and Bert Bolin in 1988."""
CITY = """The city had an estimated population of 853,382 in 2014. It lies in a region that had a population of 1,345,596 in 2010."""
RANKS = "In 2012 the country placed 139th out of 176 countries, with a score of 27/100."
GORGE = "长岩峡谷是一座长702米，深80米的峡谷。"
SENIOR = "工作满一年的员工年假为5天，工作满十年的员工年假为10天。"
GUN = "AK-130舰炮由设计局研制。1976年6月开始设计。1985年11月1日入役。"
ACTOR = "刘德一（原名刘德益），演员。1957年考入训练班学艺。2008年6月15日病逝于成都。"
TERRACE = "露台可以吸烟且客房内不可吸烟。"
DECK = "Smoking is allowed on the deck and it is not allowed in the cabins."


@pytest.mark.parametrize(
    ("question", "passage", "right", "wrong"),
    [
        ("Who is the chair?", CHAIRS, "Hoesung Lee has been the chair since October 2015.", "Hoesung Lee has been the chair since February 2015."),
        ("What is the population of the city?", CITY, "The city had a population of 853,382 in 2014.", "The city had a population of 1,345,596 in 2014."),
        ("Where did the country rank in 2012?", RANKS, "It placed 139th out of 176 countries.", "It placed 127th out of 176 countries."),
        ("长岩峡谷有多长？", GORGE, "长岩峡谷长702米。", "长岩峡谷长80米。"),
        ("长岩峡谷有多长？", GORGE, "峡谷长702米，深80米。", "峡谷长80米，深702米。"),
        ("工作满十年有几天年假？", SENIOR, "工作满十年的员工有10天年假。", "工作满十年的员工有5天年假。"),
        ("工作满十年有几天年假？", SENIOR, "年假为10天。", "工作满一年的员工有10天年假。"),
        ("AK-130什么时候入役？", GUN, "AK-130于1985年11月1日入役。", "AK-130于1976年6月入役。"),
        ("刘德一什么时候病逝？", ACTOR, "刘德一于2008年6月15日病逝。", "刘德一于1957年病逝。"),
        ("露台可以吸烟吗？", TERRACE, "露台可以吸烟。", "露台不可以吸烟。"),
        ("客房内可以吸烟吗？", TERRACE, "客房内不可以吸烟。", "客房内可以吸烟。"),
        ("Is smoking allowed on the deck?", DECK, "Smoking is allowed on the deck.", "Smoking is not allowed on the deck."),
        ("How long is the term?", "The term is eighteen months.", "The term is a year and a half.", "The term is two and a half years."),
    ],
)  # fmt: skip
def test_what_stands_beside_another_name_number_or_clause_is_not_said_of_this_one(
    question: str, passage: str, right: str, wrong: str
) -> None:
    assert assess(right, passage, question=question) is Support.SUPPORTED
    assert assess(wrong, passage, question=question) is not Support.SUPPORTED


RATES = "Bikes kept overnight are charged 60 % of the day rate. Cancelling a trip costs 25 % of the trip price. A returned payment costs EUR 35."
LEASE = "The owner is liable for the roof, the tenant for the windows. Drones may be flown over the meadow, but not over the barn."
LOANS = ("The library lends books for four weeks.", "Films are lent for one week.")
CELLS = "The cold of the fridge slows the yeast down overnight and lets acids develop, which gives the bread its taste."


@pytest.mark.parametrize(
    ("question", "statement", "passages", "is_supported"),
    [
        ("What does it cost to cancel a trip?", "Cancelling a trip costs 25 % of the trip price.", [RATES], True),
        ("Who is liable for the windows?", "The tenant is liable for the windows.", [LEASE], True),
        ("May drones be flown over the barn?", "Drones may be flown over the barn.", [LEASE], False),
        ("How long are books and films lent?", "Books are lent for four weeks and films for one week.", LOANS, True),
        ("How long are books and films lent?", "Books are lent for one week and films for four weeks.", LOANS, False),
        ("Why does dough rest?", "It rests since the cold of a fridge slows the yeast and acids can develop overnight.", [CELLS], True),
        ("Which rules hold?", "4. A returned payment costs 35 euros.", [RATES], True),
    ],
)  # fmt: skip
def test_a_fact_joins_only_what_its_passage_joins(
    question: str, statement: str, passages: list[str], *, is_supported: bool
) -> None:
    found = assess(statement, *passages, question=question)
    assert (found is Support.SUPPORTED) is is_supported


POOL_TIMES = "Special leave: wedding 4 days, moving house 1 day, death of a relative 6 days."
TOOLS_ZH = "电钻每五年检查一次，梯子每两年。"
MEMBERS = "| Ticket | Adult | Senior (65+) |\n| --- | --- | --- |\n| Day | 9 EUR | 7 EUR |\n| Evening (after 19:00) | 5 EUR | 4 EUR |"
WEIGHTS = "The P-30 weighs 8 kg, the P-50 12 kg."
HALLS = "The small hall costs 80 EUR per hour, the large hall 140 EUR. The cable of ZETA-X is 3 m long and that of ZETA-Y 5 m."
TERMS = "The trial period is three months. The notice period is six weeks."
YARD = "Visitors must not:\n\n1. enter the crane area\n2. take photographs"
REFUNDED = "The following are refunded:\n\n- train tickets\n\nThe following are not refunded:\n\n- taxis\n- fines for parking"
SAUNA = "The sauna is closed on Mondays. Expenses below 50 EUR need no receipt."
TABLETS = "Salvin must not be taken together with warfarin. Antacids may be taken two hours before or after it."


@pytest.mark.parametrize(
    ("question", "passage", "right", "wrong"),
    [
        ("How many days off for my wedding?", POOL_TIMES, "You get 4 days of special leave.", "You get 6 days of special leave."),
        ("梯子多久检查一次？", TOOLS_ZH, "每两年。", "每五年。"),
        ("梯子多久检查一次？", TOOLS_ZH, "梯子每两年检查一次。", "梯子每五年检查一次。"),
        ("What does an evening ticket cost?", MEMBERS, "Seniors (65+): 4 EUR", "Seniors (65+): 5 EUR"),
        ("How heavy is the P-50?", WEIGHTS, "The P-50 weighs 12 kg.", "The P-50 weighs 8 kg."),
        ("What does the large hall cost?", HALLS, "140 EUR per hour.", "80 EUR per hour."),
        ("How long is the cable of ZETA-Y?", HALLS, "The cable of ZETA-Y is 5 m long.", "The cable of ZETA-Y is 3 m long."),
        ("How long is the cable of ZETA-Y?", HALLS, "ZETA-Y: 5 m.", "The cable of ZETA-Z is 5 m long."),
        ("How long is the trial period?", TERMS, "The trial period is three months.", "The notice period is three months."),
        ("Are taxis refunded?", REFUNDED, "Taxis are not refunded.", "Taxis are refunded."),
        ("May visitors take photographs?", YARD, "Visitors must not take photographs.", "Visitors may take photographs."),
        ("What is refunded?", REFUNDED, "Train tickets are refunded.", "Fines for parking are refunded."),
        ("Is the sauna open on Mondays?", SAUNA, "The sauna is closed on Mondays.", "Yes, the sauna is open on Mondays."),
        ("Can I take Salvin with warfarin?", TABLETS, "Antacids, however, can be taken two hours before or after it.", "Yes, it can be taken together with warfarin."),
    ],
)  # fmt: skip
def test_times_ranges_lists_and_opposites_are_told_apart(
    question: str, passage: str, right: str, wrong: str
) -> None:
    assert assess(right, passage, question=question) is Support.SUPPORTED
    assert assess(wrong, passage, question=question) is not Support.SUPPORTED


INCOME = """In millions

| | Year ended June 30, | |
| --- | --- | --- |
| | 2019 | 2018 |
| Installation | $33.2 | $41.5 |
| Maintenance | $86.8 | $87.0 |"""
SCORES = (
    "|Model|Backbone|precision|recall|\n|-|-|-|-|\n|DB|ResNet|84 %|81 %|\n|DB|MobileNet|76 %|73 %|"
)
INCOMES = "| Company | Income 2019 | Income 2018 |\n| --- | --- | --- |\n| Teal | 299 | 148 |\n| Coral | 123 | 72 |"
BORN = "Hanne Lund was born on May 16, 1894 in Eureka, Illinois. Per Dahl was born in Holm."
SEA = "As the ice shrank, sea levels rose by 12 cm. Idle boats are towed away after 15 minutes. The quay opens at 8:00."


@pytest.mark.parametrize(
    ("question", "statement", "passage", "is_supported"),
    [
        # Names of columns over two rows, and amounts in the scale that is written above.
        ("What was installation in 2019?", "$33.2 million.", INCOME, True),
        ("What was installation in 2018?", "$33.2 million.", INCOME, False),
        ("What was maintenance in 2018?", "$86.8 million.", INCOME, False),
        # A rule of single dashes below the names of columns.
        ("", "DB with ResNet has a recall of 81 %.", SCORES, True),
        ("", "DB with ResNet has a recall of 84 %.", SCORES, False),
        # A year that the name of a column has.
        ("", "The income of Coral was 72 in 2018.", INCOMES, True),
        ("", "The income of Coral was 123 in 2018.", INCOMES, False),
        # A date of another century is one value.
        ("", "Hanne Lund was born on May 16, 1894 in Eureka.", BORN, True),
        ("", "Hanne Lund was born on May 16, 1895 in Eureka.", BORN, False),
        # A word that says the opposite.
        ("How far did the sea rise?", "Sea levels fell by 12 cm.", SEA, False),
        ("How far did the sea rise?", "Sea levels rose by 12 cm.", SEA, True),
        # What is not asked for stands by itself.
        ("How far did the sea rise?", "Idle boats are towed away after a quarter of an hour.", SEA, True),
        ("How far did the sea rise?", "The quay opens at 8 am.", SEA, True),
        ("How far did the sea rise?", "The quay opens at 9 am.", SEA, False),
    ],
)  # fmt: skip
def test_rows_of_names_opposites_and_what_is_not_asked_for(
    question: str, statement: str, passage: str, *, is_supported: bool
) -> None:
    found = assess(statement, passage, question=question)
    assert (found is Support.SUPPORTED) is is_supported


def test_a_sentence_of_a_passage_supports_itself() -> None:
    text = "从2005年到2014年，洛杉矶有两支球队，它们都在 Carson 比赛。2014年后一支停赛。"
    whole, _, _ = text.partition("。")
    assert assess(f"{whole}。", text, question="哪支球队在2014年停赛？") is Support.SUPPORTED
