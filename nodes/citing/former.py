"""Which values of a text were so once and are no more: 20 EUR until 2023, 25 since; moved from 1 to 15 May; 原定3月1日，改为3月8日."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from sextant.nodes.citing.terms import terms_of
from sextant.text.characters import plain_of
from sextant.text.units import ORDINAL, WEEKDAY, FoundValue, TextValue
from sextant.text.values import normalise_values

_FORMERLY = re.compile(
    r"\b(?:until|till|formerly|previously|originally|initially|before(?=:)|used to|had been|(?:was|were) (?:planned|scheduled|due))\b|原(?:[定为价先本]|计划)|曾|此前|以前|之前"
)
_ONCE = re.compile(rf"{_FORMERLY.pattern}|\b(?:was|were)\b")
_NOW = re.compile(
    r"\b(?:since|now|currently|as of|is|are|ha(?:s|ve) been)\b|起|现(?=[在为行已])|目前"
)
_CHANGE_ZH = re.compile(
    r"[^，。；\d]{0,6}[改调变移延推升涨增降减缩提追转][^，。；\d]{0,4}[为到至成][^，。；\d]{0,3}"
)
_CHANGED = re.compile(
    r"\b(?:ris|rose|rais|increas|gr[eo]w|f[ae]ll|reduc|lower|cut|drop|decreas|mov|chang|postpon|shift|delay|extend|shorten|reschedul|went|goes|going)\w*"
    rf"|{_CHANGE_ZH.pattern}"
)
_FROM = re.compile(r"\bfrom\s*\Z|[由从][^，。；\d]{0,4}\Z")
_TO = re.compile(r"\s*to\s*|[^，。；\d]{1,8}[为到至成][^，。；\d]{0,3}")
_UNTIL = re.compile(r"\s*[-–—~至到]\s*")
REFERS_BACK = re.compile(r"\b(?:it|them|they|this|these)\b|[该其此]")


def is_of_past(text: str) -> bool:
    """Return whether a text says or asks what was so once, or what is so at a certain time."""
    plain, found = plain_of(text), normalise_values(text)
    if _ONCE.search(plain) or _find_changes(plain, found):
        return True
    dated = [one.value.date is not None for one in found]
    return any(dated) and not all(dated) and not _NOW.search(plain)


def find_former(clauses: Sequence[tuple[int, str]]) -> list[frozenset[TextValue]]:
    """Return of each clause, which comes with the number of its sentence, the values that others have replaced."""
    texts = [plain_of(text) for _, text in clauses]
    values = [normalise_values(text) for _, text in clauses]
    former = [set(_find_changes(text, found)) for text, found in zip(texts, values, strict=True)]
    for at, (sentence, _) in enumerate(clauses):
        for behind in range(at + 1, len(clauses)):
            if clauses[behind][0] > sentence + 1:
                break
            for one, other in _competing(values[at], values[behind]):
                if _is_replaced(
                    one, other, (texts[at], texts[behind]), (values[at], values[behind])
                ):
                    former[at].add(one.value)
                elif (
                    _FORMERLY.search(texts[behind])
                    and not _ONCE.search(texts[at])
                    and _continues(texts[at], texts[behind], other)
                ):
                    former[behind].add(other.value)
    return [_with_dates(one, some) for one, some in zip(former, values, strict=True)]


def is_replaced(clauses: Sequence[str], stated: Sequence[bool]) -> bool:
    """Return whether all clauses that state something say that it was so once, and another what is so now: 原定…，改为…."""
    once = [_FORMERLY.search(clause) is not None for clause in clauses]
    now = [bool(_CHANGED.search(clause) or _NOW.search(clause)) for clause in clauses]
    return (
        any(stated)
        and all(one for one, says in zip(once, stated, strict=True) if says)
        and any(is_now and not one for one, is_now in zip(once, now, strict=True))
    )


def _with_dates(former: set[TextValue], found: Sequence[FoundValue]) -> frozenset[TextValue]:
    """Return replaced values with the dates of their clause, which are theirs where it says no other value."""
    left = [one.value for one in found if one.value not in former]
    are_theirs = any(not one.date for one in former) and all(one.date for one in left)
    return frozenset([*former, *left] if are_theirs else former)


def _competing(
    values: Sequence[FoundValue], others: Sequence[FoundValue]
) -> list[tuple[FoundValue, FoundValue]]:
    """Return pairs of values of one kind; dates only where no others are, whose dates they would be."""
    pairs = [
        (one, other)
        for one in values
        for other in others
        if one.value.unit == other.value.unit not in {ORDINAL, WEEKDAY}
        and not one.value.matches(other.value)
    ]
    return [pair for pair in pairs if not pair[0].value.date] or pairs


def _is_replaced(
    one: FoundValue,
    other: FoundValue,
    texts: tuple[str, str],
    values: tuple[Sequence[FoundValue], Sequence[FoundValue]],
) -> bool:
    text, behind = texts
    changed, once = _CHANGED.search(behind), _ONCE.search(text)
    if one.value.date:
        return bool(once and changed)
    is_dated = _NOW.search(behind) and all(
        any(found.value.date for found in some) for some in values
    )
    return bool(once or is_dated) and bool(
        changed or (_NOW.search(behind) and _continues(text, behind, other))
    )


def _continues(text: str, behind: str, value: FoundValue) -> bool:
    """Return whether what stands ahead of a value names nothing that the clause before it does not."""
    ahead = behind[: value.start]
    names = terms_of(_FORMERLY.sub(" ", _CHANGED.sub(" ", _NOW.sub(" ", ahead))))
    return bool(REFERS_BACK.search(ahead)) or set(names) <= set(terms_of(text))


def _find_changes(plain: str, found: Sequence[FoundValue]) -> list[TextValue]:
    """Return what values of one clause were before they changed: raised from 20 to 25, 由50元调整为60元, 60元（原为50元）."""
    former = list[TextValue]()
    for at, (one, other) in enumerate(pairwise(found)):
        if one.value.unit != other.value.unit or one.value.matches(other.value):
            continue
        between = plain[one.end : other.start]
        is_from = _FROM.search(plain[: one.start]) and _CHANGED.search(plain)
        if _FORMERLY.search(between):
            former.append(other.value)
        elif _CHANGE_ZH.fullmatch(between) or (is_from and _TO.fullmatch(between)):
            former.append(one.value)
            if at and _UNTIL.fullmatch(plain, found[at - 1].end, one.start):
                former.append(found[at - 1].value)
    return former
