"""Quotations beside what a table that came with the question says."""

from __future__ import annotations

import pytest

from sextant.domain.answers import Done
from sextant.domain.questions import Attachment, AttachmentKind
from sextant.domain.retrieval import ItemKind, RetrievedItem
from sextant.models.offline.extractive import ExtractiveAnswerer
from sextant.nodes.answers.computed import ComputedTable
from sextant.nodes.answers.quotations import quotations, quote_sentences
from sextant.nodes.citing.attached import attachment_items
from sextant.nodes.citing.support import ComputedSentence
from sextant.tables.results.written import ComputedFinding
from tests.embedders import AngleEmbedder

E5 = "intfloat/multilingual-e5-small"
# An answerer to whom nothing means what is asked.
FAR = ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.6))


async def answered(text: str) -> str:
    """Return what is said of a table whose largest value is a lamp's, beside a document that says `text`."""
    lamp = ComputedFinding("the largest price is 40 (Lamp)", "r1c2", "40", about="Lamp")
    table = Attachment(
        AttachmentKind.TABLE,
        "T1",
        "",
        names=("name", "price"),
        rows=(("Lamp", "40"),),
        findings=(lamp,),
    )
    passage = RetrievedItem(ItemKind.CHUNK, "one", text, 1.0, metadata={"filename": "a.md"})
    answerer = ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.9))
    events = quote_sentences(
        answerer,
        "What does the dearest cost?",
        [passage, *attachment_items([table], "en", 500)],
        "en",
    )
    return [event.answer.answer async for event in events if isinstance(event, Done)].pop()


@pytest.mark.parametrize(
    ("text", "quoted_too"),
    [
        ("租期三年，自 2025 年至 2027 年。", False),
        ("The lamp is made in Delft.", True),
        ("The dearest chairs cost 90.", False),
    ],
)
async def test_documents_are_quoted_on_a_row_where_they_name_it(
    text: str, quoted_too: bool
) -> None:
    assert (text in await answered(text)) is quoted_too


async def test_of_the_nearest_passage_its_beginning_is_shown_and_all_of_it_cited() -> None:
    text = "Weather " * 40 + "ends."
    passage = RetrievedItem(
        ItemKind.CHUNK, "w", text, 1.0, metadata={"filename": "w.md", "start": 70}
    )
    events = quotations("Who won the world cup?", [passage], "en")
    [done] = [event.answer async for event in events if isinstance(event, Done)]
    assert done.declined
    assert f"\n{text[:200]}…[1]" in done.answer
    [citation] = done.citations
    assert (citation.quote, citation.start, citation.end) == (text, 70, 70 + len(text))


async def test_a_row_that_is_the_nearest_names_its_columns_in_another_language_too() -> None:
    """It was shown as it stands in the store: "| 顺达物流 | 柏林 | 28 |"."""
    text = "| 顺达物流 | 柏林 | 28 |\n| 蓝海仓储 | 上海 | 43 |"
    metadata = {
        "filename": "客户.csv",
        "start": 50,
        "context": "| 客户 | 城市 | 数量 |\n| --- | --- | --- |",
    }
    passage = RetrievedItem(ItemKind.CHUNK, "t", text, 1.0, metadata=metadata)
    events = quote_sentences(FAR, "Which robots of 柏林 were sold in May?", [passage], "en")
    [done] = [event.answer async for event in events if isinstance(event, Done)]
    assert done.declined
    assert "客户：顺达物流；城市：柏林；数量：28[1]" in done.answer
    [citation] = done.citations
    assert citation.quote == "顺达物流 | 柏林 | 28" == text[citation.start - 50 : citation.end - 50]


@pytest.mark.parametrize(
    ("rule", "outdone"),
    [
        ("Departments with more than 10 employees write a report within a week.", False),
        ("Departments with more than 10 employees are IT and Sales.", True),
    ],
)
async def test_a_sentence_outdoes_the_rows_that_are_so_only_where_it_names_one(
    rule: str, outdone: bool
) -> None:
    """A row called IT is not named by "write" and "within"."""
    metadata = {"filename": "staff.csv", "modality": "table", "context": ""}
    rows = "| Department | Employees |\n| --- | --- |\n| IT | 12 |\n| HR | 3 |"
    table = RetrievedItem(ItemKind.CHUNK, "t", rows, 1.0, metadata=metadata)
    at = rows.index("IT | 12")
    told = ComputedSentence("IT is a row with Employees > 10", at, at + len("IT | 12"))
    computed = ComputedTable("staff.csv", 2, frozenset({"t"}), ((table, told),), frozenset({"it"}))
    passage = RetrievedItem(ItemKind.CHUNK, "r", rule, 1.0, metadata={"filename": "rules.md"})
    events = quote_sentences(
        ExtractiveAnswerer(AngleEmbedder(E5, {}, otherwise=0.9)),
        "Which departments have more than 10 employees?",
        [passage, table],
        "en",
        [computed],
    )
    answer = [event.answer.answer async for event in events if isinstance(event, Done)].pop()
    assert ("IT is a row" in answer, rule in answer) == (not outdone, outdone)


async def test_code_is_quoted_as_it_stands() -> None:
    text = "To limit the rate, write:\n\n```python\nrate: Limit | None = Limit(5)\nrun(rate)\n```\n\nDone."
    passage = RetrievedItem(ItemKind.CHUNK, "one", text, 1.0, metadata={"filename": "a.md"})
    events = quotations("How do I limit the rate?", [passage], "en")

    answer = [event.answer async for event in events if isinstance(event, Done)].pop()

    lines = answer.answer.split("\n")
    assert lines[1] == "To limit the rate, write:[1]"
    assert lines[2:6] == ["```python", "rate: Limit | None = Limit(5)", "run(rate)", "```"]
    assert {one.quote for one in answer.citations} == {lines[1][:-3], "\n".join(lines[2:6])}


@pytest.mark.parametrize(
    ("question", "title", "said"),
    [
        ("When was Relay 1.3.0 released?", "1.3.0 (2024-11-18)", "1.3.0 (2024-11-18): "),
        ("What is new in Relay 1.3.0?", "1.3.0 (2024-11-18)", ""),
        ("Where was Relay 1.3.0 released?", "1.3.0 (2024-11-18)", ""),
    ],
)
async def test_a_title_that_has_the_date_asked_for_is_told_with_the_sentence(
    question: str, title: str, said: str
) -> None:
    sentence = "A new release of Relay, which was released with new folders."
    passage = RetrievedItem(
        ItemKind.CHUNK, "1", sentence, 1.0, metadata={"filename": "a.md", "section_path": (title,)}
    )
    *_, done = [event async for event in quotations(question, [passage], "en")]
    assert isinstance(done, Done)
    assert done.answer.answer == f"According to the documents:\n{said}{sentence}[1]"
    assert done.answer.citations[0].quote == sentence


async def test_the_version_that_is_asked_for_stands_ahead_of_what_its_section_says() -> None:
    metadata = {"filename": "log.md", "section_path": ["2.4.0 (2024-05-03)"]}
    passage = RetrievedItem(ItemKind.CHUNK, "v", "Doors open by voice.", 1.0, metadata=metadata)
    events = quotations("In which version do doors open by voice?", [passage], "en")
    [done] = [event.answer async for event in events if isinstance(event, Done)]
    assert "2.4.0 (2024-05-03): Doors open by voice.[1]" in done.answer
    assert done.citations[0].quote == "Doors open by voice."
