"""Takes `docs/page.png` and `docs/graph.png` anew: `page_picture.py ADDRESS`.

The server's knowledge base `demo` holds the samples and nothing else; CONTRIBUTING.md has the commands.
"""

from __future__ import annotations

import os
import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

DOCS = Path(__file__).parents[1] / "docs"
# The last one is the one that is seen; the others stand at the side.
QUESTIONS = (
    "糖尿病患者的主要症状是什么？",
    "How does Rust keep memory safe without a garbage collector?",
    "What should I do when the Heron 3 shows error E47?",
)
ENTITY = "BM-40"


def keep(page: Page, name: str) -> None:
    """Save what is seen, in 256 colours: a third of the size, and nobody sees the difference."""
    taken = Image.open(BytesIO(page.screenshot())).convert("RGB")
    taken.quantize(256, dither=Image.Dither.NONE).save(DOCS / name, optimize=True)


def main(address: str) -> None:
    """Ask the questions on the page, fold everything out, and keep what is seen."""
    program = os.environ.get("SEXTANT_CHROMIUM") or shutil.which("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        context = browser.new_context(
            locale="en-GB", viewport={"width": 1140, "height": 1120}, device_scale_factor=1.5
        )
        page = context.new_page()
        page.goto(address)
        page.locator("#base").select_option("demo")
        for question in QUESTIONS:
            page.locator("#fresh").click()
            page.locator("#question").fill(question)
            page.keyboard.press("Enter")
            page.get_by_role("heading", name=question).wait_for()
            page.get_by_text("Answered in").last.wait_for()
        for folded in ("What was done when", "Entities around"):
            page.get_by_text(folded).click()
        page.locator("svg.graph").wait_for()
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.locator("#threads a").nth(len(QUESTIONS) - 1).wait_for()
        keep(page, "page.png")
        page.set_viewport_size({"width": 1140, "height": 800})
        page.goto(f"{address}#graph")
        page.locator("#entity").fill(ENTITY)
        page.keyboard.press("Enter")
        page.get_by_role("heading", name=ENTITY).wait_for()
        page.locator("#picture").get_by_role("button", name=ENTITY).hover()
        keep(page, "graph.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
