"""Knowledge bases and their documents: begun, filled, watched, emptied."""

from __future__ import annotations

import gzip
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from tests.e2e.page.steps import add, ask, begin, caught, hold, late, note, row, stream, view
from tests.pictures import data_uri, picture

pytestmark = pytest.mark.e2e


def test_of_a_knowledge_base_that_has_just_begun_nothing_is_asked(page: Page) -> None:
    missing: list[str] = []
    page.on("response", lambda one: missing.append(one.url) if one.status == 404 else None)
    begin(page, f"page-{uuid4()}")
    expect(page.locator("#list")).to_contain_text("No documents yet.")
    view(page, "Graph")
    expect(page.locator("#graph-view")).to_contain_text("There are no entities yet.")
    assert missing == []


def test_documents_are_added_watched_asked_about_and_removed(page: Page, tmp_path: Path) -> None:
    begin(page, f"page-{uuid4()}")
    expect(page.locator("#list")).to_contain_text("No documents yet.")
    harbour, mill = tmp_path / "harbour.md", tmp_path / "mill.txt"
    harbour.write_text("# Harbour\n\nThe lighthouse keeper of Skerry Vore is called Ailsa Munro.\n")
    mill.write_text("The miller of Upper Slaughter is called Tom Penrose.\n")
    add(page, [harbour, mill])
    expect(row(page, "harbour.md")).to_contain_text("1 passage")
    expect(row(page, "mill.txt")).to_contain_text("1 passage")
    expect(
        page.get_by_label("Knowledge base", exact=True).locator("option:checked")
    ).to_contain_text("(2)")

    view(page, "Ask")
    turn = ask(page, "Who is the lighthouse keeper of Skerry Vore?")
    expect(turn.locator(".answer")).to_contain_text("Ailsa Munro")

    view(page, "Documents")
    row(page, "harbour.md").get_by_role("button", name="Delete: harbour.md").click()
    page.get_by_role("dialog").get_by_role("button", name="Keep").click()
    expect(row(page, "harbour.md")).to_be_visible()
    row(page, "harbour.md").get_by_role("button", name="Delete: harbour.md").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(row(page, "harbour.md")).to_have_count(0)
    expect(row(page, "mill.txt")).to_be_visible()

    view(page, "Ask")
    turn.locator(".cite").first.click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("The document no longer exists.")
    expect(dialog.locator("blockquote")).to_contain_text("Ailsa Munro")


def test_enter_begins_the_knowledge_base_that_was_named_and_cancel_none(page: Page) -> None:
    chosen = page.get_by_label("Knowledge base", exact=True)
    naming = page.get_by_label("Name of the new knowledge base")
    expect(chosen).not_to_have_value("")  # the list has come
    before = chosen.input_value()
    chosen.select_option(label="New knowledge base…")
    naming.fill("not this one")
    page.get_by_role("button", name="Cancel").click()
    expect(chosen).to_have_value(before)
    chosen.select_option(label="New knowledge base…")
    naming.fill("named by Enter")
    naming.press("Enter")
    expect(chosen).to_have_value("named by Enter")


def test_many_files_at_once_all_arrive_while_the_page_stays_usable(
    page: Page, tmp_path: Path
) -> None:
    begin(page, f"page-{uuid4()}")
    files = [tmp_path / f"note-{number}.txt" for number in range(12)]
    for number, file in enumerate(files):
        file.write_text(f"Locker {number} of the boat house holds {number + 3} oars.\n")
    add(page, files)
    view(page, "Ask")
    expect(page.get_by_label("Your question")).to_be_visible()
    view(page, "Documents")
    for file in files:
        expect(row(page, file.name)).to_contain_text("1 passage")


def test_a_document_listed_before_its_upload_is_answered_has_one_row(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    page.evaluate(
        """() => {
            window.XMLHttpRequest = class extends XMLHttpRequest {
                set onload(answered) { super.onload = () => { window.answer = answered; }; }
            };
        }"""
    )
    note = b"The ferry to Inchcolm leaves at nine.\n"
    add(page, {"name": "note.txt", "mimeType": "text/plain", "buffer": note})
    page.wait_for_function("() => !!window.answer")
    view(page, "Ask")
    view(page, "Documents")
    expect(row(page, "note.txt")).to_contain_text("1 passage")
    rows = page.locator("#documents-view li").filter(has_text="note.txt")
    expect(rows).to_have_count(1)
    page.evaluate("() => window.answer()")
    expect(rows).to_have_count(1)


def test_a_base_that_was_begun_stays_chosen_when_a_list_without_it_arrives(page: Page) -> None:
    chosen = page.get_by_label("Knowledge base", exact=True).locator("option:checked")
    begin(page, f"page-{uuid4()}")
    held = hold(page, "**/api/graphs?*")
    add(page, note("ferry.txt", "The ferry to Inchcolm leaves at nine."))
    expect(row(page, "ferry.txt")).to_contain_text("1 passage")
    second = f"page-{uuid4()}"
    begin(page, second)
    late(page, held)
    expect(chosen).to_have_text(f"{second} (0)")
    page.reload()
    expect(chosen).to_have_text(f"{second} (0)")
    add(page, note("oars.txt", "The boat house holds nine oars."))
    expect(row(page, "oars.txt")).to_contain_text("1 passage")
    expect(chosen).to_have_text(f"{second} (1)")
    expect(page.locator("#list li")).to_have_count(1)


def test_a_document_is_followed_again_when_the_server_was_gone_meanwhile(page: Page) -> None:
    begin(page, f"page-{uuid4()}")

    def broken(route: Route) -> None:
        document = route.request.url.split("/")[-2]
        told = {"documentId": document, "filename": "ferry.txt", "status": "ingesting"}
        job = {"stage": "parse", "done": 3, "total": 10}
        body = stream(("progress", {**told, "job": job}))
        route.fulfill(content_type="text/event-stream", body=body)

    held = hold(page, "**/documents/*/events")
    page.route("**/documents/*/events", broken, times=1)
    add(page, note("ferry.txt", "The ferry to Inchcolm leaves at nine."))
    expect(row(page, "ferry.txt")).to_contain_text("Reading: 3 of 10")
    cancel = row(page, "ferry.txt").get_by_role("button", name="Cancel: ferry.txt")
    expect(cancel).to_be_visible()
    caught(page, held).continue_()
    expect(row(page, "ferry.txt")).to_contain_text("1 passage")
    expect(page.locator("#upload-status")).to_be_empty()


def test_an_answer_says_that_documents_were_still_on_their_way(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    add(page, note("ferry.txt", "The ferry to Inchcolm leaves at nine."))
    expect(row(page, "ferry.txt")).to_contain_text("1 passage")
    view(page, "Ask")
    missing = "A document was still being ingested"

    def one_more(route: Route) -> None:
        """Say of every knowledge base that a document of it is under way, whoever added it."""
        listed = route.fetch().json()
        route.fulfill(
            json={**listed, "graphs": [{**one, "underWay": 1} for one in listed["graphs"]]}
        )

    page.route("**/api/graphs?*", one_more)
    expect(ask(page, "When does the ferry leave?").locator(".rest")).to_contain_text(missing)
    page.unroute("**/api/graphs?*")
    expect(ask(page, "Where does the ferry go?").locator(".rest")).not_to_contain_text(missing)


def test_a_folder_is_taken_in_without_what_is_hidden_in_it(page: Page, tmp_path: Path) -> None:
    begin(page, f"page-{uuid4()}")
    names = [
        "ferry.txt",
        "deep/down/oars.txt",
        ".DS_Store",
        ".git/HEAD",
        "~$ferry.docx",
        "Thumbs.db",
    ]
    for name in names:
        file = tmp_path / "boats" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"What {name} says of Inchcolm.\n")
    page.locator("#folder").set_input_files(tmp_path / "boats")
    for name in ("ferry.txt", "oars.txt"):
        expect(row(page, name)).to_contain_text("1 passage")
    expect(page.locator("#documents-view li")).to_have_count(2)


def test_a_document_among_many_is_found_by_its_name(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    find = page.get_by_label("Find a document by its name")
    expect(find).to_be_hidden()
    files = [note(f"locker-{number}.txt", f"Locker {number} holds oars.") for number in range(12)]
    add(page, files)
    expect(page.locator("#list a")).to_have_count(12)
    expect(page.locator("#under-way")).to_be_empty()
    find.fill("LOCKER-1")
    expect(page.locator("#list li")).to_have_count(3)  # 1, 10 and 11
    find.fill("rudder")
    expect(page.locator("#list")).to_have_text("No document has this in its name.")
    find.fill("")
    expect(page.locator("#list a")).to_have_count(12)
    find.fill("LOCKER-1")
    delete = page.get_by_role("button", name="Delete these (3)")
    expect(delete).to_be_visible()
    add(page, note("rudder.txt", "The rudder of the ferry is oak."))
    expect(row(page, "rudder.txt")).to_contain_text("1 passage")
    delete.click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.locator("#list")).to_have_text("No document has this in its name.")
    find.fill("")
    expect(page.locator("#list a")).to_have_count(10)
    expect(row(page, "rudder.txt")).to_be_visible()


def test_who_deletes_a_document_by_keyboard_goes_on_from_the_next_one(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    names = ["ferry.txt", "oars.txt", "mill.txt"]
    for name in names:
        add(page, note(name, f"A sentence about the {name[:-4]} of Inchcolm."))
        expect(row(page, name)).to_contain_text("1 passage")
    for left in ("Delete: oars.txt", "Delete: mill.txt"):
        page.locator("#list").get_by_role("button").first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("button", name=left)).to_be_focused()
        expect(page.locator("#list").get_by_role("button").first).to_be_focused()


def test_a_file_that_cannot_be_taken_in_says_why_beside_those_that_can(
    page: Page, tmp_path: Path
) -> None:
    begin(page, f"page-{uuid4()}")
    program, note = tmp_path / "program.exe", tmp_path / "note.txt"
    program.write_bytes(b"MZ\x00\x01\x02")
    note.write_text("The ferry to Inchcolm leaves at nine.\n")
    add(page, [program, note])
    expect(row(page, "program.exe").get_by_role("alert")).not_to_be_empty()
    expect(row(page, "note.txt")).to_contain_text("1 passage")
    add(page, note)
    expect(page.locator("#upload-status")).to_have_text("note.txt is here already.")
    add(page, note.rename(tmp_path / "ferry.txt"))
    expect(page.locator("#upload-status")).to_have_text("ferry.txt is here already, as note.txt.")


def test_what_is_wrong_with_a_document_is_told_in_the_pages_language_when_it_is_loaded_anew(
    page: Page,
) -> None:
    begin(page, f"page-{uuid4()}")
    chart = f'<p>A chart:</p><img src="{data_uri(picture())}">'
    add(page, [note("chart.html", chart), note("broken.pdf", "%PDF-1.7 and nothing")])
    expect(row(page, "chart.html").locator(".note").last).to_contain_text("1 image not read")
    broken = row(page, "broken.pdf").locator(".bad")
    expect(broken).to_be_visible()
    told = broken.text_content()
    page.get_by_role("button", name="中文").click()
    expect(row(page, "broken.pdf").locator(".bad")).to_contain_text(
        f"文件已损坏或不完整，请打开后重新保存再试。（{told}"
    )
    expect(row(page, "chart.html").locator(".note").last).to_contain_text(
        "1 张图像未读取：没有配置视觉模型。请把 SEXTANT_VISION_MODEL"
    )


def test_a_version_that_could_not_be_taken_in_is_told_of_beside_the_one_that_serves(
    page: Page,
) -> None:
    name = f"page-{uuid4()}"
    begin(page, name)
    add(page, note("ferry.txt", "The ferry to Inchcolm leaves at nine."))
    expect(row(page, "ferry.txt")).to_contain_text("1 passage")
    newer = note("ferry.txt", "%PDF-1.7 and nothing")
    url = f"{page.url.partition('#')[0]}documents"
    form = {"files": newer, "graphId": name, "replace": "true"}
    sent = page.request.post(url, multipart=form)  # type: ignore[arg-type]
    assert sent.status == 202, sent.text()
    page.reload()
    expect(row(page, "ferry.txt")).to_contain_text("A newer version could not be ingested")
    expect(row(page, "ferry.txt")).to_contain_text("1 passage")


def test_another_file_of_the_same_name_is_kept_beside_the_first(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    add(page, note("ferry.txt", "The ferry to Inchcolm leaves at nine."))
    expect(row(page, "ferry.txt")).to_contain_text("1 passage")
    add(page, note("ferry.txt", "The ferry to Cramond leaves at ten."))
    expect(page.get_by_text("Both are kept")).to_be_visible()
    expect(page.locator("#list li").filter(has_text="ferry.txt")).to_have_count(2)


def test_a_knowledge_base_is_deleted_once_that_is_confirmed(page: Page, tmp_path: Path) -> None:
    name = f"page-{uuid4()}"
    begin(page, name)
    note = tmp_path / "note.txt"
    note.write_text("The ferry to Inchcolm leaves at nine.\n")
    add(page, note)
    expect(row(page, "note.txt")).to_contain_text("1 passage")
    page.get_by_role("button", name="Delete this knowledge base").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(name)
    dialog.get_by_role("button", name="Delete").click()
    expect(
        page.get_by_label("Knowledge base", exact=True).locator(f"option[value='{name}']")
    ).to_have_count(0)


@pytest.mark.parametrize(
    ("unattended", "said"), [(True, "Waiting: no worker is running."), (False, "Waiting")]
)
def test_a_document_that_nobody_attends_to_says_why_it_waits(
    page: Page, unattended: bool, said: str
) -> None:
    job = {"stage": "queued", "done": 0, "total": 0, "unattended": unattended}
    waits = {"documentId": str(uuid4()), "filename": "berths.txt", "status": "pending", "job": job}
    page.route(
        "**/documents?*",
        lambda route: route.fulfill(json={"documents": [waits], "nextCursor": None}),
    )
    page.route("**/events", lambda route: route.abort())
    view(page, "Ask")
    view(page, "Documents")
    expect(row(page, "berths.txt").locator(".note")).to_contain_text(said)
    expect(row(page, "berths.txt")).not_to_contain_text("worker" if not unattended else "Ready")


OWN = (
    '{"type":"entity","name":"Acme"}\n{"type":"entity","name":"Borealis"}\n'
    '{"type":"relation","source":"Acme","target":"Borealis","relationType":"OWNS"}\n'
    '{"type":"relation","source":"Acme","target":"Nobody","relationType":"OWNS"}\n'
    '{"type":"chunk","id":"c","text":"Acme owns Borealis since 2019."}\n'
)


@pytest.mark.parametrize("packed", [False, True])
def test_a_graph_of_ones_own_is_imported_and_not_read_as_a_document(
    page: Page, packed: bool
) -> None:
    begin(page, f"page-{uuid4()}")
    name = "own.jsonl.gz" if packed else "own.jsonl"
    content = gzip.compress(OWN.encode()) if packed else OWN.encode()
    add(page, FilePayload(name=name, mimeType="", buffer=content))
    told = page.locator("#sent li").filter(has_text=name)
    expect(told).to_contain_text("Imported: 1 document, 1 passage, 2 entities, 1 relation.")
    told.get_by_text("1 line with a problem").click()
    expect(told.locator("li")).to_contain_text("Line 4: ")
    expect(page.locator("#list li")).to_have_count(1)  # the passage's document
    told.get_by_role("link", name="Show the graph").click()
    expect(page.locator("#picture").get_by_role("button", name="Acme")).to_be_visible()


def test_the_facts_of_a_graph_alone_become_passages_where_it_is_asked(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    add(page, note("alone.jsonl", "".join(OWN.splitlines(keepends=True)[:3])))
    told = page.locator("#sent li").filter(has_text="alone.jsonl")
    expect(told).to_contain_text("a graph alone has none")
    told.get_by_role("button", name="Turn its facts into passages").click()
    expect(told).to_contain_text("Imported: 1 document, 1 passage, 2 entities, 1 relation.")
    expect(told).not_to_contain_text("a graph alone has none")
    expect(page.locator("#list li")).to_contain_text("Acme (graph)")


def test_an_import_says_how_far_it_is_and_why_it_failed(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    failed = {"code": "database_unavailable", "message": "It is gone.", "nextStep": "Start it."}
    body = stream(("progress", {"stage": "graph", "done": 2, "total": 5}))
    page.route(
        "**/import",
        lambda route: route.fulfill(
            content_type="text/event-stream", body=body + stream(("error", failed))
        ),
    )
    page.evaluate(
        """() => { window.seen = new Set(); new MutationObserver(() =>
             window.seen.add(document.querySelector('#sent .note')?.textContent),
           ).observe(document.getElementById('sent'), { subtree: true, childList: true }); }"""
    )
    add(page, note("own.jsonl", OWN))
    expect(page.locator("#sent li")).to_contain_text("It is gone. Start it.")
    assert "Entities and relations: 2 of 5" in page.evaluate("[...window.seen]")


def test_lines_of_json_that_are_no_import_are_a_document(page: Page) -> None:
    begin(page, f"page-{uuid4()}")
    add(page, note("berths.jsonl", '{"berth": 7, "ship": "Arethusa"}\n'))
    expect(row(page, "berths.jsonl")).to_contain_text("1 passage")
