"""`Sextant.search_entities` over ingested documents with the packaged model, and how it is printed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from sextant.cli.entities import print_found
from sextant.domain.errors import GraphNotFound, OptionInvalid
from sextant.domain.scope import Scope
from sextant.domain.settings import Settings
from sextant.facade import Sextant
from sextant.retrievers import FusionWeights, SearchOptions

WHO = "# World Health Organization\n\nThe World Health Organization (WHO) sits in Geneva.\n"
CITY = "# Geneva\n\nThe WHO has its seat in Geneva, on a lake.\n"
DIABETES = "# 糖尿病\n\n糖尿病是一种代谢性疾病。胰岛素降低血糖。糖尿病患者需要胰岛素。\n"
INSULIN = "# 胰岛素\n\n胰岛素由胰腺分泌，用于治疗糖尿病。\n"


@pytest.fixture
async def rag(settings: Settings, scope: Scope, tmp_path: Path) -> AsyncIterator[Sextant]:
    user = settings.model_copy(update={"user_id": scope.user_id})
    texts = {"who": WHO, "city": CITY, "diabetes": DIABETES, "insulin": INSULIN}
    for name, text in texts.items():
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    async with Sextant.open(user) as opened:
        await opened.ingest([tmp_path])
        yield opened


@pytest.mark.parametrize(
    ("question", "name", "related"),
    [
        ("Where is the World Health Organization?", "World Health Organization", "Geneva"),
        ("胰岛素治疗什么病？", "胰岛素", "糖尿病"),
    ],
)
async def test_what_was_ingested_is_found_with_its_relations(
    rag: Sextant, question: str, name: str, related: str
) -> None:
    options = SearchOptions(weights=FusionWeights(), include_related=True, explain=True)
    found = await rag.search_entities(question, options=options)
    first = found.results[0]
    assert first.entity.name == name
    assert {"vector", "fts"} <= set(first.sources)
    assert related in {one.entity.name for one in first.related_entities}
    assert found.warnings is None


async def test_new_documents_are_found_at_once(rag: Sextant, tmp_path: Path) -> None:
    before = await rag.search_entities("Sourdough bread")
    (tmp_path / "bread.md").write_text("# Sourdough\n\nSourdough bread rests.\n", encoding="utf-8")
    await rag.ingest([tmp_path / "bread.md"])
    after = await rag.search_entities("Sourdough bread")
    assert "Sourdough" not in {one.entity.name for one in before.results}
    assert after.results[0].entity.name == "Sourdough"
    with pytest.raises(GraphNotFound):
        await rag.search_entities("Sourdough bread", graph_id="nowhere")


async def test_a_type_that_no_entity_has_is_told_however_often_it_is_asked_for(
    rag: Sextant,
) -> None:
    for types in (["trem"], ["trem"]):
        options = SearchOptions(filters={"entityTypes": types})
        found = await rag.search_entities("胰岛素", options=options)
        assert not found.results
        [said] = found.warnings or ()
        assert said == "知识库里没有筛选条件所指的实体类型：“trem”；是否指 “TERM”？"
    known = SearchOptions(filters={"entityTypes": ["TERM"]})
    assert (await rag.search_entities("胰岛素", options=known)).warnings is None


async def test_options_of_another_class_are_refused(rag: Sextant) -> None:
    """A dict was an AttributeError."""
    given: Any = {"top_k": 3}
    with pytest.raises(OptionInvalid, match="SearchOptions") as refused:
        await rag.search_entities("胰岛素", options=given)
    assert refused.value.field == "options"
    assert "SearchOptions(" in refused.value.next_step
    with pytest.raises(OptionInvalid, match="SearchRequest"):
        await rag.search_chunks({"query": "胰岛素"})  # type: ignore[arg-type]


async def test_it_is_printed_with_what_explains_it(
    rag: Sextant, capsys: pytest.CaptureFixture[str]
) -> None:
    options = SearchOptions(top_k=1, include_related=True, explain=True)
    print_found(await rag.search_entities("胰岛素", options=options))
    shown = capsys.readouterr()
    assert "1. 胰岛素" in shown.out
    assert "vector 0.5 ×" in shown.out
    assert "糖尿病" in shown.out
    assert "--cursor" in shown.err
