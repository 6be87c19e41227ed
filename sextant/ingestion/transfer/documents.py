"""Pack documents that are imported with their chunks into bytes for the store, and unpack them.

Also here: identify the entities of an import's lines; check that an import's knowledge base still exists.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple, NoReturn
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
from sextant.domain.errors import FileBroken, GraphNotFound, SextantError
from sextant.domain.scope import Scope
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.ingestion.parsing.detect import media_type
from sextant.ingestion.transfer.lines import ChunkLine, DocumentLine, EntityLine, created_at
from sextant.ingestion.transfer.spool import Numbered
from sextant.stores.documents.registration import Upload
from sextant.stores.graph.evidence import entity_id
from sextant.stores.graph.record import GraphRecord
from sextant.stores.graph.transfer import KnownEntity
from sextant.text.characters import estimate_tokens, language_of


class IdentifiedLine(NamedTuple):
    """A line as given and as completed from the stored entity; `entity_id` is None if another name has its id."""

    number: int
    given: EntityLine
    line: EntityLine
    entity_id: UUID | None


def identify_entities(
    scope: Scope,
    named: UUID,
    group: Sequence[Numbered[EntityLine]],
    owners: Mapping[UUID, KnownEntity],
    known: Mapping[str, KnownEntity],
) -> Iterator[IdentifiedLine]:
    """Identify the entities of the lines of one name.

    The first entity of the name has the id that follows from the name alone; further ones are homonyms.

    Args:
        scope: the knowledge base.
        named: the id that follows from the name alone.
        group: the lines, ordered by id.
        owners: the stored entities that the user has asserted.
        known: the stored entities by external id.
    """
    owner = owners.get(named)
    for number, given in group:
        line = _complete(given, owner)
        before = known.get(line.id) if line.id else None
        entity = _entity_of(scope, named, line, owner, before)
        if before is not None and before.id != entity:
            yield IdentifiedLine(number, given, line, None)
            continue
        if entity == named and not (owner and owner.external_id):
            owner = KnownEntity(entity, line.id, line.name, line.entity_type, line.description)
        yield IdentifiedLine(number, given, line, entity)


def id_taken(known: Mapping[str, KnownEntity], line: EntityLine) -> CodedWarning:
    """Return the problem of a line whose id another entity has."""
    before = known[line.id or ""]
    params = {
        "id": f"{before.external_id!r:.80}",
        "owner": f"{before.name!r:.80}",
        "entity": f"{line.name!r:.80}",
    }
    return CodedWarning(WarningCode.LINE_ID_TAKEN, params)


def _complete(line: EntityLine, owner: KnownEntity | None) -> EntityLine:
    """Complete a line without an id from the stored entity of its name."""
    if line.id or owner is None or owner.external_id is None:
        return line
    kind = owner.entity_type if line.entity_type == "TERM" else line.entity_type
    return line.model_copy(
        update={
            "id": owner.external_id,
            "name": owner.name,
            "entity_type": kind,
            "description": line.description or owner.description,
        }
    )


def _entity_of(
    scope: Scope,
    named: UUID,
    line: EntityLine,
    owner: KnownEntity | None,
    before: KnownEntity | None,
) -> UUID:
    taken = owner is not None and owner.external_id not in (None, line.id)
    if not line.id or not (taken or before):
        return named
    homonym = entity_id(scope, line.name, line.id)
    return homonym if taken or (before is not None and before.id == homonym) else named


class ImportUpkeep:
    """Check between the steps of an import that its knowledge base was not deleted.

    Otherwise the rest of the import would create it again.
    """

    def __init__(self, scope: Scope, record: GraphRecord) -> None:
        self._scope = scope
        self._record = record
        self._begun = 0

    @property
    def is_there(self) -> bool:
        """Return whether the knowledge base existed at the last check."""
        return bool(self._begun)

    async def check(self) -> None:
        """Check that the knowledge base is the one that the import began with.

        Raises:
            GraphNotFound: it was deleted meanwhile.
        """
        async with self._record.reading(self._scope) as stored:
            self.found(stored.scope_id)

    def found(self, scope_id: int) -> None:
        """Check the number of the knowledge base, 0 before it is created; raises as `check` does."""
        if self._begun and scope_id != self._begun:
            raise self._deleted()
        self._begun = scope_id

    async def fail(self, error: SextantError) -> NoReturn:
        """Raise `error`, or `GraphNotFound` if that is its cause."""
        await self.check()
        raise error if self._begun else self._deleted()

    def _deleted(self) -> GraphNotFound:
        return GraphNotFound(
            f"The knowledge base {self._scope.graph_id!r} was deleted while the import ran.",
            next_step="What came in before is gone with it. Import again to make a new one.",
            field="graph_id",
        )


_TEXT = ".txt"
_SLASH = "／"  # in a file's name; searched and compared as /
GAP = "\n\n"
_MARK = b'{"format":"sextant-document"}\n'


def pack(document: DocumentLine, chunks: Sequence[ChunkLine]) -> bytes:
    """Return a document with its chunks as bytes; equal content gives equal bytes."""
    lines = [document, *chunks]
    return _MARK + b"\n".join(
        orjson.dumps(line.wire(), option=orjson.OPT_SORT_KEYS) for line in lines
    )


def upload(line: DocumentLine, chunks: Sequence[ChunkLine]) -> Upload:
    """Return a document to upload: packed with its chunks, or as a text file."""
    named = PurePath(line.filename).name or line.title or line.id
    if chunks:
        filename = named[:LONGEST_FILENAME]
    else:  # the parser takes a title from the file's name if the text has none
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
    """Return whether these bytes come from `pack`."""
    return content.startswith(_MARK)


def unpack(content: bytes, document_id: UUID) -> ParsedDocument:
    """Return the packed document.

    Raises:
        FileBroken: the bytes are damaged.
    """
    try:
        first, *rest = [orjson.loads(line) for line in content[len(_MARK) :].split(b"\n")]
        document = DocumentLine.model_validate(first)
        return join_chunks(document, [ChunkLine.model_validate(line) for line in rest], document_id)
    except (ValueError, ValidationError) as error:
        raise FileBroken(f"The imported document is damaged: {error}") from error


def apply_dates(parsed: ParsedDocument, metadata: Mapping[str, Any]) -> ParsedDocument:
    """Return the document with the time of creation of its metadata, if any, in its chunks."""
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
    """Return a document of these chunks with its sections.

    Without sections, chunks with a title are sections under the root. A chunk lies at its `start`, else where it is
    found in the text; chunks that are not found are appended. So `text[chunk.start:chunk.end]` is every chunk's text.
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
            section = Section(
                uuid5(document_id, f"section {ordinal}"),
                root_id,
                line.title,
                1,
                len(sections),
                start,
                start + len(line.text),
                path=(line.title,),
                heading_source=HeadingSource.GIVEN,
            )
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
    """Return a document's text, with missing chunks appended, and the start of each chunk."""
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
    """Yield the sections of a document; the parent is the last section before of a lower level."""
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


def _chunk(
    id_: UUID, document: DocumentLine, line: ChunkLine, section: Section, position: tuple[int, int]
) -> Chunk:
    ordinal, start = position
    title = line.title or document.title
    has_span = line.start is not None
    # A title that the text does not contain is embedded and searched with the text.
    context = line.context if has_span or line.context else "" if title in line.text else title
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
        title=line.title if has_span else title,
        external_id=line.id,
        created_at=document.created_at,
    )
