"""What the page says when the chat model fails: one note with a next step, above quotations."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.failing_model import FAILURES, FailingModel, failing_model, speaks_of_model
from tests.e2e.page.steps import GUIDE, QUESTION, ask, use
from tests.e2e.served import served

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def model() -> Iterator[FailingModel]:
    with failing_model() as listening:
        yield listening


@pytest.fixture(scope="module")
def address(environment: dict[str, str], sextant: Sextant, model: FailingModel) -> Iterator[str]:
    """Yield a server whose chat model fails."""
    sextant("ingest", SAMPLES / "documents" / GUIDE, "--graph", "page", "--json").json()
    with served(environment | dict(model.variables)) as running:
        yield running


@pytest.mark.parametrize("how", FAILURES)
def test_one_note_says_in_the_questions_language_what_failed_and_what_to_do(
    page: Page, model: FailingModel, how: str
) -> None:
    model.failure = FAILURES[how]
    use(page, "page")
    turn = ask(page, QUESTION)
    notes = [text for text in turn.locator(".note").all_text_contents() if speaks_of_model(text)]
    assert len(notes) == 1, notes
    assert model.failure.step_zh in notes[0]
    expect(turn.locator(".answer")).to_contain_text("多饮")
    expect(turn.get_by_role("button", name="Citation 1: open the passage").first).to_be_visible()
    expect(turn.get_by_text("Quoted word for word")).to_be_visible()


def test_a_failure_without_quotations_has_its_next_step_beside_it(
    page: Page, model: FailingModel
) -> None:
    model.failure = FAILURES["refused key"]
    use(page, "page")
    page.locator("#mode").select_option("bypass")
    page.get_by_label("Your question").fill("请写一首短诗。")
    page.keyboard.press("Enter")
    bad = page.get_by_role("article").last.locator(".bad")
    expect(bad).to_contain_text("拒绝了密钥（401）。请把 OPENAI_API_KEY 设为该服务接受的密钥。")
