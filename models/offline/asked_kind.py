"""What kind of thing answers a question (an amount, a date, a version, somebody), and whether a sentence tells one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain.language.persons import asks_who, tells_of_someone
from domain.language.quantities import asked_quantity
from domain.retrieval import RetrievedItem

# Chapters have numbers, too (5.3), and codes a year (INC-2025-017).
_VERSION_OR_DAY = re.compile(
    r"\bv?\d+\.\d+\.\d+|\b(?:v|version|release) ?\d|第.{1,3}版|版本 ?\d|(?<![\w-])\d{4}[-/.年]\d{1,2}(?!\d)"
    r"|\b\d{1,2}\.? [A-Z][a-z]+ \d{4}|\b[A-Z][a-z]+ \d{1,2}, \d{4}",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class AskedKind:
    """A kind of thing that is asked for; `told_by` says whether a text has one.

    `of_sections`: sections are called by it, as releases are by their version and minutes by their day.
    """

    told_by: Callable[[str], bool]
    of_sections: bool = False

    def tells(self, text: str, item: RetrievedItem) -> bool:
        """Whether a sentence of the passage, or the heading over it, has one."""
        return self.told_by(text) or bool(self.heading_of(item))

    def only_under(self, text: str, item: RetrievedItem) -> str:
        """The heading that has one where the sentence has none, else ""."""
        return "" if self.told_by(text) else self.heading_of(item)

    def heading_of(self, item: RetrievedItem) -> str:
        """The nearest heading that is a version or day and has one; not that of the whole document."""
        path: Sequence[str] = (
            (item.metadata.get("section_path") or ())[1:] if self.of_sections else ()
        )
        named = (one for one in reversed(path) if _VERSION_OR_DAY.search(one) and self.told_by(one))
        return next(named, "")


_ANY = AskedKind(lambda _: True)


def asked_kind(question: str) -> AskedKind:
    """The kind of thing that `question` asks for; any text has it where none can tell by its form that it has one."""
    if quantity := asked_quantity(question):
        return AskedKind(quantity.told_by, quantity.of_sections)
    return AskedKind(tells_of_someone) if asks_who(question) else _ANY
