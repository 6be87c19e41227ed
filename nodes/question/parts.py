"""The parts of a question: clauses that each ask something, the sides of a comparison, things that it joins.

"Who founded Acme, and when was it sold?" are two questions; "Which is older, Acme or Beta?" asks the same of two
things. Clauses are searched beside the whole question, for their subjects differ. Sides are searched when the first
passages say too little of one of them: the question names both, and on hotpotqa's and twowiki's comparisons searching
them at once found nothing more. A question of several hops has no parts by rule: what its second hop asks of is not
known before the first is answered (`wording.bridges`).
"""

from __future__ import annotations

import re
from itertools import groupby

from sextant.domain.breadth import is_request
from sextant.nodes.question.follow_ups import leans_on_history
from sextant.nodes.question.wording import names_in, telling_words
from sextant.text.characters import has_cjk, simplify
from sextant.text.segmenter import words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word

MOST_PARTS = 4
_LEAST_WORDS = 2

_WH = r"(?:who|whom|whose|what|when|where|why|how|which)\b"
_ASKS_ANEW = r"(?=(?:who|what|when|where|why|how)\b(?!['’]))"
# "and whose" or "and which" goes on describing; "and who" or "and when" asks anew, but not "and who's". A comma alone
# parts but the members of a series: in "When it stops, what is to be done?" it parts nothing.
_ENGLISH_CLAUSES = re.compile(
    rf"(?<=[?;])\s+|,?\s+and(?:\s+also)?,?\s+{_ASKS_ANEW}|,\s+{_ASKS_ANEW}(?=[^,?;]*,\s+and\s+{_ASKS_ANEW})",
    re.IGNORECASE,
)
_CHINESE_CLAUSES = re.compile(
    r"(?<=[？?；;])\s*|[，,]?(?:以及|并且|同时|另外|此外)(?=\S)|[，,](?=\S)"
)
_ASKS = re.compile(
    rf"\b{_WH}|\?|^\s*(?:is|are|was|were|do|does|did|can|could|has|have)\b", re.IGNORECASE
)
_ASKS_CHINESE = re.compile(
    r"什么|什麼|多[少长長久大高远遠重快宽寬深]|呢|哪|谁|誰|怎么|怎麼|怎样|如何|几[个种年天人次项条]|为何|为什么|何时|是否|吗"
)

_CAPITALISED = r"[A-Z0-9][\w'’.&-]*"
_NAME = (
    rf"(?:(?:the\s+)?{_CAPITALISED}(?:\s+(?:(?:of|the|de|van|von|in|at|on|for|to)\s+){{0,2}}{_CAPITALISED})*"
    r"|\"[^\"]+\"|“[^”]+”)(?:\s*\([^()]*\))?"
)
_JOIN = r"(?:or|and|versus|vs\.?|compared (?:to|with)|than)"
_NAMES = re.compile(
    rf"(?:\b(?:between|both|either)\s+)?(?P<one>{_NAME}),?\s+{_JOIN}\s+(?P<two>{_NAME})"
)
# What compares, and what names can be compared by.
_COMPARISON = re.compile(r"\b(?:compar\w+|contrast\w*|differ\w*|similar\w*|same)\b", re.IGNORECASE)
_COMPARES = re.compile(
    rf"{_COMPARISON.pattern}|\b(?:both|either|older|younger|oldest|youngest|earlier|later|first|last|larger|smaller|longer|shorter"
    r"|higher|lower|taller|more|less|fewer|better|worse|most|common)\b",
    re.IGNORECASE,
)
# A thing without a name: its article, and words that tell something.
_NO_THING = "|".join(map(re.escape, sorted(ENGLISH_STOP_WORDS, key=len, reverse=True)))
_TELLING = rf"(?!(?:{_NO_THING})\b|{_COMPARISON.pattern}|between\b)[\w'’&-]+"
_THING = rf"(?:(?:the|an?)\s+)?(?:{_TELLING}\s+){{0,4}}{_TELLING}"
_THINGS = re.compile(
    rf"(?:\bbetween\s+)?\b(?P<one>{_THING}),?\s+(?:{_JOIN}|with)\s+(?P<two>{_THING})",
    re.IGNORECASE,
)
_OPENING = re.compile(
    rf"(?:{_WH}|are|is|was|were|do|does|did|can|has|have|between|both)\s+", re.IGNORECASE
)
_FIRST_WORD = re.compile(r"\w+\s+(?=\S)")
_ARTICLE = re.compile(r"(?:the|an?)\s", re.IGNORECASE)
_WITH_ARTICLE = re.compile(r"\b(?:the|an?)\s+(?:(?!the\b)[\w'’-]+\s+){1,5}$", re.IGNORECASE)
_AT_THE_END = re.compile(r"\s*[?？]?\s*$")
_COMPARES_CHINESE = re.compile("(?:区别|差别|差异|异同|不同|共同|相同)点?|相比|更|比较|对比|分别")
_JOINS_CHINESE = frozenset(["和", "与", "跟", "及", "以及", "或", "或者", "还是", "、"])
_MARKS_CHINESE = frozenset("，。？！；：,.?!;:")


def clauses_of(question: str) -> list[str]:
    """Return the two to four questions that `question` joins, each standing alone; [] when it is one."""
    chinese = has_cjk(question)
    cut, asks = (_CHINESE_CLAUSES, _ASKS_CHINESE) if chinese else (_ENGLISH_CLAUSES, _ASKS)
    found = [part.strip(" ,，;；") for part in cut.split(question)]
    found = [part for part in found if part]
    if not 2 <= len(found) <= MOST_PARTS or not all(map(asks.search, found)):
        return []
    if len(telling_words(found[0])) < _LEAST_WORDS:  # "In which country and when was he born?"
        return []
    words = telling_words(found[0])
    # What is spoken of stands first in Chinese, and last in English: "the symptoms of diabetes".
    first = names_in(found[0]) or (words[:2] if chinese else words[-2:])
    return [found[0], *(_with_subject(part, first) for part in found[1:])]


def _with_subject(part: str, subject: list[str]) -> str:
    """Return a later clause with what the first was about, where it names nothing of its own."""
    if leans_on_history(part) or not names_in(part):
        missing = [name for name in subject if name not in part]
        return f"{part} ({', '.join(missing)})" if missing else part
    return part


def sides_of(question: str) -> list[str]:
    """Return the question asked of either side of a comparison; [] when it compares nothing."""
    if has_cjk(question):
        words = map(simplify, words_of(question))
        return joined_parts(question) if any(map(_COMPARES_CHINESE.fullmatch, words)) else []
    names = _NAMES.search(question)
    offers = names and " or " in names.group() and _AT_THE_END.match(question, names.end())
    is_comparison = offers or (_COMPARES if names else _COMPARISON).search(question)
    return joined_parts(question) if is_comparison else []


def joined_parts(question: str) -> list[str]:
    """Return the question asked of each of the things that it joins: "leave and travel", 治疗和饮食; [] when it joins none."""
    before, things, after = (_join_in_chinese if has_cjk(question) else _join_in_english)(question)
    parts = [" ".join(f"{before}{thing}{after}".split()) for thing in things]
    return [part.rstrip("." if before or after[1:] else ".?") for part in parts][:MOST_PARTS]


def _join_in_english(question: str) -> tuple[str, list[str], str]:
    """Return what stands before things that are joined, these, and what stands behind."""
    sides = _NAMES.search(question) or _THINGS.search(question)
    if sides is None:
        return "", [], ""
    begin, (one, two) = sides.start(), sides.group("one", "two")
    # At the beginning of a question a verb may be capitalised, but is no name: "Are", "Explain".
    asks = is_request(question) and not begin
    opening = _OPENING.match(one) or (_FIRST_WORD.match(one) if asks else None)
    before = question[:begin] + (opening.group() if opening else "")
    one = one[opening.end() :] if opening else one
    # "the treatment of diabetes and the diet advice": what has an article is joined with what has one.
    bare = _ARTICLE.match(two) and not _ARTICLE.match(one)
    if bare and (wider := _WITH_ARTICLE.search(before)):
        before, one = before[: wider.start()], wider.group() + one
    if _COMPARISON.search(question[: sides.start("two")]) and not telling_words(
        _COMPARISON.sub("", before)
    ):
        before = ""
    return before, [one, two], question[sides.end() :]


def _join_in_chinese(question: str) -> tuple[str, list[str], str]:
    """Return the same of a Chinese question."""
    words = words_of(question)
    plain = list(map(simplify, words))
    compares = [_COMPARES_CHINESE.fullmatch(word) is not None for word in plain]
    tells = [
        not (compared or is_stop_word(word) or word in _MARKS_CHINESE | _JOINS_CHINESE)
        for word, compared in zip(plain, compares, strict=True)
    ]
    runs = [(tell, list(group)) for tell, group in groupby(range(len(words)), tells.__getitem__)]
    things = list[list[int]]()
    for at in range(1, len(runs) - 1):
        is_join = (
            not runs[at][0] and len(runs[at][1]) == 1 and plain[runs[at][1][0]] in _JOINS_CHINESE
        )
        if is_join:
            things += [run for _, run in (runs[at - 1], runs[at + 1]) if run not in things]
        elif things and runs[at][1] is not things[-1]:
            break
    if not things:
        return "", [], ""
    begin, end = things[0][0], things[-1][-1] + 1
    is_comparison = any(compares[:begin]) and not any(tells[:begin])
    before = "" if is_comparison else "".join(words[:begin])
    return before, ["".join(words[at] for at in run) for run in things], "".join(words[end:])
