"""Images and tables that go with a question."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import FilePayload, Page, expect

from tests.e2e.page.steps import QUESTION, ask, use

pytestmark = pytest.mark.e2e

SALES = "product\tsold\npump\t1200\nvalve\t900\n"


def paste(page: Page, **kinds: str) -> None:
    """Put something on the clipboard, and paste it into the question."""
    page.get_by_label("Your question").focus()
    page.evaluate(
        """(kinds) => {
             const data = new DataTransfer();
             for (const [kind, text] of Object.entries(kinds)) data.setData(kind, text);
             const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
             document.activeElement.dispatchEvent(event);
           }""",
        kinds,
    )


def attach(page: Page, name: str, kind: str, content: bytes) -> None:
    page.locator("#attachments").set_input_files(
        FilePayload(name=name, mimeType=kind, buffer=content)
    )


def test_a_table_pasted_from_a_spreadsheet_is_asked_about_and_its_cell_cited(page: Page) -> None:
    use(page, "page")
    paste(page, **{"text/plain": SALES, "text/html": "<table><tr><td>product</td></tr></table>"})
    attached = page.get_by_label("Attached to the question", exact=True)
    expect(attached).to_contain_text("Pasted table")
    turn = ask(page, "Which product sold most?")
    expect(turn.locator(".answer")).to_contain_text("pump")
    turn.locator(".cite", has_text="T1").first.click()
    expect(page.get_by_role("dialog").locator("mark")).to_contain_text("1200")
    expect(attached).to_be_empty()


def test_an_image_goes_with_the_question_and_the_server_says_that_nobody_looked(page: Page) -> None:
    use(page, "page")
    picture = io.BytesIO()
    Image.new("RGB", (80, 60), "teal").save(picture, "PNG")
    attach(page, "meter.png", "image/png", picture.getvalue())
    expect(
        page.get_by_label("Attached to the question", exact=True).get_by_role("img")
    ).to_be_visible()
    turn = ask(page, QUESTION)
    expect(turn.locator("img")).to_be_visible()
    expect(turn).to_contain_text("没有配置视觉模型")
    expect(turn.locator(".answer")).to_contain_text("多饮")


def test_an_attachment_that_cannot_be_used_is_named_and_may_be_removed(page: Page) -> None:
    use(page, "page")
    attach(page, "plan.docx", "application/octet-stream", b"PK")
    expect(page.locator("#status")).to_contain_text("plan.docx is neither an image")
    attach(page, "broken.png", "image/png", b"this is no picture")
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_role("article").locator(".bad")).not_to_be_empty()
    expect(page.locator("#attached li.bad")).to_contain_text("broken.png")
    page.get_by_role("button", name="Remove broken.png").click()
    expect(page.locator("#attached li")).to_have_count(0)


def test_more_than_a_question_may_bring_is_refused_before_it_is_sent(
    page: Page, tmp_path: Path
) -> None:
    huge = tmp_path / "huge.csv"
    huge.write_bytes(b"a,b\n" + b"1,2\n" * 5_000_000)
    page.locator("#attachments").set_input_files(huge)
    expect(page.locator("#status")).to_contain_text("may total 19 MB")
    expect(page.locator("#attached li")).to_have_count(0)
