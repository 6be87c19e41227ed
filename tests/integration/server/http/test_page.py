"""The page's own files: few bytes, few round trips, and never an old one beside a new one."""

from __future__ import annotations

import re

import httpx


async def test_the_page_names_all_its_modules_so_that_none_waits_for_another(
    client: httpx.AsyncClient,
) -> None:
    page = await client.get("/")
    early = set(re.findall(r'rel="modulepreload" href="([^"]+)"', page.text))
    imported: set[str] = set()
    for address in early:
        module = await client.get(f"/{address}")
        assert module.headers["content-type"] == "text/javascript; charset=utf-8"
        folder = address.rpartition("/")[0]
        imported |= {f"{folder}/{name}" for name in re.findall(r'from "\./(.+?)"', module.text)}
    assert imported < early
    assert early - imported == set(re.findall(r'<script type="module" src="([^"]+)"', page.text))


async def test_a_browser_keeps_the_parts_of_a_version_for_good_and_the_page_not_at_all(
    client: httpx.AsyncClient,
) -> None:
    page = await client.get("/")
    assert page.headers["cache-control"] == "no-store"
    [style] = re.findall(r'rel="stylesheet" href="([^"]+)"', page.text)
    kept = await client.get(f"/{style}")
    assert "immutable" in kept.headers["cache-control"]
    old = await client.get("/static/0123456789abcdef/page.css")
    assert (old.text, old.headers["cache-control"]) == (kept.text, "no-store")


async def test_the_files_are_sent_packed_to_who_unpacks_them(client: httpx.AsyncClient) -> None:
    packed = await client.get("/", headers={"Accept-Encoding": "gzip, br"})
    plain = await client.get("/", headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert packed.text == plain.text
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"]) / 2


async def test_nothing_else_of_the_server_is_a_part_of_the_page(client: httpx.AsyncClient) -> None:
    for name in ("index.html", "nothing.js", "..%2f__init__.py"):
        assert (await client.get(f"/static/any/{name}")).status_code == 404
