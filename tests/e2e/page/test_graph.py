"""Entities and relations to look at, with the mouse, with the keyboard, and as a list."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.page.steps import GUIDE, QUESTION, ask, begin, bring, hold, late, use, view

pytestmark = pytest.mark.e2e


FIRMS: list[dict[str, Any]] = [
    {"type": "document", "id": "d", "title": "Firms", "text": "Some firms. Acme owns Borealis. That is all."},
    {"type": "chunk", "id": "c", "documentId": "d", "text": "Some firms. Acme owns Borealis. That is all.",
     "triples": [["Acme", "OWNS", "Borealis"]]},
    {"type": "entity", "id": "a", "name": "Acme", "entityType": "FIRM"},
    {"type": "entity", "id": "b", "name": "Borealis", "entityType": "FIRM"},
    {"type": "entity", "id": "h", "name": "Hull", "entityType": "SHIP_PART"},
    {"type": "relation", "source": "b", "target": "h", "relationType": "BUILDS", "description": "since 2019",
     "weight": 0.5},
    {"type": "relation", "source": "b", "target": "h", "relationType": "SELLS", "weight": 0.4},
    *({"type": "entity", "id": f"s{n}", "name": f"Ship {n}", "entityType": "SHIP"} for n in range(25)),
    *({"type": "relation", "source": "h", "target": f"s{n}", "relationType": "PART_OF"} for n in range(25)),
]  # fmt: skip


def look_at_firms(page: Page) -> None:
    """Bring the firms as a knowledge base of their own, and open its graph."""
    bring(page, f"page-{uuid4()}", *FIRMS)
    view(page, "Graph")


def search(page: Page, entity: str) -> Locator:
    """Look an entity up; returns what is said of it."""
    page.get_by_label("Entity", exact=True).fill(entity)
    page.keyboard.press("Enter")
    about = page.locator("#about")
    expect(about.locator("h3")).to_have_text(entity)
    return about


def test_a_relation_is_told_with_its_direction_its_words_and_the_passage_that_states_it(
    page: Page,
) -> None:
    look_at_firms(page)
    about = search(page, "Borealis")
    expect(about.locator("ul").first.locator("li")).to_have_text(
        ["← owns Acme1", "builds → Hull since 2019", "sells → Hull"]
    )
    about.get_by_role("button", name="Acme: supporting passage 1").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("mark")).to_have_text("Acme owns Borealis.")
    expect(dialog.locator("blockquote")).to_contain_text("That is all.")
    dialog.get_by_role("link", name="Read in the document").click()
    expect(page.locator("#text mark")).to_have_text("Acme owns Borealis.")


def test_that_only_a_part_of_an_entity_is_told_is_said_and_the_rest_is_a_click_away(
    page: Page,
) -> None:
    look_at_firms(page)
    about = search(page, "Hull")
    expect(about.locator("h4").first).to_have_text("Relations (the first 20)")
    about.get_by_role("button", name="More").click()
    expect(about.locator("h4").first).to_have_text("Relations")
    expect(about.get_by_role("button", name="Ship")).to_have_count(25)
    expect(about.locator("h3")).to_be_focused()
    expect(about.get_by_role("button", name="More")).to_have_count(0)


def test_types_have_colours_that_stay_and_what_lies_two_steps_away_can_be_drawn(page: Page) -> None:
    look_at_firms(page)
    legend = page.locator(".legend li")
    expect(legend).to_have_text(["ship", "firm", "ship part"])
    colours = dict(zip(legend.all_text_contents(), _colours(page), strict=True))
    search(page, "Acme")
    drawn = page.locator("#picture svg g[role]")
    expect(drawn).to_have_count(2)
    expect(legend).to_have_count(0)  # firms alone
    page.get_by_label("Neighbourhood").select_option("2 steps")
    expect(drawn).to_have_count(3)
    expect(legend).to_have_text(["firm", "ship part"])
    assert _colours(page) == [colours["firm"], colours["ship part"]]


def _colours(page: Page) -> list[str]:
    return [
        str(one.evaluate("(span) => getComputedStyle(span).backgroundColor"))
        for one in page.locator(".legend span").all()
    ]


def test_what_a_relation_is_called_stands_beside_it_while_its_entity_is_looked_at(
    page: Page,
) -> None:
    look_at_firms(page)
    search(page, "Borealis")
    told = page.locator(".graph .told text")
    page.locator("#picture").get_by_role("button", name="Hull").hover()
    expect(told).to_have_text(["builds, sells"])
    page.locator("#picture").get_by_role("button", name="Borealis").focus()
    expect(told).to_have_text(["owns", "builds, sells"])


def test_the_entities_around_an_answer_lead_to_what_is_around_them(page: Page) -> None:
    use(page, "page")
    turn = ask(page, QUESTION)
    turn.get_by_text("Entities around this answer").click()
    picture = turn.get_by_role("group", name="entities,")
    expect(picture).to_be_visible()
    picture.get_by_role("button", name=re.compile("^糖尿病, ")).click()
    expect(page.locator("#about").get_by_role("heading", name="糖尿病")).to_be_visible()
    expect(page.locator("#about")).to_contain_text("appears with")
    page.locator("#about").get_by_role("button", name=GUIDE).first.click()
    expect(page.get_by_role("dialog").locator("blockquote")).to_contain_text("糖尿病")
    page.keyboard.press("Escape")
    page.go_back()
    expect(turn.locator(".answer")).to_contain_text("多饮")


def test_the_picture_is_one_stop_of_the_tab_key_and_arrows_walk_it(page: Page) -> None:
    use(page, "page")
    view(page, "Graph")
    picture = page.locator("#picture svg")
    expect(picture.locator("[tabindex='0']")).to_have_count(1)
    picture.locator("[tabindex='0']").focus()
    names = set()
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
        names.add(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    assert len(names) > 1
    last = str(page.evaluate("document.activeElement.getAttribute('aria-label')"))
    page.keyboard.press("Enter")
    expect(page.locator("#about h3")).to_have_text(last.split(",", maxsplit=1)[0])


def test_the_picture_is_a_list_too(page: Page) -> None:
    use(page, "page")
    view(page, "Graph")
    page.get_by_text("As a list").click()
    expect(page.locator(".as-list li").first).to_be_visible()
    drawn = page.locator("#picture svg g > title").all_text_contents()
    listed = page.locator(".as-list ul").first.get_by_role("button").all_text_contents()
    assert drawn
    # What nothing is related to is in the list alone.
    assert {name.partition(",")[0] for name in drawn} <= {name.partition(",")[0] for name in listed}
    assert len(listed) > len(drawn)
    page.locator(".as-list").get_by_role("button").first.click()
    expect(page.locator("#about h3")).to_be_visible()


def test_entities_are_found_by_name(page: Page) -> None:
    use(page, "page")
    view(page, "Graph")
    page.get_by_label("Entity", exact=True).fill("胰岛素")
    page.keyboard.press("Enter")
    expect(page.locator("#about h3")).to_contain_text("胰岛素")
    found = page.get_by_role("list", name="Entities found")
    expect(found.get_by_role("button", name="胰岛素", exact=True)).to_be_visible()
    # What only means something like it would stand there without a reason.
    assert all("胰岛素" in name for name in found.get_by_role("button").all_text_contents())
    page.get_by_role("link", name="Best connected").click()
    expect(page.locator("#about")).to_be_empty()


def test_an_answer_that_comes_late_leaves_what_was_opened_meanwhile(page: Page) -> None:
    use(page, "page")
    held = hold(page, "**/api/knowledge/graph?*")
    view(page, "Graph")
    page.get_by_label("Entity", exact=True).fill("胰岛素")
    page.keyboard.press("Enter")
    strong = page.locator("#picture .strong")
    expect(strong).to_have_count(1)
    late(page, held)
    expect(strong).to_have_count(1)


def test_an_entity_belongs_to_its_knowledge_base(page: Page) -> None:
    use(page, "page")
    turn = ask(page, QUESTION)
    begin(page, f"page-{uuid4()}")
    view(page, "Ask")
    turn.get_by_text("Entities around this answer").click()
    turn.get_by_role("button", name=re.compile("^糖尿病, ")).click()
    expect(page.locator("#about h3")).to_have_text("糖尿病")
    base = page.get_by_label("Knowledge base", exact=True)
    expect(base).to_have_value("page")
    base.select_option(index=1)
    expect(page.locator("#about")).to_be_empty()
    expect(page.locator("#graph-status.bad")).to_have_count(0)
    assert page.evaluate("location.hash") == "#graph"


def test_a_large_graph_is_laid_out_without_two_nodes_in_one_place(page: Page) -> None:
    places = page.evaluate(
        """async () => {
             const { layout } = await import('/static/any/layout.js');
             const edges = Array.from({ length: 900 }, (_, i) => [i % 500, (i * 7 + 1) % 500]);
             const { x, y } = layout(500, edges, { width: 800, height: 500, margin: 40 });
             return Array.from(x, (value, i) => [value, y[i]]);
           }"""
    )
    assert all(39.9 < x < 760.1 and 19.9 < y < 480.1 for x, y in places)
    assert len({(round(x, 1), round(y, 1)) for x, y in places}) == 500


def test_a_row_that_mentions_an_entity_is_told_by_its_cells_and_prose_as_it_stands(
    page: Page,
) -> None:
    """`a | b` of a sentence became `a · b`, within the marks of a quotation."""
    told = {
        "| BM-40 |  | 35 \\| 40 kg |": "BM-40 · 35 | 40 kg",
        "Type cat a | sort for insulin.": "Type cat a | sort for insulin.",
        "| is a pipe": "| is a pipe",
    }

    def mentioned(route: Route) -> None:
        entity = route.fetch().json()
        mention = entity["mentions"][0]
        entity["mentions"] = [{**mention, "sentence": sentence} for sentence in told]
        route.fulfill(json=entity)

    page.route(re.compile("/api/knowledge/entities/(?!search)"), mentioned)
    use(page, "page")
    view(page, "Graph")
    page.get_by_label("Entity", exact=True).fill("胰岛素")
    page.keyboard.press("Enter")
    expect(page.locator("#about q")).to_have_text(list(told.values()))


def test_what_is_only_near_in_meaning_is_offered_and_not_opened(page: Page) -> None:
    use(page, "page")
    view(page, "Graph")
    page.get_by_label("Entity", exact=True).fill("zzzxqy")
    page.keyboard.press("Enter")
    expect(page.locator("#graph-status")).to_contain_text("No entity has this name")
    expect(page.locator("#about h3")).to_have_count(0)
    page.locator("#found").get_by_role("button").first.click()
    expect(page.locator("#about h3")).to_be_visible()
