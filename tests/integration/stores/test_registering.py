"""Files taken in: several at once are what they would be one by one, and the same text may come with other metadata."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from domain.scope import Scope
from stores.documents.document_store import DocumentStore
from stores.documents.registering import Registered, Upload
from tests.integration.stores.test_documents import TEXT, ingest, parsed, vectors

# A name and a content each.
FILE = st.tuples(st.sampled_from("abc"), st.sampled_from("XYZ"))
PUBLISHED = st.lists(FILE, max_size=2, unique_by=(lambda file: file[0], lambda file: file[1]))
Files = Sequence[tuple[str, str]]


def upload(name: str, content: str) -> Upload:
    return Upload(name, name, "text/plain", content.encode())


async def prepared(documents: DocumentStore, published: Files) -> Scope:
    scope = Scope(user_id=f"user-{uuid4()}", graph_id="default")
    for name, content in published:
        await ingest(documents, scope, content, name)
    return scope


async def outcome(
    documents: DocumentStore, scope: Scope, registered: Sequence[Registered]
) -> tuple[list[tuple[str, str, str]], list[tuple[str | None, bool, str | None]]]:
    """What the scope has, and what was said of each file; ids differ from scope to scope."""
    there = await documents.list(scope)
    names = {one.id: one.source for one in there}
    said = [(names.get(one.document_id), one.unchanged, one.same_as) for one in registered]
    return sorted((one.source, one.sha256, one.status) for one in there), said


@settings(
    max_examples=60,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(PUBLISHED, st.lists(FILE, max_size=8))
@example([], [("a", "X"), ("a", "Y"), ("b", "X")])
@example([("b", "Y")], [("a", "X"), ("a", "Y"), ("a", "Z")])
async def test_files_taken_in_at_once_become_what_they_become_one_by_one(
    documents: DocumentStore, published: Files, files: Files
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
