"""Attachments as passages of an answer: they are cited by their own labels, `[I1]` and `[T1:r3c2]`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from sextant.domain.attachments import Attachment, AttachmentKind
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.tables.results.written import ComputedFinding
from sextant.text.characters import estimate_tokens

ATTACHMENT, SHOWN = "attachment", "shown"
"""Keys of an item's metadata: the attachment itself, and what a prompt shows of it."""

BETWEEN = " | "

_NAMES = {
    ("image", "zh"): "用户附上的图像",
    ("image", "en"): "image attached to the question",
    ("table", "zh"): "用户附上的表格",
    ("table", "en"): "table attached to the question",
}
_TEXTS = {
    "zh": ("精确计算的结果：", "（共 {rows} 行，此处列出 {shown} 行）"),
    "en": ("Computed exactly:", "({rows} rows, {shown} of them shown)"),
}


def attachment_items(
    attachments: Sequence[Attachment], language: str, tokens: int
) -> list[RetrievedItem]:
    """Return the attachments that say something, as passages that a prompt shows in at most `tokens`."""
    telling = [one for one in attachments if one.text or one.rows]
    room = tokens // max(1, len(telling))
    return [_item(one, language, room) for one in telling]


def attachment_of(item: RetrievedItem) -> Attachment | None:
    """Return the attachment that an item stands for, if it is none of a document."""
    found = item.metadata.get(ATTACHMENT)
    return found if isinstance(found, Attachment) else None


def label_of(item: RetrievedItem) -> str:
    """Return what markers call an attachment; "" for a passage of a document."""
    attachment = attachment_of(item)
    return attachment.label if attachment else ""


def is_table(item: RetrievedItem) -> bool:
    """Return whether an item stands for a table that came with the question."""
    attachment = attachment_of(item)
    return attachment is not None and attachment.kind is AttachmentKind.TABLE


def is_answered(item: RetrievedItem) -> bool:
    """Return whether what the question asks was computed of this table."""
    attachment = attachment_of(item)
    return attachment is not None and bool(attachment.findings)


def _item(attachment: Attachment, language: str, room: int) -> RetrievedItem:
    kind = _NAMES[attachment.kind.value, language]
    name = f"{kind}: {attachment.name}" if attachment.name else kind
    metadata = {"filename": name, "title": attachment.name, ATTACHMENT: attachment}
    if attachment.kind is AttachmentKind.TABLE:
        metadata[SHOWN] = "\n".join(_display_value(attachment, language, room))
        text = "\n".join(table_lines(attachment))
    else:
        text = attachment.text
    return RetrievedItem(ItemKind.CHUNK, attachment.label, text, 1.0, metadata=metadata)


def header_cells(table: Attachment) -> list[str]:
    """Return the first line: the names of the columns, each with its number, which a nameless one is called by."""
    numbered = ((f"c{n}", name) for n, name in enumerate(table.names, start=1))
    return ["", *(" ".join(dict.fromkeys(filter(None, both))) for both in numbered)]


def row_cells(table: Attachment, row: int) -> list[str]:
    """Return the line of a row (from 0), with its number (from 1) ahead."""
    return [f"r{row + 1}", *table.rows[row]]


def table_lines(table: Attachment) -> list[str]:
    """Return a table as text, into which offsets of citations point: a line a row."""
    rows = (row_cells(table, row) for row in range(len(table.rows)))
    return [BETWEEN.join(cells) for cells in (header_cells(table), *rows)]


def _display_value(table: Attachment, language: str, room: int) -> Iterator[str]:
    """Yield what of a table a prompt has room for: computed values, the rows they rest on, then the others."""
    title, counted = _TEXTS[language]
    header, *lines = table_lines(table)
    computed = [
        *_list_computed(table.label, table.findings),
        *_list_computed(table.label, table.statistics),
    ]
    room -= estimate_tokens(header)
    said = list(_fitting(computed, room // 3))
    room -= sum(map(estimate_tokens, said))
    first = dict.fromkeys(one.row for one in table.findings if one.row is not None)
    order = [*first, *(row for row in range(len(lines)) if row not in first)]
    shown = sum(1 for _ in _fitting((lines[row] for row in order), room))
    if shown < len(lines):
        yield counted.format(rows=len(lines), shown=shown)
    yield header
    yield from (lines[row] for row in sorted(order[:shown]))
    if said:
        yield from (title, *said)


def _list_computed(label: str, findings: Sequence[ComputedFinding]) -> list[str]:
    return [f"- {one.text} [{label}{':' if one.place else ''}{one.place}]" for one in findings]


def _fitting(lines: Iterable[str], room: int) -> Iterator[str]:
    for line in lines:
        room -= estimate_tokens(line)
        if room < 0:
            return
        yield line
