"""Documents that come as ready-made chunks: their one text, and the bytes they are stored as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any
from uuid import UUID, uuid5

import orjson
from pydantic import ValidationError

from sextant.domain.documents import (
    LONGEST_FILENAME,
    Chunk,
    HeadingSource,
    Modality,
    ParsedDocument,
    Section,
)
from sextant.domain.errors import FileBroken
from sextant.ingestion.parsing.detect import media_type
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine, created_at
from sextant.stores.documents.registering import Upload
from sextant.text.characters import estimate_tokens, language_of

_TEXT = ".txt"
_SLASH = "／"  # in a file's name; searched and compared as /
GAP = "\n\n"
_MARK = b'{"format":"sextant-document"}\n'


def pack(document: DocumentLine, chunks: Sequence[ChunkLine]) -> bytes:
    """Return a document with its chunks as bytes for the store; equal content gives equal bytes."""
    lines = [document, *chunks]
    return _MARK + b"\n".join(
        orjson.dumps(line.wire(), option=orjson.OPT_SORT_KEYS) for line in lines
    )


def upload(line: DocumentLine, chunks: Sequence[ChunkLine]) -> Upload:
    """Return a document as the store takes it: with its chunks, or as the text that it is."""
    named = PurePath(line.filename).name or line.title or line.id
    if chunks:
        filename = named[:LONGEST_FILENAME]
    else:  # what stands before the last full stop is its title, if its text has none
        titled = (line.title or line.id)[: LONGEST_FILENAME - len(_TEXT)]
        filename = f"{titled.replace('/', _SLASH)}{_TEXT}"
    return Upload(
        line.id,
        filename,
        media_type(filename),
        pack(line, chunks) if chunks else (line.text or "").encode(),
        line.id,
        line.stored_metadata(),
        b"" if chunks else pack(line.model_copy(update={"text": None}), ()),
    )


def is_packed(content: bytes) -> bool:
    """Return whether `pack` made these bytes."""
    return content.startswith(_MARK)


def unpack(content: bytes, document_id: UUID) -> ParsedDocument:
    """Return what `pack` was given, as a parsed document.

    Raises:
        FileBroken: these are not such bytes.
    """
    try:
        first, *rest = [orjson.loads(line) for line in content[len(_MARK) :].split(b"\n")]
        document = DocumentLine.model_validate(first)
        return join_chunks(document, [ChunkLine.model_validate(line) for line in rest], document_id)
    except (ValueError, ValidationError) as error:
        raise FileBroken(f"The imported document is damaged: {error}") from error


def apply_dates(parsed: ParsedDocument, metadata: Mapping[str, Any]) -> ParsedDocument:
    """Return a document whose chunks are as old as its metadata say it is, where they do."""
    written = created_at(metadata)
    if written is None:
        return parsed
    chunks = tuple(replace(chunk, created_at=written) for chunk in parsed.chunks)
    return replace(parsed, chunks=chunks)


def chunk_id(document_id: UUID, external_id: str) -> UUID:
    """Return the id of an imported chunk."""
    return uuid5(document_id, f"chunk {external_id}")


def join_chunks(
    document: DocumentLine, chunks: Sequence[ChunkLine], document_id: UUID
) -> ParsedDocument:
    """Return a document of these chunks, with the sections that it names.

    If it names none, titled chunks are sections of their own under the root. Chunks lie where they
    say, else where the document's text has them, looked for in order; those that it does not have
    are appended, so that `text[chunk.start:chunk.end]` is every chunk's text.
    """
    text, starts = align_chunks(document.text or "", chunks)
    title = document.title or document.id
    root_id = uuid5(document_id, "root")
    root = Section(root_id, None, title, 0, 0, 0, len(text), heading_source=HeadingSource.ROOT)
    sections = [root, *_tree(document, document_id, root)]
    stored = []
    for ordinal, (line, start) in enumerate(zip(chunks, starts, strict=True)):
        section = root
        if document.sections or line.start is not None:
            if line.section is not None and line.section < len(document.sections):
                section = sections[1 + line.section]
        elif line.title and line.title != document.title:
            section_id = uuid5(document_id, f"section {ordinal}")
            section = _section(section_id, line, root_id, len(sections), start)
            sections.append(section)
        stored.append(
            _chunk(chunk_id(document_id, line.id), document, line, section, (ordinal, start))
        )
    return ParsedDocument(
        title,
        text,
        language_of(text),
        tuple(sections),
        tuple(stored),
        page_count=document.page_count,
        metadata=dict(document.metadata),
    )


def align_chunks(text: str, chunks: Sequence[ChunkLine]) -> tuple[str, list[int]]:
    """Return a document's text with the chunks that it does not have appended, and where each chunk starts in it."""
    starts, parts, length, cursor = list[int](), [text] if text else [], len(text), 0
    for line in chunks:
        piece, start = line.text, -1 if line.start is None else line.start
        if start < 0 or text[start : start + len(piece)] != piece:
            start = text.find(piece, cursor)
        if start < 0:
            start = text.find(piece)
        if start >= 0:
            cursor = start + 1
        else:
            start = length + len(GAP) * bool(parts)
            parts.append(piece)
            length = start + len(piece)
        starts.append(start)
    return GAP.join(parts), starts


def _tree(document: DocumentLine, document_id: UUID, root: Section) -> Iterator[Section]:
    """Yield the sections that a document names; each lies in the last before it of a lower level."""
    above = [root]
    for ordinal, line in enumerate(document.sections):
        while above[-1].level >= line.level:
            above.pop()
        end = min(line.end, root.end)
        section = Section(
            uuid5(document_id, f"section {ordinal}"),
            above[-1].id,
            line.title,
            line.level,
            ordinal + 1,
            min(line.start, end),
            end,
            path=(*above[-1].path, line.title),
            heading_source=line.heading_source,
            page=line.page,
        )
        above.append(section)
        yield section


def _section(section_id: UUID, line: ChunkLine, root_id: UUID, ordinal: int, start: int) -> Section:
    end = start + len(line.text)
    return Section(
        section_id,
        root_id,
        line.title,
        1,
        ordinal,
        start,
        end,
        path=(line.title,),
        heading_source=HeadingSource.GIVEN,
    )


def _chunk(
    id_: UUID, document: DocumentLine, line: ChunkLine, section: Section, position: tuple[int, int]
) -> Chunk:
    ordinal, start = position
    title = line.title or document.title
    said = line.start is not None
    # A title that the text does not repeat is embedded and searched with it.
    context = line.context if said or line.context else "" if title in line.text else title
    return Chunk(
        id=id_,
        section_id=section.id,
        ordinal=ordinal,
        start=start,
        end=start + len(line.text),
        text=line.text,
        section_path=section.path,
        page=line.page,
        modality=line.modality or Modality.TEXT,
        context=context,
        token_count=estimate_tokens(line.text),
        title=line.title if said else title,
        external_id=line.id,
        created_at=document.created_at,
    )
