"""The sentences, citations and sources of an answer that is being written, and the events that end it.

An item may be an attachment of the question, which is cited by a label instead of a number.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from sextant.domain.answers import (
    Answer,
    Citation,
    Cited,
    Done,
    Quoted,
    Source,
    Sources,
    Token,
    Trust,
    Usage,
)
from sextant.domain.questions import Attachment, AttachmentKind
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.warnings import CodedWarning, distinct
from sextant.nodes.citing.markers import LABEL
from sextant.nodes.citing.support import SupportedQuote

_STOP = re.compile(r"[.!?…。！？]*[\"'”’」』）》)\]]*\s*")


class Verdict(StrEnum):
    """The result of checking a finished sentence."""

    STATES_NOTHING = "states nothing"
    SILENT = "says that the documents do not say"
    SUPPORTED = "a citation says so"
    FOREIGN = "cited to a passage in another language"
    PARTIAL = "some of it is said"
    UNSUPPORTED = "no passage says so"
    CONTRADICTED = "the passages say otherwise"


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished sentence.

    Attributes:
        text: with markers as the model writes them.
        citations: indexes in the answer's citations.
        passages: indexes of the passages that they cite.
    """

    text: str
    verdict: Verdict
    citations: range
    passages: tuple[int, ...]


@dataclass(slots=True)
class DraftSentence:
    """The sentence that is being written: its text without markers, and its markers as offset, passage and quote."""

    text: str = ""
    marks: list[tuple[int, int, SupportedQuote]] = field(
        default_factory=list[tuple[int, int, SupportedQuote]]
    )

    def shown(self, marker: Callable[[int, str], str]) -> str:
        """Return the sentence with its markers, which `marker` formats from passage and place."""
        pieces, position = [], 0
        for offset, index, quote in self.marks:
            pieces += [self.text[position:offset], marker(index, quote.place)]
            position = offset
        return "".join([*pieces, self.text[position:]])

    def has_marker_at(self, offset: int) -> bool:
        """Return whether the last marker stands at an offset with only a stop behind it."""
        last = self.marks[-1][0] if self.marks else None
        return last == offset and _STOP.fullmatch(self.text, offset) is not None

    def split(self, end: int) -> tuple[DraftSentence, DraftSentence]:
        """Cut behind `end`; markers that follow the stop on its line belong to the first part."""
        kept = []
        for mark in self.marks:
            between = self.text[end : max(end, mark[0])]
            if between.strip() or "\n" in between:
                break
            kept.append(mark)
        end = max([end, *(offset for offset, _, _ in kept)])
        rest = [(offset - end, index, quote) for offset, index, quote in self.marks[len(kept) :]]
        return DraftSentence(self.text[:end], kept), DraftSentence(self.text[end:], rest)


ATTACHMENT, SHOWN = "attachment", "shown"
"""Keys of an item's metadata: the attachment, and its text in a prompt."""


def attachment_of(item: RetrievedItem) -> Attachment | None:
    """Return the attachment that an item stands for; None for a passage of a document."""
    found = item.metadata.get(ATTACHMENT)
    return found if isinstance(found, Attachment) else None


def label_of(item: RetrievedItem) -> str:
    """Return the label of an attachment in markers; "" for a passage of a document."""
    attachment = attachment_of(item)
    return attachment.label if attachment else ""


def is_table(item: RetrievedItem) -> bool:
    """Return whether an item is a table that came with the question."""
    attachment = attachment_of(item)
    return attachment is not None and attachment.kind is AttachmentKind.TABLE


def is_answered(item: RetrievedItem) -> bool:
    """Return whether the answer was computed from this table."""
    attachment = attachment_of(item)
    return attachment is not None and bool(attachment.findings)


# Reference numbers of a document that look like our markers.
_LIKE_A_MARKER = re.compile(rf"[\[【](\d+|{LABEL})[\]】]")


def format_marker(number: int) -> str:
    """Return the marker of a number, as answers have it."""
    return f"[{number}]"


def format_label(label: str, place: str = "") -> str:
    """Return the marker of an attachment, or of a part of it."""
    return f"[{label}:{place}]" if place else f"[{label}]"


def escape_markers(text: str) -> str:
    """Return `text` with round brackets around what looks like one of our markers."""
    return _LIKE_A_MARKER.sub(r"(\1)", text)


def is_head_row(text: str, before: str) -> bool:
    """Return whether a sentence is the header row of a table, or the rule below it.

    Args:
        text: the sentence.
        before: the one before it.
    """
    row = text.strip().rpartition("\n")[2]
    is_apart = "\n\n" in before[-3:] + text[: len(text) - len(text.lstrip())]
    goes_on = before.strip().startswith("|") and not is_apart
    return row.startswith("|") and not (goes_on and re.search(r"\w", row))


class Citations:
    """Numbers markers by first use, and keeps all text and citations given out."""

    def __init__(self, passages: Sequence[RetrievedItem]) -> None:
        self._passages = passages
        self._order: list[int] = []
        self._attached: list[int] = []
        self._texts: list[str] = []
        self.citations: list[Citation] = []

    @property
    def text(self) -> str:
        """Return all text given out so far."""
        return "".join(self._texts)

    @property
    def sources(self) -> tuple[Source, ...]:
        """Return the cited passages in order of their markers, then the cited attachments."""
        numbered = [
            as_source(self._passages[index], marker)
            for marker, index in enumerate(self._order, start=1)
        ]
        return (*numbered, *(as_source(self._passages[index], 0) for index in self._attached))

    def token(self, text: str) -> Token:
        """Give out `text` as the next piece of the answer."""
        self._texts.append(text)
        return Token(text)

    def marker(self, index: int) -> int:
        """Return the number of `passages[index]`, a new one if it has none; 0 for an attachment."""
        if label_of(self._passages[index]):
            self._attached += [index] * (index not in self._attached)
            return 0
        if index not in self._order:
            self._order.append(index)
        return self._order.index(index) + 1

    def shown(self, index: int, place: str = "") -> str:
        """Return the marker of `passages[index]`, or of a part of it, as the answer has it."""
        number, label = self.marker(index), label_of(self._passages[index])
        return format_label(label, place) if label else format_marker(number)

    def state(
        self, index: int, text: str, quote: SupportedQuote, *, lead: str = ""
    ) -> Iterator[Token | Cited]:
        """Give out what `passages[index]` says behind a lead, with its marker and citation."""
        yield self.token(f"{lead}{text}")
        marker = self.shown(index, quote.place)
        yield self.token(marker)
        yield self.cite(index, f"{text}{marker}", quote)

    def cite(self, index: int, sentence: str, quote: SupportedQuote) -> Cited:
        """Give out the citation of a finished sentence by `passages[index]`."""
        attached = label_of(self._passages[index])
        citation = Citation(
            marker=self.marker(index),
            sentence=sentence,
            source=_name(self._passages[index]),
            quote=quote.text,
            start=quote.start,
            end=quote.end,
            support=round(quote.support, 3),
            cell=self.shown(index, quote.place)[1:-1] if attached else "",
            ocr=self._passages[index].is_read_by_ocr,
        )
        self.citations.append(citation)
        return Cited(citation)


def as_source(item: RetrievedItem, marker: int) -> Source:
    """Return `item` as the source that `[marker]` stands for."""
    attachment = attachment_of(item)
    return Source(
        marker=marker,
        document_id=item.document_id or "",
        filename=_name(item),
        chunk_id=item.id,
        title=str(item.metadata.get("title") or ""),
        section_path=tuple(item.metadata.get("section_path") or ()),
        page=item.metadata.get("page"),
        text=item.text,
        score=item.score,
        lanes={lane: asdict(score) for lane, score in item.lanes.items()},
        kind=attachment.kind.value if attachment else "document",
        label=label_of(item),
        external_id=item.external_id,
        ocr=item.is_read_by_ocr,
    )


def _name(item: RetrievedItem) -> str:
    return str(item.metadata.get("filename") or item.metadata.get("title") or item.id)


def ending(
    given: Citations,
    model: str,
    *,
    trust: Trust,
    declined: bool = False,
    usage: Usage | None = None,
    prompt: str = "",
    warnings: Sequence[CodedWarning] = (),
    language: str = "en",
) -> Iterator[Sources | Done]:
    """Yield the sources of an answer, then the whole answer."""
    whole = Answer(
        answer=given.text,
        mode="",
        citations=tuple(given.citations),
        sources=given.sources,
        trust=trust,
        declined=declined,
        coded_warnings=tuple(distinct(warnings)),
        language=language,
        model=model,
        usage=usage or Usage(),
        prompt=prompt,
    )
    yield Sources(whole.sources)
    yield Done(whole)


StillThere = Callable[[Sequence[Quoted]], Awaitable[Sequence[bool]]]
"""Tells for each quote whether the stored document has it; raises DependencyError."""


async def still_stored(
    still_there: StillThere | None, items: Sequence[RetrievedItem]
) -> list[RetrievedItem]:
    """Return the passages that the stored documents still have.

    Raises:
        DependencyError: the store does not answer.
    """
    stored = [item for item in items if item.document_id]
    if still_there is None or not stored:
        return list(items)
    quotes = [
        Quoted(str(item.document_id), int(item.metadata.get("start") or 0), item.text)
        for item in stored
    ]
    holding = zip(stored, await still_there(quotes), strict=True)
    gone = {item.id for item, holds in holding if not holds}
    return [item for item in items if item.id not in gone]
