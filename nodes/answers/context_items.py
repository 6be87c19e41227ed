"""The context that a caller gives to `AnswerGenerator`, read as retrieved items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import Any, cast

from langchain_core.documents import Document

from sextant.domain.errors import OptionInvalid
from sextant.domain.retrieval import ItemKind, Retrieval, RetrievedItem
from sextant.text.characters import clean_text

Passage = RetrievedItem | Document | str | Mapping[str, Any]
ContextLike = Retrieval | Passage | Sequence[Passage]
"""What an answer can be made from: a retrieval; one passage or several, each an item, a LangChain document, a plain
text, or a mapping with `text` like those of `retrievers.assemble_vector_context`."""

_NUMBERS = frozenset({"score", "start", "end"})
# Metadata of `sextant.stores.langchain`, by our names.
_OFFSETS = {"start_offset": "start", "end_offset": "end"}
_PATH_SEPARATOR = " > "


def as_items(context: ContextLike) -> list[RetrievedItem]:
    """Return `context` as items, in order; a retrieval's graph items follow its results.

    A mapping's other keys, and a document's metadata, become the item's metadata (`filename`, `title`,
    `page`, `start`, …).

    Raises:
        OptionInvalid: which passage is none, or has no `text`, or a score or place that is no number.
    """
    if isinstance(context, Retrieval):
        return list({item.id: item for item in (*context.results, *context.graph_items)}.values())
    one = isinstance(context, (RetrievedItem, Document, str, Mapping)) or not isinstance(
        context, Iterable
    )
    found: Iterable[Passage] = [cast("Passage", context)] if one else cast("Any", context)
    return [_as_item(passage, number) for number, passage in enumerate(found, start=1)]


def _as_item(passage: Passage, number: int) -> RetrievedItem:
    if isinstance(passage, RetrievedItem):
        return passage
    values = _describe_passage(passage) if isinstance(passage, Document | str | Mapping) else {}
    text = values.pop("text", None)
    if not isinstance(text, str):
        raise OptionInvalid(
            f"Passage {number} of the context has no text.",
            next_step='Give strings, retrieved items, LangChain documents, or mappings like {"text": "…"}.',
            field="context",
        )
    for name in _NUMBERS & values.keys():
        if not _is_number(values[name]):
            raise OptionInvalid(
                f"`{name}` of passage {number} of the context is not a number: {str(values[name])[:40]!r}.",
                next_step=f"Give a number from 0 on, or leave `{name}` out.",
                field="context",
            )
    document_id, external_id = values.get("document_id"), values.get("external_id")
    return RetrievedItem(
        ItemKind.CHUNK,
        id=str(values.pop("id", None) or values.get("chunk_id") or f"passage-{number}"),
        text=clean_text(text),
        score=float(values.get("score") or 1.0),
        document_id=str(document_id) if document_id else None,
        external_id=str(external_id) if external_id else None,
        metadata=values,
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < inf


def _describe_passage(passage: Document | str | Mapping[str, Any]) -> dict[str, Any]:
    """Return the text and all that is said of it, by the names of an item's metadata."""
    if isinstance(passage, str):
        return {"text": passage}
    if isinstance(passage, Document):
        passage = {
            "id": passage.id,
            "text": passage.page_content,
            "metadata": passage.metadata,
        }
    given = {
        key: value for key, value in passage.items() if key != "metadata" and value is not None
    }
    more = passage.get("metadata")
    values = {**more, **given} if isinstance(more, Mapping) else given
    if isinstance(path := values.get("section_path"), str):
        values["section_path"] = tuple(path.split(_PATH_SEPARATOR))
    return {_OFFSETS.get(key, key): value for key, value in values.items()}
