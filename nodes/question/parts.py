"""The parts of a question that asks several things, by rule: clauses, and sides of a comparison.

"Who founded Acme, and when was it sold?" are two questions; "Which is older, Acme or Beta?" asks the
same of two things. Clauses are searched beside the whole question, for their subjects differ. Sides
are searched when the first passages say too little of one of them: the question names both, and on
hotpotqa's and twowiki's comparisons searching them at once found nothing more. A question of several
hops has no parts by rule: what its second hop asks of is not known before the first is answered
(`sextant.nodes.question.parts`).

Also here: queries for the next hop of a question, by rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.nodes.question.conversation import leans_on_history
from sextant.nodes.question.names import names_in, telling_words
from sextant.text.characters import has_cjk, normalise

# Flat on five question sets between two and four names.
_LEADS = 2
_NAMES_OF_LEAD = 4


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


MOST_PARTS = 4
_LEAST_WORDS = 2

_WH = r"(?:who|whom|whose|what|when|where|why|how|which)\b"
# "and whose" or "and which" goes on describing; "and who" or "and when" asks anew, but not "and who's".
_ENGLISH_CLAUSES = re.compile(
    r"(?<=[?;])\s+|,?\s+and(?:\s+also)?,?\s+(?=(?:who|what|when|where|why|how)\b(?!['’]))",
    re.IGNORECASE,
)
_CHINESE_CLAUSES = re.compile(
    r"(?<=[？?；;])\s*|[，,]?(?:以及|并且|同时|另外|此外)(?=\S)|[，,](?=\S)"
)
_ASKS = re.compile(
    rf"\b{_WH}|\?|^\s*(?:is|are|was|were|do|does|did|can|could|has|have)\b", re.IGNORECASE
)
_ASKS_CHINESE = re.compile(
    r"什么|什麼|多少|哪|谁|誰|怎么|怎麼|怎样|如何|几[个种年天人次项条]|为何|为什么|何时|是否|吗"
)

_CAPITALISED = r"[A-Z0-9][\w'’.&-]*"
_NAME = (
    rf"(?:(?:the\s+)?{_CAPITALISED}(?:\s+(?:(?:of|the|de|van|von|in|at|on|for|to)\s+){{0,2}}{_CAPITALISED})*"
    r"|\"[^\"]+\"|“[^”]+”)(?:\s*\([^()]*\))?"
)
_SIDES = re.compile(
    rf"(?:\b(?:between|both|either)\s+)?(?P<one>{_NAME}),?"
    rf"\s+(?:or|and|versus|vs\.?|compared (?:to|with)|than)\s+(?P<two>{_NAME})"
)
_OPENING = re.compile(
    rf"(?:{_WH}|are|is|was|were|do|does|did|can|has|have|between|both)\s+", re.IGNORECASE
)
_COMPARES = re.compile(
    r"\b(?:both|either|compar\w+|differ\w*|same|similar\w*|older|younger|oldest|youngest|earlier|later|first|last"
    r"|larger|smaller|longer|shorter|higher|lower|taller|more|less|fewer|better|worse|most|common)\b",
    re.IGNORECASE,
)
_AT_THE_END = re.compile(r"\s*[?？]?\s*$")
_CHINESE_SIDES = re.compile(
    r"^(?:请问)?(?P<one>《[^》]+》|“[^”]+”|[^\s，。？?、和与跟]{2,12})(?:和(?!国|國)|与|跟|還是|还是)"
    r"(?P<two>《[^》]+》|“[^”]+”|[^\s，。？?、和与跟的之哪谁誰有相比都更在]{2,12})"
    r"(?=.*(?:区别|差别|差异|异同|不同|共同|相同|相比|更|區別|差異|異同|比较|比較))"
)


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
    first = names_in(found[0]) or telling_words(found[0])[:2]
    return [found[0], *(_with_subject(part, first) for part in found[1:])]


def _with_subject(part: str, subject: list[str]) -> str:
    """Return a later clause with what the first was about, where it names nothing of its own."""
    if leans_on_history(part) or not names_in(part):
        missing = [name for name in subject if name not in part]
        return f"{part} ({', '.join(missing)})" if missing else part
    return part


def sides_of(question: str) -> list[str]:
    """Return the question asked of either side of a comparison; [] when it compares nothing."""
    chinese = has_cjk(question)
    sides = (_CHINESE_SIDES if chinese else _SIDES).search(question)
    if sides is None:
        return []
    offers = " or " in sides.group() and _AT_THE_END.match(question, sides.end())
    if not chinese and not offers and not _COMPARES.search(question):
        return []
    one, two = sides["one"], sides["two"]
    opening = _OPENING.match(one)  # capitalised at the beginning of a question, but no name
    before = question[: sides.start()] + (opening.group() if opening else "")
    one = one[opening.end() :] if opening else one
    after = question[sides.end() :]
    return [" ".join(f"{before}{side}{after}".split()) for side in (one, two) if side]
