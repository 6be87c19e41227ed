"""Sections joined to one report: each passage has one number, nothing is quoted twice."""

from __future__ import annotations

from typing import Any

from sextant.domain.answers import Answer, Citation, Cited, Source, Token, Trust
from sextant.nodes.research.report import Report, as_section, unanswered
from sextant.nodes.research.state import PlannedSection


def source(marker: int, name: str) -> Source:
    return Source(marker, f"d-{name}", f"{name}.md", name, name, (), None, f"Text of {name}.", 0.5)


def citation(marker: int, name: str, sentence: str) -> Citation:
    return Citation(marker, sentence, f"{name}.md", f"Text of {name}.", 0, 12, 1.0)


def section(
    title: str,
    text: str,
    names: dict[int, str],
    *,
    trust: Trust = Trust.SUPPORTED,
    declined: bool = False,
) -> dict[str, Any]:
    """Return a section of lines, the one with the marker n citing what `names` has under n."""
    answer = Answer(
        text,
        mode="mix",
        citations=tuple(
            citation(marker, name, next(line for line in text.split("\n") if f"[{marker}]" in line))
            for marker, name in names.items()
        ),
        sources=tuple(source(marker, name) for marker, name in names.items()),
        trust=trust,
        declined=declined,
    )
    return as_section(PlannedSection(title, [f"About {title}?"], [""], []), answer)


def joined(*sections: dict[str, Any]) -> tuple[Report, str]:
    """Return the report of sections, and the text that was streamed."""
    report = Report("en")
    events = [event for one in sections for event in report.add(one)]
    assert [event.citation for event in events if isinstance(event, Cited)] == report.citations
    return report, "".join(event.text for event in events if isinstance(event, Token))


def test_a_passage_has_one_number_in_all_sections() -> None:
    report, text = joined(
        section("", "One [1]. Two [2].", {1: "a", 2: "b"}),
        section("Next", "Three [1]. Again [2].", {1: "c", 2: "a"}),
    )
    assert text == report.text == "One [1]. Two [2].\n\n## Next\n\nThree [3]. Again [1]."
    assert [(one.marker, one.chunk_id) for one in report.sources.values()] == [
        (1, "a"), (2, "b"), (3, "c"),
    ]  # fmt: skip
    assert [one.marker for one in report.citations] == [1, 2, 3, 1]
    assert report.citations[2].sentence == "Three [3]. Again [1]."
    assert report.trust is Trust.SUPPORTED


def test_what_only_repeats_is_left_out_and_quoted_lines_are_told_once() -> None:
    quoted = Trust.QUOTED
    report, text = joined(
        section("", "According to the documents:\nA[1]", {1: "a"}, trust=quoted),
        section("Same", "According to the documents:\nA[1]", {1: "a"}, trust=quoted),
        section("More", "According to the documents:\nA[1]\nB[2]", {1: "a", 2: "b"}, trust=quoted),
    )
    assert text == report.text == "According to the documents:\nA[1]\n\n## More\n\nB[2]"
    assert len(report.citations) == 2


def test_a_section_without_an_answer_is_told_as_not_found() -> None:
    nothing = section("Gone", "The documents do not say.", {}, declined=True)
    lead = section("", "One [1].", {1: "a"})
    report, text = joined(lead, nothing)
    assert text == "One [1]."
    missing = unanswered([lead, nothing], in_parts=False)
    assert missing == ["About Gone?"]
    rest = "".join(
        one.text for one in report.close([lead, nothing], missing) if isinstance(one, Token)
    )
    assert rest == "\n\n## Not found in the documents\n\n- About Gone?"
    assert report.trust is Trust.SUPPORTED


def test_a_question_that_only_its_parts_answer_counts_as_answered() -> None:
    lead = section("", "The documents do not say.", {}, declined=True)
    part = section("Part", "One [1].", {1: "a"})
    report, text = joined(lead, part)
    assert text == "## Part\n\nOne [1]."
    assert unanswered([lead, part], in_parts=True) == []
    assert unanswered([lead, part], in_parts=False) == ["About ?"]
    assert not report.is_empty


def test_where_nothing_is_answered_the_nearest_passage_is_named() -> None:
    lead = section("", "The documents do not say.\nNearest[1]", {1: "a"}, declined=True)
    report, text = joined(lead)
    assert text == ""
    rest = list(report.close([lead], ["Why?"]))
    assert report.is_empty
    assert report.text.startswith("The documents do not say.\nNearest[1]\n\n## Not found")
    assert any(isinstance(event, Cited) for event in rest)
    assert report.trust is Trust.UNSUPPORTED


def test_sections_of_different_trust_are_partly_supported() -> None:
    report, _ = joined(
        section("", "One [1].", {1: "a"}),
        section("Next", "Two [1].", {1: "b"}, trust=Trust.QUOTED),
    )
    assert report.trust is Trust.PARTIAL
