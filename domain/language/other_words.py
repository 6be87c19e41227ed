"""Everyday words that mean the same: 价格 and "price", "CEO" and "managing director".

A short list of what questions ask of goods, people and places, of what is done with them, and of what
columns of tables are called, in both languages; whatever else a question asks for is compared by meaning.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import islice, product

from domain.language.particles import parted
from domain.language.place_names import PLACES
from domain.language.quantities import asked_quantity
from domain.language.simplified import plain_of
from domain.language.stems import stem
from domain.language.stopwords import ENGLISH_STOP_WORDS

# A line has the words of one meaning, parted by commas.
_LINES = """
price, cost, 价格, 单价, 报价, 多少钱
cost, fee, 费用, 成本
amount, 金额
quantity, 数量
stock, 库存
minimum, 最低, 最小
weight, 重量, 权重
default, 默认, 缺省
licence, license, 许可证, 授权协议
size, 尺寸
capacity, 容量
discount, 折扣
warranty, guarantee, 保修, 质保
delivery, 交货, 交期
date, 日期
name, 名称, 姓名
supplier, vendor, 供应商
manufacturer, 厂家, 制造商
city, 城市
address, 地址
phone, telephone, hotline, 电话, 热线
warehouse, 仓库
shelf, 货架
department, 部门
status, 状态
code, 代码, 编码
meaning, 含义
dose, 剂量
ceo, chief executive, managing director, general manager, 总经理, 首席执行官, 总裁
staff, employee, people, headcount, 员工, 人数, 职工
hotel, lodging, accommodation, 住宿, 酒店, 宾馆
标准, 限额, 额度
limit, maximum, limited to, at most, up to, 上限, 限额, 不超过, 最多
salary, wage, 工资, 薪水, 薪资
leave, vacation, 休假, 假期
sick leave, 病假
annual leave, 年假
maternity leave, 产假
password, 密码
made of, consists of, consist of, material, 材质, 材料
made, manufactured, produced, 生产, 制造, 产于, 产自, 出产
released, launched, went on sale, 上市, 发布, 推出
joined, hired, start date, hire date, joining date, 入职
founded, established, 成立
founded, founder, 创始, 创立, 创办, 创建
valid, expire, expires, expired, 有效, 过期, 到期
kept, stored, 存放, 保存
office, 办公室
submit, submitted, hand in, handed in, 提交, 上交, 递交
use, used, purpose, 用途
打开, 开启, 启动
关闭, 关掉, 关上
deposit, 押金, 定金
rent, 租金, 房租
contract, agreement, 合同, 协议
budget, 预算
approve, approved, 批准, 审批
area, 面积
colour, color, 颜色
meeting, 会议, 例会
attended, attendees, participants, present, 参加, 参会, 出席, 与会
token, 令牌
invoice, 发票
landlord, lessor, 出租方, 房东
tenant, lessee, 承租方, 租客
lunch, 午餐, 午饭
liability, 责任
overtime, 加班
bonus, 奖金
manager, 经理
director, 总监
engineer, 工程师
meal, food, 餐补, 餐费, 餐饮
ill, sick, illness, 生病, 患病
上班, 工作时间, 办公时间
headteacher, headmaster, principal, 校长
uniform, 制服, 校服
parking, 停车, 车位
penalty, 罚款, 违约金
pet, 宠物
flight, airfare, 机票, 航班
train, 高铁, 火车
plan, 套餐, 方案
support, 支持
enterprise, 企业版
total price, contract price, 总价, 总金额, 总额, 合同价款
probation, trial period, 试用期
notice period, 通知期
sick pay, 病假工资
lead time, delivery time, 交货期, 供货周期
part, spare part, 零件, 部件, 配件, 备件
article, product, item, 商品, 产品, 货品
parking, car park, 停车, 车位
smoke, smoking, 吸烟, 抽烟
copyright, intellectual property, ownership, 知识产权, 著作权, 版权
penalty, fine, 违约金, 罚款, 罚金
first class, 头等舱
business class, 商务舱
economy class, 经济舱
speed limit, 限速
training, 培训
deadline, due date, due, 截止, 期限
task, to-do, action item, 任务, 事项, 待办
insurance, 保险
public holiday, 节假日
work from home, working from home, remote work, 居家办公, 远程办公, 在家办公
expense, expense claim, reimbursement, 报销
receipt, 收据
complaint, 投诉
refund, 退款
shipping, freight, 运费
order, 订单
customer, client, 客户
backup, 备份
root cause, 根因, 根本原因
battery, 电池
symptom, 症状
dispute, 纠纷, 争议
court, 法院
lawyer, 律师
printer, 打印机
laptop, notebook computer, 笔记本电脑
canteen, cafeteria, 食堂
reception, front desk, 前台
server, 服务器
database, 数据库
outage, 故障, 宕机
upgrade, 升级
currency, 货币, 币种
hospital, 医院
business trip, 出差
taxi, 出租车, 打车
country of origin, origin, 产地
region, 地区
country, 国家
category, 类别, 分类
extension, 分机
head of department, person in charge, 负责人
milestone, 里程碑
succeeds, succeeded, successor, replaces, replacement, 接替, 继任, 接任
version, 版本
certificate, 证书
user, 用户
risk, 风险
coffee, 咖啡
tea, 茶
english, 英语, 英文
chinese, 中文, 汉语
blood sugar, blood glucose, 血糖
blood pressure, 血压
"""
Otherwise = Sequence[tuple[str, re.Pattern[str]]]
"""Words of a question, and where a text says the same otherwise."""

# So many names are made at the most of one, whose words have several translations each.
_MOST_WAYS = 24
_SAYS = re.compile(r"[^\W_]")
_ASKS_WHO = re.compile(r"\bwho(?:se|m)?\b")
_WORD = re.compile(r"\b[a-z]{3,}\b")
_MEANING = defaultdict[str, list[str]](list)
for _line in (_LINES.strip() + PLACES.rstrip()).split("\n"):
    for _word in _line.split(", "):
        _MEANING[_word] += _line.split(", ")


def _wherever(words: Collection[str]) -> re.Pattern[str]:
    """Any of the words in a normalised text, English ones whole and with their plural."""
    english = "|".join(word for word in words if word.isascii())
    chinese = "|".join(word for word in words if not word.isascii())
    forms = [rf"\b(?P<en>{english})s?\b"] if english else []
    return re.compile("|".join([*forms, *([f"(?P<zh>{chinese})"] if chinese else [])]))


_KNOWN = _wherever(sorted(_MEANING, key=len, reverse=True))


def said_otherwise(question: str) -> dict[str, re.Pattern[str]]:
    """For each listed word of `question`, where a normalised text has it in other words."""
    return {word: _wherever(others) for word, others in synonyms(question).items()}


def synonyms(question: str) -> dict[str, list[str]]:
    """For each listed word of `question`, what else it is called, in either language."""
    words = dict.fromkeys(
        match["en"] or match["zh"] for match in _KNOWN.finditer(plain_of(question))
    )
    return {word: [one for one in _MEANING[word] if one != word] for word in words}


def listed_compounds(question: str) -> list[str]:
    """The listed names of several words that `question` has, such as "sick leave": each names one thing."""
    return [word for word in synonyms(question) if " " in word]


def as_tables_say(question: str) -> str:
    """What a question speaks of, in the words that columns and cells may have for it; "" where none are known.

    "How much does the Heron 3 cost?" shares no word with the head of a price list.
    """
    known = [other for others in synonyms(question).values() for other in others]
    return f"{question} {' '.join(dict.fromkeys(known))}" if known else ""


def other_names(name: str) -> list[str]:
    """What else a name may be called, where each of its words is listed: 最低库存 for "minimum stock"."""
    plain = plain_of(name)
    found = list(_KNOWN.finditer(plain))
    if not found or _SAYS.search(_KNOWN.sub(" ", plain)):
        return []
    meanings = [_MEANING[match["en"] or match["zh"]] for match in found]
    ways = list[str]()
    for english, gap in ((True, " "), (False, "")):
        words = [[word for word in meant if word.isascii() is english] for meant in meanings]
        ways += [gap.join(way) for way in islice(product(*words), _MOST_WAYS)]
    return [way for way in dict.fromkeys(ways) if way != plain]


def translated(question: str) -> dict[str, list[str]]:
    """For each listed word of `question`, what it is in the other language: Shanghai for 上海."""
    words = {match["en"] or match["zh"] for match in _KNOWN.finditer(plain_of(question))}
    others = {
        word: [one for one in _MEANING[word] if one.isascii() is not word.isascii()]
        for word in sorted(words)
    }
    return {word: known for word, known in others.items() if known}


def told_otherwise(question: str) -> Otherwise:
    """Words of `question`, and where a normalised text says the same otherwise.

    In other words of the list; in two words, where a particle may stand alone; as a number with its unit, where that
    is asked for; as whoever does it, where "Who owns it?" is answered by its owner.
    """
    plain = plain_of(question)
    found = [*said_otherwise(question).items(), *parted(plain)]
    if quantity := asked_quantity(question):
        found.append((quantity.word, quantity.told))
    if _ASKS_WHO.search(plain):
        words = [word for word in _WORD.findall(plain) if word not in ENGLISH_STOP_WORDS]
        found += [(word, re.compile(rf"\b{stem(word)}[ei]?(?:er|or|r)s?\b")) for word in words]
    return found
