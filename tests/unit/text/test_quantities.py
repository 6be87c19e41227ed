"""A question for money, weight, a period or a distance, and what tells one."""

from __future__ import annotations

import pytest

from sextant.text.quantities import find_question_quantity


@pytest.mark.parametrize(
    ("question", "told", "untold"),
    [
        ("How much does the pump cost?", "The pump sells for 240 EUR.", "The pump weighs 9 kg."),
        (
            "How much does the printer cost?",
            "It costs 90.",
            "Hold the feed button for five seconds.",
        ),
        ("客服系统的预算是多少？", "预算为18万元。", "| 申请预算 | 周敏 | 2026-10-16 |"),
        ("NX-90 的价格是多少？", "整机 1200 元。", "NX-90 于 2022 年上市。"),
        ("这台设备多少钱？", "首年免费使用。", "设备重 9 公斤。"),
        ("逾期还书怎么收费？", "超过期限的，每本每天收两毛钱。", "逾期的书请还到前台。"),
        ("What is the temperature of the oven?", "It bakes at 250 °C.", "The lamp is of 25 W."),
        ("锅炉的温度是多少？", "锅炉最高九十度。", "锅炉在二楼。"),
        ("咖啡机的功率是多少？", "功率 1450 W。", "重 9 公斤。"),
        ("图书室星期几休息？", "周一不开放。", "进馆须出示证件。"),
        ("How many holidays do I get?", "You get 24 days.", "Five pupils get none."),
        ("新封口机的预算是多少？", "同意买一台新的，预算两千八。", "预算由何姐批准。"),
        ("货什么时候到？", "最早二十号到。", "货放三号楼。"),
        ("售后电话是多少？", "请联系售后 400-820-7711。", "整机保修 2 年，功率 1450 W。"),
        (
            "What is the phone number of the depot?",
            "Depot: extension 83",
            "It opened on 2026-11-27.",
        ),
        ("How heavy is the meter?", "It weighs 1.8 kg.", "It draws 12 watts."),
        ("NX-90 有多重？", "整机重 620 克。", "精度为 0.3 摄氏度。"),
        ("How far is the depot?", "The depot is two miles away.", "The depot opened in 1998."),
        ("How long is the probation period?", "It ends after six months.", "Probation is paid."),
        ("What is its flight time?", "It flies for 40 minutes.", "It carries up to 8 kg."),
        ("What is the notice period?", "A notice of two months.", "Notice is given in writing."),
        ("午休多长时间？", "午休 12:00 至 13:30。", "午休须提前登记。"),
        ("How many pupils are there?", "Twelve pupils came.", "Pupils may enter from 8:00."),
        ("有多少名学生？", "共有三百名学生。", "学生 8:00 入校。"),
        ("How many employees are there?", "40, for 38 hours.", "It adds 4 percent in two years."),
        ("有多少名学生？", "两年后有三百名。", "每年交 300 元，共两年。"),
        ("What colour is the jumper?", "A navy jumper.", "The jumper is woollen."),
        ("校服是什么颜色？", "校服为深色。", "校服须每日穿着。"),
        ("试用期多长？", "试用期为三个月。", "试用期须由经理批准。"),
        ("How many vacation days do we get?", "We get 25 days.", "A mentor for six months."),
        ("报销要在多少天内提交？", "15 个工作日内提交。", "补贴 120 元，境外 45 欧元。"),
        ("How many weeks is the notice?", "It is one month.", "It is given in writing."),
        ("How many years did it last?", "From 1914 to 1918.", "It cost 40 lives."),
        ("这个项目做了几年？", "历时两年。", "共有 12 人参加。"),
        ("When did it happen?", "On 5 March it stood still.", "This closes INC-2025-017."),
        ("When is memory freed?", "When its owner goes out of scope.", "Memory has one owner."),
        ("办公室是什么时候启用的？", "2019年启用。", "办公室位于示范路 88 号。"),
        ("What time does the office open?", "From 9:30 on.", "| Office | Seats |\nGraz | 40"),
        ("Which port is it?", "It listens on http://127.0.0.1:8000.", "Ports are closed at 17:3."),
        ("默认端口是多少？", "端口默认为 5432。", "端口须由管理员开放。"),
        (
            "Which Python version is needed?",
            "Python 3.11 or newer.",
            "Python takes 5.5 ms of 12.5 %.",
        ),
        ("支持哪个 Neo4j 版本？", "支持 Neo4j 5.26 及以上。", "Neo4j 用时 4.5 秒。"),
        ("测试覆盖率要求是多少？", "覆盖率不低于 80%。", "须有单元测试覆盖。"),
        ("What percentage passed?", "Half failed, 50 per cent passed.", "Most of them passed."),
        (
            "试用期工资是转正工资的百分之多少？",
            "为转正工资的百分之八十五。",
            "试用期内工资须按时发放。",
        ),
        ("农场种了多少亩蓝莓？", "蓝莓园占地320亩。", "| 客户 | 金额（万元） |\n| 滇蓝农场 | 73.5"),
        (
            "农场种了多少亩蓝莓？",
            "| 客户 | 面积（亩） |\n| 滇蓝农场 | 320",
            "| 客户 | 亩产 |\n| 农场 | 未知",
        ),
        ("How many acres does the farm have?", "It has 40 acres.", "It has 12 cows since 1998."),
        ("How many litres does the tank hold?", "It holds 40 l.", "It holds 40 bottles."),
        ("烤箱最高多少度？", "最高260℃。", "最高功率2200瓦。"),
        ("How many pages does the manual have?", "The manual: 64 pages.", "Manual no. 64 of 2024."),
        ("设备功率多少瓦？", "额定功率 18 W。", "重量 18 kg。"),
        (
            "At what depth does the alert fire?",
            "More than 50,000 wait.",
            "Look when the alert fires.",
        ),
        ("From what age may one enter?", "From the age of sixteen.", "It is open with a badge."),
        ("仓库几点关门？", "下午五点关门。", "| 仓库 | 库存 |\n杭州 | 140"),
    ],
)
def test_a_text_tells_the_quantity_that_is_asked_for(question: str, told: str, untold: str) -> None:
    quantity = find_question_quantity(question)
    assert quantity is not None
    assert quantity.told_by(told)
    assert not quantity.told_by(untold)


def test_the_number_of_a_row_may_have_its_unit_in_the_head_or_nowhere() -> None:
    quantity = find_question_quantity("How much does the Team plan cost?")
    assert quantity is not None
    assert quantity.told_by("| Plan | Monthly price |\nTeam | 79")
    assert not quantity.told_by("| Plan | Support |\nTeam | by mail")


@pytest.mark.parametrize(
    "row",
    [
        "Footprint | 4.6 x 2.1 m",
        "Noise at 1 m | 66 dB(A)",
        "Article | H3-STD",
        "Life | 12,000 hours",
    ],
)
def test_a_number_with_another_unit_beside_it_is_no_price(row: str) -> None:
    quantity = find_question_quantity("How much does the Heron 3 cost?")
    assert quantity is not None
    assert not quantity.told_by(f"| Property | Heron 3 |\n{row}")
    assert quantity.told_by("| Property | Heron 3 |\nList | 386,000")


@pytest.mark.parametrize(
    "question",
    [
        "How much of it is left?",
        "What came at the price of peace?",
        "What is the Jurassic period?",
        "What is the temperature sensor made by Kerr?",
        "谁付钱？",
    ],
)
def test_other_questions_ask_for_none_of_the_kinds(question: str) -> None:
    assert find_question_quantity(question) is None
