"""What the chat model is shown of passages, and about what a call with them costs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from sextant.domain.answers import Usage
from sextant.domain.settings import Settings
from sextant.ingestion.graph.extraction.cost import estimate_call, most_found
from sextant.ingestion.graph.extraction.model_evidence import ModelExtraction, ModelExtractions
from sextant.models.chat.structured import instruction
from sextant.prompts import EXTRACT, GLEAN, Messages, as_data, number_texts
from sextant.stores.graph.extraction import PendingChunk
from sextant.text.characters import estimate_tokens, language_of


def estimate_extraction_call(
    passages: Sequence[PendingChunk], prompt: Messages, settings: Settings
) -> Usage:
    """Return about what a call with this prompt will take, in tokens."""
    sent = "\n".join(
        [*(text for _, text in prompt), instruction(ModelExtractions, with_schema=False)]
    )
    return estimate_call(sent, [passage.text for passage in passages], settings)


def extraction_prompt(passages: Sequence[PendingChunk], types: Sequence[str]) -> Messages:
    """Return the messages that ask for the entities and relations of passages."""
    tokens = sum(estimate_tokens(passage.text) for passage in passages)
    values = _values(passages, types) | {"most": str(most_found(tokens))}
    for example in ("person", "organization"):
        # Of the types that the example would have, those that are not asked for.
        values[example] = next((one for one in types if one.casefold() == example), "…")
    return EXTRACT.messages(_language(passages), **values)


def gleaning_prompt(
    passages: Sequence[PendingChunk], types: Sequence[str], found: Iterable[ModelExtraction]
) -> Messages:
    """Return the messages that ask for what is missing among what was found in each passage."""
    names = "\n".join(f"[{number}] {_items_of(one)}" for number, one in enumerate(found, 1))
    values = _values(passages, types) | {"found": names}
    return GLEAN.messages(_language(passages), **values)


def _items_of(found: ModelExtraction) -> str:
    entities = [[one.name, one.type] for one in found.entities]
    relations = [[one.source, one.type, one.target] for one in found.relations]
    return as_data(json.dumps([*entities, *relations], ensure_ascii=False))


def _language(passages: Sequence[PendingChunk]) -> str:
    return language_of("\n".join(passage.text for passage in passages))


def _values(passages: Sequence[PendingChunk], types: Sequence[str]) -> dict[str, str]:
    """Return what the prompts show of passages; titles stand above the first of those that share them."""
    texts = list[str]()
    before: tuple[str, ...] = ()
    for passage in passages:
        path = passage.section_path
        title = " > ".join(path) if path and path != before else ""
        texts.append(f"{title}\n{passage.text}" if title else passage.text)
        before = path
    return {
        "types": ", ".join(types),
        "title": as_data(passages[0].document_title),
        "passages": number_texts(texts),
    }
