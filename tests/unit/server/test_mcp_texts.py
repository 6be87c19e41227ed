"""Results stay within what a chat host takes, and say so."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sextant.domain.answers import Citation, Trust
from sextant.server.mcp.results import (
    MOST_TOKENS,
    Answered,
    FoundPassage,
    Previewed,
    answer_text,
    limit_size,
    omission_text,
    preview_text,
    shorten_text,
)
from sextant.text.characters import estimate_tokens


def passage(text: str) -> FoundPassage:
    """Return a passage with this text."""
    return FoundPassage(
        chunk_id="c",
        document_id="d",
        external_id=None,
        filename="f.md",
        document_title="F",
        text=text,
        semantic_title="F",
        summary="",
        topics=(),
        keywords=(),
        section_id="s",
        parent_section_path=(),
        page=None,
        start=0,
        end=len(text),
        resource="kb://doc/d#c",
    )


@given(st.integers(1, 60), st.sampled_from(["an owner drops it. ", "付款节点分为三个。"]))
def test_the_results_that_are_kept_fit_and_are_the_first(number: int, text: str) -> None:
    found = [passage(f"{place} {text * 100}") for place in range(number)]
    kept = limit_size(found)
    assert kept == tuple(found[: len(kept)])
    assert kept
    if len(kept) < number:
        assert "narrow" in (omission_text(len(kept), number) or "")
        more = [one.model_dump_json(by_alias=True) for one in found[: len(kept) + 1]]
        assert estimate_tokens("".join(more)) > MOST_TOKENS / 2  # no more is left out than must be
    told = "".join(one.model_dump_json(by_alias=True) for one in kept)
    assert estimate_tokens(told) < MOST_TOKENS


def test_one_result_is_kept_however_long_it_is() -> None:
    assert len(limit_size([passage("word " * 100_000)])) == 1


@given(st.integers(0, 20_000), st.integers(0, 20_000))
def test_a_preview_keeps_the_passage_and_what_is_nearest_to_it(before: int, after: int) -> None:
    whole = Previewed(
        graph_id="default",
        passage=passage("The passage itself."),
        section=None,
        entities=(),
        before=("前文。" * before)[-before:] if before else "",
        after=("后文。" * after)[:after],
        previous_chunk_id=None,
        next_chunk_id=None,
    )
    seen = shorten_text(whole)
    assert "The passage itself." in preview_text(seen)
    assert whole.before.endswith(seen.before)
    assert whole.after.startswith(seen.after)
    assert estimate_tokens(seen.model_dump_json(by_alias=True)) < MOST_TOKENS
    assert bool(seen.hint) == ((seen.before, seen.after) != (whole.before, whole.after))


def test_an_answer_says_which_knowledge_base_was_chosen_for_the_caller() -> None:
    answer = Answered(
        graph_id="shop", answer="A week.", mode="mix", trust=Trust.SUPPORTED, grounded=True, declined=False,
        citations=(), sources=(), attempts=1, model="extractive",
    )  # fmt: skip
    assert answer_text(answer) == "A week."
    assert answer_text(answer, chosen=True) == (
        "A week.\n\nAsked 'shop', the only knowledge base there is."
    )


def test_an_answer_of_quotations_is_not_called_supported() -> None:
    cited = Citation(
        marker=1, sentence="A week.", source="a.md", quote="A week.", start=0, end=7, support=1.0, cell=""
    )  # fmt: skip
    answer = Answered(
        graph_id="shop", answer="A week.[1]", mode="mix", trust=Trust.QUOTED, grounded=False, declined=False,
        citations=(cited,), sources=(), attempts=1, model="extractive",
    )  # fmt: skip
    assert "Quoted word for word" in answer_text(answer)
