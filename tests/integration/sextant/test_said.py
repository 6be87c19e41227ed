"""What models say to questions over the sample documents, and what must become of it.

Right texts stay, every sentence supported, whatever they stand in; wrong ones are never called grounded; what cannot
be shown stays, marked, above quotations.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import pytest_asyncio

from domain.settings import Settings
from nodes.citing.cited_text import UNVERIFIED
from sextant import Sextant
from testing.openai_server import ApiRequest, ScriptedOpenAI
from testing.replies import Reply, as_json

ROOT = Path(__file__).parents[3]
KEEP, MARK, REFUSE = "keep", "keep-unverified", "refuse"

# Each question with what a model says to it.
SAID = {
    "How long is the notice period during the first two years?": [
        (KEEP, "One month [1]."),
        (REFUSE, "The notice period is three months [1]."),
        (KEEP, "The notice period during the first two years is 1 month."),
    ],
    "How much sick pay do employees get in the first 30 days?": [
        (KEEP, "Employees receive 100% of their salary for the first 30 days (Passage 1)."),
        (REFUSE, "Employees receive 80% of their salary for the first 30 days [1]."),
    ],
    "How many days of annual leave do I get after six years?": [
        (KEEP, "Twenty days [1]."),
        (REFUSE, "You get 25 days of annual leave."),
    ],
    "When are salaries paid?": [
        (KEEP, "Salaries are paid on the 10th of each month【1】."),
        (REFUSE, "Salaries are paid on the 15th of each month [1]."),
    ],
    "Who leads the Motion Control team?": [
        (KEEP, "Lin Ruochuan leads it [1]."),
        (REFUSE, "The Motion Control team is led by Tomás Ferreira [1]."),
    ],
    "What does error E43 mean?": [
        (KEEP, "E43 means that the belt drive is too hot, above 95 °C [1]."),
        (REFUSE, "E43 means that the belt slips by more than 4 % [1]."),
    ],
    "What does error E42 mean?": [
        (REFUSE, "E42 means that the belt drive is too hot [1]."),
    ],
    "What is the belt speed in Eco mode?": [
        (KEEP, "1.2 m/s."),
        (REFUSE, "In Eco mode the belt runs at 0.9 m/s [1]."),
        (REFUSE, "In Eco mode the belt speed is 1.2 km/h [1]."),
    ],
    "How heavy is the Heron 3 XL?": [
        (KEEP, "The Heron 3 XL weighs 1310 kilograms [citation:1]."),
        (REFUSE, "The Heron 3 XL weighs 940 kg [1]."),
        (KEEP, "It weighs 1.31 tonnes [1]."),
    ],
    "How fast does the service desk answer with the Gold plan?": [
        (
            KEEP,
            "According to passage [1], Gold customers get an answer within two hours around the clock.",
        ),
        (REFUSE, "Within 4 hours around the clock [1]."),
    ],
    "Can I raise the torque limit when E42 appears?": [
        (KEEP, "No. The torque limit must never be raised to make the error go away [1]."),
        (REFUSE, "Yes, you can raise the torque limit to make the error go away [1]."),
    ],
    "Which ports must be open in the firewall?": [
        (
            KEEP,
            "Sure! Here is the answer:\n\nOutgoing TCP 8883 for messages and TCP 443 for updates [1].\n\nI hope this helps!",
        ),
        (REFUSE, "TCP 8080 and TCP 443 must be open [1]."),
    ],
    "What was the root cause of incident INC-2025-017?": [
        (
            KEEP,
            '{"answer": "The torque filter used a window of 5 ms instead of 50 ms [1].", "confidence": 0.9}',
        ),
        (REFUSE, "The torque filter used a window of 50 ms instead of 500 ms [1]."),
    ],
    "How long did incident INC-2025-017 last?": [
        (KEEP, "3 hours and 42 minutes [1]."),
        (REFUSE, "The stations stood still for four hours and 12 minutes [1]."),
    ],
    "What is the price of the motor BM-40?": [
        (KEEP, "The BM-40 costs 4,860 CNY or 627 EUR [1]."),
        (REFUSE, "The BM-40 costs 4,860 EUR [1]."),
    ],
    "What is the target for HbA1c?": [
        (KEEP, "Below 7.0 %, as stated in passage 2."),
        (REFUSE, "The HbA1c target for most adults is below 6.5 % [1]."),
    ],
    "When was release 3.4.0 withdrawn?": [
        (KEEP, "Release 3.4.0 was withdrawn on March 14, 2025 [source 1]."),
        (REFUSE, "Release 3.4.0 was withdrawn on 21 March 2025 [1]."),
    ],
    "Does ownership prevent memory leaks?": [
        (KEEP, "No, ownership does not prevent memory leaks [1]."),
        (REFUSE, "Ownership prevents memory leaks [1]."),
    ],
    "境内出差每天的餐饮补贴是多少？": [
        (KEEP, "境内出差每天补贴120元（段落1）。"),
        (REFUSE, "境内出差每天补贴45欧元[1]。"),
        (KEEP, "一百二十元。"),
    ],
    "报销应在出差返回后多少天内提交？": [
        (KEEP, "应在返回后15个工作日内提交[1]。"),
        (REFUSE, "应在返回后30个工作日内提交[1]。"),
    ],
    "去格拉茨出差住宿费限额是多少？": [
        (KEEP, "答案：每晚1200元【1】。"),
        (REFUSE, "每晚1,900元[1]。"),
    ],
    "10,000 元的报销由谁审批？": [
        (KEEP, "部门负责人和何静姝[1]。"),
    ],
    "糖化血红蛋白的诊断界值是多少？": [
        (KEEP, "糖化血红蛋白（HbA1c）≥6.5%即达到诊断界值[来源1]。"),
        (REFUSE, "糖化血红蛋白的诊断界值是7.0%[1]。"),
    ],
    "二甲双胍的主要不良反应是什么？": [
        (KEEP, "二甲双胍的主要不良反应是腹泻、恶心等胃肠道反应[1]。"),
        (REFUSE, "二甲双胍的主要不良反应是低血糖和体重增加[1]。"),
    ],
    "逾期付款的违约金怎么算？": [
        (KEEP, "甲方逾期付款的，每天按应付未付金额的0.03%支付违约金[1]。"),
        (REFUSE, "甲方逾期付款的，每天按应付未付金额的千分之一支付违约金[1]。"),
    ],
    "质保期多长？": [
        (KEEP, "质保期为终验合格之日起一年[1]。"),
        (REFUSE, "质保期为终验合格之日起24个月[1]。"),
        (MARK, "质保期可由双方协商延长。"),
    ],
    "合同是什么时候签订的？": [
        (KEEP, "合同签订于2025-03-03[1]。"),
        (REFUSE, "合同签订于2025年4月15日[1]。"),
    ],
    "第二笔付款的金额是多少？": [
        (KEEP, "第2笔付款金额为33.6万元[1]。"),
        (REFUSE, "第二笔付款金额为504,000元[1]。"),
    ],
    "叉车在库内限速多少？": [
        (KEEP, "根据段落1，库内限速为每小时5公里。"),
        (REFUSE, "库内限速3公里/小时[1]。"),
    ],
    "叉车可以载人吗？": [
        (REFUSE, "可以，叉车可以载人[1]。"),
        (KEEP, "不可以，严禁载人[1]。\n\n以上回答基于提供的文档。如有其他问题，请随时告诉我。"),
    ],
    "臺北辦公室有多少人？": [
        (KEEP, "台北办公室现有33人[1]。"),
        (REFUSE, "台北办公室现有61人[1]。"),
    ],
    "BM-40 电机涨价多少？": [
        (KEEP, "自7月1日起涨价6%[1]。"),
        (REFUSE, "自7月1日起涨价8%[1]。"),
    ],
    "谁负责滤波参数的回归测试？": [
        (KEEP, "由林若川负责，4月11日前完成[1]。"),
        (REFUSE, "由何静姝负责[1]。"),
    ],
    "Rust 的借用规则是什么？": [
        (KEEP, "任意时刻，要么有任意多个不可变引用，要么只有一个可变引用[1]。"),
    ],
    "患者数据存放在哪里？": [
        (KEEP, "患者数据只能存放在甲方机房[1]。"),
        (REFUSE, "患者数据可以存放在乙方机房[1]。"),
    ],
    "How long is the probation period?": [
        (MARK, "The probation period can be shortened by the team lead."),
    ],
    "How many exits does the Heron 3 XL have?": [
        (KEEP, "The Heron 3 XL has sixteen exits [1]."),
        (REFUSE, "The Heron 3 XL has 12 exits [1]."),
    ],
    "How long is parental leave?": [
        (KEEP, "Every parent may take 16 weeks at full pay within the first year (source 1)."),
        (REFUSE, "Parental leave is 16 months at full pay [1]."),
    ],
    "What is the learning budget?": [
        (
            KEEP,
            "**Answer:** 8000 yuan per employee a year [1].\n\n**Sources:**\n- employee-handbook.docx",
        ),
        (REFUSE, "Each employee has a learning budget of 6,000 CNY a year [1]."),
    ],
    "How many unused days may be carried over?": [
        (KEEP, "Up to 5 unused days may be carried over [1]."),
        (REFUSE, "Unused days may not be carried over [1]."),
    ],
    "What weight must not be exceeded when sorting with the Heron 3?": [
        (KEEP, "Parcels of up to 8 kg [1]."),
        (REFUSE, "Parcels of up to 15 kg can be sorted by the Heron 3 [1]."),
    ],
    "How often is belt TB-18 replaced?": [
        (KEEP, "Every 4,000 hours【1】."),
        (REFUSE, "Belt TB-18 is replaced every 12,000 hours [1]."),
    ],
    "What is the warranty period of the Heron 3?": [
        (KEEP, "Two years from commissioning, or 10,000 operating hours [1]."),
        (REFUSE, "The warranty period is 36 months from the day of commissioning [1]."),
    ],
    "Which supplier delivers the FF-06?": [
        (KEEP, "FF-06 is delivered by 宁波清越滤材有限公司 [1]."),
        (REFUSE, "FF-06 is delivered by Seeblick Elektronik AG [1]."),
    ],
    "What should I do when my blood sugar is low?": [
        (
            KEEP,
            "Eat or drink 15 g of sugar at once and measure again after 15 minutes [1]. Let me know if you have further questions.",
        ),
        (REFUSE, "Eat or drink 50 g of sugar at once [1]."),
    ],
    "How many unsafe blocks are in the Kite gateway?": [
        (KEEP, "There are 4 unsafe blocks in the Kite gateway [^1]."),
        (REFUSE, "There are seven unsafe blocks in the Kite gateway [1]."),
    ],
    "二甲双胍的最大剂量是多少？": [
        (KEEP, "二甲双胍每日最大剂量为2.0克[1]。"),
        (REFUSE, "二甲双胍每日最大剂量为3.0 g[1]。"),
    ],
    "糖尿病足多久复查一次？": [
        (KEEP, "糖尿病足在每次随访时复查[1]。"),
        (REFUSE, "糖尿病足每年复查1次[1]。"),
    ],
    "验收委员会由几人组成？": [
        (KEEP, "由五人组成，甲方3人，乙方1人，外部专家1人（段落2）。"),
        (REFUSE, "验收委员会由7人组成[1]。"),
    ],
    "保密期限是多久？": [
        (KEEP, "保密期限为合同终止后五年[1]。"),
        (REFUSE, "保密期限为合同终止后3年[1]。"),
    ],
    "招待客户人均标准是多少？": [
        (KEEP, "```\n人均不超过200元[1]。\n```"),
        (REFUSE, "人均不超过500元[1]。"),
    ],
    "电子发票可以用截图报销吗？": [
        (KEEP, "不可以，电子发票须上传原件，不接受截图[1]。"),
        (REFUSE, "可以，接受截图[1]。"),
    ],
    "苍鹭3 的目录价是多少？": [
        (KEEP, "38.6万元[1]。"),
        (REFUSE, "苍鹭3的目录价是49.8万元[1]。"),
    ],
    "仓库每月哪天盘点？": [
        (KEEP, "每月18号盘点一次[1]。"),
        (REFUSE, "每月28日盘点一次[1]。"),
    ],
    "白鷺會議室可以坐幾人？": [
        (KEEP, "白鷺會議室可坐12人[1]。"),
        (REFUSE, "白鷺會議室可坐30人[1]。"),
    ],
    "平台月可用率要求是多少？": [
        (KEEP, "月可用率不低于99.9%，页面响应时间第95百分位不超过1.5秒[1]。"),
        (REFUSE, "月可用率不低于99.5%[1]。"),
    ],
}


@dataclass
class Speaker:
    """A chat model that says one text, and mends nothing."""

    text: str = ""
    repairs: list[str] = field(default_factory=list[str])

    def __call__(self, request: ApiRequest) -> Reply:
        if not request.wants_json:
            return Reply(self.text)
        if "<draft>" in request.prompt:
            self.repairs.append(request.prompt)
        return as_json({"sentences": []})


@pytest.fixture(scope="module")
def speaker() -> Speaker:
    return Speaker()


@pytest_asyncio.fixture(scope="module")
async def rag(settings: Settings, speaker: Speaker) -> AsyncIterator[Sextant]:
    async with ScriptedOpenAI(chat=speaker) as server:
        told = settings.model_copy(
            update={"chat_model": "scripted", "openai_base_url": server.base_url}
        )
        async with Sextant.open(told) as opened:
            await opened.ingest([ROOT / "samples" / "documents"], graph_id="said")
            yield opened


@pytest.mark.parametrize(
    ("question", "must", "text"),
    [(question, must, text) for question, texts in SAID.items() for must, text in texts],
)
async def test_what_a_model_says_is_kept_marked_or_refused(
    rag: Sextant, speaker: Speaker, question: str, must: str, text: str
) -> None:
    speaker.text, speaker.repairs = text, []
    answer = await rag.query(question, graph_id="said")
    is_marked = any(note.strip() in answer.answer for note in UNVERIFIED.values())
    if must == KEEP:
        assert answer.grounded
        assert (answer.model, is_marked, speaker.repairs) == ("scripted", False, [])
    else:
        assert not answer.grounded or answer.model == "extractive"
    if must == MARK:
        assert answer.answer.startswith(text.rstrip(".。"))
        assert (answer.model, is_marked) == ("scripted", True)
        assert answer.citations, "what the documents do say is quoted below"
