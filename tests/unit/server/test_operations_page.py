"""The dashboard, the alerts and docs/operations.md speak of metrics that there are, and of all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sextant.domain.telemetry import (
    CitationsDropped,
    EventOutcome,
    ModelCalled,
    NodeCompleted,
    SearchCompleted,
    StageRan,
)
from sextant.server.observe.metrics import Metrics
from sextant.server.observe.readiness import DependencyState

ROOT = Path(__file__).parents[3]
_NAME = re.compile(r"\b(?:kb|process)_[a-z_]+")
_SELECTOR = re.compile(r"\b((?:kb|process)_[a-z_]+)\{([^}]*)\}")


@pytest.fixture(scope="module")
def told() -> str:
    """Return what a process tells in which everything has happened once."""
    metrics = Metrics()
    for happening in (
        SearchCompleted("naive", {"vector": 3.0, "total": 4.0}, EventOutcome.OK),
        NodeCompleted("generate", 10.0, 1, EventOutcome.OK),
        ModelCalled(10, 5, EventOutcome.OK),
        CitationsDropped("gone", 1),
        StageRan("parse", 10.0, EventOutcome.OK),
    ):
        metrics.count(happening)
    metrics.requests.labels("GET", "/search", 200).observe(0.1)
    metrics.dependency_up.labels("database").set(1)
    metrics.queue.labels("waiting").set(0)
    metrics.searches.labels("running").set(0)
    return metrics.text().decode()


def labels_of(told: str, name: str) -> set[str]:
    found = re.search(rf"^{name}\{{([^}}]*)\}}", told, re.MULTILINE)
    return set(re.findall(r'(\w+)="', found[1])) if found else set()


def names(told: str) -> set[str]:
    """Return the names of all samples."""
    return set(re.findall(r"^((?:kb|process)_[a-z_]+)", told, re.MULTILINE))


def families(told: str) -> set[str]:
    return set(re.findall(r"^# TYPE (kb_[a-z_]+) ", told, re.MULTILINE))


def rules() -> list[dict[str, Any]]:
    [group] = yaml.safe_load((ROOT / "deploy/prometheus/alerts.yaml").read_text())["groups"]
    found: list[dict[str, Any]] = group["rules"]
    return found


def expressions() -> Iterator[str]:
    """Yield every expression of the alerts and the dashboard."""
    yield from (rule["expr"] for rule in rules())
    board = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text(encoding="utf-8"))
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.parametrize("expression", list(expressions()))
def test_an_expression_names_metrics_and_labels_that_there_are(told: str, expression: str) -> None:
    used = set(_NAME.findall(expression))
    assert used
    assert used <= names(told)
    for name, selector in _SELECTOR.findall(expression):
        assert set(re.findall(r"(\w+)(?:=|!)", selector)) <= labels_of(told, name)
    grouped = {
        label for by in re.findall(r"by \(([^)]*)\)", expression) for label in by.split(", ")
    }
    assert grouped <= set().union(*(labels_of(told, name) for name in used))
    assert expression.count("(") == expression.count(")")


def test_every_metric_is_drawn_on_the_dashboard(told: str) -> None:
    board = (ROOT / "deploy/grafana/dashboard.json").read_text(encoding="utf-8")
    own = {name for name in families(told) if not name.endswith("_created")}
    assert {name for name in own if name not in board} == set()


def test_six_alerts_say_what_is_wrong_and_the_page_what_to_do() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    assert len(rules()) == 6
    for rule in rules():
        assert rule["for"]
        assert rule["annotations"]["summary"]
        assert f"| `{rule['alert']}` |" in page


def test_each_alert_has_a_case_in_which_it_is_raised_and_one_in_which_none_is() -> None:
    """`promtool test rules` runs them; it is not at hand wherever these tests run."""
    told = yaml.safe_load((ROOT / "deploy/prometheus/alerts_test.yaml").read_text())
    cases = [case for test in told["tests"] for case in test["alert_rule_test"]]
    own = {rule["alert"] for rule in rules()}
    assert {case["alertname"] for case in cases if "exp_alerts" in case} == own
    assert {case["alertname"] for case in told["tests"][0]["alert_rule_test"]} == own
    assert not any("exp_alerts" in case for case in told["tests"][0]["alert_rule_test"])
    named = {
        name for test in told["tests"] for one in test["input_series"] for name in [one["series"]]
    }
    assert {name.partition("{")[0] for name in named} <= set(_NAME.findall(" ".join(expressions())))


def test_the_page_lists_all_metrics_with_their_labels(told: str) -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(kb_[a-z_]+)` \|([^|]*)\|", page, re.MULTILINE))
    own = {name for name in families(told) if not name.endswith("_created")}
    assert set(rows) == own
    for name, row in rows.items():
        listed = {label.strip() for label in row.split(",") if label.strip()}
        exported = labels_of(told, name) | labels_of(told, f"{name}_count")
        assert listed == exported - {"le"}


def test_the_page_names_every_dependency_and_state() -> None:
    page = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    for name in ("database", "migrations", "queue", "neo4j", "embedding", "chat"):
        assert f"| `{name}` |" in page
    assert f"`{DependencyState.DEGRADED}`" in page


def test_servers_and_workers_are_scraped_with_the_token_and_judged_by_the_alerts() -> None:
    folder = ROOT / "deploy/prometheus"
    chosen = yaml.safe_load((folder / "prometheus.yaml").read_text(encoding="utf-8"))
    assert all((folder / name).is_file() for name in chosen["rule_files"])
    jobs = chosen["scrape_configs"]
    assert [job["job_name"] for job in jobs] == ["sextant", "sextant-worker"]
    assert all(job["authorization"]["credentials_file"] for job in jobs)
