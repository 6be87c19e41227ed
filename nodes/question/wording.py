"""Read the wording of a question: its names and content words, its parts, and queries for what passages leave open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from itertools import chain, groupby
from typing import Any

from sextant.domain.breadth import is_of_all, is_request
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.text.analysis import Tokenizer, codes_in, designators_in
from sextant.text.characters import clean_text, has_cjk, normalise, plain_of
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

# Where another clause may begin. In English a comma alone parts nothing ("When it stops, what is to be done?"), and
# "and whose" or "and which" goes on describing.
_CLAUSES = re.compile(
    r"(?<=[?？;；])(?:\s+|(?=[\u4e00-\u9fff]))|[，,]?(?:以及|并且|同时|另外|此外)(?=\S)|，(?=\S)|,(?=[\u4e00-\u9fff])"
    r"|,?\s+and(?:\s+also)?,?\s+(?=(?:who|what|when|where|why|how)\b(?!['’]))",
    re.IGNORECASE,
)


def clauses_of(question: str) -> list[str]:
    """Return the two to four questions that `question` joins, each standing alone; [] for a single question."""
    found = [part.strip(" ,，;；") for part in _CLAUSES.split(question)]
    found = [part for part in found if part]
    asks = [not is_request(part.rstrip("?？")) for part in found]
    if not 2 <= len(found) <= MOST_PARTS or not all(asks):
        return []
    words = telling_words(found[0])
    if len(words) < _LEAST_WORDS:  # "In which country and when was he born?"
        return []
    # The subject stands first in Chinese, and last in English: "the symptoms of diabetes".
    first = names_in(found[0]) or (words[:2] if has_cjk(question) else words[-2:])
    return [found[0], *(_with_subject(part, first) for part in found[1:])]


def _with_subject(part: str, subject: list[str]) -> str:
    """Return a later clause with the subject of the first, where it names nothing of its own."""
    if leans_on_history(part) or not names_in(part):
        missing = [name for name in subject if name not in part]
        return f"{part} ({', '.join(missing)})" if missing else part
    return part


# A name of several words is one piece, with the space before it, as is a word; marks stand alone.
_NO_NAME = rf"(?i:{'|'.join(map(re.escape, sorted(ENGLISH_STOP_WORDS)))})\b(?!['’])"
_CAPITALISED = r"[A-Z0-9][\w'’&.-]*"
_PIECE = re.compile(
    rf"\s*(?:(?!{_NO_NAME}){_CAPITALISED}(?:\s+(?:(?:of|the|de|van|von|in|at|on|for|to)\s+){{0,2}}{_CAPITALISED})*(?:\s*\([^()]*\))?"
    r"|[\w'’&-]+|[^\w\s])"
)
_JOINS = frozenset({
    "和", "与", "跟", "及", "以及", "或", "或者", "还是", "、", "and", "or", "versus", "vs",
})  # fmt: skip
_BESIDE_JOIN = frozenset({",", ".", "the", "a", "an"})
_SETTING = frozenset({"in", "at", "on", "for", "from", "by", "since", "until", "during", "after"})
_MARKS = frozenset(",.?!;:。")
_COMPARE = (
    "compar", "contrast", "differ", "similar", "区别", "差别", "差异", "异同", "不同", "共同", "相同",
    "相比", "比较", "对比", "分别",
)  # fmt: skip
# "Which is older, Acme Corp or Beta Ltd?"
_COMPARE_NAMES = frozenset({"both", "either", "same", "common", "or", "versus", "vs"})


def joined_parts(question: str) -> list[str]:
    """Return the question asked of each of the things that it joins: "leave and travel", 治疗和饮食; [] when it joins none."""
    return _split_joined(question)[0]


def sides_of(question: str) -> list[str]:
    """Return the question asked of either side of a comparison; [] when it compares nothing."""
    parts, is_comparison = _split_joined(question)
    return parts if is_comparison else []


def _split_joined(question: str) -> tuple[list[str], bool]:
    """Return the question asked of each of the first things that it joins, and whether it compares them.

    Such a thing is a name, or a run of telling words.
    """
    is_chinese = has_cjk(question)
    pieces = words_of(question) if is_chinese else _PIECE.findall(question)
    plain = [plain_of(piece).strip() for piece in pieces]
    compares = [word == "更" or word.startswith(_COMPARE) for word in plain]
    is_empty = is_stop_word if is_chinese else ENGLISH_STOP_WORDS.__contains__
    tells = [
        not (compared or is_empty(word) or word in _MARKS | _JOINS)
        for word, compared in zip(plain, compares, strict=True)
    ]
    if tells and not is_chinese and is_request(question):  # "Explain annual and sick leave"
        tells[0] = False
    named = [re.match(r"\s*[A-Z0-9]", piece) is not None for piece in pieces]
    runs = [list(run) for _, run in groupby(range(len(pieces)), tells.__getitem__)]
    things = _find_things(runs, plain, named, _JOINS if is_chinese else _JOINS | _BESIDE_JOIN)
    if not things:
        return [], False
    if all(plain[thing[-1]].endswith("ed") for thing in things):
        things[0] = things[0][-1:]  # "is diabetes diagnosed and treated"
    begin, end = things[0][0], things[-1][-1] + 1
    is_bare = any(compares[:begin]) and not any(tells[:begin])
    before, after = "" if is_bare else "".join(pieces[:begin]), "".join(pieces[end:])
    texts = ["".join(pieces[at] for at in thing) for thing in things]
    parts = [" ".join(f"{before}{text}{after}".split()) for text in texts[:MOST_PARTS]]
    stops = "." if before or after[1:] else ".?"
    is_of_names = named[begin] and not _COMPARE_NAMES.isdisjoint(plain)
    return [part.rstrip(stops) for part in parts], any(compares) or is_of_names


def _find_things(
    runs: Sequence[list[int]], plain: Sequence[str], named: Sequence[bool], joiners: Set[str]
) -> list[list[int]]:
    """Return the first runs of telling pieces with a word such as "and" between them, and those of the list before.

    Of two runs that meet with a name each the names are joined.
    """
    things, is_joined = list[list[int]](), False
    # "In Berlin, sales and costs": this begins no list.
    first = plain.index(",") + 1 if plain and plain[0] in _SETTING and "," in plain else 0
    for before, between, behind in zip(runs, runs[1:], runs[2:], strict=False):
        words = {plain[at] for at in between}
        is_join, are_names = not words.isdisjoint(_JOINS), named[before[-1]] and named[behind[0]]
        # "Which is older, Acme Corp or Beta Ltd?"
        is_listed = not is_joined and (named[before[-1]] or not named[behind[0]])
        if words <= joiners and (is_join or is_listed) and before[0] >= first:
            both = (before[-1:], behind[:1]) if are_names else (before, behind)
            things += [run for run in both if run not in things]
            is_joined |= is_join
        elif things and between[0] != things[-1][0]:
            if is_joined:
                break
            things = []
    return things if is_joined else []
