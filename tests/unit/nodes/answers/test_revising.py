"""Revising sentences that no passage supports, and citations that a check refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from sextant.domain.answers import Answer, Citation, Cited, Done, Quoted, Reset, Sources, Token
from sextant.domain.errors import DatabaseUnavailable, ModelUnavailable
from sextant.domain.warnings import WarningCode
from sextant.models.chat.chat_model import ChatModel
from sextant.nodes.answers.answer_generator import AnswerGenerator
from sextant.nodes.answers.quotations import AnswerEvent
from sextant.nodes.budget import AnswerBudget
from sextant.nodes.citing.checker import Checks
from tests.sentences import sentence
from tests.unit.nodes.conftest import chat, item

OWNER = item("Each value in Rust has exactly one owner at a time.", "rust.md", start=10)
LEAVE = item("Staff get 25 days of leave a year. Five days may be carried over.", "hr.md")
PASSAGES = [OWNER, LEAVE]
CARRIED = "Each value has exactly one owner [1]."
INVENTED = "Ferris the crab founded the company in Paris [2]."


def repairs(*texts: str) -> str:
    sentences = [{"number": number, "text": text} for number, text in enumerate(texts, start=1)]
    return json.dumps({"sentences": sentences})


@dataclass
class Told:
    """A whole stream, read as a client reads it."""

    text: str = ""
    citations: list[Citation] = field(default_factory=list[Citation])
    resets: list[str] = field(default_factory=list[str])
    answer: Answer = field(default_factory=lambda: Answer("", ""))


def read(events: Sequence[AnswerEvent]) -> Told:
    told = Told()
    for event in events:
        match event:
            case Token(text=text):
                told.text += text
            case Cited(citation=citation):
                told.citations.append(citation)
            case Reset(reason=reason):
                told.text, told.citations = "", []
                told.resets.append(reason)
            case Sources(sources=sources):
                told.answer = Answer("", "", sources=sources)
            case Done(answer=answer):
                assert answer.sources == told.answer.sources
                told.answer = answer
    assert told.text == told.answer.answer
    assert tuple(told.citations) == told.answer.citations
    markers = {source.marker for source in told.answer.sources}
    assert {citation.marker for citation in told.answer.citations} == markers
    return told


async def answered(model: ChatModel, question: str = "Who owns a value?", **options: Any) -> Told:
    writer = AnswerGenerator(model, **options)
    return read([event async for event in writer.astream(question, PASSAGES)])


async def test_an_unsupported_sentence_is_written_anew_in_one_call_and_checked_again() -> None:
    model = chat(
        f"{CARRIED} {INVENTED} Staff may fly to Mars.",
        repairs("Staff get 25 days of leave a year [2].", "Five days may be carried over [2]."),
    )
    told = await answered(model)
    assert told.text == (
        "Each value has exactly one owner [1]. Staff get 25 days of leave a year [2]. "
        "Five days may be carried over [2]."
    )
    assert told.answer.grounded
    assert len(told.resets) == 1
    assert told.answer.usage.calls == 2
    assert [source.filename for source in told.answer.sources] == ["rust.md", "hr.md"]


async def test_what_the_second_look_cannot_support_is_dropped() -> None:
    told = await answered(chat(f"{CARRIED}\n- {INVENTED}\n- Done?", repairs("")))
    assert told.text == "Each value has exactly one owner [1].\n- Done?"
    assert told.answer.grounded


async def test_a_repair_that_does_not_hold_either_changes_nothing_and_the_sentence_is_marked() -> (
    None
):
    told = await answered(chat(f"{CARRIED} {INVENTED}", repairs("The moon is a cheese [1].")))
    assert told.text == f"{CARRIED} Ferris the crab founded the company in Paris. (unverified)"
    assert not told.resets
    assert not told.answer.grounded


@pytest.mark.parametrize(
    "options",
    [{"repair": False}, {"budget": AnswerBudget(calls=1, prompt_tokens=9000, seconds=60)}],
    ids=["turned-off", "no-call-left"],
)
async def test_without_a_second_call_the_sentence_is_marked(options: dict[str, Any]) -> None:
    told = await answered(chat(f"{CARRIED} {INVENTED}", repairs("")), **options)
    assert told.text.endswith("in Paris. (unverified)")
    assert told.answer.usage.calls == 1


async def test_a_model_that_cannot_mend_leaves_the_sentence_marked_and_says_so() -> None:
    told = await answered(chat(f"{CARRIED} {INVENTED}"))
    assert told.text.endswith("in Paris. (unverified)")
    assert any("could not be revised" in warning for warning in told.answer.warnings)
    assert told.answer.usage.calls == 2
    assert told.answer.usage.estimated
    without = await answered(chat(f"{CARRIED} {INVENTED}"), repair=False)
    assert told.answer.usage.prompt_tokens > without.answer.usage.prompt_tokens + 100


async def test_a_statement_that_turns_a_denial_round_is_mended() -> None:
    told = await answered(
        chat(
            "Each value in Rust hasn't exactly one owner at a time [1].",
            repairs("Each value has exactly one owner [1]."),
        )
    )
    assert told.text == CARRIED
    assert told.answer.grounded


async def test_a_wrong_number_is_not_carried_however_alike_the_words_are() -> None:
    told = await answered(
        chat("Staff get 52 days of leave a year [2].", repairs("Staff get 25 days of leave [2]."))
    )
    assert told.text == "Staff get 25 days of leave [1]."
    assert told.answer.grounded


@pytest.mark.parametrize("name", ["Ferris Crabbe", "Zoë D. Nováková", "RFC-1984"])
async def test_a_name_that_no_document_has_is_not_carried_however_alike_the_words_are(
    name: str,
) -> None:
    invented = f"Each value in Rust has exactly one owner at a time by {name} [1]."
    told = await answered(chat(invented, repairs("Each value has exactly one owner [1].")))
    assert told.text == CARRIED
    assert told.answer.grounded
    kept = await answered(chat(invented), repair=False)
    assert not kept.answer.grounded


async def test_a_name_that_the_evidence_does_not_have_is_marked() -> None:
    told = await answered(chat("Each value in Ferrous Rust has exactly one owner at a time [1]."))
    assert "(unverified)" in told.text
    assert not told.answer.grounded


async def test_an_answer_of_which_nothing_holds_is_replaced_by_what_the_documents_say() -> None:
    told = await answered(chat("It belongs to Ferris.", repairs("")), "Who owns a value in Rust?")
    assert "Each value in Rust has exactly one owner at a time.[1]" in told.text
    assert told.answer.model == "extractive"
    assert sentence(WarningCode.ANSWER_REPLACED, "en") in told.answer.warnings


async def test_what_cannot_be_shown_stays_marked_above_what_the_documents_say() -> None:
    told = await answered(
        chat("The owner of a value may be changed by a friend.", repairs("")),
        "Who owns a value in Rust?",
    )
    assert told.text.startswith("The owner of a value may be changed by a friend. (unverified)\n\n")
    assert "Each value in Rust has exactly one owner at a time.[1]" in told.text
    assert not told.answer.grounded
    assert sentence(WarningCode.ANSWER_NOT_CONFIRMED, "en") in told.answer.warnings
    assert not told.resets


async def test_what_the_documents_deny_is_replaced() -> None:
    told = await answered(
        chat("Staff get 52 days of leave a year.", repairs("")),
        "How many days of leave do staff get a year?",
    )
    assert "52" not in told.text
    assert "25 days" in told.text
    assert sentence(WarningCode.ANSWER_REPLACED, "en") in told.answer.warnings


async def test_an_invention_for_a_question_without_answer_becomes_the_nearest_evidence() -> None:
    told = await answered(chat("Brazil beat Italy [1].", repairs("")), "Who won the world cup?")
    assert told.text.startswith("The documents do not say this clearly.")
    assert "The nearest passage is this one:" in told.text
    assert "Brazil" not in told.text
    assert (told.answer.grounded, told.answer.declined) == (False, True)
    assert len(told.answer.citations) == 1


@pytest.mark.parametrize("mark", [".", ""])
async def test_saying_that_the_documents_do_not_tell_is_not_mended_but_gets_the_nearest(
    mark: str,
) -> None:
    said = f"The documents do not mention leave for dogs{mark}"
    told = await answered(chat(said), "Leave for dogs?")
    assert told.text == (
        "The documents do not mention leave for dogs. The nearest passage is this one:\n"
        "Staff get 25 days of leave a year.[1]"
    )
    assert not told.resets
    assert (told.answer.grounded, told.answer.declined) == (False, True)
    assert told.answer.usage.calls == 1


async def test_an_answer_in_the_wrong_language_is_written_anew_in_the_right_one() -> None:
    told = await answered(
        chat("每个值在任何时刻都只有一个所有者[1]。", repairs("Each value has one owner [1]."))
    )
    assert told.text == "Each value has one owner [1]."
    assert told.answer.grounded


async def test_a_wrong_language_that_stays_is_said() -> None:
    told = await answered(chat("每个值在任何时刻都只有一个所有者[1]。"))
    assert sentence(WarningCode.ANSWER_IN_OTHER_LANGUAGE, "en") in told.answer.warnings
    assert not told.answer.grounded


async def test_what_a_repair_writes_is_as_harmless_as_the_first_text() -> None:
    told = await answered(
        chat(
            f"{CARRIED} {INVENTED}",
            repairs("Five days may be carried over ![x](https://evil.example/q) [2] [77]."),
        )
    )
    assert "evil" not in told.text
    assert "77" not in told.text


def changed(*gone: str) -> Checks:
    """Return a store in which the documents of these quotes were changed."""

    async def still_there(quotes: Sequence[Quoted]) -> list[bool]:
        return [all(part not in quote.text for part in gone) for quote in quotes]

    return Checks(still_there)


async def test_a_document_that_changed_meanwhile_is_not_cited_and_its_sentence_goes() -> None:
    told = await answered(
        chat(f"{CARRIED} Staff get 25 days of leave a year [2].", repairs()),
        checks=changed("25 days"),
    )
    assert told.text == CARRIED
    assert [source.filename for source in told.answer.sources] == ["rust.md"]
    assert sentence(WarningCode.CITED_DOCUMENT_CHANGED, "en") in told.answer.warnings


async def test_a_mended_sentence_that_rests_on_what_is_gone_goes_too() -> None:
    told = await answered(
        chat(f"{CARRIED} {INVENTED}", repairs("Staff get 25 days of leave a year [2].")),
        checks=changed("25 days"),
    )
    assert told.text == CARRIED
    assert [source.filename for source in told.answer.sources] == ["rust.md"]


async def test_when_every_cited_document_is_gone_the_answer_is_made_of_the_others() -> None:
    told = await answered(
        chat(CARRIED, repairs()), "How many days of leave?", checks=changed("one owner")
    )
    assert {source.filename for source in told.answer.sources} == {"hr.md"}
    assert "owner" not in told.text


async def test_a_sentence_keeps_the_source_that_no_store_has_when_the_stored_one_is_gone() -> None:
    """What came with the question is in no store, so only the document's quote is looked for there."""
    asked = list[Quoted]()

    async def gone(quotes: Sequence[Quoted]) -> list[bool]:
        asked.extend(quotes)
        return [False for _ in quotes]

    brought = replace(LEAVE, id="brought", document_id=None, metadata={"filename": "brought.md"})
    writer = AnswerGenerator(
        chat("Staff get 25 days of leave a year [1][2].", repairs()), checks=Checks(gone)
    )
    told = read([event async for event in writer.astream("How long?", [LEAVE, brought])])
    assert [quote.document_id for quote in asked[:1]] == [LEAVE.document_id]
    assert [source.filename for source in told.answer.sources] == ["brought.md"]
    assert told.text == "Staff get 25 days of leave a year [1]."


async def test_what_is_answered_instead_rests_on_nothing_that_is_gone_too() -> None:
    told = await answered(
        chat(CARRIED, repairs()),
        "How many days of leave?",
        checks=changed("one owner", "25 days"),
    )
    assert told.answer.sources == ()
    assert "25 days" not in told.text
    assert sentence(WarningCode.ANSWER_REPLACED, "en") in told.answer.warnings


async def test_a_store_that_does_not_answer_is_said() -> None:
    async def down(quotes: Sequence[Quoted]) -> list[bool]:
        raise DatabaseUnavailable(f"No answer about {len(quotes)} quotes.")

    told = await answered(chat(CARRIED), checks=Checks(down))
    assert told.text == CARRIED
    assert told.answer.warnings == (
        sentence(WarningCode.CITATIONS_NOT_COMPARED, "en", reason="No answer about 1 quotes."),
    )
    assert not told.answer.grounded


@dataclass
class Judge:
    """Finds sentences with `believed` carried, and no other."""

    believed: str
    error: Exception | None = None
    name: str = "judge"
    sure: float = 0.9
    silent: bool = False

    async def score(self, query: str, texts: Sequence[str]) -> list[float]:
        if self.silent:
            await asyncio.Event().wait()
        if self.error:
            raise self.error
        return [self.sure if self.believed in query else 0.1 for _ in texts]


async def test_a_judge_carries_what_words_cannot_compare() -> None:
    told = await answered(
        chat("每个值只有一个所有者[1]。"), "谁拥有一个值？", checks=Checks(judge=Judge("所有者"))
    )
    assert told.answer.citations[0].support == 0.9
    assert told.answer.grounded


@pytest.mark.parametrize(("score", "least", "support"), [(7.5, 4.0, 1.0), (-0.5, -2.0, 0.0)])
async def test_support_is_within_bounds_on_whatever_scale_the_judge_scores(
    score: float, least: float, support: float
) -> None:
    told = await answered(
        chat(CARRIED), checks=Checks(judge=Judge("owner", sure=score), least=least)
    )
    assert [citation.support for citation in told.answer.citations] == [support]
    assert told.answer.grounded


async def test_a_citation_that_the_judge_refuses_loses_its_marker() -> None:
    told = await answered(
        chat(f"{CARRIED} Staff get 25 days of leave a year [2].", repairs()),
        checks=Checks(judge=Judge("owner")),
    )
    assert told.text == f"{CARRIED} Staff get 25 days of leave a year. (unverified)"
    assert sentence(WarningCode.CITATIONS_REMOVED, "en") in told.answer.warnings
    assert not told.answer.grounded


@pytest.mark.parametrize(
    "written",
    ["Staff get 99 days of leave a year [2].", "Staff do not get 25 days of leave a year [2]."],
)
async def test_no_judge_lets_another_number_or_the_opposite_pass(written: str) -> None:
    told = await answered(
        chat(f"{CARRIED} {written}", repairs()), checks=Checks(judge=Judge(""), least=0.5)
    )
    assert [citation.marker for citation in told.answer.citations] == [1]
    assert not told.answer.grounded


async def test_a_judge_that_fails_leaves_it_to_words_and_says_so() -> None:
    judge = Judge("", ModelUnavailable("No answer."))
    told = await answered(chat(CARRIED), checks=Checks(judge=judge))
    assert told.answer.grounded
    assert told.answer.warnings == (sentence(WarningCode.JUDGE_FAILED, "en", reason="No answer."),)


async def test_a_silent_judge_is_waited_for_as_long_as_the_answer_may_take() -> None:
    told = await answered(
        chat(f"{CARRIED} Staff get 25 days of leave a year [2]."),
        checks=Checks(judge=Judge("", silent=True)),
        budget=AnswerBudget(calls=4, prompt_tokens=100_000, seconds=0.5),
    )
    assert told.answer.grounded
    assert told.answer.warnings == (sentence(WarningCode.JUDGE_TIMED_OUT),)


async def test_numbers_of_a_passage_in_another_language_stay_marked_where_nothing_is_quoted() -> (
    None
):
    tours = item("国内演出每场补助 300 元，国外演出每场补助 90 欧元。", "补助.md")
    text = "Concerts at home get 300 yuan, those abroad 90 euros [1]."
    question = "What do the tours of the choir get?"
    writer = AnswerGenerator(chat(text, repairs("")))
    told = read([event async for event in writer.astream(question, [tours])])
    assert told.text == f"{text} (unverified)"
    assert [one.quote for one in told.citations]
    invented = "Concerts at home get 310 yuan, those abroad 95 euros [1]."
    writer = AnswerGenerator(chat(invented, repairs("")))
    told = read([event async for event in writer.astream(question, [tours])])
    assert "310" not in told.text
