"""How far one run of the chat model over passages has come, and what has come of them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelOutputInvalid, SextantError
from sextant.domain.scope import Scope
from sextant.ingestion.graph.extraction.cost import CostBudget
from sextant.ingestion.graph.extraction.model_evidence import ModelExtraction
from sextant.ingestion.graph.extraction.passage_queue import PassageQueue
from sextant.ingestion.progress import OnCount
from sextant.stores.graph.extraction import PendingChunk


@dataclass(frozen=True, slots=True)
class PassagesOutcome:
    """What came of passages that were read together: by their index what was found, or why nothing was."""

    passages: Sequence[PendingChunk]
    usage: Usage
    found: Mapping[int, ModelExtraction] = field(default_factory=dict[int, ModelExtraction])
    errors: Mapping[int, SextantError] = field(default_factory=dict[int, SextantError])


@dataclass(slots=True)
class ExtractionRun:
    """One run: once `stopped` is set, calls under way end and no new one begins."""

    scope: Scope
    budget: CostBudget
    total: int
    on_progress: OnCount
    queue: PassageQueue
    outcomes: asyncio.Queue[PassagesOutcome | None] = field(default_factory=asyncio.Queue)
    done: int = 0
    failed: int = 0
    unanswered: int = 0
    stopped: SextantError | None = None
    reasons: dict[str, SextantError] = field(default_factory=dict)
    repeated: set[UUID] = field(default_factory=set[UUID])  # passages that get no further chance
    unnoted: Usage = field(default_factory=Usage)  # of calls that no passage stands for

    def may_repeat(self, passages: Sequence[PendingChunk]) -> bool:
        """Return whether passages may be asked about once more, the first time they are."""
        is_new = self.repeated.isdisjoint(passage.id for passage in passages)
        self.repeated.update(passage.id for passage in passages)
        return is_new

    def take_found(
        self,
        passages: Sequence[PendingChunk],
        found: Mapping[int, ModelExtraction],
        usage: Usage,
    ) -> None:
        """Hand on what was found; what an answer leaves out is asked for again, once where it was not cut off."""
        self.unanswered = 0
        missing = {at: one for at, one in enumerate(passages) if at not in found}
        left_out = list(missing.values())
        errors: dict[int, SextantError] = {}
        if missing and ((found and usage.truncated) or self.may_repeat(left_out)):
            self.queue.ask_again(left_out)
        elif missing:
            errors = dict.fromkeys(missing, _left_out(usage))
        self.hand_on(PassagesOutcome(passages, usage, found, errors))

    def hand_on(self, outcome: PassagesOutcome) -> None:
        """Have the outcome stored; of a call that nothing came of, what it took is noted with the next."""
        if outcome.found or outcome.errors:
            outcome = replace(outcome, usage=outcome.usage + self.unnoted)
            self.unnoted = Usage()
            self.outcomes.put_nowait(outcome)
        else:
            self.unnoted += outcome.usage


def _left_out(usage: Usage) -> ModelOutputInvalid:
    error = ModelOutputInvalid(
        "The chat model left a passage out of its answer twice.",
        next_step="Run `sextant entities extract` to ask again, or choose another SEXTANT_CHAT_MODEL.",
    )
    error.usage = usage
    return error
