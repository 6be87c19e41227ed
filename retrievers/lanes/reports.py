"""The lanes of `global`: reports of communities, and the passages behind their findings."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from domain.retrieval import ItemKind, LaneScore, RetrievedItem
from retrievers.index.lexical import LexicalIndex
from retrievers.index.report_index import NearReport, Report
from retrievers.index.scope_index import ScopeIndex
from retrievers.index.sparse import Floats
from retrievers.index.terms import terms
from retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery
from retrievers.lanes.reading import QuestionReader, Reading, best_passages
from retrievers.lanes.surroundings import surroundings
from retrievers.ranking.mixing import Ranking, fit_of
from retrievers.ranking.normalising import min_max, scaled
from stores.graph.arrays import places_of

REPORTS = "reports"
GLOBAL = "global"
NO_COMMUNITIES = (
    "知识库还没有社区报告，全局检索按关键词与相似度返回原文；运行 `sextant communities build` 生成"
)

NOT_FILTERED = "社区报告概括全库，无法按条件筛选，本次结果不含社区报告"

_NEAREST = 24
_CHOSEN = 6
# Below this share of the best report's score a report is about something else.
_LEAST_SHARE = 0.4
# A report repeats a better one when so much of what it is about is covered already.
_REPEATS = 0.5
# Findings of a report count from 1 down to this for the last.
_LAST_FINDING = 0.5
_LEAST_FIT = 0.3
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class ScoredReport:
    """A report, how well it fits the question (0..1), and where each lane put it."""

    report: Report
    score: float
    lanes: Mapping[str, LaneScore]


@dataclass(frozen=True, slots=True)
class ReportsLane:
    """Reports that fit the question, from whichever level of the hierarchy says it best.

    Relevance is the mean of meaning (cosine, relative to the best and the least of the nearest) and
    words (share of the question's information), weighted by the report's rating. A report that is
    about much the same as a better one, such as its parent, is left out, so that a broad question
    takes coarse reports and a narrow one fine ones (dynamic selection as in GraphRAG, Edge et al.
    2024, arXiv 2404.16130, but without a model's judgement at every node).
    """

    reader: QuestionReader
    name: str = REPORTS

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """The best reports as items."""
        chosen = await self.reader.ask(query, partial(_chosen, query))
        return [as_report(one) for one in chosen]


@dataclass(frozen=True, slots=True)
class GlobalLane:
    """Reports, their key entities, and the passages that their findings rest on.

    A passage scores by the best finding that rests on it and as much by its own fit to the question. While
    a knowledge base has no reports, passages come by words, meaning and relation types alone.
    """

    reader: QuestionReader
    name: str = GLOBAL

    async def search(self, query: LaneQuery) -> list[RetrievedItem]:
        """Choose reports, then find what they rest on."""
        return await self.reader.ask(query, partial(_found, query))


def _found(query: LaneQuery, reading: Reading) -> list[RetrievedItem]:
    if not reading.index.chunk_ids:
        return []
    if not reading.index.reports.reports:
        query.warn(NO_COMMUNITIES)
    chosen = _chosen(query, reading)
    ranking = _evidence(reading, chosen)
    return [
        *map(as_report, chosen),
        *best_passages(query, reading, ranking, by=REPORTS),
        *surroundings(reading.index, ranking.entities),
    ]


def as_report(scored: ScoredReport) -> RetrievedItem:
    """A report as an item; `metadata.findings` keeps each finding with the chunks it rests on."""
    report = scored.report.community
    return RetrievedItem(
        ItemKind.COMMUNITY,
        id=str(report.id),
        text=f"{report.title}\n{report.summary}".strip(),
        score=max(scored.score, _LEAST),
        lanes=scored.lanes,
        metadata=dict(scored.report.metadata),
    )


def _chosen(query: LaneQuery, reading: Reading) -> list[ScoredReport]:
    """The best that do not repeat each other, at most `_CHOSEN`; without vectors, by words alone.

    None where the question has filters: a report tells of passages that they may keep out.
    """
    if query.filters is not None:
        query.warn(NOT_FILTERED)
        return []
    hits = reading.index.reports.near(reading.vector, _NEAREST)
    scored = sorted(
        _scored(reading.index.lexical, query.text, hits),
        key=lambda one: (-one.score, one.report.community.id),
    )
    least = _LEAST_SHARE * max((one.score for one in scored), default=0.0)
    chosen: list[ScoredReport] = []
    covered: set[int] = set()
    for one in scored:
        members = one.report.members
        if one.score >= max(least, _LEAST) and len(members & covered) <= _REPEATS * len(members):
            chosen.append(one)
            covered |= members
        if len(chosen) == _CHOSEN:
            break
    return chosen


def _scored(
    lexical: LexicalIndex, question: str, hits: Sequence[NearReport]
) -> Iterator[ScoredReport]:
    asked = {term: lexical.information_of_term(term) for term in set(terms(question))}
    whole = sum(asked.values()) or 1.0
    cosines = [hit.cosine for hit in hits]
    most = max(cosines, default=0.0)
    nears = min_max(cosines).tolist() if most > 0 else [0.0] * len(hits)
    words = [_said(hit.report, asked) / whole for hit in hits]
    by_meaning, by_words = _ranks(cosines), _ranks(words)
    for place, hit in enumerate(hits):
        fit = (nears[place] + words[place]) / 2
        lanes = {KEYWORD: LaneScore(by_words[place], words[place])}
        if most > 0:
            lanes[VECTOR] = LaneScore(by_meaning[place], hit.cosine)
        rating = min(max(hit.report.community.rating, 0.0), 10.0) / 10
        yield ScoredReport(hit.report, fit * (1 + rating) / 2, lanes)


def _said(report: Report, asked: Mapping[str, float]) -> float:
    return sum(information for term, information in asked.items() if term in report.words)


def _ranks(scores: Sequence[float]) -> list[int]:
    rising = sorted(scores)
    return [1 + len(rising) - bisect_right(rising, score) for score in scores]


def _evidence(reading: Reading, chosen: Sequence[ScoredReport]) -> Ranking:
    """Passages by the findings that rest on them, entities by the reports that they belong to."""
    walk, index = reading.index.walk, reading.index
    fit = fit_of(walk, reading.evidence)
    passages = np.zeros_like(fit)
    entities: Floats = np.zeros(len(index.entities), np.float32)
    for report in chosen:
        worths = _worths(report, index, fit)
        if worths:  # each report brings its best passage, so that the passages are as broad as they
            worths[max(worths, key=lambda row: worths[row])] = report.score
        for row, worth in worths.items():
            passages[row] = max(passages[row], worth)
        members = index.entities.rows_of(report.report.member_ids)
        common = 1 - walk.information[members] + np.float32(_LEAST)
        entities[members] = np.maximum(entities[members], report.score * common)
    return Ranking(scaled(passages) + fit, entities, fit)


def _worths(report: ScoredReport, index: ScopeIndex, fit: Floats) -> dict[int, float]:
    """Of each passage that the report's findings rest on: earlier findings and better fit count more."""
    worths: dict[int, float] = {}
    count = len(report.report.community.findings)
    rows = places_of(index.chunk_ids.halves, report.report.finding_chunks)
    for row, place, own in zip(
        rows.tolist(), report.report.finding_places, fit[rows].tolist(), strict=True
    ):
        if row >= 0:
            weight = report.score * (1 - (1 - _LAST_FINDING) * place / count)
            worth = weight * (_LEAST_FIT + (1 - _LEAST_FIT) * own)
            worths[row] = max(worth, worths.get(row, 0.0))
    return worths
