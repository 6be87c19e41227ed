"""The lanes over a scope's index: `mix` and `local` by a walk over the graph, `global` by reports of communities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sextant.domain.retrieval import LEAST_SCORE, ItemKind, LaneScore, RetrievedItem
from sextant.domain.warnings import WarningCode
from sextant.retrievers.arrays import Floats, Places, highest, min_max, scale_scores
from sextant.retrievers.index.passages import IndexedReport, NearReport, ReportRows
from sextant.retrievers.lanes.lane import KEYWORD, VECTOR, LaneQuery
from sextant.retrievers.lanes.query_context import Hits, QueryContext
from sextant.retrievers.lanes.surroundings import surroundings
from sextant.retrievers.ranking.mix_ranker import GraphRanking
from sextant.text.analysis import question_terms

WALK = "walk"

# Orders passages that the walk does not reach, below all that it does.
_RELEVANCE_SHARE = 1e-4


def best_passages(
    query: LaneQuery, context: QueryContext, ranking: GraphRanking, *, by: str = WALK
) -> list[RetrievedItem]:
    """Return the best `query.limit` passages of a ranking, without their texts (`contents`).

    Fewer only when the scope has fewer. The score is the mass relative to the best passage's;
    passages without mass follow, by their fit to the question. `by` names what gave the mass in the
    items' `lanes`.
    """
    passages = len(context.index.chunk_ids)
    cosines = np.zeros(passages, np.float32)
    cosines[context.near.rows] = np.maximum(context.near.cosines, 0)
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


def _rank_rows(scores: Floats, rows: Places) -> list[LaneScore | None]:
    """Return the rank from 1 among all scores, and the score, of each of some rows that is above 0."""
    return [
        LaneScore(1 + int(np.count_nonzero(scores > one)), float(one)) if one > 0 else None
        for one in scores[rows]
    ]


MIX = "mix"


def mix_lane(query: LaneQuery, context: QueryContext) -> Hits:
    """Return passages by words, meaning and personalised PageRank (`sextant.retrievers.ranking.mix_ranker`).

    With them come the entities that the walk met most, and their relations.
    """
    with context.spent.on(WALK):
        ranking = context.ranker.rank(context.index.walk, context.signals)
    around = surroundings(context.index, ranking.entities, context.signals.named)
    passages = best_passages(query, context, ranking)
    return Hits(passages, around, ranking.entity_confidence)


LOCAL = "local"


def local_lane(query: LaneQuery, context: QueryContext) -> Hits | None:
    """Return passages by personalised PageRank from the question's entities (`PageRankMixer.rank_from_entities`).

    The entities are those that the question names (titles, names, aliases), or, when it names none,
    those whose names share words with it or whose vectors lie nearest. Without any the walk starts from
    the passages that fit.
    """
    index, named = context.index, context.signals.named
    if not named and index.chunk_ids:
        if not context.named_in_full:
            return None
        if query.keywords:  # one without is told so, and names nothing
            query.warn(WarningCode.ENTITIES_NOT_NAMED)
    with context.spent.on(WALK):
        ranking = context.ranker.rank_from_entities(index.walk, context.signals)
    around = surroundings(index, ranking.entities, named)
    passages = best_passages(query, context, ranking)
    return Hits(passages, around, ranking.entity_confidence)


REPORTS = "reports"
GLOBAL = "global"

_NEAREST = 24
_CHOSEN = 6
# Below this share of the best report's score a report is about something else.
_LEAST_SHARE = 0.4
# A report repeats a better one when so much of what it is about is covered already.
_REPEATS = 0.5
# Findings of a report count from 1 down to this for the last.
_LAST_FINDING = 0.5
_LEAST_FIT = 0.3


@dataclass(frozen=True, slots=True)
class ScoredReport:
    """A report, how well it fits the question (0..1), and where each lane put it."""

    report: IndexedReport
    score: float
    lanes: Mapping[str, LaneScore]


def report_lane(query: LaneQuery, context: QueryContext) -> Hits:
    """Report that fit the question, from whichever level of the hierarchy says it best.

    Relevance is the mean of meaning (cosine, relative to the best and the least of the nearest) and
    words (share of the question's information), weighted by the report's rating. A report that is
    about much the same as a better one, such as its parent, is left out, so that a broad question
    takes coarse reports and a narrow one fine ones (dynamic selection as in GraphRAG, Edge et al.
    2024, arXiv 2404.16130, but without a model's judgement at every node).
    """
    return Hits([as_report(one) for one in _chosen(query, context)])


def global_lane(query: LaneQuery, context: QueryContext) -> Hits:
    """Return reports, their key entities, and the passages that their findings rest on.

    A passage scores by the best finding that rests on it and as much by its own fit to the question. While
    a knowledge base has no reports, passages come by words, meaning and relation types alone.
    """
    if not context.index.chunk_ids:
        return Hits([])
    if query.filters is not None:
        query.warn(WarningCode.REPORTS_NOT_FILTERED)
    elif not context.index.reports.reports:
        query.warn(WarningCode.REPORTS_MISSING)
    with context.spent.on(REPORTS):
        chosen = _chosen(query, context)
        ranking = _rank_by_findings(context, chosen)
    passages = best_passages(query, context, ranking, by=REPORTS)
    around = surroundings(context.index, ranking.entities)
    return Hits([*map(as_report, chosen), *passages], around)


def as_report(scored: ScoredReport) -> RetrievedItem:
    """Return a report as an item; `metadata.findings` keeps each finding with the chunks it rests on."""
    report = scored.report.community
    return RetrievedItem(
        ItemKind.COMMUNITY,
        id=str(report.id),
        text=f"{report.title}\n{report.summary}".strip(),
        score=max(scored.score, LEAST_SCORE),
        lanes=scored.lanes,
        metadata=dict(scored.report.metadata),
    )


def _chosen(query: LaneQuery, context: QueryContext) -> list[ScoredReport]:
    """Return the best that do not repeat each other, at most `_CHOSEN`; without vectors, by words alone.

    None where the question has filters: a report tells of passages that they may keep out.
    """
    index = context.index
    if query.filters is not None or not index.reports.reports:
        return []
    hits = index.reports.near(context.vector, _NEAREST)
    weights = {
        term: index.lexical.information_of_term(term) for term in set(question_terms(query.text))
    }
    fits = _fits(hits, weights)
    best = sorted(
        zip(fits.scores, range(len(hits)), strict=True),
        key=lambda one: (-one[0], hits[one[1]].report.community.id),
    )
    least = max(_LEAST_SHARE * best[0][0], LEAST_SCORE) if best else 0.0
    chosen: list[ScoredReport] = []
    covered: set[int] = set()
    for score, position in best:
        report = hits[position].report
        if score < least or len(chosen) == _CHOSEN:
            break
        if len(report.members & covered) <= _REPEATS * len(report.members):
            lane_score = LaneScore(len(chosen) + 1, score, contribution=score)
            chosen.append(
                ScoredReport(report, score, {REPORTS: lane_score, **fits.lanes(position)})
            )
            covered |= report.members
    return chosen


@dataclass(frozen=True, slots=True)
class _Fits:
    """How well each of some reports fits: by words and meaning, and both weighted by its rating."""

    words: Sequence[float]
    cosines: Sequence[float]
    scores: Sequence[float]

    def lanes(self, index: int) -> dict[str, LaneScore]:
        """Return where words, if it has any of the question's, and meaning where it is known, put one of them."""
        by = {
            KEYWORD: self.words if self.words[index] > 0 else (),
            VECTOR: self.cosines if max(self.cosines) > 0 else (),
        }
        return {
            lane: LaneScore(1 + sum(one > scores[index] for one in scores), scores[index])
            for lane, scores in by.items()
            if scores
        }


def _fits(hits: Sequence[NearReport], weights: Mapping[str, float]) -> _Fits:
    whole = sum(weights.values()) or 1.0
    cosines = [hit.cosine for hit in hits]
    nears = min_max(cosines).tolist() if max(cosines, default=0.0) > 0 else [0.0] * len(hits)
    words = [_term_coverage(hit.report, weights) / whole for hit in hits]
    ratings = (min(max(hit.report.community.rating, 0.0), 10.0) / 10 for hit in hits)
    scores = [
        (near + coverage) / 2 * (1 + rating) / 2
        for near, coverage, rating in zip(nears, words, ratings, strict=True)
    ]
    return _Fits(words, cosines, scores)


def _term_coverage(report: IndexedReport, weights: Mapping[str, float]) -> float:
    return sum(information for term, information in weights.items() if term in report.words)


def _rank_by_findings(context: QueryContext, chosen: Sequence[ScoredReport]) -> GraphRanking:
    """Return passages by the findings that rest on them, entities by the reports that they belong to."""
    walk, index = context.index.walk, context.index
    fit = context.ranker.relevance(walk, context.signals)
    passages = fit.copy()
    entities: Floats = np.zeros(len(index.entities), np.float32)
    if chosen:
        rows_of = [index.rows_of_report(one.report) for one in chosen]
        _add_findings(passages, chosen, rows_of)
        members = np.concatenate([one.members for one in rows_of])
        scores = _of_each(chosen, [one.members for one in rows_of])
        common = 1 - walk.information[members] + np.float32(LEAST_SCORE)
        np.maximum.at(entities, members, scores * common)
    return GraphRanking(passages, entities, fit)


def _add_findings(
    fit: Floats, chosen: Sequence[ScoredReport], rows_of: Sequence[ReportRows]
) -> None:
    """Add to the fit of passages what findings rest on them: earlier findings and better fit count more.

    Each report brings its best passage at its own score, so that the passages are as broad as they.
    """
    rows = np.concatenate([one.passages for one in rows_of])
    lateness = np.concatenate([one.lateness for one in rows_of])
    worth = _of_each(chosen, [one.passages for one in rows_of])
    worth *= 1 - (1 - _LAST_FINDING) * lateness
    worth *= _LEAST_FIT + (1 - _LEAST_FIT) * fit[rows]
    start = 0
    for one, finding_rows in zip(chosen, rows_of, strict=True):
        of_report = worth[start : start + len(finding_rows.passages)]
        start += len(of_report)
        if of_report.any():
            of_report[of_report.argmax()] = one.score
    # Of several findings on a passage the best is added: it comes last.
    order = np.argsort(worth)
    fit[rows[order]] += scale_scores(worth[order].astype(np.float32))


def _of_each(chosen: Sequence[ScoredReport], rows: Sequence[Places]) -> npt.NDArray[np.float64]:
    """Return the score of the report that each row is of."""
    return np.repeat([one.score for one in chosen], list(map(len, rows)))
