"""Read the wording of a question: its names and content words, its parts, and queries for what passages leave open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain, groupby
from typing import Any

from sextant.domain.breadth import is_of_all, is_request
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.text.analysis import Tokenizer, codes_in, designators_in
from sextant.text.characters import clean_text, has_cjk, normalise, simplify
from sextant.text.segmenter import words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word

_QUOTED = re.compile(
    r"《([^《》]{1,60})》|“([^“”]{1,60})”|「([^「」]{1,60})」|\"([^\"]{1,60})\"|‘([^‘’]{2,60})’"
)
# Capitalised words, joined by small ones as titles and names are ("Bank of England"), or with digits.
_WORD = r"(?:[A-Z][\w'’.&-]*|\w*\d[\w.-]*)"
_PROPER = re.compile(
    rf"\b{_WORD}(?:(?:\s+(?:of|the|and|de|van|von|la|le|du|for|in|on|to|di|da|al)){{0,2}}\s+{_WORD})*"
)
_TOKENIZER = Tokenizer(words_of, joiners="-.'’&")
_TRAILING = re.compile(r"(?:['’]s|[.,'’])$")


def names_in(question: str) -> list[str]:
    """Return what is written as a name: quoted, in book-title marks, or capitalised beyond the first word.

    Chinese names without marks are not found here; `sextant.retrievers.graph_retriever` finds those of the knowledge base.
    """
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(question))
    return list(dict.fromkeys([*quoted, *filter(None, map(_proper, _PROPER.finditer(question)))]))


def _proper(match: re.Match[str]) -> str:
    """Return the name without stop words at its beginning; "" when nothing is left."""
    words = match.group().split()
    while words and normalise(words[0]) in ENGLISH_STOP_WORDS:
        words.pop(0)
    name = _TRAILING.sub("", " ".join(words))
    return name if len(name) > 1 else ""


def telling_words(question: str) -> list[str]:
    """Return the words of a question in their order, each once, without stop words and question words."""
    pieces = (
        _join_characters(run) if run else _keep_telling(word)
        for run, word in _TOKENIZER.runs(question)
    )
    spellings: dict[str, str] = {}
    for word in chain.from_iterable(pieces):
        spellings.setdefault(normalise(word), word)
    return list(spellings.values())


def _keep_telling(word: str) -> list[str]:
    """Return a content word without its ending; nothing for a stop word."""
    plain = normalise(word)
    telling = len(word) > 1 or word.isdigit()
    return [_TRAILING.sub("", word)] if telling and plain not in ENGLISH_STOP_WORDS else []


def _join_characters(ideographs: str) -> list[str]:
    """Return the segmenter's words; a single ideograph belongs to the word before or behind it: 二甲 + 双 + 胍."""
    joined: list[str] = []
    open_end = False
    for word in _TOKENIZER.cut(ideographs):
        if is_stop_word(word):
            open_end = False
            joined.append("")
        elif joined and joined[-1] and (open_end or len(word) == 1):
            joined[-1] += word
            open_end = len(word) == 1
        else:
            joined.append(word)
            open_end = len(word) == 1
    return [word for word in joined if len(word) > 1]


_LEADS = 2  # passages whose names are followed
_NAMES_OF_LEAD = 4  # of each; two to four find equally well on five question sets


def bridges(
    question: str, passages: Sequence[RetrievedItem], around: Sequence[RetrievedItem]
) -> list[str]:
    """Return queries from the first two passages, for up to four names of each, best first.

    Args:
        question: what is asked.
        passages: found so far, best first.
        around: entities (among others) that go with them, most important first.
    """
    question_text = normalise(question)
    names = [normalised for normalised in _names(around) if normalised[1] not in question_text]
    words = telling_words(question)
    queries: list[str] = []
    for lead in passages[:_LEADS]:
        text = wording_of(lead)
        open_words = [word for word in words if text.covers(claim_of(word)) < 1]
        met = [name for name, folded in names if text.says(folded)]
        queries += [" ".join([name, *open_words]) for name in met[:_NAMES_OF_LEAD]]
    return queries


def wording_of(item: RetrievedItem) -> TermLookup:
    """Return what a passage says, with the headings above it."""
    return TermLookup(f"{headings(item)}\n{item.metadata.get('title', '')}\n{item.text}")


def _names(around: Sequence[RetrievedItem]) -> list[tuple[str, str]]:
    """Return names of entities with their folded form."""
    found = (str(item.metadata["name"]) for item in around if item.kind is ItemKind.ENTITY)
    return [(name, normalise(name)) for name in dict.fromkeys(found)]


# Words that point back, and openings that carry a question on.
_POINTS_BACK = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|that|these|those"
    r"|(?:the )?(?:former|latter|same|other) one|the (?:former|latter))\b"
    r"|^\s*(?:and|but|or|so|also|then)\b|^\s*(?:what|how) about\b|\bas well\s*\?*$|^\s*why(?: not)?\s*\?*$",
    re.IGNORECASE,
)

_POINTS_BACK_CHINESE = re.compile(
    r"(?<!其)[它他]们?|她们?|其(?![他它余实中次间])|该(?=[\u4e00-\u9fff])|[这那](?!么|样的话)|此(?!外|前|后|时)|上述|前者|后者"
    r"|^(?:那么?|然后|还有|以及|而|为什么|怎么办|然後|還有)|呢\s*[？?]*$"
)

# "that" and "this" that begin a clause or a point in time do not point back.
_NO_POINTER = re.compile(
    r"\b(?:the \w+|\w+s|those|all|so|such|now|say|says|said|know|show|shows) that\b"
    r"|\bthis (?:year|month|week|day|morning)\b|\bthat (?:is|are|was|were|has|have|can|will)\b",
    re.IGNORECASE,
)

_FEW_WORDS = 2  # a question with fewer content words leans on the one before it
_BORROWED = 6  # terms that a follow-up takes over
_SHORTEST_BORROWED = 2  # characters of such a term


def leans_on_history(question: str) -> bool:
    """Return whether `question` points back, or has too few content words to be searched by itself."""
    if is_of_all(question):
        return False
    if has_cjk(question):
        points = _POINTS_BACK_CHINESE.search(question) is not None
    else:
        points = _POINTS_BACK.search(_NO_POINTER.sub(" ", question)) is not None
    named = names_in(question)
    if points and not named:
        return True
    few = len(telling_words(question)) < _FEW_WORDS
    return few and (points or not named)


def make_standalone(question: str, history: Sequence[Mapping[str, Any]]) -> str:
    """Return a follow-up with terms of the questions before it, "And at night? (parking fee)"; any other as it is.

    The terms come from the user's last question that stands alone and from those after it, names first; at most six.

    Args:
        question: as it was asked.
        history: turns of the conversation, oldest first, as `{"role", "content"}`.
    """
    if renumbered := _renumber_last(question, history):
        return renumbered
    if not history or not leans_on_history(question):
        return question
    borrowed: list[str] = []
    for turn in reversed(history):
        if turn.get("role", "user") != "user":
            continue
        previous = clean_text(str(turn.get("content", "")))
        borrowed += [*names_in(previous), *designators_in(previous), *telling_words(previous)]
        if not leans_on_history(previous):
            break
    plain = normalise(question)
    if codes_in(question):  # "And E42?" asks of E42 what was asked of E47
        borrowed = [term for term in borrowed if not codes_in(term)]
    fresh: list[str] = []
    for term in borrowed:
        known = any(normalise(term) in normalise(one) for one in fresh) or normalise(term) in plain
        if not known and len(term) >= _SHORTEST_BORROWED:
            fresh.append(term)
    if not fresh:
        return question
    return f"{question} ({', '.join(fresh[:_BORROWED])})"


# "And 2.5?", "What about locker 31?", 3.2版呢？: asks of another number what was asked of one.
_NUMBER_ALONE = re.compile(
    r"\W*(?:(?:and|or|what about|how about) (?:(?P<before>[a-z]+) )?|那么?)?"
    r"(?P<number>\d+(?:\.\d+)*)\s*(?P<behind>[\u4e00-\u9fff]{0,2}?)\s*呢?\W*",
    re.IGNORECASE,
)


def _renumber_last(question: str, history: Sequence[Mapping[str, Any]]) -> str:
    """Return the user's last question with the number of a follow-up that is only a number; "" for other follow-ups."""
    alone = _NUMBER_ALONE.fullmatch(question)
    asked = [at for at, turn in enumerate(history) if turn.get("role", "user") == "user"]
    if alone is None or not asked:
        return ""
    last = clean_text(str(history[asked[-1]].get("content", "")))
    last = make_standalone(last, history[: asked[-1]])
    before = rf"(?<=\b{re.escape(alone['before'])} )" if alone["before"] else ""
    numbers = list(re.finditer(r"\d+(?:\.\d+)*", last))
    named = re.compile(rf"(?<![\d.]){before}\d+(?:\.\d+)*(?={alone['behind']})", re.IGNORECASE)
    return named.sub(alone["number"], last) if len(numbers) == 1 and named.search(last) else ""


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
    rf"(?:\b(?:between|both|either)\s+)?(?P<one>{_NAME}),?\s+(?P<join>{_JOIN})\s+(?P<two>{_NAME})"
)
# Words that compare, and words by which two names may be compared.
_COMPARISON = re.compile(r"\b(?:compar\w+|contrast\w*|differ\w*|similar\w*|same)\b", re.IGNORECASE)
_COMPARES = re.compile(
    rf"{_COMPARISON.pattern}|\b(?:both|either|older|younger|oldest|youngest|earlier|later|first|last|larger|smaller|longer|shorter"
    r"|higher|lower|taller|more|less|fewer|better|worse|most|common)\b",
    re.IGNORECASE,
)
# A thing without a name: an article, and content words.
_NO_THING = "|".join(map(re.escape, sorted(ENGLISH_STOP_WORDS, key=len, reverse=True)))
_TELLING = rf"(?!(?:{_NO_THING})\b|{_COMPARISON.pattern}|between\b)[\w'’&-]+"
_THING = rf"(?:(?:the|an?)\s+)?(?:{_TELLING}\s+){{0,4}}{_TELLING}"
_THINGS = re.compile(
    rf"(?:\bbetween\s+)?\b(?P<one>{_THING}),?\s+(?P<join>{_JOIN}|with)\s+(?P<two>{_THING})",
    re.IGNORECASE,
)
# What is joined within a clause of its own has a verb: "how ownership and lifetimes work".
_SUBORDINATE = re.compile(r"\S\s+(?:how|why|whether|if|that)\b", re.IGNORECASE)
# "In Berlin, sales and costs": this begins no list.
_SETTING = re.compile(
    r"(?:in|at|on|for|from|by|with|since|until|during|after|before|under)\s+$", re.IGNORECASE
)
# Further things of a list, before the last two.
_LISTED = re.compile(rf"(?:(?<=: )|(?<!,)\b)(?:{_THING}, )+$", re.IGNORECASE)
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
    """Return the two to four questions that `question` joins, each standing alone; [] for a single question."""
    chinese = has_cjk(question)
    cut, asks = (_CHINESE_CLAUSES, _ASKS_CHINESE) if chinese else (_ENGLISH_CLAUSES, _ASKS)
    found = [part.strip(" ,，;；") for part in cut.split(question)]
    found = [part for part in found if part]
    if not 2 <= len(found) <= MOST_PARTS or not all(map(asks.search, found)):
        return []
    if len(telling_words(found[0])) < _LEAST_WORDS:  # "In which country and when was he born?"
        return []
    words = telling_words(found[0])
    # The subject stands first in Chinese, and last in English: "the symptoms of diabetes".
    first = names_in(found[0]) or (words[:2] if chinese else words[-2:])
    return [found[0], *(_with_subject(part, first) for part in found[1:])]


def _with_subject(part: str, subject: list[str]) -> str:
    """Return a later clause with the subject of the first, where it names nothing of its own."""
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
    """Return the text before the things that a question joins, the things, and the text behind them."""
    sides = _NAMES.search(question) or _THINGS.search(question)
    if sides is None or _SUBORDINATE.search(question[: sides.start("two")]):
        return "", [], ""
    begin, (one, two) = sides.start(), sides.group("one", "two")
    if sides["join"] == "with" and not _COMPARISON.search(question[:begin] + one):
        return "", [], ""
    listed = _LISTED.search(question[:begin]) if sides["join"] == "and" else None
    if listed and not _SETTING.match(question[: listed.start()]):
        begin, one = listed.start(), f"{listed.group()}{one}"
    # At the beginning of a question a verb may be capitalised, but is no name: "Are", "Explain".
    asks = is_request(question) and not begin
    opening = _OPENING.match(one) or (_FIRST_WORD.match(one) if asks else None)
    before = question[:begin] + (opening.group() if opening else "")
    one = one[opening.end() :] if opening else one
    after = question[sides.end() :]
    things = [*one.split(", "), two]
    one, others = things[0], things[1:]
    # "is diabetes diagnosed and treated", "are offers made, checked and signed": what is joined are the participles.
    whose, _, verb = one.rpartition(" ")
    is_passive = verb.endswith("ed") or before.lower().endswith(
        (" is ", " are ", " was ", " were ")
    )
    if whose and is_passive and all(other.endswith("ed") for other in others):
        before, one = f"{before}{whose} ", verb
    if len(others) > 1:
        return before, [one, *others], after
    # "the treatment of diabetes and the diet advice": what has an article is joined with what has one.
    bare = _ARTICLE.match(two) and not _ARTICLE.match(one)
    if bare and (wider := _WITH_ARTICLE.search(before)):
        before, one = before[: wider.start()], wider.group() + one
    if _COMPARISON.search(question[: sides.start("two")]) and not telling_words(
        _COMPARISON.sub("", before)
    ):
        before = ""
    return before, [one, two], after


def _join_in_chinese(question: str) -> tuple[str, list[str], str]:
    """Return the parts of `_join_in_english` for a Chinese question."""
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
