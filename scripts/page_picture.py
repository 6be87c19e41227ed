"""Take the pictures of the web page in `docs/` anew: `page_picture.py ADDRESS`.

The server's knowledge base `demo` holds the samples and nothing else; CONTRIBUTING.md has the commands.
"""

from __future__ import annotations

import os
import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

DOCS = Path(__file__).parents[1] / "docs"
# By the name of the picture: the browser's language, and the question whose citation is opened.
CITATIONS = {
    "citation.png": ("en-GB", "How old must the operator of the Heron 3 be?"),
    "citation.zh-CN.png": ("zh-CN", "糖尿病患者的主要症状是什么？"),
}
ENTITY = "BM-40"


def save_picture(page: Page, name: str) -> None:
    """Save the window in 256 colours: a third of the size, and nobody sees the difference."""
    taken = Image.open(BytesIO(page.screenshot())).convert("RGB")
    taken.quantize(256, dither=Image.Dither.NONE).save(DOCS / name, optimize=True)


def picture_citation(browser: Browser, address: str, name: str, locale: str, question: str) -> None:
    """Show the answer, and over it the page and the passage that its first citation opens."""
    page = browser.new_page(
        bypass_csp=True,  # for the place of the dialog
        device_scale_factor=1.5,
        locale=locale,
        viewport={"width": 1120, "height": 760},
    )
    page.goto(address)
    page.locator("#base").select_option("demo")
    page.locator("#question").fill(question)
    page.keyboard.press("Enter")
    page.locator(".sources").wait_for()
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.locator(".cite").first.click()
    page.locator("#passage-text mark").first.wait_for()
    page.locator(".sheet img").first.wait_for()
    page.add_style_tag(
        content="#passage { height: 28rem; margin-block-start: 17rem } dialog::backdrop { background: #0003 }"
    )
    for place in ("#passage-text mark", ".sheet span"):
        page.locator(place).first.evaluate("(at) => at.scrollIntoView({ block: 'center' })")
    save_picture(page, name)


def main(address: str) -> None:
    """Ask the questions on the page, and keep what is seen."""
    program = os.environ.get("SEXTANT_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, (locale, question) in CITATIONS.items():
            picture_citation(browser, address, name, locale, question)
        page = browser.new_page(
            device_scale_factor=1.5, locale="en-GB", viewport={"width": 1140, "height": 800}
        )
        page.goto(address)
        page.locator("#base").select_option("demo")
        page.goto(f"{address}#graph")
        page.locator("#entity").fill(ENTITY)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=ENTITY).wait_for()
        page.locator("#picture").get_by_role("button", name=ENTITY).hover()
        save_picture(page, "graph.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
