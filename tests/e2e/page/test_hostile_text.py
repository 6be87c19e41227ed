"""What documents, models and other people write is text to the page, whatever it looks like."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.page.steps import add, ask, begin, row, use, view

pytestmark = pytest.mark.e2e

ATTACK = "<img src=x onerror=window.attacked=1>"
SCRIPT = "</script><script>window.attacked=1</script>"


def unharmed(page: Page) -> None:
    """Nothing ran, and nothing of it became an element."""
    assert page.evaluate("window.attacked") is None
    assert page.locator("main img, main script, dialog img, main a[href^='http']").count() == 0


def test_names_and_texts_of_documents_stay_text(page: Page, tmp_path: Path) -> None:
    begin(page, f"{ATTACK} {uuid4()}")
    note = tmp_path / f"{ATTACK}.txt"
    note.write_text(
        f"The secret word of the harbour is {ATTACK} {SCRIPT} "
        "![leak](http://example.org/x.png) [more](http://example.org) barnacle.\n"
    )
    add(page, note)
    expect(row(page, ATTACK)).to_contain_text("1 passage")
    view(page, "Ask")
    turn = ask(page, f"What is the secret word of the harbour? {ATTACK}")
    expect(turn.locator(".answer")).to_contain_text("img src=x onerror")
    turn.locator(".cite").first.click()
    expect(page.get_by_role("dialog").locator("blockquote")).to_contain_text(ATTACK)
    page.keyboard.press("Escape")
    expect(page.locator("#threads")).to_contain_text("What is the secret word")
    for fold in turn.locator("summary").all():
        fold.click()
    unharmed(page)


def test_names_of_entities_and_relations_stay_text(page: Page, address: str) -> None:
    graph = f"page-{uuid4()}"
    lines = [
        {"type": "document", "id": "d", "title": ATTACK, "text": f"{ATTACK} moors at {SCRIPT}."},
        {"type": "entity", "id": "a", "name": ATTACK, "entityType": SCRIPT, "description": ATTACK},
        {"type": "entity", "id": "b", "name": SCRIPT, "entityType": "BOAT", "aliases": [ATTACK]},
        {"type": "relation", "source": "a", "target": "b", "relationType": ATTACK},
    ]
    answer = page.request.post(
        f"{address}/api/graphs/{graph}/import",
        data="\n".join(map(json.dumps, lines)),
        headers={"content-type": "application/x-ndjson"},
    )
    assert answer.ok, answer.text()
    page.reload()
    use(page, graph)
    view(page, "Graph")
    expect(page.locator("#picture text").first).to_be_attached()
    page.get_by_text("As a list").click()
    page.locator(".as-list").get_by_role("button", name=ATTACK).click()
    expect(page.locator("#about h3")).to_have_text(ATTACK)
    unharmed(page)


def test_an_address_that_names_something_else_harms_nothing(page: Page) -> None:
    for fragment in ("#ask/%3Cscript%3E", "#graph/..%2F..%2Fapi", "#ask/%E0%A4%A", "#documents/x"):
        page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
        expect(page.get_by_role("navigation")).to_be_visible()
    unharmed(page)


def test_scripts_and_addresses_from_elsewhere_are_refused_by_the_browser(
    browser: Browser, address: str
) -> None:
    page = browser.new_page()
    answer = page.goto(address)
    assert answer is not None
    policy = answer.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    refused = page.evaluate(
        """() => new Promise((resolve) => {
             const refused = [];
             addEventListener('securitypolicyviolation', (one) => {
               refused.push(one.effectiveDirective);
               if (refused.length === 3) resolve(refused.sort());
             });
             const script = document.createElement('script');
             script.textContent = 'window.attacked = 1';
             document.body.append(script);
             const image = document.createElement('img');
             image.src = 'http://example.org/leak.png';
             document.body.append(image);
             fetch('http://example.org/').catch(() => {});
           })"""
    )
    assert refused == ["connect-src", "img-src", "script-src-elem"]
    assert page.evaluate("window.attacked") is None
    page.close()
