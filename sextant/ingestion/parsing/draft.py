"""A parsed file on its way from the parser process: plain data by offset, without ids."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid5

import msgspec

from sextant.domain.documents import AttachedFile, Chunk, Coverage, ParsedDocument, Section
from sextant.domain.page_boxes import pack_boxes
from sextant.domain.warnings import CodedWarning
from sextant.ingestion.parsing.blocks import Blocks
from sextant.ingestion.parsing.chunking import Cut, cut_chunks
from sextant.ingestion.parsing.images import FoundImage
from sextant.ingestion.parsing.structure import TITLE_CHARS, SectionNode, Structure, build_structure
from sextant.text.characters import clean_text, language_of

_GENERIC_TITLE = re.compile(
    r"$|untitled|microsoft |powerpoint|presentation\d*$|document\d*$|word |无标题|未命名|演示文稿|文档\d*$|工作簿",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document's text, sections and chunks, before it belongs to a stored document.

    `images` are those that nobody has described yet, `unread_pages` what OCR is still to read; `boxes` say where its
    words stand on its pages (`sextant.domain.page_boxes`).
    """

    title: str
    text: str
    language: str
    sections: tuple[SectionNode, ...]
    cuts: tuple[Cut, ...]
    page_count: int | None = None
    warnings: tuple[CodedWarning, ...] = ()
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    images: tuple[FoundImage, ...] = ()
    boxes: bytes = b""
    coverage: Coverage | None = None
    unread_pages: tuple[int, ...] = ()
    attachments: tuple[AttachedFile, ...] = ()


# Built here, once: `msgspec.msgpack.decode` builds what it knows of a dataclass at its first call, and a second thread
# that meets it half built ends the process with a segmentation fault (msgspec 0.22).
_decoder = msgspec.msgpack.Decoder(DocumentDraft)


def draft(blocks: Blocks, filename: str, max_tokens: int) -> DocumentDraft:
    """Lay blocks out as one text with sections and cut it."""
    structure = build_structure(blocks.blocks, blocks.ocr_pages)
    return DocumentDraft(
        title=_title(structure, blocks.title, filename),
        text=structure.text,
        language=language_of(structure.text),
        sections=structure.sections,
        cuts=tuple(cut_chunks(structure, max_tokens)),
        page_count=blocks.page_count,
        warnings=blocks.warnings,
        metadata=blocks.metadata,
        boxes=pack_boxes(structure.placed),
        unread_pages=blocks.unread_pages,
        attachments=blocks.attachments,
    )


def _title(structure: Structure, title: str, filename: str) -> str:
    """Return the title line, else the title of the file's metadata, else a first heading near the top, else the file's name.

    Metadata come second because programs fill them with the names of templates and files.
    """
    root, *sections = structure.sections
    name = clean_text(PurePath(filename).stem)
    title = " ".join(clean_text(title).split())
    generic = _GENERIC_TITLE.match(title) or title == name
    above = structure.text[: sections[0].start].strip() if sections else ""
    is_at_top = len(above) <= TITLE_CHARS and "\n" not in above
    top = sections[0].title if sections and sections[0].level == 1 and is_at_top else ""
    line = structure.text[root.heading.start : root.heading.end]
    return (line or ("" if generic else title) or top or name)[:TITLE_CHARS]


def to_wire(made: DocumentDraft) -> bytes:
    """Encode a draft as the answer of a parser process."""
    return msgspec.msgpack.encode(made)


def from_wire(data: bytes) -> DocumentDraft:
    """Decode the result of `to_wire`; raises for anything else, which a hostile file might send."""
    return _decoder.decode(data)


def finish(made: DocumentDraft, document_id: UUID, version: str) -> ParsedDocument:
    """Give sections and chunks their ids.

    Args:
        made: what the parser process returned.
        document_id: the stored document.
        version: sha256 of the file. Ids follow from document, version and place, so that a
            resumed job finds its own chunks again while a changed file gets new ones.
    """
    sections = _sections(made, document_id, version)
    chunks = tuple(
        Chunk(
            id=uuid5(document_id, f"{version}:chunk:{ordinal}:{cut.start}:{cut.end}"),
            section_id=sections[cut.section].id,
            ordinal=ordinal,
            start=cut.start,
            end=cut.end,
            text=made.text[cut.start : cut.end],
            page=cut.page,
            section_path=sections[cut.section].path,
            modality=cut.modality,
            context=cut.context,
            token_count=cut.tokens,
            title=sections[cut.section].title or made.title,
        )
        for ordinal, cut in enumerate(made.cuts)
    )
    return ParsedDocument(
        made.title,
        made.text,
        made.language,
        tuple(sections),
        chunks,
        made.page_count,
        made.warnings,
        made.metadata,
        made.boxes,
        made.coverage,
        made.attachments,
    )


def _sections(made: DocumentDraft, document_id: UUID, version: str) -> list[Section]:
    sections: list[Section] = []
    for ordinal, node in enumerate(made.sections):
        parent = None if node.parent is None else sections[node.parent]
        sections.append(
            Section(
                id=uuid5(document_id, f"{version}:section:{ordinal}:{node.start}:{node.end}"),
                parent_id=parent.id if parent else None,
                title=node.title or made.title,
                level=node.level,
                ordinal=ordinal,
                start=node.start,
                end=node.end,
                path=(*parent.path, node.title) if parent else (),
                heading_source=node.source,
                page=node.page,
            )
        )
    return sections
