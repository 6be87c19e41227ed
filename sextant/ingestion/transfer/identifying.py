"""Which entity a line of an import speaks of: that of its name, or one of the same name beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from sextant.domain.scope import Scope
from sextant.ingestion.transfer.lines import EntityLine
from sextant.ingestion.transfer.spool import Numbered
from sextant.stores.graph.ids import entity_id
from sextant.stores.graph.transfer import Known


class Identified(NamedTuple):
    """A line as it was said and as it counts, and its entity; None: its id is that of another name."""

    number: int
    said: EntityLine
    line: EntityLine
    entity_id: UUID | None


def identify_entities(
    scope: Scope,
    named: UUID,
    group: Sequence[Numbered[EntityLine]],
    owners: Mapping[UUID, Known],
    known: Mapping[str, Known],
) -> Iterator[Identified]:
    """Yield the lines of one name; the first of them, stored or in this import, has the name's id.

    Args:
        scope: the knowledge base.
        named: the id of whoever has the name alone.
        group: the lines, ordered by id.
        owners: the stored entities that the user has asserted.
        known: the stored entities by the user's own ids.
    """
    owner = owners.get(named)
    for number, said in group:
        line = _of_owner(said, owner)
        before = known.get(line.id) if line.id else None
        entity = _entity_of(scope, named, line, owner, before)
        if before is not None and before.id != entity:
            yield Identified(number, said, line, None)
            continue
        if entity == named and not (owner and owner.external_id):
            owner = Known(entity, line.id, line.name, line.entity_type, line.description)
        yield Identified(number, said, line, entity)


def id_taken(known: Mapping[str, Known], line: EntityLine) -> str:
    """Return why a line whose id is another entity's is left out."""
    before = known[line.id or ""]
    return (
        f"The id {before.external_id!r:.80} is that of {before.name!r:.80}. Give {line.name!r:.80} as "
        "an alias of it, or an id of its own."
    )


def _of_owner(line: EntityLine, owner: Known | None) -> EntityLine:
    """Return a line without an id speaks of the entity of that name; what it leaves open stays as it was said."""
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
    scope: Scope, named: UUID, line: EntityLine, owner: Known | None, before: Known | None
) -> UUID:
    taken = owner is not None and owner.external_id not in (None, line.id)
    if not line.id or not (taken or before):
        return named
    homonym = entity_id(scope, line.name, line.id)
    return homonym if taken or (before is not None and before.id == homonym) else named
