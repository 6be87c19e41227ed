"""A report on the page: stopped in the middle, and resumed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from sextant.testing.openai_server import ApiRequest
from sextant.testing.replies import Reply, as_json
from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.failing_model import FailingModel, Failure, failing_model
from tests.e2e.page.steps import GUIDE, QUESTION, use
from tests.e2e.served import served

pytestmark = pytest.mark.e2e


class Pausing:
    """Holds its second section back until it is told to go on."""

    def __init__(self) -> None:
        self.written = 0
        self.goes_on = False

    def __call__(self, request: ApiRequest) -> Reply | str:
        if request.wants_json:
            return as_json({"questions": ["糖尿病如何治疗？", "糖尿病有哪些典型症状？"]})
        self.written += 1
        if self.written > 1 and not self.goes_on:
            return Reply("等", delay=600.0)
        number = request.prompt.partition("多饮、多尿")[0].rpartition('<passage number="')[2][:1]
        return f"糖尿病患者的主要症状是多饮、多尿、多食和体重下降 [{number or 1}]。"


@pytest.fixture(scope="module")
def model() -> Iterator[FailingModel]:
    with failing_model() as listening:
        yield listening


@pytest.fixture(scope="module")
def address(environment: dict[str, str], sextant: Sextant, model: FailingModel) -> Iterator[str]:
    """Yield a server whose chat model writes as it is told to."""
    sextant("ingest", SAMPLES / "documents" / GUIDE, "--graph", "page", "--json").json()
    with served(environment | dict(model.variables) | {"SEXTANT_MODEL_TIMEOUT": "120"}) as running:
        yield running


def test_a_report_that_was_stopped_is_resumed(page: Page, model: FailingModel) -> None:
    pausing = Pausing()
    model.failure = Failure(pausing, "", "")
    use(page, "page")
    page.get_by_label("Effort").select_option("high")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_text("model calls").first).to_be_visible()
    page.get_by_role("button", name="Continue").click()  # what it costs is agreed to first
    expect(page.locator(".steps [data-node=write]")).to_contain_text("2/")
    expect(page.get_by_text("model calls").first).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    resume = page.get_by_role("article").last.get_by_role("button", name="Resume")
    expect(resume).to_be_visible()
    pausing.goes_on = True
    resume.click()
    expect(page.locator("#status")).to_contain_text("Answered in")
    answer = page.get_by_role("article").last.locator(".answer")
    expect(answer).to_contain_text("多饮、多尿、多食和体重下降")
    expect(page.get_by_role("article")).to_have_count(1)
