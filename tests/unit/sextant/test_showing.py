"""What people see of an answer and of an ingestion, on a terminal and in a pipe."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from dataclasses import replace
from uuid import uuid4

import pytest

from sextant.cli import progress, terminal
from sextant.cli.answers import print_answer
from sextant.cli.graph import _print_tree
from sextant.domain.answers import (
    Answer,
    Citation,
    Done,
    Event,
    Failed,
    Reset,
    Source,
    Status,
    Token,
    Trust,
)
from sextant.domain.documents import JobStage
from sextant.domain.errors import (
    FileEmpty,
    GraphNotFound,
    ModelUnavailable,
    SextantError,
    describe_reason,
)
from sextant.domain.graph import Entity
from sextant.domain.warnings import CodedWarning, WarningCode
from sextant.facade.graph import DrawnGraph
from sextant.ingestion.pipeline import Ingested, IngestReport
from sextant.ingestion.progress import Progress
from sextant.stores.graph.protocol import Hop

SOURCE = Source(1, "d", "guide.pdf", "c", "Guide", ("2 Signs", "2.1 Early"), 7, "…", 0.9)
CITATION = Citation(1, "Thirst.[1]", "guide.pdf", "Thirst is\nan early sign.", 0, 24, 1.0)
LANE = CodedWarning(WarningCode.VECTOR_LANE_FAILED)
ANSWER = Answer(
    "Thirst.[1]", "naive", (CITATION,), (SOURCE,), trust=Trust.QUOTED, model="extractive"
)


async def told(*events: Event) -> AsyncGenerator[Event]:
    for event in events:
        yield event


async def test_an_answer_shows_its_text_then_each_source_with_place_and_quote(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = await print_answer(
        told(Status("retrieve"), Token("Thirst."), Token("[1]"), Done(ANSWER))
    )
    assert shown == ANSWER
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Thirst.[1]"
    assert lines[2] == "[1] guide.pdf · 2 Signs › 2.1 Early · page 7"
    assert lines[3] == "    “Thirst is an early sign.”"
    assert lines[-1].startswith("mode naive · extractive · quoted word for word")


async def test_page_and_last_line_are_in_the_answers_language(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await print_answer(told(Done(replace(ANSWER, answer="口渴是早期症状。[1]"))))
    lines = capsys.readouterr().out.splitlines()
    assert "[1] guide.pdf · 2 Signs › 2.1 Early · 第 7 页" in lines
    assert lines[-1].startswith("模式 naive · extractive · 逐字引用")


@pytest.mark.parametrize(
    ("answer", "shown"),
    [("Thirst.[1]", "page 7 · read by OCR"), ("口渴是早期症状。[1]", "第 7 页 · 由 OCR 识别")],
)
async def test_what_ocr_read_is_said_to_be(
    answer: str, shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scanned = replace(ANSWER, answer=answer, sources=(replace(SOURCE, ocr=True),))
    await print_answer(told(Done(scanned)))
    assert capsys.readouterr().out.splitlines()[2].endswith(shown)


async def test_the_last_line_is_not_in_the_language_of_what_is_quoted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    quoting = "According to the documents:\n口渴是早期症状，多饮多尿也是。[1]"
    await print_answer(told(Done(replace(ANSWER, answer=quoting))))
    assert capsys.readouterr().out.splitlines()[-1].startswith("mode naive")


async def test_a_passage_that_is_named_but_not_quoted_shows_how_it_begins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    nearest = replace(SOURCE, text="Eat\nregularly. " + "x" * 400)
    await print_answer(told(Done(replace(ANSWER, citations=(), sources=(nearest,)))))
    shown = capsys.readouterr().out
    assert "    “Eat regularly. x" in shown
    assert "x…”" in shown


@pytest.mark.parametrize(
    ("text", "trust", "words"),
    [
        ("Thirst.[1]", Trust.QUOTED, "quoted word for word"),
        ("多饮。[1]", Trust.QUOTED, "逐字引用"),
        ("Thirst.[1]", Trust.SUPPORTED, "every sentence supported"),
        ("Thirst.[1]", Trust.PARTIAL, "not every sentence supported"),
        ("Thirst.[1]", Trust.UNSUPPORTED, "no sentence supported"),
    ],
)
async def test_the_last_line_says_what_stands_behind_the_sentences(
    capsys: pytest.CaptureFixture[str], text: str, trust: Trust, words: str
) -> None:
    await print_answer(told(Done(replace(ANSWER, answer=text, trust=trust))))
    parts = capsys.readouterr().out.splitlines()[-1].split(" · ")
    assert words in parts


async def test_an_answer_that_declines_is_not_told_to_be_badly_supported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await print_answer(told(Done(replace(ANSWER, declined=True))))
    last = capsys.readouterr().out.splitlines()[-1]
    assert "not in the documents" in last
    assert "supported" not in last


def test_a_score_too_small_for_four_decimals_is_told_by_its_digits() -> None:
    """A walk through a large graph leaves an entity a hundred-thousandth, which was printed as 0.0000."""
    scores = [1.0, 0.00123, 0.000123, 1.23e-05, 0.0, -0.5]
    told = ["1.0000", "0.0012", "0.000123", "1.23e-05", "0.0000", "-0.5000"]
    assert [terminal.score(one) for one in scores] == told


async def test_warnings_go_beside_the_answer(capsys: pytest.CaptureFixture[str]) -> None:
    await print_answer(told(Done(replace(ANSWER, coded_warnings=(LANE,)))))
    assert str(LANE) in capsys.readouterr().err


async def test_a_warning_in_chinese_is_announced_in_chinese(
    capsys: pytest.CaptureFixture[str],
) -> None:
    await print_answer(told(Done(replace(ANSWER, coded_warnings=(LANE,), language="zh"))))
    assert "提示：向量检索失败，使用关键词检索降级\n" in capsys.readouterr().err


async def test_why_an_answer_is_told_anew_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    mended = CodedWarning(WarningCode.SENTENCES_REVISED, {"number": 1})
    why, other = str(mended), str(LANE)
    done = Done(replace(ANSWER, coded_warnings=(mended, LANE)))
    await print_answer(told(Token("Hunger."), Reset(why), Token("Thirst.[1]"), done))
    said = capsys.readouterr().err
    assert [said.count(one) for one in (why, other)] == [1, 1]


async def test_why_an_answer_began_again_is_not_repeated_with_a_reference_to_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reason = {"reason": describe_reason(ModelUnavailable("The model is silent."))}
    judged = CodedWarning(WarningCode.JUDGED_BY_RULE, reason)
    quoted = CodedWarning(WarningCode.QUOTED_WITHOUT_MODEL, reason)
    done = Done(replace(ANSWER, coded_warnings=(judged, quoted)))
    await print_answer(told(Token("Hunger."), Reset(str(quoted)), Token("Thirst.[1]"), done))
    assert capsys.readouterr().err.count("is quoted from the documents") == 1


async def test_a_failed_run_raises_the_error_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    failed = Failed(
        "graph_not_found", "No such graph.", retryable=False, detail={"next_step": "Make it."}
    )
    with pytest.raises(GraphNotFound) as caught:
        await print_answer(told(Token("Th"), failed))
    assert caught.value.next_step == "Make it."
    with pytest.raises(SextantError, match="broke off"):
        await print_answer(told(Token("Th")))


async def test_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert await print_answer(told(Token("Thirst."), Done(ANSWER)), quiet=True) == ANSWER
    assert capsys.readouterr().out == ""


def test_no_document_can_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.say("\x1b[2Jwiped\x07 \u202eback\x9b5m\ttab")
    assert capsys.readouterr().out == "[2Jwiped back5m\ttab\n"


def test_a_name_that_fills_pages_takes_one_line() -> None:
    assert terminal.brief("胰岛素\n (human)") == "胰岛素 (human)"
    assert terminal.brief("巨" * 5_000) == "巨" * 119 + "…"


def test_a_pipe_gets_a_line_for_each_finished_file(capsys: pytest.CaptureFixture[str]) -> None:
    with progress._display(quiet=False) as on_progress:
        assert on_progress is not None
        for stage in (JobStage.PARSE, JobStage.EMBED, JobStage.DONE):
            on_progress(Progress("a.md", stage, 3, 3))
        on_progress(Progress("b\n.md", JobStage.FAILED))
    assert capsys.readouterr().err.splitlines() == ["✓ a.md: 3 passages", "✗ b .md"]


def test_bars_survive_equal_names_and_files_that_fail_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress._display(quiet=False) as on_progress:
        assert on_progress is not None
        on_progress(Progress("a.md", JobStage.FAILED))
        for _ in range(2):
            on_progress(Progress("[b].md", JobStage.EMBED, 1, 2))
        for _ in range(2):
            on_progress(Progress("[b].md", JobStage.DONE, 2, 2))
    assert "✓ [b].md: 2 passages" in capsys.readouterr().err


def test_a_stage_shows_how_far_it_is_also_where_the_end_is_not_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.stage_bars(quiet=False) as on_stage:
        assert on_stage is not None
        on_stage("lines", 4096, 0)
    assert "4096/?" in capsys.readouterr().err


def test_a_stage_is_through_when_the_next_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with progress.stage_bars(quiet=False) as on_stage:
        assert on_stage is not None
        on_stage("lines", 4096, 0)
        on_stage("entities", 2, 5)
    shown = capsys.readouterr().err
    assert "4096/4096" in shown
    assert "2/5" in shown


def test_the_summary_counts_and_names_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    warning = CodedWarning(WarningCode.UNREADABLE_CHARACTERS, {"number": 2})
    report = IngestReport(
        [
            Ingested("a.md", "a.md", uuid4(), 3, warnings=(warning,)),
            Ingested("b.md", "b.md", uuid4(), unchanged=True),
            Ingested("c.md", "c.md", error=FileEmpty("c.md is empty.", next_step="Save it.")),
        ]
    )
    progress.print_summary(report)
    shown = capsys.readouterr()
    assert shown.out == "3 files: 1 ingested (3 passages), 1 unchanged, 1 failed\n"
    assert shown.err == ("! a.md: 2 unreadable characters\n✗ c.md: c.md is empty. Save it.\n")


def test_the_summary_names_the_file_whose_bytes_another_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = uuid4()
    report = IngestReport(
        [Ingested("a.md", "a.md", one, 3), Ingested("b.md", "b.md", one, 3, same_as="a.md")]
    )
    report.removed = ("c.md",)
    progress.print_summary(report)
    shown = capsys.readouterr()
    assert shown.out == (
        "2 files: 1 ingested (3 passages), 0 unchanged, 1 the same as another, 0 failed, 1 removed\n"
    )
    assert shown.err == "= b.md: same as a.md\n- c.md: removed, its file is gone\n"


def test_a_passage_is_told_on_one_line_without_what_draws_its_table() -> None:
    table = "Prices:\n\n| Part | Price |\n| --- | ---: |\n| BM-40 | 980 |"
    assert terminal.read_out(table) == "Prices: Part | Price; BM-40 | 980"
    assert terminal.read_out("a | b\nc") == "a | b c"


def test_names_beyond_the_first_are_counted() -> None:
    names = [f"name {number}" for number in range(23)]
    assert terminal.first_of(names, 20).endswith("name 19 and 3 more; --json lists them")
    assert terminal.first_of(names[:2], 20) == "name 0, name 1"
    assert terminal.first_of((), 20) == ""


def test_without_a_terminal_a_long_work_tells_now_and_then_how_far_it_is(
    capsys: pytest.CaptureFixture[str],
) -> None:
    moments = iter((0, 9, 10, 11, 20))
    say = progress.seldom(lambda: next(moments))
    for line in ("at once", "ten seconds in", "right behind it", "later"):
        say(line)
    assert capsys.readouterr().err.splitlines() == ["ten seconds in", "later"]


def test_an_entity_without_relations_is_shown_with_where_to_look_for_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    alone = Entity(uuid4(), "Osprey Register")
    _print_tree(DrawnGraph((alone,), (), cut=False))
    assert "sextant entities show" in capsys.readouterr().err


def test_entities_of_one_name_each_stand_above_their_relations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    planet, metal, sun, glass = (
        Entity(uuid4(), name) for name in ("Mercury", "Mercury", "Sun", "Thermometer")
    )
    hops = (
        Hop(uuid4(), glass.id, metal.id, "CONTAINS", 2, 1),
        Hop(uuid4(), planet.id, sun.id, "ORBITS", 1, 1),
    )
    _print_tree(DrawnGraph((planet, metal, glass, sun), hops, cut=False))
    assert capsys.readouterr().out.splitlines() == [
        "Mercury (TERM)",
        "  → ORBITS → Sun  1",
        "Mercury (TERM)",
        "  ← CONTAINS ← Thermometer  2",
    ]
