"""Pictures of pages: whose turn it is to have one drawn, and pages that take too long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest

from sextant.domain.errors import FileUnsafe, PageNotFound
from sextant.domain.settings import Settings
from sextant.facade.library import PagePictures
from sextant.ingestion.parsing.host import HostRequest
from sextant.ingestion.parsing.hosts import ParserHosts

PATIENCE = 60  # seconds: a wait that never ends fails


class SlowHosts(ParserHosts):
    """Draw pages of the bytes `slow` once they are let, others at once; count what was asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.began, self.gate = asyncio.Event(), asyncio.Event()
        self.asked = list[bytes]()

    async def ask(self, content: bytes, request: HostRequest) -> bytes:
        self.asked.append(content)
        if content == b"slow":
            self.began.set()
            await self.gate.wait()
        return b'{"ok":true}\npicture'


class RefusingHosts(ParserHosts):
    """Answer each page with one error."""

    def __init__(self, code: str) -> None:
        super().__init__()
        self._code = code
        self.calls = 0

    async def ask(self, content: bytes, request: HostRequest) -> bytes:
        self.calls += 1
        status = {"code": self._code, "message": "No.", "next_step": "Leave it.", "field": "page"}
        return orjson.dumps(status)


def drawn(pictures: PagePictures, user: str, content: bytes, document: UUID) -> Awaitable[bytes]:
    async def read() -> bytes:
        return content

    return pictures.picture(user, document, "0" * 64, 1, filename="a.pdf", read=read).draw()


async def test_slow_pages_of_one_user_hold_up_no_other() -> None:
    hosts = SlowHosts()
    pictures = PagePictures(Settings(), hosts)
    slow = [asyncio.ensure_future(drawn(pictures, "alice", b"slow", uuid4())) for _ in range(9)]

    async with asyncio.timeout(PATIENCE):
        await hosts.began.wait()
        assert await drawn(pictures, "bob", b"fast", uuid4()) == b"picture"

    assert hosts.asked == [b"slow", b"fast"]
    hosts.gate.set()
    assert await asyncio.gather(*slow) == [b"picture"] * 9


@pytest.mark.parametrize(
    ("code", "kind", "calls"), [("file_unsafe", FileUnsafe, 1), ("page_not_found", PageNotFound, 2)]
)
async def test_a_page_that_cost_too_much_is_not_tried_again(
    code: str, kind: type[Any], calls: int
) -> None:
    hosts, document = RefusingHosts(code), uuid4()
    pictures = PagePictures(Settings(), hosts)
    for _ in range(2):
        with pytest.raises(kind, match="No") as refusal:
            await drawn(pictures, "alice", b"bomb", document)
        assert refusal.value.field == "page"
    assert hosts.calls == calls
