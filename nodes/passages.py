"""The context of an answer: what was found, as numbered passages within a token budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from domain.errors import OptionInvalid
from domain.retrieval import ItemKind, Retrieval, RetrievedItem
from domain.text import clean_text, estimate_tokens
from nodes.support import headings

ContextLike = Retrieval | Sequence[RetrievedItem | str | Mapping[str, Any]]
"""What an answer can be made from: a retrieval, items, plain texts, or mappings with `text`."""


def as_items(context: ContextLike) -> list[RetrievedItem]:
    """Return `context` as items, in order.

    A mapping's other keys become the item's metadata (`filename`, `title`, `page`, `start`, …).

    Raises:
        OptionInvalid: a mapping has no `text`.
    """
    found = context.results if isinstance(context, Retrieval) else context
    return [_as_item(passage, number) for number, passage in enumerate(found, start=1)]


def _as_item(passage: RetrievedItem | str | Mapping[str, Any], number: int) -> RetrievedItem:
    if isinstance(passage, RetrievedItem):
        return passage
    if isinstance(passage, str):
        passage = {"text": passage}
    text = passage.get("text")
    if not isinstance(text, str):
        raise OptionInvalid(
            f"Passage {number} of the context has no text.",
            next_step='Give strings, retrieved items, or mappings like {"text": "…"}.',
            field="context",
        )
    return RetrievedItem(
        ItemKind.CHUNK,
        id=str(passage.get("id") or f"passage-{number}"),
        text=clean_text(text),
        score=float(passage.get("score") or 1.0),
        metadata={key: value for key, value in passage.items() if key not in {"id", "text"}},
    )


def within_budget(items: Iterable[RetrievedItem], tokens: int) -> list[RetrievedItem]:
    """Return the first items whose texts together take at most `tokens` (estimated), at least one.

    What does not fit is left out whole; shorter items behind it may still fit.
    """
    kept, left = list[RetrievedItem](), tokens
    for item in items:
        cost = estimate_tokens(headings(item) + item.text)
        if cost <= left or not kept:
            kept.append(item)
            left -= cost
    return kept


def numbered(items: Sequence[RetrievedItem]) -> str:
    """Return the items as a prompt shows them: delimited, numbered from 1, with where they are from.

    A passage cannot close its own delimiter, so its text stays data whatever it says.
    """
    return "\n".join(
        f'<passage number="{number}" from="{_attribute(headings(item))}">\n'
        f"{_text(_body(item))}\n</passage>"
        for number, item in enumerate(items, start=1)
    )


def _body(item: RetrievedItem) -> str:
    context = item.metadata.get("context")
    return f"{context}\n{item.text}" if context else item.text


def _text(text: str) -> str:
    return text.replace("<passage", "‹passage").replace("</passage", "‹/passage")


def _attribute(text: str) -> str:
    return _text(" ".join(text.split())).replace('"', "”")
