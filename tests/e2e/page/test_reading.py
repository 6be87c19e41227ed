"""The page for every reader: two languages, any width, light and dark, by ear."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from sextant.domain.errors import SextantError
from tests.e2e.page.steps import QUESTION, ask, use, view

pytestmark = pytest.mark.e2e

# Contrast as WCAG 2.2 counts it (1.4.3) of every text that is shown, against what lies behind it.
CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (color) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const light = (color) => rgb(color).slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (rgb(color)[3] === 255) return color;
    }
  };
  const poor = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !element.checkVisibility() || element.closest('svg, option')) continue;
    const [a, b] = [light(getComputedStyle(element).color), light(behind(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) poor.push(element.outerHTML.slice(0, 120));
  }
  return poor;
}"""
# What can be used has a name, and ids are there once.
NAMELESS = """() => [...document.querySelectorAll('button, input, select, textarea, a, summary')]
  .filter((one) => one.checkVisibility())
  .filter((one) => !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.length))
  .map((one) => one.outerHTML)"""


def test_the_page_speaks_the_language_of_the_browser_or_the_one_that_is_chosen(
    browser: Browser, address: str, page: Page
) -> None:
    chinese = browser.new_page(locale="zh-CN")
    chinese.goto(address)
    expect(chinese.get_by_label("你的问题")).to_be_visible()
    expect(chinese.locator("html")).to_have_attribute("lang", "zh")
    chinese.goto(f"{address}/#documents")
    chinese.locator("#files").set_input_files(FilePayload(name="空.txt", mimeType="", buffer=b""))
    expect(chinese.get_by_role("alert")).to_have_text(re.compile("文件里没有可读的文字。（.+）"))
    chinese.close()
    page.get_by_role("button", name="中文").click()
    expect(page.get_by_label("知识库", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_label("知识库", exact=True)).to_be_visible()


def test_everything_that_is_said_is_said_in_both_languages(page: Page) -> None:
    words = page.evaluate(
        """async () => {
             const { WORDS } = await import('/static/any/words.js');
             const shape = (of) => Object.entries(of).flatMap(([name, word]) =>
               typeof word === 'object' ? shape(word).map((inner) => `${name}.${inner}`) : [`${name}/${word.length > 0 && typeof word === 'function' ? word.length : ''}`]);
             return { en: shape(WORDS.en).sort(), zh: shape(WORDS.zh).sort() };
           }"""
    )
    assert words["en"] == words["zh"]
    said = {word.partition("/")[0].partition(".")[0] for word in words["en"]}
    used = set()
    for part in (files("sextant.server") / "static" / "page").iterdir():
        used |= set(
            re.findall(r"""(?:say\(|data-(?:say|name|hint|describe)=)"(\w+)""", part.read_text())
        )
    assert used <= said


def test_what_goes_wrong_in_chinese_is_what_the_server_can_say(page: Page) -> None:
    named = page.evaluate(
        "async () => Object.keys((await import('/static/any/words.js')).PROBLEMS)"
    )
    of_jobs = {"cancelled"}  # no error, but why one has ended
    # What only OpenAI's clients can ask for (a model by name) never comes to the page.
    errors = [one for one in _errors(SextantError) if "openai" not in one.__module__]
    known = {error.code for error in errors} | of_jobs
    assert set(named) == known | {"internal_error"}


def test_the_help_explains_every_mode_and_what_stands_below_an_answer(page: Page) -> None:
    use(page, "page")
    page.get_by_role("button", name="Help").click()
    dialog = page.get_by_role("dialog")
    terms = dialog.locator("dt").all_text_contents()
    modes = page.locator("#mode option").evaluate_all("(all) => all.map((one) => one.value)")
    assert set(modes) <= set(terms)
    assert {"Quoted word for word", "Every statement is supported", "[1]"} <= set(terms)
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()


def _errors(of: type[SextantError]) -> Iterator[type[SextantError]]:
    yield of
    for error in of.__subclasses__():
        yield from _errors(error)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_view_can_be_read_at_any_width_by_day_and_by_night(
    browser: Browser, address: str, scheme: str, width: int
) -> None:
    page = browser.new_page(
        color_scheme=scheme,  # type: ignore[arg-type]
        locale="en-GB",
        viewport={"width": width, "height": 740},
    )
    page.goto(address)
    use(page, "page")
    expect(page.locator("#welcome h2")).to_be_visible()
    readable(page, width)
    turn = ask(page, QUESTION)
    for fold in turn.locator(".rest > details").all():
        fold.locator("> summary").click()
        expect(fold.locator("> div")).not_to_be_empty()
    readable(page, width)
    shown = {"Documents": "#list strong", "Graph": "#picture svg"}
    for name, what in shown.items():
        view(page, name)
        expect(page.locator(what).first).to_be_visible()
        readable(page, width)
    view(page, "Documents")
    page.locator("#list a").first.click()
    expect(page.locator("#text p").first).to_be_visible()
    readable(page, width)
    page.close()


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_head_of_the_page_has_two_lines_on_a_telephone(
    browser: Browser, address: str, locale: str
) -> None:
    page = browser.new_page(locale=locale, viewport={"width": 360, "height": 740})
    page.goto(address)
    expect(page.locator("#base option").first).to_be_attached()
    places = page.locator("header > :not([hidden])").evaluate_all(
        "(all) => all.map((one) => { const { top, bottom } = one.getBoundingClientRect(); return (top + bottom) / 2; })"
    )
    assert len({round(middle / 12) for middle in places}) == 2
    page.close()


def readable(page: Page, width: int) -> None:
    """All of it is within the width, and every word and control of it can be seen and named."""
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CONTRAST) == []
    assert page.evaluate(NAMELESS) == []
    expect(page.get_by_role("combobox", name="Knowledge base")).to_be_visible()


def test_nothing_moves_for_those_who_asked_for_that(browser: Browser, address: str) -> None:
    page = browser.new_page(reduced_motion="reduce", locale="en-GB")
    page.goto(address)
    use(page, "page")
    ask(page, QUESTION)
    assert page.evaluate("document.getAnimations().length") == 0
    assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    page.close()


def test_the_tab_key_goes_through_the_page_as_it_is_read(page: Page) -> None:
    expect(page.get_by_label("Knowledge base", exact=True)).not_to_have_value("")  # it is drawn
    page.keyboard.press("Tab")
    reached = []
    for _ in range(6):
        reached.append(
            page.evaluate("document.activeElement.textContent || document.activeElement.id")
        )
        page.keyboard.press("Tab")
    assert reached[:4] == ["Skip to the content", "Ask", "Documents", "Graph"]
    inside = {
        "Ask": "Your question",
        "Documents": "Drop files or folders here, or choose files",
        "Graph": "Entity",
    }
    for name, field in inside.items():
        view(page, name)
        link = page.get_by_role("navigation").get_by_role("link", name=name)
        expect(link).to_have_attribute("aria-current", "page")
        page.locator(".skip").focus()
        page.keyboard.press("Enter")
        expect(page.get_by_label(field, exact=True)).to_be_focused()
        assert page.evaluate("location.hash") == f"#{name.lower()}"
