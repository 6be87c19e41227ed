"""Whether a question speaks of somebody, and the surnames by which Chinese names are known."""

from __future__ import annotations

import re

_WHO = re.compile(r"\bwho(?:se|m)?\b|谁")
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田姜范石姚谭廖邹熊陆郝孔白崔康毛邱秦史顾侯邵孟龙段钱汤尹黎武乔贺赖龚"
)
"""The commonest Chinese surnames of one character, simplified."""


def has_who(question: str) -> bool:
    """Return whether a normalised question speaks of somebody, be it as "the man who founded it"."""
    return _WHO.search(question) is not None
