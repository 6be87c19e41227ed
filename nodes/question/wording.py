"""How a question is worded: its names, telling words and parts, plain arithmetic, what of a conversation it leans on.

"Who founded Acme, and when was it sold?" are two questions; "Which is older, Acme or Beta?" asks the same of two
things. Clauses are searched beside the whole question, for their subjects differ. Sides are searched when the first
passages say too little of one of them: the question names both, and on hotpotqa's and twowiki's comparisons searching
them at once found nothing more. A question of several hops has no parts by rule: what its second hop asks of is not
known before the first is answered (`bridges`).
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, DecimalException, localcontext
from itertools import chain
from typing import Any

from sextant.domain.breadth import is_of_all
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.support import TermLookup, claim_of, headings
from sextant.text.analysis import Tokenizer, codes_in, designators_in
from sextant.text.characters import clean_text, has_cjk, normalise
from sextant.text.segmenter import words_of
from sextant.text.stopwords import ENGLISH_STOP_WORDS, is_stop_word

# A whole question. `-` and `/` without spaces also write dates, years and names of standards.
_ARITHMETIC = re.compile(
    r"(?:what is|what's|calculate|compute|how much is|请?计算|算一下)?\s*"
    r"(?=.*\d\s*(?:[+*×÷^]|\s[-/]\s|[-/].*(?:=|多少|几)$)\s*[\d(])[\s\d.()+\-*/×÷^%]+"
    r"=?\s*(?:(?:等于|是)(?:几|多少))?"
)
_SIGNS = str.maketrans("×÷", "*/")
_TERM = re.compile(r"[\d(][\d\s.()+\-*/×÷^%]*")
_OPERATIONS: dict[type[ast.AST], Callable[..., Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_MARKS = " \t\r\n.!?~。！？～…"
# Enough for any sum that a person types, and a result that takes no time.
_MOST_CHARS, _DIGITS, _LARGEST = 200, 28, 64


def is_arithmetic(question: str) -> bool:
    """Return whether a question is nothing but a term to be computed."""
    return _ARITHMETIC.fullmatch(normalise(question).strip(_MARKS)) is not None


def compute_term(question: str) -> str | None:
    """Return the term of a plain question with its value, `1+1 = 2`; None where there is none, or no value."""
    found = _TERM.search(normalise(question))
    if found is None or len(question) > _MOST_CHARS or not is_arithmetic(question):
        return None
    term = found[0].strip()
    try:
        tree = ast.parse(term.replace("^", "**").translate(_SIGNS), mode="eval")
        with localcontext(Context(prec=_DIGITS)):
            value = _value(tree.body)
    except (SyntaxError, ValueError, DecimalException, RecursionError, MemoryError):
        return None
    if not value.is_finite() or abs(value.adjusted()) > _LARGEST:
        return None
    shown = f"{value.normalize():f}" if value else "0"
    about = "=" if len(value.as_tuple().digits) < _DIGITS else "≈"
    return f"{term} {about} {shown}"


def _value(node: ast.expr) -> Decimal:
    """Return the value of a term.

    Raises:
        ValueError: it holds something else than numbers and the five operations.
        DecimalException: it has no value.
    """
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return Decimal(str(node.value))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    if isinstance(node, ast.UnaryOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.operand))
    raise ValueError(ast.dump(node))


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
_QUESTION_WORDS = (
    "which what who whom whose when where why how is are was were do does did can could would will shall should"
    " has have had in on at of from for to the a an and or but if both between among during after before"
)
_CHINESE_FUNCTION = "什么 哪些 哪个 哪里 哪儿 谁 多少 几个 怎么 怎样 如何 为什么 为何 何时 是否 请问 有没有 可以 能否 以及 关于 告诉"
_NO_NAME = frozenset(_QUESTION_WORDS.split())
_NO_TERM = frozenset(_CHINESE_FUNCTION.split())


def names_in(question: str) -> list[str]:
    """Return what is written as a name: quoted, in book-title marks, or capitalised beyond the first word.

    Chinese names without marks are not told from words here; the knowledge base's own names are
    (`sextant.retrievers.graph_retriever`).
    """
    quoted = (next(filter(None, match.groups())) for match in _QUOTED.finditer(question))
    return list(dict.fromkeys([*quoted, *filter(None, map(_proper, _PROPER.finditer(question)))]))


def _proper(match: re.Match[str]) -> str:
    """Return the name without a question's first words, empty when nothing is left."""
    words = match.group().split()
    while words and normalise(words[0]) in _NO_NAME:
        words.pop(0)
    name = _TRAILING.sub("", " ".join(words))
    return name if len(name) > 1 and normalise(name) not in ENGLISH_STOP_WORDS else ""


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
    """Return a word without its ending, unless it says nothing by itself."""
    plain = normalise(word)
    telling = len(word) > 1 or word.isdigit()
    stops = plain in ENGLISH_STOP_WORDS or plain in _NO_NAME
    return [_TRAILING.sub("", word)] if telling and not stops else []


def _join_characters(ideographs: str) -> list[str]:
    """Return the segmenter's words; a single ideograph belongs to the word before or behind it: 二甲 + 双 + 胍."""
    joined: list[str] = []
    open_end = False
    for word in _TOKENIZER.cut(ideographs):
        if word in _NO_TERM or is_stop_word(word):
            open_end = False
            joined.append("")
        elif joined and joined[-1] and (open_end or len(word) == 1):
            joined[-1] += word
            open_end = len(word) == 1
        else:
            joined.append(word)
            open_end = len(word) == 1
    return [word for word in joined if len(word) > 1]


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
