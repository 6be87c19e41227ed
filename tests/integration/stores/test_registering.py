"""Files taken in: several at once are what they would be one by one, and the same text may come with other metadata."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sextant.domain.errors import DocumentNotFound
from sextant.domain.scope import Scope
from sextant.stores.documents.document_store import DocumentStore
from sextant.stores.documents.registration import Registered, Upload
from sextant.stores.documents.versions import ReadyVersion
from sextant.stores.postgresql.database import Database
from tests.integration.stores.test_documents import TEXT, ingest, parsed, vectors

# A name and a content each.
FILE = st.tuples(st.sampled_from("abc"), st.sampled_from("XYZ"))
# The same, and whether it takes the place of one of its name.
GIVEN = st.tuples(st.sampled_from("abc"), st.sampled_from("XYZ"), st.booleans())
PUBLISHED = st.lists(FILE, max_size=2, unique_by=(lambda file: file[0], lambda file: file[1]))
Files = Sequence[tuple[str, str]]


def upload(name: str, content: str, replaces: bool = True) -> Upload:
    return Upload(name, name, "text/plain", content.encode(), replaces=replaces)


async def listed(documents: DocumentStore, scope: Scope) -> dict[str, tuple[str, ...]]:
    """Return the documents by name, each with its copies."""
    return {one.source: one.copies for one in await documents.list(scope)}


async def prepared(documents: DocumentStore, published: Files) -> Scope:
    scope = Scope(user_id=f"user-{uuid4()}", graph_id="default")
    for name, content in published:
        await ingest(documents, scope, content, name)
    return scope


async def outcome(
    documents: DocumentStore, scope: Scope, registered: Sequence[Registered]
) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    """Return what the scope has, and what was said of each file; ids differ from scope to scope."""
    there = await documents.list(scope)
    names = {one.id: one.source for one in there}
    said: list[tuple[object, ...]] = [
        (
            names.get(one.document_id),
            one.unchanged,
            one.same_as,
            one.same_name_as and names.get(one.same_name_as),
        )
        for one in registered
    ]
    have: list[tuple[object, ...]] = [
        (one.source, one.filename, one.sha256, one.status, one.copies) for one in there
    ]
    return sorted(have, key=str), said


@settings(
    max_examples=60,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(PUBLISHED, st.lists(GIVEN, max_size=8))
@example([], [("a", "X", True), ("a", "Y", True), ("b", "X", True)])
@example([("b", "Y")], [("a", "X", True), ("a", "Y", True), ("a", "Z", True)])
@example([("a", "X")], [("a", "Y", False), ("b", "Y", True), ("a", "Y", False)])
async def test_files_taken_in_at_once_become_what_they_become_one_by_one(
    documents: DocumentStore, published: Files, files: Sequence[tuple[str, str, bool]]
) -> None:
    together, apart = [await prepared(documents, published) for _ in range(2)]
    at_once = await documents.register_all(together, [upload(*one) for one in files])
    one_by_one = [
        registered
        for one in files
        for registered in await documents.register_all(apart, [upload(*one)])
    ]
    assert await outcome(documents, together, at_once) == await outcome(
        documents, apart, one_by_one
    )


async def test_the_same_text_with_other_metadata_takes_the_place_of_the_old(
    documents: DocumentStore, scope: Scope
) -> None:
    async def told(name: str, metadata: dict[str, Any] | None) -> Registered:
        [registered] = await documents.register_all(
            scope, [Upload(name, name, "text/plain", TEXT.encode(), metadata=metadata)]
        )
        return registered

    async def store(registered: Registered) -> None:
        content = parsed(TEXT, registered.document_id)
        await documents.begin(scope, registered.document_id, content)
        await documents.add_chunks(
            scope, registered.document_id, content.chunks, vectors(content.chunks)
        )
        await documents.publish(scope, registered.document_id)

    first = await told("a.txt", {"tags": ["a", "b"], "n": 1})
    await store(first)
    assert (await told("a.txt", {"tags": ["a", "b"]})).unchanged
    assert (await told("a.txt", None)).unchanged
    assert await told("b.txt", {"tags": []}) == Registered(
        first.document_id, None, unchanged=True, same_as="a.txt"
    )

    again = await told("a.txt", {"tags": ["a"]})

    assert (again.document_id, again.unchanged) == (first.document_id, False)
    assert (await told("a.txt", {"tags": ["a"]})).job_id == again.job_id
    await store(again)
    [document] = await documents.list(scope)
    assert (document.metadata["tags"], document.chunk_count) == (["a"], 3)


@settings(
    max_examples=60,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(GIVEN, max_size=8))
async def test_every_name_has_what_was_given_last_under_it(
    documents: DocumentStore, files: Sequence[tuple[str, str, bool]]
) -> None:
    scope = await prepared(documents, [])
    expected = dict[str, str]()
    for name, content, replaces in files:
        digest = upload(name, content).digest
        if replaces or name not in expected:
            expected[name] = digest
        await documents.register_all(scope, [upload(name, content, replaces)])
        there = await documents.list(scope)
        has = {source: one.sha256 for one in there for source in (one.source, *one.copies)}
        assert digest in has.values()
        assert {name: has.get(name) for name in expected} == expected
        assert len({one.sha256 for one in there}) == len(there)


@settings(
    max_examples=60,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.one_of(GIVEN, st.integers(0, 5)), max_size=10))
@example([("a", "X", False), ("a", "Y", False), 0, ("a", "Z", True)])
@example([("a", "X", False), ("b", "X", False), 1, ("a", "Y", True), ("b", "X", True)])
@example([("b", "Y", False), ("a", "X", False), ("a", "Y", False), 1, ("a", "Z", True)])
async def test_what_was_given_stays_under_its_name_until_it_is_deleted_or_replaced(
    documents: DocumentStore, steps: Sequence[tuple[str, str, bool] | int]
) -> None:
    scope = await prepared(documents, [])
    expected = list[tuple[str, str]]()
    for step in steps:
        named = await names(documents, scope)
        if isinstance(step, int):
            if not named:
                continue
            source = sorted(named)[step % len(named)]
            document_id, digest = named[source]
            await documents.delete(scope, document_id, source)
            expected.remove((source[0], digest))
        else:
            name, content, replaces = step
            digest = upload(name, content).digest
            await documents.register_all(scope, [upload(name, content, replaces)])
            if replaces and name in named:
                expected.remove((name, named[name][1]))
                expected.append((name, digest))
            elif (name, digest) not in expected:
                expected.append((name, digest))
        has = await names(documents, scope)
        assert sorted((source[0], digest) for source, (_, digest) in has.items()) == sorted(
            expected
        ), steps
        assert {name for name, _ in expected} <= has.keys()


async def names(documents: DocumentStore, scope: Scope) -> dict[str, tuple[UUID, str]]:
    """Return each name of a document with its id and the digest of its file."""
    there = await documents.list(scope)
    return {name: (one.id, one.sha256) for one in there for name in (one.source, *one.copies)}


async def test_a_name_that_a_document_has_not_cannot_be_taken_from_it(
    documents: DocumentStore, scope: Scope
) -> None:
    [first, _] = await documents.register_all(scope, [upload("a", "X"), upload("b", "Y")])

    with pytest.raises(DocumentNotFound):
        await documents.delete(scope, first.document_id, "b")

    assert (await listed(documents, scope)).keys() == {"a", "b"}


async def test_a_file_of_the_same_name_is_kept_beside_the_old_one(
    documents: DocumentStore, scope: Scope
) -> None:
    [old, new] = await documents.register_all(
        scope, [upload("a.md", "old", replaces=False), upload("a.md", "new", replaces=False)]
    )
    assert (new.same_name_as, new.document_id == old.document_id) == (old.document_id, False)
    assert [one.filename for one in await documents.list(scope)] == ["a.md", "a.md"]

    [again] = await documents.register_all(scope, [upload("a.md", "new", replaces=False)])
    assert (again.document_id, again.same_as) == (new.document_id, None)


async def test_a_copy_keeps_the_document_whose_first_file_changes_or_goes(
    documents: DocumentStore, scope: Scope
) -> None:
    await ingest(documents, scope, TEXT, "a.txt")
    [copy, _] = await documents.register_all(scope, [upload("b.txt", TEXT), upload("c.txt", TEXT)])
    assert await listed(documents, scope) == {"a.txt": ("b.txt", "c.txt")}

    [changed] = await documents.register_all(scope, [upload("a.txt", "other")])
    assert changed.document_id != copy.document_id
    assert await listed(documents, scope) == {"b.txt": ("c.txt",), "a.txt": ()}

    await documents.delete(scope, copy.document_id)
    [kept] = [one for one in await documents.list(scope) if one.source != "a.txt"]
    assert (kept.source, kept.filename, kept.chunk_count) == ("c.txt", "c.txt", 3)
    await documents.delete(scope, copy.document_id)
    assert await listed(documents, scope) == {"a.txt": ()}


async def test_a_file_kept_beside_another_takes_no_thirds_place(documents: DocumentStore) -> None:
    """Whoever knows a file may have given another one the name under which it would be kept."""
    scope = await prepared(documents, [])
    kept = upload("a.md", "new", replaces=False)
    guessed = f"a ({kept.digest[:8]}).md"
    [third] = await documents.register_all(scope, [upload(guessed, "another", replaces=False)])
    await documents.register_all(scope, [upload("a.md", "old", replaces=False)])

    [beside] = await documents.register_all(scope, [kept])
    [again] = await documents.register_all(scope, [kept])

    assert beside.document_id == again.document_id != third.document_id
    assert len(await listed(documents, scope)) == 3
    assert (await documents.get(scope, third.document_id)).sha256 == upload("", "another").digest


async def test_deleting_a_mail_whose_attachments_are_being_stored_together_costs_nobody_a_deadlock(
    documents: DocumentStore, database: Database, scope: Scope
) -> None:
    [mail, other] = await documents.register_all(scope, [upload("m.eml", "M"), upload("c", "C")])
    attached = await documents.register_attachments(
        scope,
        mail.document_id,
        [replace(upload(f"m.eml/{name}", name), parent_id=mail.document_id) for name in "ab"],
        deepest=3,
    )
    assert attached is not None
    first, last = (one.document_id for one in attached)
    contents = [(one, parsed(str(one), one)) for one in (last, other.document_id, first)]
    versions = [ReadyVersion(one, 1, text, vectors(text.chunks)) for one, text in contents]

    waiting = "select count(*) from pg_locks where not granted"
    async with database.transaction(scope.user_id) as connection:
        await connection.execute(
            "select from documents where id = %s for update", [other.document_id]
        )
        storing = asyncio.ensure_future(documents.store(scope, versions))
        while await (await connection.execute(waiting)).fetchone() != (1,):
            pass
        deleting = asyncio.ensure_future(documents.delete(scope, mail.document_id))
        while await (await connection.execute(waiting)).fetchone() != (2,):
            pass

    assert await storing == [None, None, None]
    assert await deleting is None
    assert [one.source for one in await documents.list(scope)] == ["c"]
