"""What kind of thing answers a question (an amount, a date, a version, somebody), and whether a sentence tells one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sextant.domain.retrieval import RetrievedItem
from sextant.models.offline.passages import told_by_documents
from sextant.models.offline.wording import content_words
from sextant.text.other_words import statement_synonyms, synonym_patterns, synonyms
from sextant.text.persons import asks_who, may_name_person
from sextant.text.quantities import find_question_quantity
from sextant.text.simplified import plain_of

# Chapters have numbers, too (5.3), and codes a year (INC-2025-017).
_VERSION_OR_DAY = re.compile(
    r"\bv?\d+\.\d+\.\d+|\b(?:v|version|release) ?\d|第.{1,3}版|版本 ?\d|(?<![\w-])\d{4}[-/.年]\d{1,2}(?!\d)"
    r"|\b\d{1,2}\.? [A-Z][a-z]+ \d{4}|\b[A-Z][a-z]+ \d{1,2}, \d{4}",
    re.IGNORECASE,
)
# What is counted: "how many parking spaces", 多少个机柜.
_COUNTED = re.compile(
    r"\bhow many ((?:[\w-]+ )?[\w-]+)|(?:多少|[几幾])[个個位名家座台辆輛条條间間张張只支艘架]([^，。？?是有的在]{1,6})",
    re.IGNORECASE,
)
_ATTENDANCE = frozenset(["apologies", "attendees"])
_ANYTHING = frozenset(["people", "person", "time", "part", "人", "部分", "方面", "东西"])


@dataclass(frozen=True, slots=True)
class AskedKind:
    """A kind of thing that is asked for; `told_by` says whether a text has one.

    `of_sections`: sections are called by it, as releases are by their version and minutes by their day.
    """

    told_by: Callable[[str], bool]
    of_sections: bool = False

    def tells(self, text: str, item: RetrievedItem) -> bool:
        """Return whether a sentence of the passage, or the heading over it, has one."""
        return self.told_by(text) or bool(self.heading_of(item))

    def only_under(self, text: str, item: RetrievedItem) -> str:
        """Return the heading that has one where the sentence has none, else ""."""
        return "" if self.told_by(text) else self.heading_of(item)

    def heading_of(self, item: RetrievedItem) -> str:
        """Return the nearest heading that is a version or day and has one; not that of the whole document."""
        path: Sequence[str] = (
            (item.metadata.get("section_path") or ())[1:] if self.of_sections else ()
        )
        named = (one for one in reversed(path) if _VERSION_OR_DAY.search(one) and self.told_by(one))
        return next(named, "")


_ANY = AskedKind(lambda _: True)


def asked_kind(question: str) -> AskedKind:
    """Return the kind of thing that `question` asks for; any text has it where none can tell by its form that it has one."""
    if quantity := find_question_quantity(question):
        return AskedKind(quantity.told_by, quantity.of_sections)
    if not asks_who(question):
        return _ANY
    attended = _attendance(question)
    return AskedKind(lambda text: may_name_person(text) and attended(text))


def _attendance(question: str) -> Callable[[str], bool]:
    """Return whether a text says who was there, or was not, where `question` asks for that: minutes have a line for each."""
    plain = plain_of(question)
    asked = [
        word
        for word, others in synonyms(question).items()
        if not _ATTENDANCE.isdisjoint(others)
        and re.search(rf"(?:谁|\bwho(?: is| was| were| has| had)? ){word}", plain)
    ]
    if not asked:
        return lambda _: True
    said = synonym_patterns(question)
    return lambda text: any(
        word in (told := plain_of(text)) or said[word].search(told) for word in asked
    )


def speaks_of_counted(question: str, passages: Sequence[RetrievedItem]) -> bool:
    """Return whether the passages have a word for what `question` asks the number of; true where it asks no number.

    Of 94 public questions the passage that answers lacks it for six, and for two of these it is "people".
    """
    match = _COUNTED.search(plain_of(question))
    counted = content_words(match[1] or match[2]) if match else []
    if not counted or not _ANYTHING.isdisjoint(counted):
        return True
    said = plain_of(" ".join(told_by_documents(passages)))
    meant = {word for word, form in statement_synonyms(question) if form.search(said)}
    return any(word in said or word in " ".join(meant) for word in counted)
