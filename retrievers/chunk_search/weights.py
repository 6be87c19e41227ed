"""Weights of the signals of chunk search, and named presets."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace

from sextant.domain.errors import OptionInvalid
from sextant.domain.questions import as_weight
from sextant.domain.settings import ChunkSearchSettings


@dataclass(frozen=True, slots=True)
class MetadataWeights:
    """Relative weights of the signals; 0 leaves one out.

    Attributes:
        vector: α, similarity to the question.
        keyword: β, keywords of the question in the text.
        hierarchy: γ, terms of the question in the titles above.
        recency: δ, time decay.
        topic: ε, terms of the question among topics, keywords and entities.
        modality: ζ, a table or an image if the question asks for one.
        neighbour: η, scores of the chunks beside it.
    """

    vector: float = 0.50
    keyword: float = 0.25
    hierarchy: float = 0.05
    recency: float = 0.02
    topic: float = 0.08
    modality: float = 0.05
    neighbour: float = 0.05

    def __post_init__(self) -> None:
        """Check the weights.

        Raises:
            OptionInvalid: one is not a number above or equal to 0, or all are 0.
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
    def of(cls, settings: ChunkSearchSettings) -> MetadataWeights:
        """Return the weights of the preset `balanced` from the settings.

        Raises:
            OptionInvalid: all are 0.
        """
        return cls(
            vector=settings.vector_weight,
            keyword=settings.keyword_weight,
            hierarchy=settings.hierarchy_weight,
            recency=settings.recency_weight,
            topic=settings.topic_weight,
            modality=settings.modality_weight,
            neighbour=settings.neighbour_weight,
        )

    @classmethod
    def read(
        cls,
        given: str | Mapping[str, float] | MetadataWeights | None,
        balanced: MetadataWeights | None = None,
    ) -> MetadataWeights:
        """Return the weights of a request: those of a preset, or of `balanced` with single weights replaced.

        Args:
            given: name of a preset, or weights by signal.
            balanced: weights of the preset `balanced`; None: the defaults.

        Raises:
            OptionInvalid: there is no such preset or signal, or a weight is invalid.
        """
        presets = {**PRESETS, BALANCED: balanced or PRESETS[BALANCED]}
        if isinstance(given, cls):
            return given
        if given is None or isinstance(given, str):
            return presets[
                _check_name(BALANCED if given is None else given, list(presets), "preset")
            ]
        if not isinstance(given, Mapping):
            raise OptionInvalid(
                "The ranking is neither a preset nor a mapping of weights.",
                next_step=f"Presets: {', '.join(PRESETS)}.",
                field="ranking",
            )
        signals = [one.name for one in fields(cls)]
        return replace(
            presets[BALANCED], **{_check_name(k, signals, "signal"): v for k, v in given.items()}
        )


BALANCED = "balanced"

PRESETS: Mapping[str, MetadataWeights] = {
    BALANCED: MetadataWeights(),
    "section-first": MetadataWeights(
        vector=0.35, keyword=0.15, hierarchy=0.30, topic=0.08, neighbour=0.05
    ),
    "entity-first": MetadataWeights(
        vector=0.35, keyword=0.15, hierarchy=0.05, topic=0.35, neighbour=0.03
    ),
}


def _check_name(name: str, names: Sequence[str], kind: str) -> str:
    if name in names:
        return name
    near = difflib.get_close_matches(str(name), names, 1)
    meant = f"Did you mean `{near[0]}`? " if near else ""
    raise OptionInvalid(
        f"There is no {kind} `{name}`.",
        next_step=f"{meant}There are: {', '.join(names)}.",
        field="ranking",
    )
