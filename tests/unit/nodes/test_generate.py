import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from sextant.domain.answers import Quoted
from sextant.domain.errors import DatabaseUnavailable, ModelUnavailable
from sextant.domain.retrieval import RetrievedItem
from sextant.domain.scope import Scope
from sextant.domain.warnings import WarningCode, count
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.nodes.answers.quotations import NO_MODEL, NOTHING_FOUND
from sextant.nodes.context import Backpressure, Context, RunContext
from sextant.nodes.generate import generate
from sextant.nodes.state import State
from sextant.tables.cells.stored import TablePart
from tests.sentences import sentence
from tests.unit.nodes.conftest import Bench, Build, chat, item

if TYPE_CHECKING:
    from sextant.stores.chunks.stored import QuoteStore, TableStore

GUIDE = item("糖尿病的主要症状是多饮、多尿和体重下降。血糖升高[3]时应就医。", "指南.md", start=50)
WEATHER = item("今天天气很好。", "天气.md")


def asked(question: str, *items: RetrievedItem, **changes: Any) -> State:
    state = {"query": question, "question": question, "language": "zh", "strategy": "naive"}
    return State(**{**state, "items": list(items), **changes})


def offline(bench: Build) -> Bench:
    return bench(answerer=ExtractiveAnswerer())


StillThere = Callable[[Sequence[Quoted]], Awaitable[list[bool]]]


def stored(texts: Mapping[str, str]) -> StillThere:
    """Document as they read now, by their ids."""

    async def still_there(quotes: Sequence[Quoted]) -> list[bool]:
        return [texts.get(one.document_id, "").startswith(one.text, one.start) for one in quotes]

    return still_there


def with_quotes(at: Bench, still_there: StillThere) -> Bench:
    """Return the same bench over a store that says so of quotes."""

    class Quotes:
        async def check_quotes(self, _: Scope, quotes: Sequence[Quoted]) -> list[bool]:
            return await still_there(quotes)

    deps = replace(at.deps, quotes=cast("QuoteStore", Quotes()))
    return replace(at, runtime=replace(at.runtime, context=RunContext(Context(), deps)))


def streamed(at: Bench) -> str:
    return "".join(event["text"] for event in at.streamed if event["type"] == "token")


async def test_without_a_chat_model_sentences_are_quoted_with_their_offsets(bench: Build) -> None:
    at = offline(bench)
    update = await generate(asked("糖尿病的主要症状是什么？", WEATHER, GUIDE), at.runtime)
    assert update["model"] == "extractive"
    assert update["answer"] == streamed(at)
    assert "多饮、多尿和体重下降。[1]" in update["answer"]
    first = update["citations"][0]
    assert first["quote"] == (" " * 50 + GUIDE.text)[first["start"] : first["end"]]
    assert first["sentence"] in update["answer"]
    assert update["sources"][0]["filename"] == "指南.md"
    assert (update["trust"], update["grounded"], update["declined"]) == ("quoted", False, False)
    assert at.types()[-1] == "sources"


async def test_a_documents_own_reference_numbers_do_not_become_markers(bench: Build) -> None:
    update = await generate(asked("血糖升高时应怎样？", GUIDE), offline(bench).runtime)
    assert "血糖升高(3)时应就医。[1]" in update["answer"]
    assert "[3]" not in update["answer"]
    assert any("血糖升高[3]时应就医。" in citation["quote"] for citation in update["citations"])


async def test_an_answer_is_written_no_further_ahead_of_its_reader_than_the_pace_allows(
    bench: Build,
) -> None:
    pace, within = Backpressure(2), copy_context()
    within.run(pace.set)
    written, two = list[dict[str, Any]](), asyncio.Event()

    def write(event: dict[str, Any]) -> None:
        written.append(event)
        if len(written) == 2:
            two.set()

    runtime = replace(offline(bench).runtime, stream_writer=write)
    state = asked("糖尿病的主要症状是什么？", WEATHER, GUIDE)
    run = asyncio.create_task(generate(state, runtime), context=within)
    await two.wait()
    for _ in range(20):
        await asyncio.sleep(0)
    assert (len(written), run.done()) == (2, False)
    for _ in range(50):
        pace.read()
    assert (await run)["answer"] == "".join(event.get("text", "") for event in written)


async def test_what_changed_since_the_search_is_not_quoted_and_it_is_said(bench: Build) -> None:
    at = with_quotes(offline(bench), stored({"document of 天气.md": WEATHER.text}))
    update = await generate(asked("糖尿病的主要症状是什么？", GUIDE, WEATHER), at.runtime)
    assert GUIDE.text not in [citation["quote"] for citation in update["citations"]]
    assert "多饮" not in update["answer"]
    assert update["warnings"] == [
        sentence(WarningCode.PASSAGES_OUTDATED, "zh", passages=count(1, "passage"))
    ]


async def test_all_that_still_stands_is_quoted_without_a_word_about_it(bench: Build) -> None:
    texts = {"document of 天气.md": WEATHER.text, "document of 指南.md": " " * 50 + GUIDE.text}
    at = with_quotes(offline(bench), stored(texts))
    update = await generate(asked("糖尿病的主要症状是什么？", GUIDE, WEATHER), at.runtime)
    assert "多饮" in update["answer"]
    assert update["warnings"] == []


async def test_where_the_store_cannot_be_asked_it_is_quoted_and_said_to_be_unchecked(
    bench: Build,
) -> None:
    async def down(_: Sequence[Quoted]) -> list[bool]:
        raise DatabaseUnavailable("No answer.", next_step="Start it.")

    at = with_quotes(offline(bench), down)
    update = await generate(asked("糖尿病的主要症状是什么？", GUIDE), at.runtime)
    assert "多饮" in update["answer"]
    assert (
        sentence(WarningCode.CITATIONS_NOT_COMPARED, "zh", reason="No answer. Start it.")
        in update["warnings"]
    )


async def test_where_tables_cannot_be_read_nothing_is_computed_and_it_is_said(bench: Build) -> None:
    class Down:
        async def parts(self, _: Scope, __: str) -> list[TablePart]:
            raise DatabaseUnavailable("No answer.", next_step="Start it.")

    row = replace(
        GUIDE, text="| item | price |\n| --- | --- |\n| A | 9 |", metadata={"modality": "table"}
    )
    at = offline(bench)
    deps = replace(at.deps, tables=cast("TableStore", Down()))
    runtime = replace(at.runtime, context=RunContext(Context(), deps))
    update = await generate(asked("Which item has the highest price?", row, language="en"), runtime)
    assert update["warnings"] == [
        sentence(WarningCode.TABLES_NOT_COMPUTED, "en", reason="No answer. Start it.")
    ]


async def test_weak_evidence_is_said_to_be_no_answer_and_the_nearest_is_shown(bench: Build) -> None:
    update = await generate(asked("谁赢得了世界杯？", WEATHER), offline(bench).runtime)
    assert update["answer"].startswith("文档中没有明确提到。")
    assert "最接近的内容见：\n今天天气很好。[1]" in update["answer"]
    assert [citation["quote"] for citation in update["citations"]] == [WEATHER.text]
    assert [source["filename"] for source in update["sources"]] == ["天气.md"]
    assert (update["grounded"], update["declined"]) == (False, True)


@pytest.mark.parametrize("language", ["zh", "en"])
async def test_nothing_found_is_said_without_asking_a_model(bench: Build, language: str) -> None:
    at = bench(chat=chat(), answerer=ExtractiveAnswerer())
    update = await generate(asked("为什么？", language=language), at.runtime)
    assert update["answer"] == NOTHING_FOUND[language]
    assert (update["sources"], update["grounded"], update["declined"]) == ([], False, True)


async def test_a_chat_model_that_fails_at_once_is_replaced_by_quotations(bench: Build) -> None:
    at = bench(chat=chat(), answerer=ExtractiveAnswerer())
    update = await generate(asked("糖尿病的主要症状是什么？", GUIDE), at.runtime)
    assert update["model"] == "extractive"
    assert update["citations"]
    assert any("聊天模型出错，因此回答直接引自文档" in warning for warning in update["warnings"])


async def test_bypass_cites_nothing_and_says_so(bench: Build) -> None:
    at = bench(chat=chat("四十二 [1]。"))
    update = await generate(asked("多少？", GUIDE, strategy="bypass"), at.runtime)
    assert update["answer"] == streamed(at) == "四十二。"
    assert (update["mode"], update["sources"]) == ("bypass", [])
    assert update["warnings"] == [sentence(WarningCode.NO_DOCUMENTS_USED, "zh")]
    assert sentence(WarningCode.ANSWER_CUT_OFF, "zh") not in update["warnings"]


async def test_bypass_says_that_high_effort_makes_no_report_of_it(bench: Build) -> None:
    at = bench(chat=chat("四十二。"))
    state = asked("多少？", GUIDE, strategy="bypass", chosen_effort="high")
    warnings = (await generate(state, at.runtime))["warnings"]
    assert warnings == [
        sentence(WarningCode.NO_DOCUMENTS_USED, "zh"),
        sentence(WarningCode.EFFORT_UNUSED, "zh"),
    ]


@pytest.mark.parametrize(
    ("question", "said"),
    [("What is the capital of France?", True), ("Quelle est la capitale de la France ?", False)],
)
async def test_bypass_says_when_it_is_answered_in_a_language_that_nobody_asked_in(
    bench: Build, question: str, said: bool
) -> None:
    at = bench(chat=chat("La capitale de la France est Paris, sur les bords de la Seine."))
    update = await generate(asked(question, strategy="bypass", language="en"), at.runtime)
    assert (sentence(WarningCode.ANSWER_IN_OTHER_LANGUAGE, "en") in update["warnings"]) is said


async def test_bypass_without_a_chat_model_says_what_to_do(bench: Build) -> None:
    update = await generate(asked("多少？", strategy="bypass"), offline(bench).runtime)
    assert update["answer"].startswith(NO_MODEL["zh"])
    assert "SEXTANT_CHAT_MODEL" in update["answer"]
    assert update["model"] == "none"


async def test_bypass_has_nothing_to_fall_back_on(bench: Build) -> None:
    with pytest.raises(ModelUnavailable):
        await generate(asked("多少？", strategy="bypass"), bench(chat=chat()).runtime)


async def test_a_chinese_answer_may_cite_an_english_passage(bench: Build) -> None:
    passage = item("Classic signs are great thirst and losing weight.", "signs.html", start=5)
    at = bench(chat=chat("典型症状是口渴和体重下降[1]。"))
    update = await generate(asked("症状？", passage), at.runtime)
    assert update["answer"] == "典型症状是口渴和体重下降[1]。"
    [citation] = update["citations"]
    assert (citation["quote"], citation["support"]) == (passage.text, 0.0)
    assert not update["grounded"], "words cannot tell whether a translation is supported"
