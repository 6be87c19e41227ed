"""What kind of thing answers a question (an amount, a date, a version, somebody), and whether a sentence tells one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain.language.persons import asks_who, tells_of_someone
from domain.language.quantities import asked_quantity
from domain.retrieval import RetrievedItem


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
        """The heading that has one, but not that of the whole document."""
        path: Sequence[object] = item.metadata.get("section_path") or ()
        heading = str(path[-1]) if self.of_sections and len(path) > 1 else ""
        return heading if heading and self.told_by(heading) else ""


_ANY = AskedKind(lambda _: True)


def asked_kind(question: str) -> AskedKind:
    """The kind of thing that `question` asks for; any text has it where none can tell by its form that it has one."""
    if quantity := asked_quantity(question):
        return AskedKind(quantity.told_by, quantity.of_sections)
    return AskedKind(tells_of_someone) if asks_who(question) else _ANY
