"""Several files taken in at once are what they would be one by one."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from domain.scope import Scope
from stores.documents.document_store import DocumentStore
from stores.documents.registering import Registered, Upload
from tests.integration.stores.test_documents import ingest

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
