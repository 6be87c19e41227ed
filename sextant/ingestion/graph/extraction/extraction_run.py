"""The state of one extraction run: the queue of passages, prompts, and the outcome of calls."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, takewhile
from uuid import UUID

from sextant.domain.answers import Usage
from sextant.domain.errors import ModelOutputInvalid, SextantError
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.cost import CostBudget, estimate_call, most_found
from sextant.ingestion.graph.extraction.model_evidence import (
    ModelExtraction,
    ModelExtractions,
)
from sextant.ingestion.progress import OnCount
from sextant.models.chat.structured import instruction
from sextant.prompts import EXTRACT, GLEAN, Messages, as_data, number_texts
from sextant.stores.graph.extraction import PendingChunk
from sextant.text.characters import estimate_tokens, language_of

# Tokens of the passages in a call; in longer ones the model finds fewer relations of each passage.
CALL_TOKENS = 1200
LEAST_TOKENS = 150  # of a call to a slow endpoint
# Tokens of small neighbours that are shown as one, since each numbered passage adds to the answer.
_JOINED_TOKENS = 200

Shown = Sequence[PendingChunk]
"""A numbered passage of a prompt: one passage, or small neighbours."""


@dataclass(slots=True)
class PassageQueue:
    """The passages of a run in groups: first the waiting ones, then those to ask about again."""

    waiting: AsyncGenerator[PendingChunk]
    again: deque[Sequence[PendingChunk]] = field(default_factory=deque[Sequence[PendingChunk]])
    _next: PendingChunk | None = None
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(self, tokens: int) -> Sequence[PendingChunk]:
        """Return the next passages of a document, up to `tokens` together but at least one; () at the end.

        A passage that failed before comes alone.
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
        """Append passages to the queue, split into so many calls."""
        size = -(-len(passages) // parts)
        self.again.extend(passages[at : at + size] for at in range(0, len(passages), size))


def _goes_with(group: Sequence[PendingChunk], passage: PendingChunk) -> bool:
    first = group[0]
    return first.document_id == passage.document_id and not (first.attempts or passage.attempts)


@dataclass(frozen=True, slots=True)
class PassagesOutcome:
    """The outcome of a call: extractions and errors by the index of the passage."""

    passages: Sequence[PendingChunk]
    usage: Usage
    found: Mapping[int, ModelExtraction] = field(default_factory=dict[int, ModelExtraction])
    errors: Mapping[int, SextantError] = field(default_factory=dict[int, SextantError])


@dataclass(slots=True)
class ExtractionRun:
    """One run; once `stopped` is set, no new call begins."""

    scope: Scope
    budget: CostBudget
    total: int
    on_progress: OnCount
    queue: PassageQueue
    done: int = 0
    failed: int = 0
    unanswered: int = 0
    stopped: SextantError | None = None
    reasons: dict[str, SextantError] = field(default_factory=dict)
    repeated: set[UUID] = field(default_factory=set[UUID])  # passages that get no further chance
    unnoted: Usage = field(default_factory=Usage)  # of calls that no passage stands for
    storing: asyncio.Lock = field(default_factory=asyncio.Lock)  # so that one connection is used

    def may_repeat(self, passages: Sequence[PendingChunk]) -> bool:
        """Return True the first time it is asked for these passages."""
        is_new = self.repeated.isdisjoint(passage.id for passage in passages)
        self.repeated.update(passage.id for passage in passages)
        return is_new

    def take_found(
        self,
        passages: Sequence[PendingChunk],
        found: Mapping[int, ModelExtraction],
        usage: Usage,
    ) -> PassagesOutcome:
        """Return the outcome of an answer; queue the passages that it leaves out, at most once unless it was cut off."""
        self.unanswered = 0
        missing = {at: one for at, one in enumerate(passages) if at not in found}
        left_out = list(missing.values())
        errors: dict[int, SextantError] = {}
        if missing and ((found and usage.truncated) or self.may_repeat(left_out)):
            self.queue.ask_again(left_out)
        elif missing:
            errors = dict.fromkeys(missing, _omission_error(usage))
        return self.end_call(PassagesOutcome(passages, usage, found, errors))

    def end_call(self, outcome: PassagesOutcome) -> PassagesOutcome:
        """Add the usage of calls without an outcome; that of such a call is noted with the next one."""
        usage, self.unnoted = outcome.usage + self.unnoted, Usage()
        if not (outcome.found or outcome.errors):
            self.unnoted = usage
        return replace(outcome, usage=usage)


def _omission_error(usage: Usage) -> ModelOutputInvalid:
    error = ModelOutputInvalid(
        "The chat model left a passage out of its answer twice.",
        next_step="Run `sextant entities extract` to ask again, or choose another SEXTANT_CHAT_MODEL.",
    )
    error.usage = usage
    return error


def join_small(passages: Sequence[PendingChunk]) -> list[Shown]:
    """Group small neighbours, which a prompt shows as one passage."""
    shown, size = list[list[PendingChunk]](), 0
    for passage in passages:
        size += (tokens := estimate_tokens(passage.text))
        if shown and size <= _JOINED_TOKENS:
            shown[-1].append(passage)
        else:
            shown.append([passage])
            size = tokens
    return [*shown]


def spread_found(
    found: Mapping[int, ModelExtraction], shown: Sequence[Shown]
) -> dict[int, ModelExtraction]:
    """Return the extractions by the index of the passage; passages shown as one share theirs."""
    indexes, spread = count(), dict[int, ModelExtraction]()
    for at, passages in enumerate(shown):
        mine = [index for _, index in zip(passages, indexes, strict=False)]
        if (one := found.get(at)) is not None:
            spread |= dict.fromkeys(mine, one)
    return spread


def estimate_extraction_call(shown: Sequence[Shown], prompt: Messages, settings: Settings) -> Usage:
    """Estimate the tokens of a call with this prompt."""
    sent = "\n".join(
        [*(text for _, text in prompt), instruction(ModelExtractions, with_schema=False)]
    )
    return estimate_call(sent, [text_of(one) for one in shown], settings)


def text_of(shown: Shown) -> str:
    """Return the text of a numbered passage, without titles."""
    return "\n".join(passage.text for passage in shown)


def extraction_prompt(shown: Sequence[Shown], types: Sequence[str]) -> Messages:
    """Return the messages that ask for the entities and relations of passages."""
    tokens = sum(estimate_tokens(text_of(one)) for one in shown)
    values = _values(shown, types) | {"most": str(most_found(tokens))}
    for example in ("person", "organization"):
        # The prompt's example uses these types, if the setting has them.
        values[example] = next((one for one in types if one.casefold() == example), "…")
    return EXTRACT.messages(_language(shown), **values)


def gleaning_prompt(
    shown: Sequence[Shown], types: Sequence[str], found: Iterable[ModelExtraction]
) -> Messages:
    """Return the messages that ask for what the extractions lack."""
    names = "\n".join(f"[{number}] {_items_of(one)}" for number, one in enumerate(found, 1))
    values = _values(shown, types) | {"found": names}
    return GLEAN.messages(_language(shown), **values)


def _items_of(found: ModelExtraction) -> str:
    entities = [[one.name, one.type] for one in found.entities]
    relations = [[one.source, one.type, one.target] for one in found.relations]
    return as_data(json.dumps([*entities, *relations], ensure_ascii=False))


def _language(shown: Sequence[Shown]) -> str:
    return language_of("\n".join(map(text_of, shown)))


def _values(shown: Sequence[Shown], types: Sequence[str]) -> dict[str, str]:
    """Return the values of a prompt: the passages, each with the titles that have changed."""
    document = shown[0][0].document_title
    texts = list[str]()
    before: tuple[str, ...] = (document,)
    for one in shown:
        lines = list[str]()
        for passage in one:
            path = passage.section_path
            lines += [*_new_title(path, before), passage.text]
            before = path
        texts.append("\n".join(lines))
    return {
        "types": ", ".join(types),
        "title": as_data(document),
        "passages": number_texts(texts),
    }


def _new_title(path: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return the titles of a path that differ from the path before, if any."""
    if path == before or not path:
        return []
    pairs = zip(path[:-1], before, strict=False)
    known = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    return [" > ".join(path[known:])]
