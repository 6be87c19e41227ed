"""Rebuild the e-mail from a message file of Outlook ([MS-OXMSG])."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.message import Message
from email.utils import format_datetime, formataddr
from io import BytesIO

import compressed_rtf
from olefile import OleFileIO

from sextant.ingestion.parsing.blocks import Blocks
from sextant.ingestion.parsing.formats.eml import DEEPEST, Part, parse_mime, read_mail
from sextant.ingestion.parsing.limits import Limits

# Properties ([MS-OXPROPS]): streams are named for a property and the type that it has.
_SUBJECT, _HEADERS, _BODY, _RTF, _HTML = "0037", "007D", "1000", "1009", "1013"
_SENDER_NAME, _SENDER_ADDRESSES = "0C1A", ("5D01", "0C1F", "0065")
_SHOWN_TO, _SHOWN_CC = "0E04", "0E03"
_NAME, _ADDRESSES = "3001", ("39FE", "3003")
_FILE_NAMES, _FILE, _FILE_TYPE, _CONTENT_ID = ("3707", "3704", "3001"), "3701", "370E", "3712"
_DATES = (0x0039, 0x0E06)  # sent, received
_CODE_PAGES = (0x3FDE, 0x3FFD)  # of the body, of texts that are not Unicode
_RECIPIENT_KIND, _KINDS = 0x0C15, {1: "To", 2: "Cc"}
_TEXT, _BYTES_TEXT, _BYTES, _STORAGE = "001F", "001E", "0102", "000D"
_ENCODINGS = {
    65001: "utf-8",
    20127: "ascii",
    28591: "latin-1",
    54936: "gb18030",
    50220: "iso2022_jp",
}
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a message as an EML is read: its texts, and the messages that it forwards."""
    return read_mail(parse_tree(content), limits)


def parse_tree(content: bytes) -> Part:
    """Return the tree of a message's parts, as `parse_mime` does."""
    with OleFileIO(BytesIO(content)) as container:
        return _Storage(container, []).message(0)


class _Storage:
    """One object of a container: a message, a recipient or an attachment."""

    def __init__(self, container: OleFileIO, path: Sequence[str], encoding: str = "cp1252") -> None:
        self._container = container
        self._path = [*path]
        content = self._stream("__properties_version1.0")
        is_part = bool(path) and not path[-1].endswith(f"{_FILE}{_STORAGE}")
        start = 8 if is_part else 24 if path else 32
        # The numbers and times among them: entries of 16 bytes behind a header ([MS-OXMSG] 2.4).
        self._values = dict[int, int]()
        for at in range(start, len(content) - 15, 16):
            _, key, _, value = struct.unpack_from("<HHIQ", content, at)
            self._values[key] = value if key in _DATES else value & 0xFFFFFFFF
        page = next(filter(None, map(self._values.get, _CODE_PAGES)), 0)
        self._encoding = _ENCODINGS.get(page, f"cp{page}") if page else encoding

    def message(self, depth: int) -> Part:
        """Return the message as a tree of parts."""
        made = _whole("multipart/mixed", [self._body(), *self._attachments(depth)])
        for name, value in self._headers().items():
            made[name] = value
        return made

    def _headers(self) -> dict[str, str]:
        """Return the headers that it came with, or what its properties say."""
        came = parse_mime(self._text(_HEADERS).encode("utf-8", "surrogateescape"))
        recipients = dict[str, list[str]]()
        for storage in self._inside("__recip_version1.0_"):
            kind = _KINDS.get(storage._values.get(_RECIPIENT_KIND, 1))
            if kind:
                recipients.setdefault(kind, []).append(storage._address(_NAME, _ADDRESSES))
        date = next(filter(None, map(self._values.get, _DATES)), 0)
        properties = {
            "Subject": self._text(_SUBJECT),
            "From": self._address(_SENDER_NAME, _SENDER_ADDRESSES),
            "To": ", ".join(recipients.get("To", ())) or self._text(_SHOWN_TO),
            "Cc": ", ".join(recipients.get("Cc", ())) or self._text(_SHOWN_CC),
            "Date": format_datetime(_EPOCH + timedelta(microseconds=date // 10)) if date else "",
        }
        replaced = {"Subject"} if properties["Subject"] else set[str]()
        from_properties = {
            name: value
            for name, value in properties.items()
            if name in replaced or name not in came
        }
        from_headers = {name: str(came[name]) for name in properties if name not in from_properties}
        return {name: value for name, value in (from_properties | from_headers).items() if value}

    def _address(self, name: str, addresses: Sequence[str]) -> str:
        texts = (self._text(key) for key in addresses)
        address = next((text for text in texts if "@" in text), "")
        called = self._text(name)
        return formataddr((called if called != address else "", address)) if address else called

    def _body(self) -> Part:
        """Return the text: plain and HTML, or the RTF that either can be read from."""
        html, plain = self._read(_HTML, _BYTES), self._text(_BODY)
        versions = list[Part]()
        if plain.strip():
            versions.append(_leaf("text/plain", plain.encode(), "utf-8"))
        if html:
            versions.append(_leaf("text/html", html, self._encoding))
        elif text := self._text(_HTML):
            versions.append(_leaf("text/html", text.encode(), "utf-8"))
        elif not versions and (rtf := self._read(_RTF, _BYTES)):
            decompressed = b""  # which the reader takes for a damaged one
            with suppress(Exception):  # the library raises nothing narrower
                decompressed = compressed_rtf.decompress(rtf)
            versions.append(_leaf("text/rtf", decompressed))
        return _whole("multipart/alternative", versions)

    def _attachments(self, depth: int) -> list[Part]:
        found = list[Part]()
        for storage in self._inside("__attach_version1.0_"):
            inner = [*storage._path, f"__substg1.0_{_FILE}{_STORAGE}"]
            if self._container.exists("/".join([*inner, "__properties_version1.0"])):
                if depth < DEEPEST:
                    message = _Storage(self._container, inner, self._encoding).message(depth + 1)
                    found.append(_whole("message/rfc822", [message]))
                continue
            name = next(filter(None, map(storage._text, _FILE_NAMES)), "")
            kind = storage._text(_FILE_TYPE) or "application/octet-stream"
            made = _leaf(
                kind if "/" in kind else "application/octet-stream", storage._read(_FILE, _BYTES)
            )
            content_id = storage._text(_CONTENT_ID)
            if content_id and kind.startswith("image/"):
                made["Content-ID"] = f"<{content_id}>"
            else:
                made.add_header("Content-Disposition", "attachment", filename=("utf-8", "", name))
            found.append(made)
        return found

    def _inside(self, prefix: str) -> list[_Storage]:
        around = self._container.root
        for name in self._path:
            around = around.kids_dict[name.lower()]
        found = sorted(one.name for one in around.kids if one.name.startswith(prefix))
        return [_Storage(self._container, [*self._path, name], self._encoding) for name in found]

    def _text(self, key: str) -> str:
        if content := self._read(key, _TEXT):
            return content.decode("utf-16-le", "replace").rstrip("\0")
        content = self._read(key, _BYTES_TEXT).rstrip(b"\0")
        try:
            return content.decode(self._encoding, "replace")
        except LookupError:
            return content.decode("cp1252", "replace")

    def _read(self, key: str, kind: str) -> bytes:
        return self._stream(f"__substg1.0_{key}{kind}")

    def _stream(self, name: str) -> bytes:
        path = [*self._path, name]
        if not self._container.exists(path):
            return b""
        with self._container.openstream(path) as stream:
            content: bytes = stream.read()
            return content


def _whole(kind: str, parts: Sequence[Part]) -> Part:
    """Return a part that holds others."""
    made = Message()
    made["Content-Type"] = kind
    made.set_payload([*parts])
    return made


def _leaf(kind: str, content: bytes, charset: str = "") -> Part:
    """Return a part without others inside."""
    made = Message()
    made["Content-Type"] = f'{kind}; charset="{charset}"' if charset else kind
    made["Content-Transfer-Encoding"] = "8bit"
    made.set_payload(content.decode("ascii", "surrogateescape"))
    return made
