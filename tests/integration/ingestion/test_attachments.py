"""What is attached to an e-mail: documents of their own, which come, change and go with it."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

from sextant.domain.documents import Document, DocumentStatus
from sextant.domain.scope import Scope
from sextant.domain.settings import IngestionSettings, Settings
from sextant.domain.warnings import WarningCode
from sextant.ingestion.pipeline import Ingestor
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.jobs import JobStore
from sextant.testing.hash_embedder import HashEmbedder
from tests.integration.ingestion.resuming import resumed

PRICES = b"name,price\nmotor,4860\npump,1200\n"


def mail(text: str, *attached: tuple[str, bytes]) -> bytes:
    message = EmailMessage()
    message["Subject"] = "Prices"
    message["From"] = "ann@example.org"
    message.set_content(text)
    for name, content in attached:
        message.add_attachment(content, "application", "octet-stream", filename=name)
    return bytes(message)


async def listed(documents: DocumentStore, scope: Scope) -> dict[str, Document]:
    return {document.source: document for document in await documents.list(scope)}


async def test_attachments_are_documents_of_their_own_that_go_with_their_mail(
    ingestor: Ingestor, scope: Scope, tmp_path: Path
) -> None:
    file = tmp_path / "offer.eml"
    inner = mail("Inside.", ("note.txt", b"The pump is blue."))
    content = mail(
        "See below.",
        ("价目表.csv", PRICES),
        ("价目表.csv", b"a,b\n1,2\n"),
        ("old.eml", inner),
        ("x.bin", b"\0\1\2" * 99),
    )
    file.write_bytes(content)

    [result] = await ingestor.ingest(scope, file)

    names = [f"{file}/价目表.csv", f"{file}/价目表 (2).csv", f"{file}/old.eml"]
    assert [one.source for one in result.attachments] == names
    assert [one.source for one in result.attachments[2].attachments] == [f"{file}/old.eml/note.txt"]
    assert not any(one.error for one in result.attachments)
    [warning] = result.warnings
    assert warning.code == WarningCode.ATTACHMENTS_NOT_READ
    assert warning.params["names"]["names"] == ["x.bin"]
    found = await listed(ingestor.documents, scope)
    assert found[names[0]].parent_id == found[str(file)].id
    assert found[f"{file}/old.eml/note.txt"].parent_id == found[names[2]].id
    assert {document.status for document in found.values()} == {DocumentStatus.READY}

    file.write_bytes(mail("See below.", ("价目表.csv", PRICES)))
    await ingestor.ingest(scope, file)
    assert set(await listed(ingestor.documents, scope)) == {str(file), names[0]}

    await ingestor.documents.delete(scope, found[str(file)].id)
    assert await listed(ingestor.documents, scope) == {}


async def test_a_file_attached_to_two_mails_is_one_document_until_both_are_gone(
    ingestor: Ingestor, scope: Scope, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.eml").write_bytes(mail(f"Mail {name}.", ("prices.csv", PRICES)))
        await ingestor.ingest(scope, tmp_path / f"{name}.eml")
    found = await listed(ingestor.documents, scope)
    a, b = (str(tmp_path / f"{name}.eml") for name in "ab")
    assert set(found) == {a, b, f"{a}/prices.csv"}
    assert found[f"{a}/prices.csv"].copies == (f"{b}/prices.csv",)

    await ingestor.documents.delete(scope, found[a].id)
    left = await listed(ingestor.documents, scope)
    assert set(left) == {b, f"{b}/prices.csv"}
    assert left[f"{b}/prices.csv"].parent_id == found[b].id

    await ingestor.documents.delete(scope, found[b].id)
    assert await listed(ingestor.documents, scope) == {}


async def test_a_worker_takes_attachments_in_after_their_mail(
    ingestor: Ingestor, scope: Scope
) -> None:
    await ingestor.documents.register(
        scope,
        source="a.eml",
        filename="a.eml",
        media_type="message/rfc822",
        content=mail("Hi.", ("p.csv", PRICES)),
    )

    assert await resumed(ingestor, scope)
    assert await resumed(ingestor, scope)

    found = await listed(ingestor.documents, scope)
    assert found["a.eml/p.csv"].status is DocumentStatus.READY


async def test_attachments_may_be_left_alone(
    documents: DocumentStore,
    jobs: JobStore,
    settings: Settings,
    scope: Scope,
    tmp_path: Path,
) -> None:
    alone = settings.model_copy(update={"ingestion": IngestionSettings(attachments=0)})
    ingestor = Ingestor(documents, jobs, HashEmbedder(384), alone)
    (tmp_path / "a.eml").write_bytes(mail("Hi.", ("p.csv", PRICES)))

    [result] = await ingestor.ingest(scope, tmp_path / "a.eml")

    assert [warning.params["names"]["names"] for warning in result.warnings] == [["p.csv"]]
    assert len(await documents.list(scope)) == 1


async def test_a_mail_in_a_mail_in_a_mail_ends_somewhere(
    ingestor: Ingestor, scope: Scope, tmp_path: Path
) -> None:
    content = mail("Mail 0.", ("p.csv", PRICES))
    for number in range(1, 6):
        content = mail(f"Mail {number}.", ("inner.eml", content))
    (tmp_path / "a.eml").write_bytes(content)

    [result] = await ingestor.ingest(scope, tmp_path / "a.eml")

    depth = 0
    while result.attachments:
        [result] = result.attachments
        depth += 1
    assert depth == 3
    assert [warning.code for warning in result.warnings] == [WarningCode.ATTACHMENTS_NOT_READ]
