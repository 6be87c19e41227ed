"""The lanes over a scope's index: `mix` and `local` by personalised PageRank, `global` by community reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sextant.domain.retrieval import LEAST_SCORE, ItemKind, LaneScore, RetrievedItem
from sextant.domain.warnings import WarningCode
from sextant.retrievers.arrays import Floats, Rows, highest, min_max, scale_scores
from sextant.retrievers.index.passages import IndexedReport, ReportRows
from sextant.retrievers.lanes.entities import collect_graph_items
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery
from sextant.retrievers.lanes.query_context import LaneHits, QueryContext
from sextant.retrievers.ranking.mix_ranker import GraphRanking
from sextant.text.analysis import question_terms

WALK = "walk"

# Weight of a passage's own relevance, so that passages without mass are ordered below all others.
_RELEVANCE_SHARE = 1e-4


def best_passages(
    query: LaneQuery, context: QueryContext, ranking: GraphRanking, *, by: str = WALK
) -> list[RetrievedItem]:
    """Return the best `query.limit` passages of a ranking, without their texts.

    Fewer only if the scope has fewer. The score is the mass relative to the best passage's; passages
    without mass follow, by their relevance. `by` is the name of the mass in the items' `lanes`.
    """
    passages = len(context.index.chunk_ids)
    cosines = np.zeros(passages, np.float32)
    cosines[context.nearest.rows] = np.maximum(context.nearest.values, 0)
    scores = ranking.passages / np.float32(ranking.passages.max(initial=0.0) or 1.0)
    scores += _RELEVANCE_SHARE * ranking.relevance + _RELEVANCE_SHARE**2 * cosines
    found = np.arange(passages) if context.allowed is None else np.flatnonzero(context.allowed)
    rows = found[highest(scores[found], query.limit)]
    shares = np.maximum(scores[rows] / np.float32(scores.max(initial=0.0) or 1.0), LEAST_SCORE)
    lanes = {
        by: _rank_rows(ranking.passages, rows),
        KEYWORD: _rank_rows(context.signals.match.scores, rows),
        VECTOR: _rank_rows(cosines, rows),
    }
    ids = context.index.chunk_ids.texts_of(rows)
    return [
        RetrievedItem(
            ItemKind.CHUNK,
            id_,
            "",
            share,
            lanes={lane: placed for lane, placed in zip(lanes, positions, strict=True) if placed},
        )
        for id_, share, *positions in zip(ids, shares.tolist(), *lanes.values(), strict=True)
    ]


def _rank_rows(scores: Floats, rows: Rows) -> list[LaneScore | None]:
    """Return the rank among all scores, from 1, and the score of some rows; None for a score of 0."""
    return [
        LaneScore(1 + int(np.count_nonzero(scores > score)), float(score)) if score > 0 else None
        for score in scores[rows]
    ]


MIX = "mix"


def mix_lane(query: LaneQuery, context: QueryContext, *, entities_alone: bool = False) -> LaneHits:
    """Return passages by words, meaning and personalised PageRank (`PageRankMixer.rank`).

    The entities with the greatest mass come with them.
    """
    index, signals = context.index, context.signals
    with context.timings.measure(WALK):
        ranking = context.ranker.rank(index.walk, signals, entities_alone=entities_alone)
    graph_items = collect_graph_items(index, ranking.entities, signals.named)
    passages = best_passages(query, context, ranking)
    return LaneHits(passages, graph_items, ranking.entity_confidence)


LOCAL = "local"


def local_lane(query: LaneQuery, context: QueryContext) -> LaneHits:
    """Return passages by personalised PageRank from the entities that the question names (by title, name or alias).

    Without any the walk starts from the relevant passages.
    """
    # A question without keywords has a warning of its own.
    if not context.signals.named and context.index.chunk_ids and query.keywords:
        query.warn(WarningCode.ENTITIES_NOT_NAMED)
    return mix_lane(query, context, entities_alone=True)


REPORTS = "reports"
GLOBAL = "global"

# Reports that are compared, the nearest ones, and that are chosen at most.
_COMPARED, _MAX_CHOSEN = 24, 6
# A report with a smaller share of the best report's score is about something else.
_MIN_SHARE = 0.4
# A report with more than this share of its entities in better ones repeats them.
_MAX_OVERLAP = 0.5
# Findings of a report count 1 for the first down to this for the last.
_LAST_FINDING = 0.5
# Weight of a finding on a passage that is not relevant by itself.
_MIN_RELEVANCE = 0.3


@dataclass(frozen=True, slots=True)
class ScoredReport:
    """A report, its relevance to the question (0..1), and its rank and score in each lane."""

    report: IndexedReport
    score: float
    lanes: Mapping[str, LaneScore]


def report_lane(query: LaneQuery, context: QueryContext) -> LaneHits:
    """Return the reports that are relevant to the question, of any level of the hierarchy.

    Relevance is the mean of meaning (cosine, mapped to 0..1 over the nearest reports) and words (share of the
    question's idf), weighted by the report's rating. A report about much the same entities as a better one,
    such as its parent, is left out, so that a broad question gets coarse reports and a narrow one fine ones
    (dynamic selection as in GraphRAG, Edge et al. 2024, arXiv 2404.16130, without a model).
    """
    return LaneHits([as_report(report) for report in _choose_reports(query, context)])


def global_lane(query: LaneQuery, context: QueryContext) -> LaneHits:
    """Return reports, their key entities, and the passages that their findings rest on.

    A passage scores by its best finding plus its own relevance. In a knowledge base without reports, passages
    are ranked by words, meaning and relation types alone.
    """
    if not context.index.chunk_ids:
        return LaneHits([])
    if query.filters is not None:
        query.warn(WarningCode.REPORTS_NOT_FILTERED)
    elif not context.index.reports.reports:
        query.warn(WarningCode.REPORTS_MISSING)
    with context.timings.measure(REPORTS):
        reports = _choose_reports(query, context)
        ranking = _rank_by_findings(context, reports)
    passages = best_passages(query, context, ranking, by=REPORTS)
    graph_items = collect_graph_items(context.index, ranking.entities)
    return LaneHits([*map(as_report, reports), *passages], graph_items)


def as_report(scored: ScoredReport) -> RetrievedItem:
    """Return a report as an item; `metadata.findings` holds each finding with the ids of its chunks."""
    report = scored.report.community
    return RetrievedItem(
        ItemKind.COMMUNITY,
        id=str(report.id),
        text=f"{report.title}\n{report.summary}".strip(),
        score=max(scored.score, LEAST_SCORE),
        lanes=scored.lanes,
        metadata=dict(scored.report.metadata),
    )


def _choose_reports(query: LaneQuery, context: QueryContext) -> list[ScoredReport]:
    """Return the best reports that do not repeat each other, at most `_MAX_CHOSEN`.

    None if the question has filters: a report summarizes passages that they may exclude.
    """
    index = context.index
    if query.filters is not None or not index.reports.reports:
        return []
    reports, cosines = index.reports.near(context.vector, _COMPARED)
    idf = {
        term: index.lexical.information_of_term(term) for term in set(question_terms(query.text))
    }
    scored = sorted(
        _score_reports(reports, cosines, idf), key=lambda one: (-one.score, one.report.community.id)
    )
    chosen: list[ScoredReport] = []
    covered: set[int] = set()
    for one in scored:
        if len(chosen) == _MAX_CHOSEN or one.score < max(_MIN_SHARE * scored[0].score, LEAST_SCORE):
            break
        members = one.report.members
        if len(members & covered) <= _MAX_OVERLAP * len(members):
            rank = LaneScore(len(chosen) + 1, one.score, contribution=one.score)
            chosen.append(replace(one, lanes={REPORTS: rank, **one.lanes}))
            covered |= members
    return chosen


def _score_reports(
    reports: Sequence[IndexedReport], cosines: Sequence[float], idf: Mapping[str, float]
) -> list[ScoredReport]:
    """Return the reports with their scores, and with their ranks by words and meaning."""
    total = sum(idf.values()) or 1.0
    words = [
        sum(weight for term, weight in idf.items() if term in report.words) / total
        for report in reports
    ]
    has_vectors = max(cosines, default=0.0) > 0
    meaning = min_max(cosines).tolist() if has_vectors else cosines
    scored = []
    for at, report in enumerate(reports):
        rating = min(max(report.community.rating, 0.0), 10.0) / 10
        lanes = {KEYWORD: _rank_of(words, at)} if words[at] > 0 else {}
        if has_vectors:
            lanes[VECTOR] = _rank_of(cosines, at)
        score = (meaning[at] + words[at]) / 2 * (1 + rating) / 2
        scored.append(ScoredReport(report, score, lanes))
    return scored


def _rank_of(scores: Sequence[float], at: int) -> LaneScore:
    return LaneScore(1 + sum(score > scores[at] for score in scores), scores[at])


def _rank_by_findings(context: QueryContext, reports: Sequence[ScoredReport]) -> GraphRanking:
    """Rank passages by the findings that rest on them, entities by the reports that they belong to."""
    walk, index = context.index.walk, context.index
    relevance = context.ranker.relevance(walk, context.signals)
    passages = relevance.copy()
    entities: Floats = np.zeros(len(index.entities), np.float32)
    if reports:
        entity_ids, chunk_ids = index.entities.halves, index.chunk_ids.halves
        rows_of = [ReportRows.of(one.report.community, entity_ids, chunk_ids) for one in reports]
        _add_findings(passages, reports, rows_of)
        members = np.concatenate([rows.members for rows in rows_of])
        scores = _repeat_scores(reports, [rows.members for rows in rows_of])
        # Of two members the more common one is the key entity.
        commonness = 1 - walk.information[members] + np.float32(LEAST_SCORE)
        np.maximum.at(entities, members, scores * commonness)
    return GraphRanking(passages, entities, relevance)


def _add_findings(
    relevance: Floats, reports: Sequence[ScoredReport], rows_of: Sequence[ReportRows]
) -> None:
    """Add the worth of the findings to the relevance of their passages.

    Earlier findings and relevant passages count more. The best passage of each report gets the report's own
    score, so that the passages are as broad as the reports.
    """
    passages = np.concatenate([rows.passages for rows in rows_of])
    lateness = np.concatenate([rows.lateness for rows in rows_of])
    worth = _repeat_scores(reports, [rows.passages for rows in rows_of])
    worth *= 1 - (1 - _LAST_FINDING) * lateness
    worth *= _MIN_RELEVANCE + (1 - _MIN_RELEVANCE) * relevance[passages]
    start = 0
    for report, rows in zip(reports, rows_of, strict=True):
        of_report = worth[start : start + len(rows.passages)]
        start += len(of_report)
        if of_report.any():
            of_report[of_report.argmax()] = report.score
    # A passage with several findings gets the best one, which is assigned last.
    order = np.argsort(worth)
    relevance[passages[order]] += scale_scores(worth[order].astype(np.float32))


def _repeat_scores(
    reports: Sequence[ScoredReport], rows: Sequence[Rows]
) -> npt.NDArray[np.float64]:
    """Return the score of its report for each row."""
    return np.repeat([report.score for report in reports], list(map(len, rows)))
