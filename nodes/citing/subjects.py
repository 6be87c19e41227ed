"""Which words of a statement say what its value is of, and which of them stand in the place of another's.

"The notice period is three months" answers a question for the probation period with the name of something else. Two
texts are compared word by word: where both have the same word and what stands ahead of it differs, one thing was
named for another, whatever the words are.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from sextant.nodes.citing.terms import CODE, is_filler, terms_of, without_accents
from sextant.text.characters import IDEOGRAPHS, plain_of
from sextant.text.number_words import chinese_number
from sextant.text.segmenter import cut_tagged_words
from sextant.text.stopwords import ENGLISH_STOP_WORDS
from sextant.text.units import WEEKDAY, rates_in
from sextant.text.values import normalise_values
from sextant.text.word_forms import stem

_TOKEN = re.compile(
    rf"{CODE.pattern}|[a-z]+(?:-[a-z]+)+|[^\W_{IDEOGRAPHS}]+(?:['’][a-z]+)?|[{IDEOGRAPHS}]+"
)
# What tells things of one name apart: type 2, 套餐B; "a" and "i" are words as well, but not in capitals behind a name.
_MARK = re.compile(r"\d+|[a-z]|i{2,3}|iv|vi{1,3}|ix")
_CAPITAL_LETTER = re.compile(r"(?P<word>[A-Za-z]{2,})[ -](?P<mark>[AI])(?![\w'’])")
_ARTICLE_LETTER = re.compile(r"(?<![一-鿿])[ai](?![一-鿿])")
_ARTICLE = re.compile(r"(?<![a-z])(?:an?|the|its|his|her|their|your|our|my|this|that)\s*\Z")
_PRONOUN = re.compile(r"(?<![a-z])(?:it|they|he|she|we|you|i|who|which)\s+\Z")
_TAKES_OBJECT = re.compile(
    r"\s*(?:an?|the|its|his|her|their|your|our|my|any|no|every|each|than|it|them|him)(?![a-z])"
)
_COPULA = re.compile(r"(?<![a-z])(?:is|are|was|were|be|been|equals?|of)(?![a-z])|[:：=是为即]|等于")
_AUXILIARIES = re.compile(
    r"[\s-]*(?:(?:is|are|was|were|be|been|do|does|did|has|have|had|can|may|must|shall|should|will)(?![a-z])\s*)*"
)
# Lighter than gold: in the place of "heavier" it says the opposite.
_THAN = "than"
# The symptoms of a stroke, 中风的症状.
_OF = re.compile(r"\s+of\s+(?:(?:an?|the)\s+)?|\s*的\s*")
# 第二次, 二级: a number that tells things of one kind apart, whichever way it is written.
_LABEL = re.compile(
    r"第\s?(?P<nth>\d{1,3}|[一二三四五六七八九十]{1,3})|(?P<grade>\d{1,2}|[一二三四五六七八九十]{1,2})\s?(?P<kind>[级档审期线类型等代])"
)
# What a value is called by what it measures, whatever it is of.
_MEASURES = re.compile(
    r"amount|sum|price|cost|fee|charg|total|valu\w*|duration|length|term|period|time|number|count|quantit\w*|rate|share|percentag\w*"
    r"|level|limit|figur\w*|weight|height|width|distans|.*(?:金额|数额|总额|价格|价钱|价款|费用|期限|时长|时间|期间|周期|数量|总数|人数|比例|比率|标准|额度|限额|上限|下限)"
)
# What the segmenter joins with the word ahead of it; with one of a single character 于 is a word.
_JOINED = re.compile(r".+[是为]|..+于")
# jieba's tags of nouns, short forms and places.
_NOUNS = ("n", "j", "s")


@dataclass(frozen=True, slots=True)
class SubjectWord:
    """A word of content, as it stands in a statement.

    Attributes:
        text: the word; of a bare number its digits.
        term: its term.
        joined: of a number or a letter, which tell things apart, itself with its neighbours: type1, 1型.
        behind: what stands between it and the next word or value.
        is_predicate: whether it relates a subject to a value or an object, and names neither.
        is_verb: of a Chinese word whether it is tagged as a verb.
        is_attribute: whether a value is said to be it: "the penalty is 10 %".
        is_ahead: whether it stands ahead of the first value.
    """

    text: str
    term: str
    joined: tuple[str, ...]
    behind: str
    is_predicate: bool
    is_verb: bool
    is_attribute: bool
    is_ahead: bool

    @property
    def is_mark(self) -> bool:
        """Return whether it is a number or a letter: the 1 of "type 1"."""
        return bool(self.joined)

    @property
    def is_label(self) -> bool:
        """Return whether it tells things apart by itself: 第二, 二线."""
        return self.joined == (self.text,)

    @property
    def is_measure(self) -> bool:
        """Return whether it says only what is measured: the amount, 期限."""
        return _MEASURES.fullmatch(self.term) is not None

    @property
    def joins_next(self) -> bool:
        """Return whether it makes one name together with the word behind it."""
        return not self.behind.strip(" -")


@dataclass(frozen=True, slots=True)
class _Token:
    start: int
    end: int
    text: str = ""
    term: str = ""
    tag: str = ""
    is_value: bool = False


@lru_cache(maxsize=1024)
def subject_words(text: str) -> tuple[SubjectWord, ...]:
    """Return the words of content of a text in their order."""
    plain = without_accents(plain_of(text))
    letters = _letter_marks(text) if len(plain) == len(text) else frozenset[int]()
    tokens = sorted(_tokens(plain, letters), key=lambda one: one.start)
    values = [one.start for one in tokens if one.is_value]
    numbers = [one.start for one in tokens if one.text.isdigit()]
    first = next(iter([*values, *numbers[::-1]]), 0)
    around = zip([None, *tokens], tokens, [*tokens[1:], None], strict=False)
    return tuple(
        _word(plain, before, token, after, first) for before, token, after in around if token.term
    )


def _word(
    plain: str, before: _Token | None, token: _Token, after: _Token | None, first: int
) -> SubjectWord:
    start, end = before.end if before else 0, after.start if after else len(plain)
    ahead, behind = plain[start : token.start], plain[token.end : end]
    takes_value = after is not None and after.is_value
    is_named = _COPULA.search(behind) is not None or (
        token.tag.startswith(_NOUNS) and not behind.strip()
    )
    is_attribute = takes_value and is_named
    if token.text.isascii():
        is_verb = takes_value or _TAKES_OBJECT.match(behind) is not None
        relates = (is_verb and not _ARTICLE.search(ahead)) or _PRONOUN.search(ahead) is not None
    else:
        follows_value = before is not None and before.is_value
        relates = (takes_value or follows_value) and not token.tag.startswith(_NOUNS)
    return SubjectWord(
        text=token.text,
        term=token.term,
        joined=_join_marks(plain, before, token, after),
        behind=behind,
        is_predicate=relates and not is_attribute,
        is_verb=token.tag.startswith("v"),
        is_attribute=is_attribute,
        is_ahead=token.start < first,
    )


def _join_marks(
    plain: str, before: _Token | None, token: _Token, after: _Token | None
) -> tuple[str, ...]:
    if _LABEL.fullmatch(token.text):
        return (token.text,)
    if not _MARK.fullmatch(token.text):
        return ()
    with_last = [_compact(plain[before.start : token.end])] if before else []
    with_next = [_compact(plain[token.start : after.end])] if after else []
    return (*with_last, *with_next)


def _letter_marks(text: str) -> frozenset[int]:
    """Return where A and I are marks: in capitals behind a word that they tell apart, Plan A, Class I."""
    found = _CAPITAL_LETTER.finditer(text)
    return frozenset(
        one.start("mark") for one in found if one["word"].lower() not in ENGLISH_STOP_WORDS
    )


def _tokens(plain: str, lettered: Collection[int]) -> Iterator[_Token]:
    """Yield the words of content and the values of a text; a number without a unit is a word, a letter at `lettered` a mark."""
    letters = list(plain)
    for label in _LABEL.finditer(plain):
        yield _Token(*label.span(), _number_pattern(label), _number_pattern(label), "m")
        letters[label.start() : label.end()] = " " * len(label[0])
    for found in normalise_values(plain):
        value = found.value
        if value.unit == WEEKDAY or letters[found.start] == " ":
            continue
        digits = "" if value.unit else str(value.number)
        is_mark = digits.isdigit()
        yield (
            _Token(found.start, found.end, digits, digits)
            if is_mark
            else _Token(found.start, found.end, is_value=True)
        )
        letters[found.start : found.end] = " " * (found.end - found.start)
    for start, end in rates_in(plain):
        if " " in plain[start:end]:
            letters[start:end] = " " * (end - start)
    for run in _TOKEN.finditer("".join(letters)):
        at = run.start()
        for word, tag in [(run[0], "")] if run[0].isascii() else _whole_words(run[0]):
            is_mark = bool(_MARK.fullmatch(word)) and (
                at in lettered or not _ARTICLE_LETTER.match(plain, at)
            )
            term = (
                word if is_mark or "-" in word else next(iter(terms_of(word)), "") or _adverb(word)
            )
            if term:
                yield _Token(at, at + len(word), word, term, tag)
            at += len(word)


def _whole_words(run: str) -> list[tuple[str, str]]:
    """Return the words of a Chinese text with their tags; 犹豫, 期是 as 犹豫期 and 是."""
    cut = [
        piece
        for word, tag in cut_tagged_words(run)
        for piece in (
            [(word[:-1], tag), (word[-1], "")] if _JOINED.fullmatch(word) else [(word, tag)]
        )
    ]
    words = list[tuple[str, str]]()
    for (word, tag), (behind, _) in pairwise([*cut, ("", "")]):
        is_suffix = len(word) == 1 and terms_of(word) and not (behind and terms_of(behind))
        if is_suffix and words and terms_of(words[-1][0]):
            words[-1] = (words[-1][0] + word, "n")
        else:
            words.append((word, tag))
    return words


def _number_pattern(label: re.Match[str]) -> str:
    number = label["nth"] or label["grade"]
    digits = int(number) if number.isdigit() else chinese_number(number)
    return f"第{digits}" if label["nth"] else f"{digits}{label['kind']}"


def _compact(text: str) -> str:
    return re.sub(r"[\s-]+", "", _LABEL.sub(_number_pattern, text))


def contains_mark(text: str, word: SubjectWord) -> bool:
    """Return whether a number or a letter stands in a plain text beside the same word as in its statement."""
    compact = _compact(text)
    return any(one in compact for one in word.joined)


def _adverb(word: str) -> str:
    """Return a word that says how often, which is no term where it counts by a period: the monthly fee."""
    return stem(word) if word.isascii() and rates_in(word) else ""


def find_swapped(statement: str, other: str) -> frozenset[str]:
    """Return the terms of a statement that stand ahead of the same word as another term of the other text does.

    Of numbers and of what a value is said to be also those behind the same word: Heron 4 for Heron 3.
    """
    mine, its = subject_words(statement), subject_words(other)
    there = {one.term for one in its}
    slots = defaultdict[tuple[str, str], set[str]](set)
    for slot, term in _slots(its, is_stated=False):
        slots[slot].add(term)
    stated = list(_slots(mine, is_stated=True))
    shared = {(slot, term) for slot, term in stated if term in slots[slot]}
    filled = {slot for slot, _ in shared}
    # What stands in its own place on both sides was not moved into another's.
    moved = {one.term for one in mine} - {term for _, term in shared}
    return frozenset(
        term
        for slot, term in stated
        if term not in there
        and slots[slot]
        and slot not in filled
        and slots[slot].isdisjoint(moved)
    )


def find_owners(text: str) -> Mapping[str, frozenset[str]]:
    """Return by a thing's term the terms of what it is said to be of: stroke by symptom, of "symptoms of a stroke"."""
    found = defaultdict[str, set[str]](set)
    for word, next_word in pairwise(subject_words(text)):
        if _OF.fullmatch(word.behind):
            owner, owned = (next_word, word) if word.text.isascii() else (word, next_word)
            found[owned.term].add(owner.term)
    return {owned: frozenset(owners) for owned, owners in found.items()}


def _slots(
    words: Sequence[SubjectWord], *, is_stated: bool
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield each word by the one that it stands beside, and by what stands between."""
    for word, head in pairwise(words):
        gap = _gap(word, head)
        if gap == _THAN or (gap is not None and not word.is_predicate):
            yield (f"{gap}>", head.term), word.term
        if word.joins_next and (head.is_mark or head.is_attribute or not is_stated):
            yield ("<", word.term), head.term


def _gap(word: SubjectWord, head: SubjectWord) -> str | None:
    """Return what stands between two words beside fillers and auxiliaries; None: they make no phrase."""
    if head.text.isascii():
        if word.behind.strip() == _THAN:
            return _THAN
        return "" if _AUXILIARIES.fullmatch(word.behind) else None
    between = word.behind
    return "".join(
        one for one in between if one != "的" and not one.isspace() and not is_filler(one)
    )


def find_misnamed(
    statement: str,
    swapped: Collection[str],
    is_vouched: Callable[[SubjectWord], bool],
    is_measure: Callable[[SubjectWord], bool],
    *,
    is_displaced: bool,
) -> SubjectWord | None:
    """Return a word that names what a value is of, and is not what the evidence says it is of; None: there is none.

    Args:
        statement: says a value.
        swapped: terms that stand in the place of others.
        is_vouched: whether the question, or what the value is said under, has a word.
        is_measure: whether a word says only what is measured.
        is_displaced: whether the statement lacks a word of the question that the evidence has.
    """
    words = subject_words(statement)
    names = [one for one in words if not (one.is_predicate or is_measure(one))]
    strange = [one for one in names if not is_vouched(one)]
    names = [one for one in names if not one.is_mark]
    if any(one.is_ahead for one in names) and all(map(strange.__contains__, names)):
        return names[0]
    for group in (_attribute(words), _first_name(words) if is_displaced else ()):
        name = [one for one in group if one in names]
        if name and all(one in strange for one in name):
            return name[-1]
    return next((one for one in strange if one.term in swapped), None)


def _first_name(words: Sequence[SubjectWord]) -> Sequence[SubjectWord]:
    """Return the words that a statement begins with and that make one name."""
    ends = (at for at, word in enumerate(words, start=1) if not word.joins_next)
    return words[: next(ends, len(words))]


def _attribute(words: Sequence[SubjectWord]) -> Sequence[SubjectWord]:
    """Return the words that make the name of what a value is said to be: "the early repayment fee is 1 %"."""
    name = list[SubjectWord]()
    for at, word in enumerate(words):
        name = [*name, word] if at and words[at - 1].joins_next else [word]
        if word.is_attribute:
            return name
    return ()
