"""Split text into sentences: Chinese, English, and text that mixes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sextant.text.characters import has_cjk

# A Chinese stop ends a sentence at once; a Latin one only before white space, so that 3.14 and
# v1.2 stay whole; `!` and `?` also before an ideograph. Closing quotes (in French behind a blank) and
# marks of references ("[12]") belong to the sentence.
# Runs of stops are matched whole and from their beginning, so that a long run takes linear time.
# Groups that may fail half-way are not possessive: Python 3.11.2 (Debian 12) does not backtrack out of them.
# The lookahead is for speed: at a letter the alternatives take five times as long to fail.
_END = re.compile(
    r"""(?=[。！？.!?…\n])(?:[。！？]+["'”’」』）》]*"""
    r"""|(?<![.!?…])[.!?…]++(?:["'”’)\]»«›‹]|[ \xa0\u202f](?=[»›]))*(?:[ ]?\[[\d, –-]++\])*(?=\s|$)"""
    r"""|(?<![!?])[!?]++(?=[\u4e00-\u9fff])|\n+)"""
)
# Abbreviations behind which a sentence continues with a capital or a number. Before a lower-case letter
# it continues behind any short word (`_SHORT`), so "Ltd.", "Inc." and "pct." need no list.
_TITLES = (  # written with a capital: "5 ms." is no title
    "Co Dr Drs Mr Mrs Ms Mx Prof St Mt Ft Messrs Mme Mlle Hr Fr Capt Cmdr Col Cpl Gen Gov Hon Lt Maj "
    "Pres Pvt Rep Rev Sen Sgt Supt Dipl Ing Sra Srta Dra"
)
_LINKS = "v vs cf Cf viz ca approx incl excl bzw bzgl inkl exkl vgl Vgl av Av Sig Dott EE"
# Abbreviations behind a name; before an ideograph the sentence continues, too.
_AFTER_NAME = "al bros co corp inc jr llc ltd plc sr"
_COUNTED = (
    "n no nos nr al art app c ch chap ed eq eqs ext fig figs fn op p para pp pt reg rm sec sect tab tel "
    "vol jan feb mar apr jun jul aug sep sept oct nov dec abs kap max min avg est ver"
)
_INITIALLED = (
    "a and as at by dear for from in of or that the to was when who with & und von "
    "de del di da do du des et y e à con por par per"
)
_ORDINAL = "ab am bis dem den der des im seit vom zum"
TITLES = frozenset(_TITLES.split())
"""Abbreviated titles before a name, without the full stop."""
_BEFORE_CAPITAL = frozenset((*TITLES, *map(str.upper, TITLES), *_LINKS.split()))
_BEFORE_NUMBER = frozenset((*_COUNTED.split(), *_LINKS.split()))
BEHIND_NAME = frozenset(_AFTER_NAME.split())
"""Abbreviations behind a name, in small letters and without the full stop."""
_ABBREVIATED = _BEFORE_CAPITAL | _BEFORE_NUMBER | BEHIND_NAME
_BRACKETS = ("(", "（")
_SPANISH = ("¿", "¡")  # which begin a question and an exclamation
_SHORT = re.compile(r"[^\W\d_]{1,4}|[A-Z][a-z]{1,4}|(?:[^\W\d_]{1,4}\.)+[^\W\d_]{1,4}")
# The word before a stop, with the one before that: "by" and "J" of "by J. Poe".
_LAST_WORDS = re.compile(
    r"(?:(?P<before>[^\s(（\"'“‘]+)[\s(（\"'“‘]+|^|(?<=[\s(（\"'“‘，、；：。])|(?<=[\u3400-\u9fff])(?=[\w.]{3}))"
    r"(?P<word>(?:[^\W\u3400-\u9fff]|\.)+)\.$"
)
_DOTTED = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
# The next letter of an abbreviation with blanks ("z. B."), perhaps unfinished at the end of the text.
_LETTER = re.compile(r" ?[^\W\d_](?:\.|\Z)")
_HALF_OF_DAY = frozenset({"a.m", "p.m"})
# What may follow a time of day in the same sentence: "UTC", "Monday and …", "Jan. 5", "Beijing time", "Christmas Eve",
# perhaps unfinished at the end of the text. A day before a verb begins the next sentence ("Monday is …").
_OF_TIME = re.compile(
    r"""\s+(?:[A-Z]{2,5}(?!\w)
    |(?:(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Eastern|Central|Mountain|Pacific)s?
       |(?:Mon|Tue|Tues|Wed|Thu|Thur|Thurs|Fri|Sat|Sun)\b\.?
       |(?:[A-Z][\w'’]*\s+){1,3}(?:[Tt]ime|Day|Eve))
     (?=\s*(?:\Z|\n|[^\w\s]|\d|[A-Z][a-z]+\s+\d
       |(?:and|or|to|through|till|until|at|in|on|for|from|if|when|while|with|except|only|but|time|UTC|GMT|it|we|you|they|the
         |(?:morning|afternoon|evening|night)s?)\b))
    |(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?\s+\d
    |(?:[A-Z][\w'’]*\s+){0,2}[A-Z][\w'’]*\s*\Z)""",
    re.VERBOSE,
)
_OF_TIME_CHARS = 60
_TIME_TAIL = re.compile(rf"\b[ap]\.m\.[^\n]{{0,{_OF_TIME_CHARS}}}\Z", re.IGNORECASE)
# Words behind which a letter is an initial ("by J. Poe"); behind a noun it is a label ("flat A.").
_BEFORE_INITIAL = frozenset(_INITIALLED.split())
# German dates: the day is an ordinal ("am 5. September").
_BEFORE_ORDINAL = frozenset(_ORDINAL.split())
# What may follow "no.", "sec." and the like instead of a number: a code with figures, or a Roman number.
_CODE = re.compile(r"(?=[\w./-]{0,11}\d)[^\W\d_]|(?:[IVXLC]{2,11}|[VX])(?!\w)")
_UNFINISHED = re.compile(r"(?<![\w./-])[^\W\d_][\w./-]{0,11}\Z")
_CODE_CHARS = 12
_BAR = "|"  # between the cells of a row
# A stop at the end, behind it only marks: quotes, brackets, stars.
_ENDED = re.compile(r"[。！？.!?…]\W*$")
# Nothing, or the number of a heading or of an item.
_OPENING = re.compile(r"\s*+(?:[#>*-]*+\s*+\d{1,3}\.)?")
# The characters of a stop and of the quotes and reference marks behind it.
_STOPPING = ".!?…。！？\"'”’」』）》)]»«›‹ \xa0\u202f\t\r\n[0123456789,–-"
# Characters of two words and their dots; the limit keeps a long text linear.
_LOOK_BACK = 40
_SPACE = re.compile(r"\s*")


def find_undecided(text: str) -> int:
    """Return the offset up to which the sentences of a growing text are final: its last stop, or its end."""
    unfinished = _TIME_TAIL.search(text, max(len(text) - _OF_TIME_CHARS - len("a.m."), 0))
    unfinished = unfinished or _UNFINISHED.search(text, max(len(text) - _CODE_CHARS, 0))
    return len(text[: unfinished.start() if unfinished else None].rstrip(_STOPPING))


def sentence_end(text: str, start: int = 0, since: int = 0) -> int | None:
    """Return the offset just behind the first sentence that begins at `start`, stop included.

    `since` saves searching a growing text again: no stop before it ends the sentence.

    `None` when no sentence ends in `text[start:]`. The end of the text ends a sentence only behind a stop.
    """
    return next(_ends(text, start, since), None)


def _ends(text: str, start: int, since: int) -> Iterator[int]:
    """Yield the end offset of each sentence, the first of which begins at `start`."""
    for stop in _END.finditer(text, max(start, since)):
        end = stop.end()
        if not _ends_plainly(text, start, stop) and (
            _goes_on(text, start, stop) or _OPENING.fullmatch(text, start, end)
        ):
            continue
        yield end
        start = end


def _ends_plainly(text: str, start: int, stop: re.Match[str]) -> bool:
    """Return whether a capital follows a common word and its full stop; for speed, since most sentences end so."""
    at, end = stop.span()
    word = text[max(start, text.rfind(" ", start, at) + 1) : at]
    return (
        end == at + 1
        and text[at] == "."
        and text[end : end + 1] == " "
        and text[end + 1 : end + 2].isupper()
        and len(word) > 1
        and word.islower()
        and word.isalpha()
        and word.isascii()
        and word not in _ABBREVIATED
        and not text[start:at].lstrip().startswith(_BAR)
    )


def _goes_on(text: str, start: int, stop: re.Match[str]) -> bool:
    """Return whether the sentence from `start` continues behind a stop.

    The words before the stop and the first character behind it decide; behind "no." the first word, behind "a.m." a
    few words. So a growing text can be cut as soon as these are there. A row of a table is one sentence.
    """
    following = _following(text, stop.end())
    if "\n" not in stop[0] and (following == _BAR or _first(text, start) == _BAR):
        return True
    if not stop[0].endswith(".") or stop[0].startswith(".."):
        return following.islower() and stop[0][-1] in ".…\"'”’)]»«›‹"
    last = _LAST_WORDS.search(text[max(start, stop.start() - _LOOK_BACK) : stop.end()])
    if last is None:
        return following.islower()
    if following.islower():
        return _SHORT.fullmatch(last["word"]) is not None and not _first(text, start).islower()
    end, word, lower = stop.end(), last["word"], last["word"].lower()
    # A code, a day or zone, or another letter ("z. B.") may be unfinished at the end of the text.
    return bool(
        (following.isalpha() and lower in _BEFORE_NUMBER and _names_code(text, end))
        or (lower in _HALF_OF_DAY and _OF_TIME.match(text, end, end + _OF_TIME_CHARS))
        or (len(word) == 1 and word.islower() and _LETTER.match(text, end))
        or _is_shortened(word, last["before"] or "", following)
    )


def _names_code(text: str, end: int) -> bool:
    """Return whether a code follows, perhaps unfinished at the end of the text."""
    space = _SPACE.match(text, end)
    at = space.end() if space else end
    return bool(_CODE.match(text, at) or _UNFINISHED.match(text, at))


def _first(text: str, start: int) -> str:
    """Return the first character from `start` that is no white space."""
    space = _SPACE.match(text, start)
    return text[space.end() : space.end() + 1] if space else ""


def _following(text: str, end: int) -> str:
    """Return the first character behind white space from `end`, empty at the end of a paragraph."""
    space = _SPACE.match(text, end)
    return "" if space is None or "\n" in space[0] else text[space.end() : space.end() + 1]


def _is_shortened(word: str, before: str, following: str) -> bool:
    """Return whether the full stop behind `word` marks an abbreviation, given the words around it."""
    lower = word.lower()
    if word.isdecimal():
        return len(word) <= 2 and before.lower() in _BEFORE_ORDINAL and following.isalpha()
    if _DOTTED.fullmatch(word):
        begins = following.isalpha() or following in _SPANISH
        return lower not in _HALF_OF_DAY or not begins or has_cjk(following)
    if (lower in BEHIND_NAME and (has_cjk(following) or following in _BRACKETS)) or (
        len(word) == 1
        and before[:1].islower()
        and _LETTER.fullmatch(before)
        and (word.isupper() or following.isdecimal())
    ):
        return True
    if len(word) == 1 and word.isupper():
        is_unit = before[-1:].isdecimal()  # "It runs at 24 V. The cable …"
        return before in _BEFORE_INITIAL or not (before[:1].islower() or is_unit)
    if following.isdecimal():
        return lower in _BEFORE_NUMBER or word in _BEFORE_CAPITAL
    return word in _BEFORE_CAPITAL


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return `(start, end)` of every sentence, in order, without surrounding white space.

    The spans do not overlap, and leave out only white space.
    """
    spans = []
    start = 0
    for end in (*_ends(text, 0, 0), len(text)):
        sentence = text[start:end]
        if stripped := sentence.strip():
            begin = start + sentence.index(stripped)
            spans.append((begin, begin + len(stripped)))
        start = end
    return spans


def is_ended(text: str) -> bool:
    """Return whether a text ends as a sentence does."""
    return _ENDED.search(text) is not None


def end_sentence(text: str, *, chinese: bool | None = None) -> str:
    """Append a full stop to a text, unless it ends as a sentence does.

    Args:
        text: a clause or sentences.
        chinese: whether the stop is a Chinese one; None: if the text has ideographs.
    """
    if is_ended(text):
        return text
    return text + ("。" if (has_cjk(text) if chinese is None else chinese) else ".")
