"""The passages that a run of the chat model still has to read, in groups of one call."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field

from sextant.ingestion.graph.extraction.model_evidence import TOGETHER
from sextant.stores.graph.extraction import PendingChunk
from sextant.text.characters import estimate_tokens

# Of the passages in one call. Longer ones are read less closely: fewer relations of each passage are found.
CALL_TOKENS = 1200
LEAST_TOKENS = 150  # of a call to an endpoint that is too slow for more


@dataclass(slots=True)
class PassageQueue:
    """The passages of a run, some at a time: first those that wait, then those that are asked about again."""

    waiting: AsyncGenerator[PendingChunk]
    again: deque[Sequence[PendingChunk]] = field(default_factory=deque[Sequence[PendingChunk]])
    _next: PendingChunk | None = None
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self, tokens: int) -> Sequence[PendingChunk]:
        """Return passages of one document in their order, of so many tokens together, or one; () for none.

        One that failed before is alone, so that nothing else fails with it.
        """
        async with self._taking:
            group, size = list[PendingChunk](), 0
            while (passage := self._next or await anext(self.waiting, None)) is not None:
                self._next = passage
                size += estimate_tokens(passage.text)
                if group and not (size <= tokens and _goes_with(group, passage)):
                    return group
                group.append(passage)
                self._next = None
            return group or (self.again.popleft() if self.again else ())

    def ask_again(self, passages: Sequence[PendingChunk], parts: int = 1) -> None:
        """Put passages at the end, in so many calls."""
        size = -(-len(passages) // parts)
        self.again.extend(passages[at : at + size] for at in range(0, len(passages), size))


def _goes_with(group: Sequence[PendingChunk], passage: PendingChunk) -> bool:
    first = group[0]
    is_near = first.document_id == passage.document_id and len(group) < TOGETHER
    return is_near and not (first.attempts or passage.attempts)
