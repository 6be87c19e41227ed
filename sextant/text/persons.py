"""Who is asked for, and whether a text speaks of anybody: by names, by what people and bodies are called."""

from __future__ import annotations

import re
from importlib.resources import files

from sextant.text.simplified import plain_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS

_WHO = re.compile(r"\bwho(?:se|m)?\b|谁")
# Not "the man who founded it", which asks for something of him.
_ASKS_WHO = re.compile(
    r"(?:^|[,.;:?!] ?|\b(?:and|to|by|with|from|for|of) )who(?:se|m)?\b|谁|哪[一几]?[位个]人|哪[一几]?位|何人"
)
# A word in s may be a name before what one does: "Klaus repairs", "James is".
_OPENING = re.compile(r"\W*([A-Z]\w+)(?P<does> \w+s\b)?")
# A capital inside a sentence, or two words with one; of a row each cell begins with one.
_NAME = re.compile(r"(?<=[\w,;:\"“(-] )[A-Z]\w|[^\W\d_]-[A-Z]\w|\b[A-Z][\w.'’]* [A-Z]|\| *[A-Z]")
# English words that end as words for people do: "better", "free", "list".
_NO_PERSONS = "|".join((files("sextant.text") / "no_persons.txt").read_text("utf-8").split())
_ENGLISH = re.compile(
    r"\b(?:i|we|he|she|they|you|me|us|him|her|them|my|our|your|his|their|who|whoever"
    r"|(?:some|any|every|no)(?:one|body)|no one|m[ae]n|wom[ae]n|people|persons?|kings?|queens?|pope|kids?|child(?:ren)?"
    r"|sons?|wife|wives|husbands?|famil(?:y|ies)|teams?|staff|crew|compan(?:y|ies)|board|council|firms?|desk|bank|school"
    r"|public|groups?|department|government|agency|apprentices?|interns?|nurses?|pilots?|adults?|hosts?|(?:coll|deleg|cand)\w+ates?"
    r"|(?:ag|cli|stud|pati|par|presid|resid)ents?|(?:account|assist|consult|applic|particip|ten|merch|immigr|inhabit|serv)ants?"
    rf"|(?!(?:{_NO_PERSONS})s?\b)[a-z]{{2,}}(?:er|or|ist|ian|ee|man|men)s?)\b"
)
SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田姜范石姚谭廖邹熊陆郝孔白崔康毛邱秦史顾侯邵孟龙段钱汤尹黎武乔贺赖龚"
)
"""The commonest Chinese surnames of one character, simplified."""
# Surnames as they begin names, kinds of people and bodies as they end words, the dot within foreign names, and what
# stands before whoever does it (not 由于, 理由).
_CHINESE = re.compile(
    rf"[{''.join(sorted(SURNAMES))}]"
    r"|[人员者师长官家方部司我你您他她谁帝后侯公子女父母夫妻兄弟姐妹儿氏军队党国院会社局厅处组士民僧商理席监管]|工程师|经理|主[管任]|团队|教授|领导|机构|客户|用户|[·•-]|(?<![理自经])由(?![于此])"
)


def has_who(question: str) -> bool:
    """Return whether a normalised question speaks of somebody, be it as "the man who founded it"."""
    return _WHO.search(question) is not None


def asks_who(question: str) -> bool:
    """Return whether a question asks for a person, or for a body that acts as one."""
    return _ASKS_WHO.search(plain_of(question)) is not None


def may_name_person(text: str) -> bool:
    """Return whether `text`, of a table's text the last line, may name somebody: lenient, for most texts do."""
    row = text.rpartition("\n")[2]
    plain = plain_of(row)
    signs = (_NAME.search(row), _ENGLISH.search(plain), _CHINESE.search(plain))
    return any(signs) or _opens_with_name(row)


def _opens_with_name(text: str) -> bool:
    """Return whether a sentence may begin with a name: "Anna repairs it", and not "Refunds are possible" or "The"."""
    first = _OPENING.match(text)
    if first is None or (word := first[1].lower()) in ENGLISH_STOP_WORDS:
        return False
    return first["does"] is not None or not word.endswith("s")
