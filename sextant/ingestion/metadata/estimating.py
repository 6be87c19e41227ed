"""About what a chat model's descriptions will take, before anything is sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sextant.domain.answers import Usage
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.cost import CostEstimate, cost_of
from sextant.ingestion.metadata.asking import TOGETHER, calls_of, need_of, prompt_of, tokens_of
from sextant.ingestion.runs import runs_of
from sextant.stores.documents.model_descriptions import DescribedKind, ModelDescriptions
from sextant.stores.postgresql.database import Database

_MANY_TRIES = 1000
_PAGE = 320  # chunks in hand
_PART_TOKENS = 50  # of what will be said of a part: a sentence of 30 words, its title and its mark
_TITLE_TOKENS = 20  # of a section's titles


@dataclass(frozen=True, slots=True)
class DescriptionEstimate(CostEstimate):
    """`passages` and `sections` that the model is asked about; a section with a single part is not."""

    sections: int = 0


async def estimate_descriptions(
    database: Database, scope: Scope, settings: Settings
) -> DescriptionEstimate:
    """About what `ModelDescriber.describe` will take after a retry of all; nothing is sent."""
    stored = ModelDescriptions(database, scope)
    passages, usage, after = 0, Usage(), None
    while found := await stored.list_undescribed(DescribedKind.PASSAGES, after, _MANY_TRIES, _PAGE):
        after = found[-1].order
        passages += len(found)
        for call in calls_of(DescribedKind.PASSAGES, found, settings):
            usage += call.need
    asked = [(level, parts) for level, parts in await stored.list_upcoming_sections() if parts > 1]
    usage = sum(_of_sections(asked, settings), usage)
    return DescriptionEstimate(
        passages,
        usage.prompt_tokens,
        usage.completion_tokens,
        cost_of(usage, settings.extraction),
        len(asked),
    )


def _of_sections(asked: Iterable[tuple[int, int]], settings: Settings) -> Iterator[Usage]:
    """Yield the calls about sections of so many parts each, level by level."""
    frame = tokens_of(prompt_of(DescribedKind.SECTIONS, "en", (), ()))
    levels = defaultdict[int, list[int]](list)
    for level, parts in asked:
        levels[level].append(parts)
    for own in levels.values():
        for some in runs_of(own, lambda _: 1, TOGETHER):
            told = _TITLE_TOKENS * len(some) + _PART_TOKENS * sum(some)
            yield need_of(frame + told, len(some), settings)
