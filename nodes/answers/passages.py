"""Lay out the context of an answer within a budget of tokens: numbered passages, and relations and reports of the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

from sextant.domain.breadth import find_other_subjects
from sextant.domain.graph import CO_OCCURS
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.nodes.citing.citations import SHOWN, label_of
from sextant.nodes.citing.support import COMPUTED, TermLookup, claim_of, headings
from sextant.nodes.prompt_lines import KNOWLEDGE_TOKENS, PromptLines, format_reports
from sextant.prompts import as_data
from sextant.text.characters import estimate_tokens, language_of
from sextant.text.sentences import sentence_spans


def shares(needs: Sequence[int], weights: Sequence[float], total: int) -> list[int]:
    """Divide `total` by need: nobody gets more than it needs, and what one leaves the others get.

    Weighted max-min fairness (Bertsekas and Gallager, "Data Networks", §6.5.2): while there is
    something left, those in need divide it in proportion to their weights.

    Args:
        needs: tokens that each group would take whole.
        weights: of each group, > 0.
        total: tokens there are.

    Returns:
        Tokens for each group; together at most `total`, and `needs` itself when that fits.
    """
    given = [0] * len(needs)
    wanting = [index for index, need in enumerate(needs) if need > 0]
    left = total
    while wanting and left > 0:
        whole = sum(weights[index] for index in wanting)
        portion = {index: int(left * weights[index] / whole) for index in wanting}
        content = [index for index in wanting if needs[index] <= portion[index]]
        if not content:
            for index in wanting:
                given[index] = portion[index]
            break
        for index in content:
            given[index] = needs[index]
            left -= needs[index]
        wanting = [index for index in wanting if index not in content]
    return given


def knowledge_of(
    question: str,
    items: Sequence[RetrievedItem],
    passages: Iterable[RetrievedItem],
    tokens: float = KNOWLEDGE_TOKENS,
) -> str:
    """Return what the graph adds to the passages of a prompt: relations, then reports, one a line.

    Left out are co-occurrences, and relations between two things that share no word with the question and are in its
    language. Of a report those lines are kept that no passage or earlier line says and that share a word with the
    question; all new lines, where the question is about the documents as a whole.

    Args:
        question: what is asked.
        items: what was found, best first of each kind.
        passages: what the prompt shows.
        tokens: how many of them (estimated) there are left; no more than `KNOWLEDGE_TOKENS` are taken.
    """
    shown = (f"{item.metadata.get('title', '')}\n{item.text}" for item in passages)
    claim = claim_of(find_other_subjects(question))
    language = language_of(question)

    def speaks_of_it(text: str) -> bool:
        return not claim or bool(TermLookup(text).common_terms(claim))

    lines = PromptLines(min(tokens, KNOWLEDGE_TOKENS), shown, speaks_of_it)
    for item in items:
        if item.kind is ItemKind.RELATION and item.metadata.get("type") != CO_OCCURS:
            ends = f"{item.text.partition(' → ')[0]}\n{item.text.rpartition(' → ')[2]}"
            if language_of(ends) != language or speaks_of_it(ends):
                lines.add(item.text)
    for item in items:
        if item.kind is ItemKind.COMMUNITY:
            lines.add_report(item)
    return lines.text


_PATH_SEPARATOR = " > "  # between headings
# The part of a budget that reports get where not all fits.
_OF_REPORTS = 0.25
# How fast the shares of passages fall with their rank. An answer often stands some sentences beside the question's
# words, which count for less with each. Chosen on xquad and lihua, by answers that a prompt of 1,600 tokens still has.
_FALL = 1.5
_NEAR, _REACH = 0.8, 4
# Lines of a table that name its columns.
_HEAD = 2
# Tokens that each passage gets before they are shared out; fewer tell too little.
_LEAST_SHOWN = 60
_GAP = " … "
_GAP_COST = 2
_COMPUTED_OF_ALL = "Computed exactly over all rows of this table:"


@dataclass(frozen=True, slots=True)
class Layout:
    """What goes into a prompt: passages to be numbered from 1, and knowledge to read them by."""

    passages: list[RetrievedItem]
    knowledge: str

    @property
    def tokens(self) -> int:
        """About how many tokens it takes."""
        return sum(map(_cost, self.passages)) + estimate_tokens(self.knowledge)


def lay_out_passages(question: str, items: Sequence[RetrievedItem], tokens: int) -> Layout:
    """Fill `tokens` (estimated) with the passages of `items`, then with what the graph adds to them.

    Passages that do not fit whole are shown by their sentences that say most of the question (`SHOWN`), the better ones
    at more length. Of the rest whatever fits is in; the best passage always is.
    """
    found = [item for item in items if item.kind is ItemKind.CHUNK]
    passages, _ = with_reports(trim_passages(question, found, tokens), tokens, reports=False)
    left = tokens - sum(map(_cost, passages))
    return Layout(passages, knowledge_of(question, items, passages, left))


def trim_passages(
    question: str, passages: Sequence[RetrievedItem], tokens: int
) -> list[RetrievedItem]:
    """Return passages that together take about `tokens` (estimated), each cut to its share where it takes more.

    Shares fall with the rank, and what a short passage leaves the others get (`shares`). What came with the question
    is cut already.
    """
    needs = list(map(_cost, passages))
    if sum(needs) <= tokens:
        return list(passages)
    passages = passages[: max(1, tokens // _LEAST_SHOWN)]
    more = [max(0, need - _LEAST_SHOWN) for need in needs[: len(passages)]]
    ranks = range(1, len(passages) + 1)
    given = shares(more, [rank**-_FALL for rank in ranks], tokens - _LEAST_SHOWN * len(passages))
    cut = [_Pieces(item.text) for item in passages]
    claim = claim_of(question)
    held = Counter(term for pieces in cut for terms in pieces.common_terms(claim) for term in terms)
    everything = sum(len(pieces.texts) for pieces in cut)
    weights = {term: log(1 + everything / number) for term, number in held.items()}
    return [
        item
        if need <= share or SHOWN in item.metadata
        else _trim_passage(item, pieces, pieces.worth(claim, weights), need - share)
        for item, pieces, need, share in zip(passages, cut, more, given, strict=True)
    ]


class _Pieces:
    """A text cut at its sentences, which together are the whole text."""

    def __init__(self, text: str) -> None:
        starts = [0, *(start for start, _ in sentence_spans(text)[1:]), len(text)]
        self.texts = [text[start:end] for start, end in pairwise(starts)]
        self.costs = [estimate_tokens(piece) + _GAP_COST for piece in self.texts]
        self._lookups = list(map(TermLookup, self.texts))

    def common_terms(self, claim: frozenset[str]) -> list[frozenset[str]]:
        """Return the terms of a claim that each piece holds."""
        return [lookup.common_terms(claim) for lookup in self._lookups]

    def worth(self, claim: frozenset[str], weights: Mapping[str, float]) -> list[float]:
        """Return the worth of each piece for a claim: the weights of its terms, plus less for terms of its neighbours."""
        own = [sum(weights[term] for term in terms) for terms in self.common_terms(claim)]
        return [
            sum(
                own[other] * _NEAR ** abs(at - other)
                for other in range(max(0, at - _REACH), min(len(own), at + _REACH + 1))
            )
            for at in range(len(own))
        ]


def _trim_passage(
    item: RetrievedItem, pieces: _Pieces, worth: Sequence[float], excess: int
) -> RetrievedItem:
    """Return a passage shortened by `excess` tokens to its pieces of most worth; a table keeps its column names."""
    chosen = set(range(min(_HEAD if item.is_table else 0, len(pieces.texts))))
    left = estimate_tokens(item.text) - excess - sum(pieces.costs[at] for at in chosen)
    for at in sorted(range(len(worth)), key=lambda at: (-worth[at], at)):
        if at not in chosen and (pieces.costs[at] <= left or not chosen):
            chosen.add(at)
            left -= pieces.costs[at]
    if len(chosen) == len(pieces.texts):
        return item
    text = "".join(
        piece if at in chosen else _GAP if at and at - 1 in chosen else ""
        for at, piece in enumerate(pieces.texts)
    )
    return replace(item, metadata={**item.metadata, SHOWN: _body(item).replace(item.text, text)})


def with_reports(
    items: Sequence[RetrievedItem], tokens: int, *, reports: bool = True
) -> tuple[list[RetrievedItem], list[RetrievedItem]]:
    """Share `tokens` (estimated) between the passages and the reports of `items`; the best passage is always in.

    Reports get at least their share, and each kind what the other leaves.
    """
    passages = [item for item in items if item.kind is ItemKind.CHUNK]
    found = [item for item in items if item.kind is ItemKind.COMMUNITY] if reports else []
    fits = (at for at, item in enumerate(passages) if _cost(item) <= tokens)
    at = next(fits, 0)
    best, others = passages[at : at + 1], passages[at + 1 :]
    left = tokens - sum(map(_cost, best))
    of_reports = min(sum(map(_cost, found)), int(left * _OF_REPORTS))
    read = _fill(found, left - sum(map(_cost, _fill(others, left - of_reports))))
    return [*best, *_fill(others, left - sum(map(_cost, read)))], read


def _fill(items: Sequence[RetrievedItem], tokens: int) -> list[RetrievedItem]:
    """Return the items that fit into `tokens`, taken one after the other."""
    chosen = list[RetrievedItem]()
    for item in items:
        if (cost := _cost(item)) <= tokens:
            chosen.append(item)
            tokens -= cost
    return chosen


def number_passages(items: Sequence[RetrievedItem], numbers: Sequence[int] = ()) -> str:
    """Return the items as a prompt shows them: delimited, numbered, with where they are from.

    A passage cannot close its own delimiter, so its text stays data whatever it says. What came with
    the question is numbered by its label.

    Args:
        items: the passages.
        numbers: of each; by default from 1.
    """
    return "\n".join(
        f'<passage number="{label_of(item) or number}" from="{_attribute(origin)}">\n'
        f"{as_data(_body(item))}\n</passage>"
        for number, item, origin in zip(
            numbers or range(1, len(items) + 1), items, _origins(items), strict=True
        )
    )


def _origins(items: Sequence[RetrievedItem]) -> Iterator[str]:
    """Yield the origin of each passage, without headings that an earlier passage of its document has named."""
    named = set[tuple[str, ...]]()
    for item in items:
        document, *sections = headings(item).split(_PATH_SEPARATOR)
        paths = [(document, *sections[:length]) for length in range(1, len(sections))]
        above = max((len(path) - 1 for path in paths if path in named), default=0)
        named.update(paths)
        yield _PATH_SEPARATOR.join([document, *(["…"] if above else []), *sections[above:]])


def _cost(item: RetrievedItem) -> int:
    """Return how many tokens (estimated) an item takes in a prompt."""
    whole = item.kind is ItemKind.COMMUNITY
    return estimate_tokens(format_reports([item]) if whole else headings(item) + _body(item))


def _body(item: RetrievedItem) -> str:
    if SHOWN in item.metadata:
        return str(item.metadata[SHOWN])
    context = item.metadata.get("context")
    computed = [f"- {finding.text}" for finding in item.metadata.get(COMPUTED) or ()]
    lines = [_COMPUTED_OF_ALL, *computed] if computed else []
    return "\n".join([*filter(None, [context]), item.text, *lines])


def _attribute(text: str) -> str:
    return as_data(" ".join(text.split())).replace('"', "”")
