"""The page at `/` in a real browser, over a server of its own process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests.e2e.conftest import SAMPLES, Sextant
from tests.e2e.page.steps import GUIDE
from tests.e2e.served import served

# Ingesting and the first answer take seconds on a busy machine; nothing here is measured.
PATIENCE = 60_000


@pytest.fixture(scope="module")
def address(environment: dict[str, str], sextant: Sextant) -> Iterator[str]:
    """Yield a server over one sample document.

    One for each module: later tests' workers would find that a server's has done their work.
    """
    sextant("ingest", SAMPLES / "documents" / GUIDE, "--graph", "page", "--json").json()
    with served(environment) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield debian's Chromium, or the one that SEXTANT_CHROMIUM names.

    One for each module: as long as it is open Playwright's event loop runs in this thread, and no
    test of another folder could run its own.
    """
    named = os.environ.get("SEXTANT_CHROMIUM")
    found = [shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome")]
    program = named or next(filter(None, found), None)
    assert program, "scripts/chromium.sh says how to get a browser"
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """Yield the page, freshly loaded in English; it must have asked nobody but its own server."""
    context = browser.new_context(locale="en-GB")
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE)
    asked: list[str] = []
    broken: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    opened.on("request", note)
    opened.on("pageerror", lambda error: broken.append(str(error)))
    opened.goto(address)
    yield opened
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert broken == []
    context.close()
