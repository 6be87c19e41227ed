"""Claims with references, and whether people and `grounded` agree about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.attribution import AttributionVerdict, is_grounded, macro_f1, main

REFERENCE = "The pier was built by Tom Rusk in 1994 and is 210 m long."


@pytest.mark.parametrize(
    ("claim", "references", "grounded"),
    [
        ("The pier is 210 m long.", [REFERENCE], True),
        ("The pier is 310 m long.", [REFERENCE], False),
        ("The pier is 210 m long.", [], False),
    ],
)
def test_a_claim_is_grounded_by_its_references(
    claim: str, references: list[str], *, grounded: bool
) -> None:
    row = {"question": "How long is the pier?", "claim": claim, "references": references}
    assert is_grounded(row) is grounded


def test_macro_f1_is_the_mean_over_both_classes() -> None:
    verdicts = [AttributionVerdict(*pair) for pair in [(True, True), (True, False), (False, False)]]
    assert macro_f1(verdicts) == pytest.approx(2 / 3)
    assert macro_f1([AttributionVerdict(attributable=True, grounded=False)]) == 0.0


def test_a_line_for_each_source_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {
        "question": "",
        "claim": "Tom Rusk built the pier in 1994.",
        "references": [REFERENCE],
        "attribution_label": "attributable",
        "src_dataset": "piers",
    }
    (tmp_path / "claims.jsonl").write_text(json.dumps(row), encoding="utf-8")
    main([tmp_path / "claims.jsonl"])
    assert "| claims | piers | 1 | 50.0 | 100.0 % | 100.0 % |" in capsys.readouterr().out
