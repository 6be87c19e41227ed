"""Follow-ups: whether a question leans on the conversation, and the question with what it leans on."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sextant.domain.breadth import is_of_all
from sextant.nodes.question.wording import names_in, telling_words
from sextant.text.analysis import codes_in, designators_in
from sextant.text.characters import clean_text, has_cjk, normalise

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

# A question about something of its own has more to say than this.
_FEW_WORDS = 2

_BORROWED = 6

_SHORTEST_BORROWED = 2


def leans_on_history(question: str) -> bool:
    """Return whether `question` points back, or says too little to be searched by itself."""
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
    """Return `question` with what it leans on, or as it is where it stands alone.

    Terms come from the last question of the user that stands alone and from those after it, names
    first; at most six, none that the question has already.

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
    """Return the last question of the user with its one number as a follow-up gives it; "" where it gives more, or none."""
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
