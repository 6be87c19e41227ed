"""Build the prompts that ask a chat model for the entities and relations of passages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import count, takewhile

from sextant.domain.answers import Usage
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.cost import estimate_call, most_found
from sextant.ingestion.graph.extraction.model_evidence import (
    ModelExtraction,
    ModelExtractions,
)
from sextant.models.chat.structured import instruction
from sextant.prompts import EXTRACT, GLEAN, Messages, as_data, number_texts
from sextant.stores.graph.extraction import PendingChunk
from sextant.text.characters import estimate_tokens, language_of

# Tokens of small neighbours that are shown as one, since each numbered passage adds to the answer.
_JOINED_TOKENS = 200

Shown = Sequence[PendingChunk]
"""A numbered passage of a prompt: one passage, or small neighbours."""


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
