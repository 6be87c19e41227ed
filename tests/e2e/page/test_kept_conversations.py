"""Conversations in the list at the side: renamed, and saved as Markdown."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.e2e.page.steps import GUIDE, ask, use


def test_a_conversation_is_renamed_and_saved(page: Page) -> None:
    use(page, "page")
    ask(page, "糖尿病患者有哪些主要症状？")
    page.get_by_label("Rename: 糖尿病患者有哪些主要症状？").click()
    page.get_by_label("Title of the conversation").fill("Symptoms <b>*now*</b>")
    page.get_by_role("button", name="Rename", exact=True).click()
    expect(page.get_by_role("link", name="Symptoms <b>*now*</b>")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_label("Save as Markdown: Symptoms <b>*now*</b>").click()
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert text.startswith("# Symptoms \\<b>\\*now\\*\\</b>\n\n## 糖尿病患者有哪些主要症状？\n\n")
    assert f"- [1] {GUIDE}" in text
