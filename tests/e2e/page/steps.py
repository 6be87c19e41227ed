"""What a person does on the page."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import FilePayload, Locator, Page, Route, expect

GUIDE = "糖尿病诊疗指南.pdf"
QUESTION = "糖尿病患者的主要症状是什么？"
# The last event of an answer that says nothing.
DONE = {
    "answer": "", "mode": "mix", "citations": [], "sources": [], "warnings": [],
    "trust": "supported", "grounded": True, "timings": {},
}  # fmt: skip


def use(page: Page, graph: str) -> None:
    """Look at a knowledge base that there is."""
    page.get_by_label("Knowledge base", exact=True).select_option(graph)


def begin(page: Page, graph: str) -> None:
    """Begin a knowledge base."""
    page.get_by_label("Knowledge base", exact=True).select_option(label="New knowledge base…")
    page.get_by_label("Name of the new knowledge base").fill(graph)
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()


def view(page: Page, name: str) -> None:
    """Go to one of the three views."""
    page.get_by_role("navigation").get_by_role("link", name=name).click()


def ask(page: Page, question: str) -> Locator:
    """Ask, and wait for the answer; returns the question with its answer."""
    page.get_by_label("Your question").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#status")).to_contain_text("Answered in")
    return page.get_by_role("article").last


def submit(page: Page) -> None:
    """Ask, and go on at once."""
    page.get_by_label("Your question").fill(QUESTION)
    page.keyboard.press("Enter")


def note(name: str, text: str) -> FilePayload:
    """Return a file of this text."""
    return FilePayload(name=name, mimeType="text/plain", buffer=text.encode())


def add(page: Page, files: Path | Sequence[Path | FilePayload] | FilePayload) -> None:
    """Choose files to be taken in."""
    page.locator("#files").set_input_files(files)  # type: ignore[arg-type]


def bring(page: Page, graph: str, *lines: Mapping[str, Any]) -> None:
    """Import a graph of one's own, and look at it."""
    body = "\n".join(json.dumps(line) for line in lines)
    url = f"{page.url.partition('#')[0]}api/graphs/{graph}/import"
    answer = page.request.post(url, data=body, headers={"Content-Type": "application/x-ndjson"})
    assert answer.ok, answer.text()
    page.reload()
    use(page, graph)


def hold(page: Page, url: str) -> list[Route]:
    """Keep the next such request from the server until `late` lets it go."""
    held: list[Route] = []

    def keep(route: Route) -> None:
        held.append(route)

    page.route(url, keep, times=1)
    return held


def caught(page: Page, held: list[Route]) -> Route:
    """Return the request that was to be held, once it was made."""
    while not held:
        page.evaluate("() => new Promise(requestAnimationFrame)")
    return held[0]


def late(page: Page, held: list[Route]) -> None:
    """Let the request go that was held, and wait until the page has dealt with its answer."""
    [route] = held
    with page.expect_event("requestfinished", lambda one: one == route.request):
        route.continue_()
    page.evaluate("() => fetch('healthz').then((one) => one.text())")


def halfway(page: Page, *events: tuple[str, Mapping[str, Any]]) -> list[Route]:
    """Return the next answer breaks off behind these events; the page comes back for the rest, and is held."""
    page.route(
        "**/api/query",
        lambda route: route.fulfill(
            content_type="text/event-stream",
            headers={"Content-Location": "/api/query/half/events"},
            body=stream(*events),
        ),
        times=1,
    )
    return hold(page, "**/api/query/half/events")


def go_on(page: Page, held: list[Route], *events: tuple[str, Mapping[str, Any]]) -> None:
    """Let the page have the rest of an answer that `halfway` broke off."""
    caught(page, held).fulfill(content_type="text/event-stream", body=stream(*events))


def stream(*events: tuple[str, Mapping[str, Any]]) -> str:
    """Return events as a server writes them."""
    return "".join(
        f"id: half-{number}\nevent: {name}\ndata: {json.dumps(data)}\n\n"
        for number, (name, data) in enumerate(events, 1)
    )


def row(page: Page, name: str) -> Locator:
    """Return what is said of a document last: for a moment it may be listed and still be sent."""
    return page.locator("#documents-view li").filter(has_text=name).last
