"""What the columns of tables are called in the other language, so that 价格 finds "Price (CNY)".

A short list of what tables of goods, people and places have; whatever else a question asks for is
compared by meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from domain.text import normalise

_PAIRS = """
price 价格 单价 报价 多少钱
cost 费用 成本
amount 金额
quantity 数量
stock 库存
minimum 最低 最小
weight 重量
size 尺寸
capacity 容量
discount 折扣
warranty 保修 质保
delivery 交货 交期
date 日期
name 名称 姓名
supplier 供应商
manufacturer 厂家 制造商
city 城市
address 地址
phone 电话
warehouse 仓库
shelf 货架
department 部门
status 状态
code 代码 编码
meaning 含义
dose 剂量
"""
_CALLED = {words[0]: words[1:] for words in (line.split() for line in _PAIRS.split("\n") if line)}
_ENGLISH = re.compile(r"[a-z]+")


def also_called(heads: Iterable[str]) -> str:
    """The names that columns of `heads` have in the other language, apart by blanks."""
    said = normalise(" ".join(heads))
    words = {word.removesuffix("s") for word in _ENGLISH.findall(said)}
    names = [chinese for word, called in _CALLED.items() if word in words for chinese in called]
    names += [word for word, called in _CALLED.items() if any(one in said for one in called)]
    return " ".join(names)
