"""Names and questions that look like code are text to every graph store."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from sextant.domain.graph import MentionKind
from sextant.domain.scope import Scope
from sextant.stores.graph.evidence import GraphEvidence, MentionRow, entity_id
from tests.integration.stores.graph.world import Change, ReadSide, Store

MODEL = MentionKind.MODEL

# Names that would be syntax to Lucene, Cypher, SQL or a path if anything took them for code.
HOSTILE = [
    'AND OR NOT "',
    "a AND (b OR",
    "name:~1^2 +x -y *?",
    "`}) DETACH DELETE n //",
    "'; drop table entities; --",
    "\\' || $1 ${x} %(y)s",
    "🙂🙃 emoji",
    "</script>",
    "长" * 1700,
    "C++ / C# (.NET)",
]


async def test_names_that_look_like_code_are_names(
    reading: ReadSide, change: Change, scope: Scope, store: Store
) -> None:
    (chunk,) = (await store(scope, ["x"])).chunks
    await change(
        scope,
        GraphEvidence([MentionRow(entity_id(scope, name), chunk, MODEL, name) for name in HOSTILE]),
    )
    for name in HOSTILE:
        hits = await reading.graph.entities_by_alias(scope, [name])
        assert [hit.entity.name for hit in hits] == [name]
        assert isinstance(await reading.graph.entities_by_words(scope, [name], 3), list)
    ids = [entity_id(scope, name) for name in HOSTILE]
    assert len(await reading.graph.get_entities(scope, ids)) == len(HOSTILE)


async def test_no_text_is_a_syntax_error(
    reading: ReadSide, change: Change, scope: Scope, store: Store
) -> None:
    (chunk,) = (await store(scope, ["x"])).chunks
    name = "Ordinary name"
    await change(scope, GraphEvidence([MentionRow(entity_id(scope, name), chunk, MODEL, name)]))
    signs = st.text(st.sampled_from('+-&|!(){}[]^"~*?:\\/ANDORT \x00\ud800糖尿 <>=`$'), max_size=20)
    examples: list[str] = []

    @settings(max_examples=80, database=None, derandomize=True)
    @given(signs | st.text(max_size=20) | st.sampled_from(HOSTILE))
    def collect(text: str) -> None:
        examples.append(text)

    collect()
    for text in ["", "AND", "NOT", 'a AND "', *examples]:
        await reading.graph.entities_by_alias(scope, [text])
        found = await reading.graph.entities_by_words(scope, [text, "ordinary"], 3)
        assert [hit.entity.name for hit in found] in ([name], [])
