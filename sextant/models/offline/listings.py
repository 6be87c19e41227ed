"""Lists and code in a passage, and the line that introduces them: neither says it all without the other."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.lines import MOST_ITEMS, Line, Listing, items_of, lines_of
from sextant.models.offline.passages import Span, heading_over, quotable_spans
from sextant.models.offline.scenarios import is_label, scenarios
from sextant.models.offline.wording import WORD, steps_asked, terms
from sextant.text.sentences import sentence_spans

_INTRODUCES = re.compile(r"[:：][*_]*$")


def listings(text: str) -> list[Listing]:
    """Return the lists in `text`, code that a line introduces, and scenarios.

    A list comes with the sentence above it that ends in a colon; what is indented below an item belongs to it.
    """
    lines = lines_of(text)
    found = scenarios(lines)
    for place, line in enumerate(lines):
        before = lines[place - 1] if place else None
        introduced = before is not None and _introduces(before)
        deeper = before is None or not before.is_marked or line.indent > before.indent
        if line.is_fence:
            items = _code(lines, place + 1) if introduced else ()
        elif line.is_marked and ((introduced and deeper) or before is None or not before.is_marked):
            items = _items(lines, place)
        else:
            items = ()
        if len(items) > 1 or (items and introduced):
            over = _last_sentence(text, before) if before and introduced and deeper else None
            found.append(Listing(over, items))
    return found


def steps_under_heading(item: RetrievedItem, asked: Collection[str]) -> Listing | None:
    """Return the list with which a passage begins, if its heading has one of the terms `asked`, whose steps are asked for."""
    if frozenset(asked).isdisjoint(terms(heading_over(item))):
        return None
    first = next(iter(quotable_spans(item.text)), None)
    begun = (one for one in listings(item.text) if first and one.items[0][0] == first[0])
    return next((one for one in begun if one.introduction is None), None)


def first_step(item: RetrievedItem, asked: Collection[str]) -> int | None:
    """Return where the first of these steps begins."""
    steps = steps_under_heading(item, asked)
    return steps.items[0][0] if steps else None


def with_lists_told(
    question: str, items: Sequence[RetrievedItem], spans: Sequence[Span]
) -> list[Span]:
    """Return `spans` with the whole list that the first of them introduces or is of.

    An item stands for its list where the line that introduces it is quoted, too, or where it has no word of the
    question itself: it answers by what stands over it, as all the others do. So it does where the steps are asked
    for. Longer lists are left as they are.
    """
    if not spans:
        return []
    source, start, end = spans[0]
    text = items[source].text
    ends = {end for other, _, end in spans if other == source}
    unasked = frozenset(terms(question)).isdisjoint(terms(text[start:end]))
    steps = steps_under_heading(items[source], steps_asked(question))
    few = [one for one in listings(text) if len(one.items) <= MOST_ITEMS]
    introduced = (one for one in few if one.introduction and one.introduction[1] == end)
    around = (
        one
        for one in few
        if one.holds(start)
        and (unasked or one == steps or (one.introduction and one.introduction[1] in ends))
    )
    if (listing := next(introduced, None) or next(around, None)) is None:
        return list(spans)
    told = [*filter(None, [listing.introduction]), *listing.items]
    beside = [one for one in spans if one[0] != source or not listing.holds(one[1])]
    return list(dict.fromkeys([*((source, *span) for span in told), *beside]))


def _items(lines: Sequence[Line], place: int) -> tuple[tuple[int, int], ...]:
    """Return the items of a list that begins with a line; those of lists within it, too, unless they are many."""
    first = lines[place]
    found: list[tuple[Line, int]] = []
    for line in map(lines.__getitem__, range(place, len(lines))):
        if line.is_marked and line.indent >= first.indent:
            found.append((line, line.end))
        elif line.indent > first.indent and not line.is_fence:
            found[-1] = (found[-1][0], line.end)
        else:
            break
    return items_of(found)


def _code(lines: Sequence[Line], place: int) -> tuple[tuple[int, int], ...]:
    """Return the lines of code from a line up to its end; none where it has no end here, or is longer than an answer."""
    for end, line in enumerate(lines[place : place + MOST_ITEMS + 1], place):
        if line.is_fence:
            return tuple((one.start, one.end) for one in lines[place:end])
    return ()


def _introduces(line: Line) -> bool:
    colon = "|" not in line.text and _INTRODUCES.search(line.text)
    return bool(colon and WORD.search(line.text)) and not is_label(line)


def _last_sentence(text: str, line: Line) -> tuple[int, int]:
    """Start and end of the last sentence of a line."""
    start, end = sentence_spans(text[line.begins : line.end])[-1]
    return line.begins + start, line.begins + end
