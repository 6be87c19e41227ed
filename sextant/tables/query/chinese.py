"""The grammar of Chinese questions about tables, in simplified characters."""

from __future__ import annotations

import re

from sextant.tables.cells.arithmetic import Operation
from sextant.tables.query.grammar import Grammar

MEASURES = "个人行条款种家名位项类组座所笔张起次台件场部辆间门本单批艘趟班节届"
_THINGS = MEASURES.replace("类", "")
_LARGEST = "最(?:大|高|多|贵|长|重|快|热|强|好|晚|新|远|深|老|年长)"
_SMALLEST = "最(?:小|低|少|便宜|年轻|短|轻|慢|冷|弱|差|早|浅|近)"
_SUM = r"(?:总和|之和|合计|总计|共计|总共|一共|累计|汇总|加起来|总(?=[\0数额量分价值销收支产库预成])|总的|总是?(?=多少)|全部(?=\0))"
_MEAN = f"(?:平均值?(?:每[{MEASURES}])?|(?<=[月日年周])均|均值)"
_N = r"(?P<n>\d{1,3}|[两二三四五六七八九十])"
_SIGN = "[高大多长重晚远贵快低小少短轻早近慢]"
_ONE = rf"(?:{_LARGEST}|{_SMALLEST}|{_SUM}|{_MEAN})"
_LISTED = r"(?:[、和与或及]+\x01+)*"

CHINESE = Grammar(
    operations={
        Operation.MEAN: re.compile(_MEAN),
        Operation.SUM: re.compile(_SUM),
        Operation.MAX: re.compile(f"{_LARGEST}|最后"),
        Operation.MIN: re.compile(f"{_SMALLEST}|最先|首先"),
        Operation.COUNT: re.compile(rf"(?:多少|(?<!哪)几)[{MEASURES}]|(?:行|条目|记录|次)数"),
    },
    ranks=(
        re.compile(rf"哪{_N}[{MEASURES}](?=.*最)"),
        re.compile(rf"(?P<behind>(?:最.|最便宜)的?){_N}[{MEASURES}]"),
        re.compile(
            rf"(?<![目之以此提])(?P<top>前){_N}(?![\d年月天日周季行条期次])(?:个(?![月季])|[名位家大款种件项])?+"
        ),
        re.compile(rf"第(?P<nth>[二三四五六七八九十])(?={_SIGN})(?P<sign>{_SIGN})"),
    ),
    group=re.compile(
        r"(?:每(?!秒|分钟|小时|[天日晚周月年])|各|分别)(?:[一]?[个家名位款种类项座级](?:不同的?)?)?"
    ),
    apart=re.compile(
        r"相差(?:了?多少)?|差[额价距]|差多少|[多少](?:了|出)?\0*(?:多少|几)|(?:便宜|[贵高低重轻长短大小])(?:了|出)?(?:多少|几)"
    ),
    whether=re.compile(
        r"(?P<more>(?:[高低多少大小长短贵重轻快慢]|便宜))了?(?:[吗么嘛])|是(?:不是|否)(?=.*比.*(?P<less>[高低多少大小长短贵重轻快慢]|便宜))"
    ),
    beside=re.compile(r"比|[高低多大小长短贵重轻快慢]|便宜|(?<!多)少|更|得"),
    greater=re.compile(r"(?<!最)更?[多高大贵长重快](?![少小大久])"),
    smaller=re.compile(r"(?<!最)更?(?:便宜|(?<!多)少|低|小|轻|短|慢)"),
    share=re.compile(
        r"占(?:全部|全体|总(?:共|的)?)?(?=.{0,16}(?:多少|几成|百分之))|占比|百分之[几多]少?|比例"
    ),
    lists=re.compile(r"哪些|哪几|还有哪|有谁|都有谁|列出"),
    distinct=re.compile(
        r"\0*[^\0\x01]*?(?:[有含在]|涉及|包括|分为|分成)了?(?:哪些|哪几[个家种类款]|几[个家种类款])(?:不同的?)?\0+\s*[?。!]*"
        r"|[^\0\x01]*?\0+(?:[都共]|一共|总共)*[有是](?:哪些|哪几[个家种类款])(?:不同的?)?(?:值|内容)?\s*[?。!]*"
        r"|(?:请)?列出[^\0\x01]*?(?:所有|全部)的?\0+\s*[?。!]*"
    ),
    which=re.compile("哪"),
    who=re.compile("谁|哪里|哪儿"),
    when=re.compile("什么时候|何时|哪一?天"),
    rows=re.compile("[行条]|记录"),
    periods=re.compile("全年|[一整]年|(?:所有|全部|各个?|[两三四]个?|十二个)(?:季度|月)"),
    subjects=re.compile(
        r"(?P<many>[两二三四五六七八九\d])[科门](?:课程?)?(?:总分)?|[各全]科(?:总分)?|总分"
    ),
    denied=re.compile(
        r"(?:(?:没有|不支持|不包[含括]|不含|不带|无)|(?:并?不|并?非|未)(?:[是在由属归为]|属于|来自|位于)?|除了?去?)"
        rf"\x01+{_LISTED}(?:(?:之外|以外|外)的?)?|\x01+{_LISTED}(?:之外|以外)的?"
    ),
    by_time=re.compile("最[早晚新近先后老]|最年[轻长]|首先"),
    best=re.compile("最[好强差弱]"),
    quick=re.compile("最[快慢]"),
    old=re.compile("最老|最年[轻长]"),
    taken_together=re.compile("最[多少]"),
    of_one_row=re.compile("最[贵长重快热强好晚新远深老短轻慢冷弱差早浅]|最便宜|最年[轻长]"),
    how_much=re.compile("[了出有]多少"),
    refused=re.compile(
        r"(?<![线以之目成样资版基])[上下今去明本前]个?(?:年|月|周|季度|星期)|[今昨明][天日]|[高低多少大小]于平均|超过平均"
        r"|哪一?类|中位|为什么|为何|如何|怎么|每[一]?[类种组级层](?=.*平均)|平均每[类种组级层]"
    ),
    filler=re.compile(
        rf"(?:多少|几)[{MEASURES}]?|哪一?[{_THINGS}]?|[全整](?=[\0\x01])|共有?|[这该]张?表格?[中里]?|什么|请问?|列出|告诉我?"
        r"|的|了|是|有|在|吗|呢|和|与|及|谁|哪些?|由|都|也|还|我们|我|(?<=[\0\x01])[里中内]|中(?=[\0\x01的])|放|下(?=的)|所有|全部|总共|一共|员工|职工|人员|同事|雇员|职员|同学"
        r"|队员|会员|产品|商品|项目|些|个|为|给|要|达到|属于|位于|工作|管理|负责|数据|记录|行|条|分别|各|涉及|包括|包含|部门?(?=[\0\x01\W])"
        rf"|其中|按|次数?|人|(?<=[\0\x01])[元块天日级等类组班型区款期量额数部]|[分钱得被用]"
    ),
    joined=re.compile(
        rf"(?P<first>{_ONE})(?P<noun>[^,、?]{{0,30}}?)(?P<more>(?:\s*(?:[,、和与及跟]|以及)\s*{_ONE}(?P=noun))+)"
    ),
)
