"""A question by another name of an entity, read as one by the name that the passages have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.text.characters import IDEOGRAPHS
from sextant.text.definitions import definition_pattern


def replace_aliases(
    question: str, items: Sequence[RetrievedItem], around: Iterable[RetrievedItem]
) -> str:
    """`question` with each alias that the passages tell only beside the entity's name as that name.

    Words decide what is quoted: who asks where Jim Cameron was born was told that James Cameron is also
    called so, and not where he was born. An alias that passages go by themselves stays, and so does one of
    which it is asked what that is.

    Args:
        question: as it was asked.
        items: the passages that were found.
        around: what of the graph was found beside them; its entities bear aliases.
    """
    if definition_pattern(question) is not None:
        return question
    texts = [item.text for item in items]
    for entity in around:
        name = str(entity.metadata.get("name", ""))
        if entity.kind is not ItemKind.ENTITY or not name or _name_pattern(name).search(question):
            continue
        for alias in _find_aliases(question, entity):
            places = [
                (_name_pattern(name).search(text), _name_pattern(alias).search(text))
                for text in texts
            ]
            alone = {bool(own) for own, other in places if (own is None) is not (other is None)}
            if alone == {True} and not _name_pattern(alias).search(name):
                question = _name_pattern(alias).sub(name.replace("\\", r"\\"), question)
                break
    return question


def _find_aliases(question: str, entity: RetrievedItem) -> list[str]:
    """Return the aliases of an entity that a question has, the longest first."""
    asked = question.lower()
    held = [alias for alias in entity.metadata.get("aliases", ()) if alias.lower() in asked]
    return sorted(
        (alias for alias in held if _name_pattern(alias).search(question)), key=len, reverse=True
    )


def _name_pattern(name: str) -> re.Pattern[str]:
    """Return the name as a whole word, in upper or lower case; Chinese has no bounds of words."""
    before = rf"(?<![^\W{IDEOGRAPHS}])" if name[:1].isascii() else ""
    behind = rf"(?![^\W{IDEOGRAPHS}])" if name[-1:].isascii() else ""
    return re.compile(f"{before}{re.escape(name)}{behind}", re.IGNORECASE)
