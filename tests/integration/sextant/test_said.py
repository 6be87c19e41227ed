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

from sextant import Sextant
from sextant.domain.settings import Settings
from sextant.nodes.citing.cited_text import UNVERIFIED
from sextant.testing.openai_server import ApiRequest, ScriptedOpenAI
from sextant.testing.replies import Reply, as_json

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

# Values of other rows, clauses and subjects; words and numbers put in the place of others.
SAID |= {
    "一般缺陷应在多长时间内修复？": [
        (REFUSE, "一般缺陷应在24小时内修复[1]。"),
        (KEEP, "一般缺陷应在十个工作日内修复（见段落1）。"),
    ],
    "阿卡波糖的常用剂量是多少？": [
        (REFUSE, "阿卡波糖100 mg，每日1次[1]。"),
        (KEEP, "50–100毫克，每日三次[1]。"),
    ],
    "仓库配备了多少具干粉灭火器？": [
        (REFUSE, "仓库配备8具干粉灭火器[1]。"),
        (KEEP, "36具。"),
    ],
    "合同争议如何解决？": [
        (REFUSE, "争议应先协商，协商不成的提交上海仲裁委员会仲裁[1]。"),
        (KEEP, "争议应先协商，协商不成的提交杭州仲裁委员会仲裁[1]。"),
    ],
    "How much does KITE-L cost?": [
        (KEEP, "96,000 CNY per year, or 12,400 EUR [1]."),
        (REFUSE, "28,000 CNY per year, or 3,600 EUR [1]."),
    ],
    "What is the noise level of the Heron 3?": [
        (REFUSE, "The noise of the Heron 3 at 1 m is 69 dB(A) [1]."),
        (KEEP, "66 dB(A) at a distance of one metre 【1】."),
    ],
    "How long must I wait before opening a guard?": [
        (KEEP, "Wait 90 seconds after locking the main switch Q1 [passage 1]."),
        (REFUSE, "You must wait 75 seconds [1]."),
    ],
    "What torque are the M8 screws tightened to?": [
        (REFUSE, "They are tightened crosswise to 60 Nm [1]."),
    ],
    "What is the on-call allowance at a weekend?": [
        (KEEP, "EUR 120 (or CNY 900) for each weekend day [1]."),
        (REFUSE, "60 EUR or 450 CNY for each day at a weekend [1]."),
    ],
    "Is an incoming port needed for the Kite gateway?": [
        (REFUSE, "Yes, an incoming port is needed [1]."),
    ],
    "How much notice must be given before working from another country?": [
        (REFUSE, "Ask the People team at most 30 days ahead [1]."),
    ],
    "苏黎世的住宿限额是多少？": [
        (KEEP, "根据【段落1】，苏黎世的住宿限额为每人每晚1900元。"),
        (REFUSE, "苏黎世的住宿限额为每人每晚1,900欧元[1]。"),
    ],
    "境外出差要提前多久申请？谁批准？": [
        (REFUSE, "境外出差须在出发前10个工作日由顾知行批准[1]。"),
        (KEEP, "须提前10个工作日，由Ines Okafor批准[1]。"),
    ],
    "谁负责昱成傳動样机？": [
        (REFUSE, "昱成傳動样机由何静姝负责，5月20日前到货[1]。"),
        (KEEP, "黃詠晴，截止2025-05-20[1]。"),
    ],
    "捷運站步行到辦公室要多久？": [
        (KEEP, "約6分鐘[1]。"),
    ],
    "黑面琵鷺會議室有哪些設備？": [
        (KEEP, "黑面琵鷺配有投影機、無線麥克風[1]。"),
    ],
    "Which suppliers are in Rorschach?": [
        (KEEP, "Seeblick Elektronik AG, which supplies GW-20, HP-7 and SW-S7 [1]."),
    ],
    "How many BM-40 motors are in stock in Graz?": [
        (REFUSE, "There are 14 BM-40 in Graz [1]."),
        (KEEP, "Five [1]."),
    ],
    "What percentile latency improved by channels?": [
        (KEEP, "The 99th percentile of latency went down from 41 ms to 6 ms [1]."),
    ],
    "恩格列净的主要不良反应是什么？": [
        (REFUSE, "恩格列净的主要不良反应是水肿、体重增加[1]。"),
    ],
    "餐饮补贴是按什么计算的？": [
        (REFUSE, "按工作日计算，出发日与返回日各计半天[1]。"),
    ],
    "What happened at 03:10 in the incident?": [
        (REFUSE, "At 03:10 the motor BM-40 of station 7 was replaced [1]."),
    ],
    "What is the root cause of the Leiden incident?": [
        (
            KEEP,
            "```markdown\nThe torque filter in MC-200 firmware 2.8.0 used a window of 5 ms rather than 50 ms [1].\n```",
        ),
    ],
    "长效胰岛素类似物的持续时间是多久？": [
        (REFUSE, "长效类似物的持续时间为13～16小时[1]。"),
        (KEEP, "约24至30小时（来源：段落1）。"),
    ],
    "达标者糖化血红蛋白多久查一次？": [
        (REFUSE, "达标者每3个月查一次糖化血红蛋白[1]。"),
        (KEEP, "每6个月1次。"),
    ],
    "合同第三笔付款的条件和期限是什么？": [
        (KEEP, "3个院区连续试运行30日且无严重缺陷，试运行报告签署后15个工作日内付款[1]。"),
        (REFUSE, "3个院区连续试运行30日且无严重缺陷，试运行报告签署后20个工作日内付款[1]。"),
    ],
    "发生数据泄露乙方要多久内通知甲方？": [
        (REFUSE, "乙方应在24小时内通知甲方[1]。"),
    ],
    "不可抗力应在几日内通知？": [
        (KEEP, "应在3日内通知对方，并在15天之内提供证明[1]。"),
        (REFUSE, "应在15日内通知对方，并在3日内提供证明[1]。"),
    ],
    "软件著作权归谁所有？": [
        (REFUSE, "为本项目专门开发的软件著作权归乙方所有[1]。"),
        (KEEP, "归甲方。"),
    ],
    "D区货架每层能承重多少？": [
        (REFUSE, "D区货架每层承重不得超过800公斤[1]。"),
        (KEEP, "D区每层最多承重300千克[1]。"),
    ],
    "事故应在多久内提交书面报告？": [
        (REFUSE, "应在1小时内提交书面报告[1]。"),
    ],
    "维修课程的讲师是谁？": [
        (REFUSE, "維修課程H3-SV的講師為黃詠晴[1]。"),
        (KEEP, "讲师是叶子维，课程为期三天[1]。"),
    ],
    "How much is the Gold service plan in euros?": [
        (KEEP, "EUR 3,840 per station and year [1]."),
        (REFUSE, "EUR 2,160 per station and year [1]."),
    ],
    "What is the exchange discount for the HP-7?": [
        (KEEP, "10 percent 【1】."),
        (REFUSE, "The exchange discount for the HP-7 is 20 % [1]."),
    ],
    "How much grease do the tilt bearings get?": [
        (REFUSE, "Grease the tilt bearings with 4 g of grease each every 250 hours [1]."),
        (KEEP, "4 grams each, every 1,000 hours [1]."),
    ],
    "Who owns action A4 and when is it due?": [
        (REFUSE, "Ines Okafor; it is due on 30 May 2025 [1]."),
    ],
    "Did the incident hurt anyone?": [
        (KEEP, "No, nobody was hurt [1]."),
        (REFUSE, "Yes, two people were hurt [1]."),
    ],
    "How long are hourly averages kept?": [
        (REFUSE, "Hourly averages are kept for 30 days [1]."),
        (KEEP, "<response>Hourly averages are kept for five years [1].</response>"),
    ],
    "When may remote diagnosis read drive data?": [
        (
            KEEP,
            "Remote diagnosis can read the last three days of drive data once the operator has agreed on the panel [1].",
        ),
    ],
    "Is Rc Send?": [
        (REFUSE, "Yes, Rc<T> is Send [1]."),
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
        assert not answer.grounded
    if must == MARK:
        assert answer.answer.startswith(text.rstrip(".。"))
        assert (answer.model, is_marked) == ("scripted", True)
        assert answer.citations, "what the documents do say is quoted below"
