"""Images and tables that come with a question, once they were looked at: plain data for the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sextant.tables.results.written import ComputedFinding


class AttachmentKind(StrEnum):
    """What may come with a question."""

    IMAGE = "image"
    TABLE = "table"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A part of a question. It is the user's own, not a document of the knowledge base.

    Attributes:
        kind: image or table.
        label: what markers call it: `I1`, `T1`.
        name: what readers call it: a caption or a file's name.
        text: an image's description and caption, "" while nobody has described it; empty for tables.
        names: a table's columns.
        rows: a table's cells.
        findings: what was computed because the question asks for it.
        statistics: what was computed of its columns of numbers whatever is asked.
    """

    kind: AttachmentKind
    label: str
    name: str
    text: str = ""
    names: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    findings: Sequence[ComputedFinding] = ()
    statistics: Sequence[ComputedFinding] = ()

    def as_plain(self) -> dict[str, Any]:
        """Return the attachment as plain values, as a checkpoint keeps them; the rows are not copied."""
        return {
            "kind": self.kind.value,
            "label": self.label,
            "name": self.name,
            "text": self.text,
            "names": self.names,
            "rows": self.rows,
            "findings": [asdict(finding) for finding in self.findings],
            "statistics": [asdict(finding) for finding in self.statistics],
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Attachment:
        """Return the opposite of `as_plain`."""
        computed = {
            name: [ComputedFinding(**finding) for finding in plain[name]]
            for name in ("findings", "statistics")
        }
        return cls(**{**plain, **computed, "kind": AttachmentKind(plain["kind"])})
