"""Goals of the chunk search benchmark: ratios, the noise floor, gates, and what is void."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.hybrid.gates import Gate
from benchmarks.hybrid.goals import Goal, Measure, Verdict, again, goals_table, judged, verdict_of
from benchmarks.hybrid.groups import taking_turns
from benchmarks.hybrid.measuring import Ratio, Search, Times, mean, ratio
from benchmarks.hybrid.report import Group, Report

OURS, HELD = Gate("ours 1.000", held=True), Gate("recall 0.996", held=True)
FAILED = Gate("recall 0.966", held=False)
QUIET = Ratio(1.0, 0.98, 1.02)


def times(wall: float, cpu: float | None = None, spread: float = 0.01) -> Times:
    """Of 200 queries around a mean."""
    around = 1 + spread * np.random.default_rng(round(wall)).standard_normal(200)
    spent = wall if cpu is None else cpu
    return Times((wall * around).tolist(), (spent * around).tolist(), [0.0] * 200)


def measured(narrow: Gate, wide: Gate, ours: Gate = OURS) -> Group:
    """Return one table takes 3 times as much as ours, and at equal recall 5 times."""
    equal = Goal("vector lane", "ours", "as exact", Measure.CPU, 4, (ours, wide))
    goal = replace(equal, rival="one table", gates=(ours, narrow), instead=equal)
    took = {"one table": 3, "ours": 1, "as exact": 5, again("ours"): 1.01}
    return Group.of("vector", {name: times(own) for name, own in took.items()}, [goal])


def report(*groups: Group) -> Report:
    return Report.of("seed 2", (100_000, 200, 1000), groups)


def test_the_interval_is_as_wide_as_so_many_queries_of_such_spread_make_it() -> None:
    one, other = times(10, spread=0.2), times(20, spread=0.2)
    found = ratio(other.wall, one.wall, mean)
    assert found.value == pytest.approx(2, rel=0.05)
    relative = (found.high - found.low) / found.value
    assert relative == pytest.approx(2 * 1.96 * 0.2 * (2 / 200) ** 0.5, rel=0.15)


def test_queries_are_drawn_in_pairs_so_that_hard_ones_do_not_widen_the_interval() -> None:
    hard = np.random.default_rng(0).pareto(1.5, 300) + 1
    assert ratio(3 * hard, hard, mean).high == pytest.approx(3)


def test_cpu_is_that_of_client_and_server_and_quantiles_are_of_wall_time() -> None:
    slow, fast = (
        Times([8.0] * 9 + [90], [1.0] * 10, [5.0] * 10),
        Times([4.0] * 10, [2.0] * 10, [1] * 10),
    )
    assert Measure.CPU.ratio(slow, fast).value == 2
    assert Measure.P50.ratio(slow, fast).value == 2
    assert Measure.P95.ratio(slow, fast).value > 10


@pytest.mark.parametrize(
    ("found", "noise", "verdict"),
    [
        (Ratio(5.0, 4.5, 5.5), QUIET, Verdict.MET),
        (Ratio(4.05, 4.03, 4.07), QUIET, Verdict.WITHIN_NOISE),
        (Ratio(4.2, 3.8, 4.6), QUIET, Verdict.WITHIN_NOISE),
        (Ratio(5.0, 4.9, 5.1), Ratio(1.2, 1.1, 1.3), Verdict.WITHIN_NOISE),
        (Ratio(5.0, 4.9, 5.1), Ratio(0.8, 0.75, 0.9), Verdict.WITHIN_NOISE),
        (Ratio(3.2, 3.1, 3.3), Ratio(1.2, 1.1, 1.3), Verdict.WITHIN_NOISE),
        (Ratio(3.0, 2.6, 3.6), QUIET, Verdict.NOT_MET),
    ],
)
def test_a_goal_is_decided_where_neither_interval_nor_noise_floor_holds_the_limit(
    found: Ratio, noise: Ratio, verdict: Verdict
) -> None:
    assert verdict_of(found, 4, noise, [HELD]) is verdict


def test_a_gate_that_fails_voids_a_ratio_however_good() -> None:
    assert verdict_of(Ratio(50, 49, 51), 4, QUIET, [HELD, FAILED]) is Verdict.VOID


def test_of_every_query_means_of_every_one_and_of_some() -> None:
    assert Gate.all_of("same", 1000, 1000).held
    assert not Gate.all_of("same", 999, 1000).held
    assert not Gate.all_of("same", 0, 0).held


def test_the_ratio_at_equal_recall_stands_in_for_that_of_a_rival_that_finds_less() -> None:
    group = measured(narrow=FAILED, wide=HELD)
    [goal] = group.goals
    assert goal.verdict is Verdict.VOID
    assert goal.instead is not None
    assert (goal.instead.goal.rival, goal.instead.verdict) == ("as exact", Verdict.MET)
    assert not goal.void
    assert report(group).write(None) == 0


def test_nothing_stands_in_where_the_rival_is_exact_enough() -> None:
    [goal] = measured(narrow=HELD, wide=HELD).goals
    assert (goal.verdict, goal.instead) == (Verdict.NOT_MET, None)


@pytest.mark.parametrize(("wide", "ours"), [(FAILED, OURS), (HELD, FAILED)])
def test_where_nothing_can_stand_in_the_run_fails_and_says_so(
    wide: Gate, ours: Gate, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = measured(narrow=FAILED, wide=wide, ours=ours)
    assert report(group).write(tmp_path / "out.json") == 1
    printed = capsys.readouterr().out
    assert "void" in printed.splitlines()[-1]
    assert "stands in |" not in printed
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert written["void"] is True
    assert [goal["verdict"] for goal in written["goals"]] == ["void"]
    assert written["goals"][0]["instead"]["verdict"] == "void"


def test_a_limit_that_is_missed_is_no_failure_of_the_run(tmp_path: Path) -> None:
    group = measured(narrow=HELD, wide=HELD)
    assert report(group).write(tmp_path / "out.json") == 0
    written = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert (written["void"], written["goals"][0]["verdict"]) == (False, "not met")
    assert written["goals"][0]["measured"]["value"] == pytest.approx(3, abs=0.1)
    assert written["spent"][0]["design"] == "one table"


def test_the_table_has_what_stands_in_right_below_and_names_gates_by_number() -> None:
    [goal] = measured(narrow=FAILED, wide=HELD).goals
    _, _, void, instead, _, *legend = goals_table([goal]).splitlines()
    assert [cell.strip() for cell in void.split("|")][3:5] == ["CPU", f"void ({goal.measured})"]
    assert void.endswith("| 2 FAILED | " + str(goal.noise) + " | void, the next line stands in |")
    assert instead.startswith("| vector lane | as exact | CPU | 5.0×")
    assert instead.endswith("| 1, 3 held | " + str(goal.noise) + " | met |")
    assert legend == [
        "1. gate held: ours 1.000",
        "2. gate FAILED: recall 0.966",
        "3. gate held: recall 0.996",
    ]


@pytest.mark.parametrize("rivals", [["libc", "built-in"], ["libc", "built-in", "LanceDB"]])
def test_either_turn_of_ours_comes_after_a_rival_and_half_a_turn_apart(rivals: list[str]) -> None:
    async def nothing(number: int) -> object:
        return number

    designs: dict[str, Search] = dict.fromkeys(rivals, nothing)
    order = list(taking_turns(designs, dict.fromkeys(["ours", "memory"], nothing)))
    assert order[:6] == ["libc", "ours", "memory", "built-in", again("ours"), again("memory")]
    assert order[6:] == rivals[2:]


def test_a_goal_is_held_against_its_own_pair_of_turns() -> None:
    goal = Goal("BM25", "index", "jieba", Measure.P50, 40)
    took = {"jieba": times(50), "index": times(1), again("index"): times(1.5)}
    one = judged(goal, took)
    assert one.noise.value == pytest.approx(1.5, abs=0.01)
    assert one.verdict is Verdict.WITHIN_NOISE
