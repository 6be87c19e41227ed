"""Ranking chunks by what is known of them beside text and vector (seed 004).

`hybrid = Σ weight · share ÷ Σ weight` over seven signals, each a share of 0..1, then
`final = 0.6 · hybrid + 0.4 · rerank` where a reranker has scored. The seed names weights α to ζ, six
letters for seven signals; the seventh, that of the neighbours, is η here.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime

from domain.documents import Modality
from domain.errors import OptionInvalid
from domain.options import as_weight
from domain.retrieval import LaneScore, RetrievedItem
from domain.retrieval import ranked as ranked_as
from retrievers.index.terms import terms
from retrievers.lanes.lane import KEYWORD, VECTOR
from retrievers.ranking.decay import age_in_days, time_decay
from retrievers.ranking.normalising import min_max
from retrievers.ranking.reranking import RERANK

# Seed 004: "最终得分 = 0.6 * hybrid + 0.4 * rerank".
HYBRID_SHARE, RERANK_SHARE = 0.6, 0.4
HALF_LIFE = 365.0  # days, as in `rank_results`
# A section's own title says most of what is in it; each level up says less.
_UPWARD = 0.7

_WANTED = {
    Modality.TABLE: re.compile(
        r"表格|列表|清单|一览|[这下上附]表|表\s*\d|\btables?\b", re.IGNORECASE
    ),
    Modality.IMAGE: re.compile(
        r"图片|图像|照片|截图|示意图|流程图|[这下上附]图|图\s*\d|\b(?:images?|figures?|pictures?|photos?|diagrams?)\b",
        re.IGNORECASE,
    ),
}


@dataclass(frozen=True, slots=True)
class MetadataWeights:
    """What each signal is worth, in relation to the others; 0 leaves one out.

    Attributes:
        vector: α, similarity to the question.
        keyword: β, keywords of the question in the text.
        hierarchy: γ, the question's words in the titles above.
        recency: δ, time decay.
        topic: ε, the question's words among topics, keywords and entities.
        modality: ζ, a table or an image where one is asked for.
        neighbour: η, chunks beside it that were found, too.
    """

    vector: float = 0.50
    keyword: float = 0.25
    hierarchy: float = 0.05
    recency: float = 0.02
    topic: float = 0.08
    modality: float = 0.05
    neighbour: float = 0.05

    def __post_init__(self) -> None:
        """Refuse weights that mean nothing, by name.

        Raises:
            OptionInvalid: one is no number that can weigh something, or all are 0.
        """
        for name, weight in asdict(self).items():
            as_weight(weight, f"ranking.{name}")
        if not any(asdict(self).values()):
            raise OptionInvalid(
                "All weights are 0, so nothing would be ranked.",
                next_step="Give at least one signal a weight.",
                field="ranking",
            )

    @classmethod
    def read(cls, given: str | Mapping[str, float] | MetadataWeights | None) -> MetadataWeights:
        """The weights of a request: a preset's name, or single weights over those of `balanced`.

        Raises:
            OptionInvalid: there is no such preset or signal, or a weight means nothing.
        """
        if given is None or isinstance(given, cls):
            return given or cls()
        if isinstance(given, str):
            return PRESETS[_known(given, list(PRESETS), "preset")]
        if not isinstance(given, Mapping):
            raise OptionInvalid(
                "The ranking is neither a preset nor a mapping of weights.",
                next_step=f"Presets: {', '.join(PRESETS)}.",
                field="ranking",
            )
        signals = [one.name for one in fields(cls)]
        return replace(
            PRESETS[BALANCED], **{_known(k, signals, "signal"): v for k, v in given.items()}
        )


BALANCED = "balanced"
# Seed 004, "可按“章节优先/实体优先”等场景调整".
PRESETS: Mapping[str, MetadataWeights] = {
    BALANCED: MetadataWeights(),
    "section-first": MetadataWeights(
        vector=0.35, keyword=0.15, hierarchy=0.30, topic=0.08, neighbour=0.05
    ),
    "entity-first": MetadataWeights(
        vector=0.35, keyword=0.15, hierarchy=0.05, topic=0.35, neighbour=0.03
    ),
}


@dataclass(frozen=True, slots=True)
class Share:
    """What one signal says of a chunk: as it was found, brought to 0..1, and what that is worth.

    `contribution` is its part of the hybrid score; those of all signals sum to it.
    """

    raw: float
    share: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A chunk with what each signal said; `item.score` is the final score."""

    item: RetrievedItem
    signals: Mapping[str, Share]
    hybrid: float
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What the signals need of a question.

    `now` is the moment from which ages count.
    """

    text: str
    now: datetime
    half_life: float = HALF_LIFE
    terms: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Cut the text into terms once."""
        object.__setattr__(self, "terms", frozenset(terms(self.text)))


def rank_by_metadata(
    question: Question, items: Sequence[RetrievedItem], weights: MetadataWeights
) -> list[Ranked]:
    """Rank chunks by the seven signals, best first, ties by id.

    Args:
        question: what was asked.
        items: what the lanes found, each once, with `lanes` saying where.
        weights: of the signals.
    """
    raw, of_signals = _signals(question, items, weights), asdict(weights)
    total = sum(of_signals.values())
    ranked = []
    for place, item in enumerate(items):
        signals = {
            name: Share(
                raw=found[place][0],
                share=found[place][1],
                weight=weight,
                contribution=weight * found[place][1] / total,
            )
            for name, weight in of_signals.items()
            for found in [raw[name]]
        }
        hybrid = math.fsum(one.contribution for one in signals.values())
        ranked.append(Ranked(_scored(item, hybrid), signals, hybrid))
    return sorted(ranked, key=lambda one: (-one.hybrid, one.item.id))


def with_rerank(ranked: Sequence[Ranked], scores: Sequence[float]) -> list[Ranked]:
    """The order after a reranker has scored the first: `0.6 · hybrid + 0.4 · rerank`.

    Its scores are brought to 0..1 among those it gave; chunks that it did not read get 0.
    """
    shares = [*map(float, min_max(scores)), *([0.0] * (len(ranked) - len(scores)))]
    judged = [
        replace(
            one,
            item=_reranked(one, share, scores[place] if place < len(scores) else None),
            rerank=share,
        )
        for place, (one, share) in enumerate(zip(ranked, shares, strict=True))
    ]
    return sorted(judged, key=lambda one: (-one.item.score, one.item.id))


def _reranked(one: Ranked, share: float, score: float | None) -> RetrievedItem:
    item = _scored(one.item, HYBRID_SHARE * one.hybrid + RERANK_SHARE * share)
    if score is None:
        return item
    return replace(item, lanes={**item.lanes, RERANK: LaneScore(0, score, RERANK_SHARE)})


def _scored(item: RetrievedItem, score: float) -> RetrievedItem:
    return ranked_as(item, max(score, 1e-9), item.lanes)


Pairs = list[tuple[float, float]]  # raw and share of each item


def _signals(
    question: Question, items: Sequence[RetrievedItem], weights: MetadataWeights
) -> dict[str, Pairs]:
    vector, keyword = _by_vector(items), _by_keyword(items)
    return {
        "vector": vector,
        "keyword": keyword,
        "hierarchy": [_twice(hierarchy_share(question, item)) for item in items],
        "recency": [_by_age(question, item) for item in items],
        "topic": [_twice(topic_share(question, item)) for item in items],
        "modality": [_twice(modality_share(question.text, item)) for item in items],
        "neighbour": _by_neighbours(items, _found(vector, keyword, weights)),
    }


def _twice(share: float) -> tuple[float, float]:
    return share, share


def _by_vector(items: Sequence[RetrievedItem]) -> Pairs:
    """Cosines, the farthest that the lane found at 0; what it did not find has 0, too."""
    found = {n: item.lanes[VECTOR].score for n, item in enumerate(items) if VECTOR in item.lanes}
    share = dict(zip(found, map(float, min_max(list(found.values()))), strict=True))
    return [(found.get(place, 0.0), share.get(place, 0.0)) for place in range(len(items))]


def _by_keyword(items: Sequence[RetrievedItem]) -> Pairs:
    """The lane's score as a share of the best: about how many of the keywords found are in it."""
    found = [item.lanes[KEYWORD].score if KEYWORD in item.lanes else 0.0 for item in items]
    most = max(found, default=0.0) or 1.0
    return [(score, score / most) for score in found]


def hierarchy_share(question: Question, item: RetrievedItem) -> float:
    """How far a title above the chunk is what the question asks for, 0..1.

    Of each title the share of its terms that the question has, times 0.7 for each level up from the
    section's own; the best of them. The document's title is the topmost.
    """
    path = [*item.metadata.get("section_path", ())]
    title = item.metadata.get("document_title") or ""
    titles = [*([] if title in path else [title]), *path]
    return max(
        (
            _held(question.terms, title) * _UPWARD**level
            for level, title in enumerate(reversed(titles))
        ),
        default=0.0,
    )


def _held(asked: frozenset[str], title: str) -> float:
    own = set(terms(title))
    return len(own & asked) / len(own) if own else 0.0


def topic_share(question: Question, item: RetrievedItem) -> float:
    """The share of the question's terms that the chunk's topics, keywords and entities have, 0..1."""
    if not question.terms:
        return 0.0
    said = set(terms("\n".join(_said(item))))
    return len(said & question.terms) / len(question.terms)


def _said(item: RetrievedItem) -> Iterable[str]:
    for name in ("topic_labels", "topics", "keywords", "entities", "tags"):
        yield from item.metadata.get(name, ())


def modality_share(question: str, item: RetrievedItem) -> float:
    """1 for a chunk of the kind that the question asks for, else 0; 1 for all where it asks for none."""
    wanted = {kind for kind, words in _WANTED.items() if words.search(question)}
    return float(not wanted or item.metadata.get("modality") in wanted)


def _by_age(question: Question, item: RetrievedItem) -> tuple[float, float]:
    """Age in days, and what is left of a whole that halves every half-life; 0 without a date."""
    created = item.metadata.get("created_at")
    if created is None:
        return 0.0, 0.0
    age = age_in_days(datetime.fromisoformat(created), question.now)
    return age, time_decay(age, question.half_life)


def _found(vector: Pairs, keyword: Pairs, weights: MetadataWeights) -> list[float]:
    whole = weights.vector + weights.keyword or 1.0
    return [
        (weights.vector * near + weights.keyword * words) / whole
        for (_, near), (_, words) in zip(vector, keyword, strict=True)
    ]


def _by_neighbours(items: Sequence[RetrievedItem], found: Sequence[float]) -> Pairs:
    """Of each, how well the better one of the chunks beside it was found by vector and keywords."""
    worth = {item.id: score for item, score in zip(items, found, strict=True)}
    return [
        _twice(
            max((worth.get(own, 0.0) for own in item.metadata.get("neighbours", ())), default=0.0)
        )
        for item in items
    ]


def _known(name: str, names: Sequence[str], what: str) -> str:
    if name in names:
        return name
    near = difflib.get_close_matches(str(name), names, 1)
    meant = f"Did you mean `{near[0]}`? " if near else ""
    raise OptionInvalid(
        f"There is no {what} `{name}`.",
        next_step=f"{meant}There are: {', '.join(names)}.",
        field="ranking",
    )
