"""How the documents of an export are called."""

from __future__ import annotations

from uuid import uuid4

from sextant.domain.documents import Document, DocumentStatus
from sextant.ingestion.exporter import document_ids


def document(source: str, external_id: str | None = None) -> Document:
    name = source.rsplit("/", 1)[-1]
    return Document(
        uuid4(), source, name, name, "text/plain", "", 1, DocumentStatus.READY,
        external_id=external_id,
    )  # fmt: skip


def test_a_document_is_called_by_the_users_id_else_by_its_file_and_never_by_its_path() -> None:
    some = [
        document("/home/ann/a/notes.md"),
        document("/home/ann/b/notes.md"),
        document("/home/ann/c/plan.md"),
        document("plan.md", external_id="plan.md"),
        document("/home/ann/d.md", external_id="own"),
    ]

    ids = document_ids(some)

    first, second, third, fourth, fifth = (ids[one.id] for one in some)
    assert (first, fourth, fifth) == ("notes.md", "plan.md", "own")
    assert second.startswith("notes.md~")
    assert third.startswith("plan.md~")
    assert len({*ids.values()}) == 5
    assert not any("ann" in own for own in ids.values())
    assert document_ids([*some[:2], document("/x/new.md")])[some[1].id] == second
