"""MHTML: a web page in one file with its pictures (RFC 2557)."""

from __future__ import annotations

from urllib.parse import urljoin

from sextant.domain.errors import FileBroken
from sextant.ingestion.parsing.blocks import Blocks
from sextant.ingestion.parsing.encodings import META_CHARSET
from sextant.ingestion.parsing.formats.eml import Part, decode_part, parse_mime
from sextant.ingestion.parsing.formats.html import read_page
from sextant.ingestion.parsing.limits import Limits


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read the page that the file is of; those in its frames only where it says nothing itself.

    Raises:
        FileBroken: no page is in it.
    """
    message = parse_mime(content)
    parts = [part for part in message.walk() if not part.is_multipart()]
    files = {name: part for part in parts for name in _names(part)}
    start = str(message.get_param("start") or "").strip("<>")
    pages = [
        part for part in parts if part.get_content_type() in {"text/html", "application/xhtml+xml"}
    ]
    first = files.get(f"cid:{start}")
    if first in pages:
        pages.insert(0, first)
    if not pages:
        raise FileBroken(
            "There is no page in the file.", next_step="Save the page again, and retry."
        )
    read = (_read(page, files, limits) for page in pages)
    return next((page for page in read if page.blocks), Blocks([]))


def _read(page: Part, files: dict[str, Part], limits: Limits) -> Blocks:
    content = page.get_payload(decode=True)
    content = content if isinstance(content, bytes) else b""
    declared = META_CHARSET.search(content[:4096])
    charset = page.get_content_charset() or (declared[1].decode("ascii") if declared else None)
    base = page.get("Content-Location", "")

    def load(address: str) -> bytes | None:
        part = files.get(address) or files.get(urljoin(base, address))
        found = part.get_payload(decode=True) if part is not None else None
        return found if isinstance(found, bytes) else None

    return read_page(decode_part(content, charset), limits, load)


def _names(part: Part) -> list[str]:
    """Return the addresses by which pages refer to a part."""
    content_id, location = part.get("Content-ID", ""), part.get("Content-Location", "")
    return [
        *filter(None, [content_id and f"cid:{content_id.strip().strip('<>')}", location.strip()])
    ]
