"""E-mail: who wrote to whom, when and about what, all its text, and the names of what was attached (RFC 5322, MIME).

Also here: web pages that were saved in the form of a mail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.mime.message import MIMEMessage
from email.mime.multipart import MIMEMultipart
from email.parser import BytesParser
from email.policy import compat32
from mimetypes import guess_extension
from pathlib import PurePosixPath
from typing import TypeAlias
from urllib.parse import urljoin

from sextant.domain.documents import AttachedFile, printable_name
from sextant.domain.errors import FileBroken, FileRejected, FileTypeUnknown
from sextant.domain.warnings import attachments_not_read
from sextant.ingestion.parsing.blocks import Block, Blocks, HeadingBlock, Image, Paragraph
from sextant.ingestion.parsing.detect import ENVELOPE, FileType, detect
from sextant.ingestion.parsing.encodings import charset_of_page, decode
from sextant.ingestion.parsing.formats.html import fragment_blocks, read_page
from sextant.ingestion.parsing.formats.txt import text_blocks
from sextant.ingestion.parsing.limits import Limits, check_size
from sextant.ingestion.parsing.lines import join_lines
from sextant.ingestion.parsing.structure import Omissions, build_structure, finish_blocks
from sextant.text.characters import clean_text

_ENVELOPE = re.compile(rf"^{ENVELOPE}(?=[\w-]+:)".encode(), re.MULTILINE)  # above a header
_TEXTS = {"text/plain", "text/html", "text/rtf"}
_SHOWN_HEADERS = ("From", "To", "Cc", "Date")
DEEPEST = 8  # messages forwarded inside each other
# A plain text of less than this share of the HTML only points to the HTML.
_WHOLE = 0.5

Part: TypeAlias = "Message[str, str]"


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a message: every text part in its order, forwarded messages as sections. Attachments are files of their own."""
    return read_mail(parse_mime(content), limits)


def parse_mime(content: bytes) -> Part:
    """Return the tree of a message's parts, or of those of a mailbox (RFC 4155), which begins with an envelope.

    Under the newer policies one malformed header makes it unreadable.
    """
    before, *messages = _ENVELOPE.split(content.lstrip(b"\xef\xbb\xbf\r\n"))
    if before or len(messages) < 2:
        return _parse_message(content)
    mailbox = MIMEMultipart()
    for message in messages:
        mailbox.attach(MIMEMessage(_parse_message(message)))
    return mailbox


def _parse_message(content: bytes) -> Part:
    parser = BytesParser(policy=compat32)
    try:
        return parser.parsebytes(content)
    except RecursionError:  # hundreds of parts inside each other: its body stays one text
        return parser.parsebytes(content, headersonly=True)


def read_mail(message: Part, limits: Limits) -> Blocks:
    """Return what a message says, whatever file it was kept in."""
    reader = _MailReader(limits)
    blocks = [*reader.message(message, 0), *reader.pictures]
    if reader.attached:
        names = ", ".join(one.name for one in reader.attached)
        blocks.append(Paragraph(f"Attachments: {names}"))
    readable = [one for one in reader.attached if _is_readable(one, limits)][: limits.attachments]
    chosen = {id(one) for one in readable}
    others = [one.name for one in reader.attached if id(one) not in chosen]
    read, taken = list[AttachedFile](), set[str]()
    for one in readable:  # each under a name of its own: the second `a.pdf` is `a (2).pdf`
        path, name, number = PurePosixPath(one.name.replace("/", "_")), "", 1
        while not name or name in taken:
            name = path.name if number == 1 else f"{path.stem} ({number}){path.suffix}"
            number += 1
        taken.add(name)
        read.append(AttachedFile(name, one.content))
    title, missing = _header(message, "Subject"), attachments_not_read(others)
    finished = finish_blocks(blocks, reader.omissions, title, warnings=missing)
    return replace(finished, attachments=tuple(read))


def _is_readable(attached: AttachedFile, limits: Limits) -> bool:
    """Return whether an attachment is a document of a kind that we read."""
    try:
        check_size(attached.content, attached.name, limits)
        found = detect(attached.content, attached.name)
    except FileRejected:
        return False
    return found is not FileType.IMAGE or limits.images > 0


class _MailReader:
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self.omissions = Omissions()
        self.attached: list[AttachedFile] = []
        self.pictures: list[Image] = []  # in HTML, also where the plain text beside it is read

    def message(self, message: Part, depth: int) -> Iterator[Block]:
        """Yield a message's subject, who it is from and to, and its text."""
        subject = _header(message, "Subject")
        if subject:
            yield HeadingBlock(subject, depth)
        headers = [
            f"{name}: {value}" for name in _SHOWN_HEADERS if (value := _header(message, name))
        ]
        if headers:
            yield Paragraph("\n".join(headers))
        yield from self._part(message, depth)

    def _part(self, part: Part, depth: int) -> Iterator[Block]:
        kind = part.get_content_type()
        is_attached = part.get_content_disposition() == "attachment"
        if kind == "message/rfc822" and part.is_multipart() and depth < DEEPEST:
            for inner in _inner(part):
                yield from self.message(inner, depth + 1)
        elif kind == "multipart/alternative":
            yield from self._alternative(part, depth)
        elif part.is_multipart() and kind.startswith("multipart/"):
            for inner in _inner(part):
                yield from self._part(inner, depth)
        elif kind == "message/delivery-status":
            fields = (field for inner in _inner(part) for field in inner.raw_items())
            yield Paragraph("\n".join(f"{name}: {_plain(str(text))}" for name, text in fields))
        elif kind.startswith("multipart/") or (kind in _TEXTS and not is_attached):
            yield from self._text(part)
        else:
            found = part.get_payload(decode=True)
            content = found if isinstance(found, bytes) else b""
            is_placed = part.get("Content-ID") is not None and not is_attached
            if is_placed and part.get_content_maintype() == "image":  # of the HTML: a logo, a line
                self.pictures.append(Image(content))
            else:
                name = printable_name(_filename(part))
                name = name or f"attachment{guess_extension(kind) or ''}"
                self.attached.append(AttachedFile(name, content))

    def _alternative(self, part: Part, depth: int) -> Iterator[Block]:
        """Yield one of several versions of the same text: plain, unless it only points to the HTML."""
        versions = list[tuple[list[Block], Omissions]]()
        named, attached, omissions = list[AttachedFile](), self.attached, self.omissions
        for inner in sorted(_inner(part), key=lambda one: one.get_content_type() != "text/plain"):
            self.attached, self.omissions = [], Omissions()
            versions.append((list(self._part(inner, depth)), self.omissions))
            named += (name for name in self.attached if name not in named)
        self.attached, self.omissions = [*attached, *named], omissions
        longest = max((_size(blocks) for blocks, _ in versions), default=0)
        for blocks, left_out in versions:
            if _size(blocks) >= _WHOLE * longest:
                omissions.include(left_out)
                yield from blocks
                break

    def _text(self, part: Part) -> Iterator[Block]:
        """Yield the blocks of a text part; a multipart whose parts cannot be separated is read as text, too."""
        payload = part.get_payload(decode=True)
        is_rtf = part.get_content_type() == "text/rtf"
        if not isinstance(payload, bytes) or not payload.strip():
            self.omissions.add_damaged(["RTF"] if is_rtf else [])
            return
        if is_rtf:
            from sextant.ingestion.parsing.formats.rtf import parse as parse_rtf  # of Outlook alone

            read = parse_rtf(payload, self._limits)
            self.omissions.include(read.omissions)
            yield from read.blocks
            return
        text = decode_part(payload, part.get_content_charset())
        if str(part.get_param("format", "")).lower() == "flowed":
            text = _unflow(text)
        if part.get_content_type() == "text/html":
            yield from fragment_blocks(text, self._limits, self.omissions)
            return
        for block in text_blocks(text):  # as a text file is read, but a greeting is no title
            if isinstance(block, HeadingBlock) and block.level == 0:
                yield Paragraph(block.text)
            else:
                yield block


def _unflow(text: str) -> str:
    """Join the lines that end in a blank, which the sender broke to fit a screen (RFC 3676)."""
    lines, goes_on, depth = list[str](), False, 0
    for line in text.replace("\r\n", "\n").split("\n"):
        words = line.lstrip(">")
        quoted = len(line) - len(words)
        words = words.removeprefix(" ")
        is_broken = words.endswith(" ") and words != "-- "
        if not (goes_on and quoted == depth):
            lines.append(f"{'>' * quoted} {words}" if quoted else words)
        else:
            lines[-1] = join_lines((lines[-1], words))
        goes_on, depth = is_broken, quoted
    return "\n".join(lines)


def _inner(part: Part) -> list[Part]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _size(blocks: Sequence[Block]) -> int:
    return len(build_structure(blocks).text)


def _filename(part: Part) -> str:
    """Return a part's name, be it encoded by RFC 2231, by RFC 2047, or not at all."""
    for header, name in (("Content-Disposition", "filename"), ("Content-Type", "name")):
        line = Message()
        line[header] = _readable(_raw(part, header))
        value = line.get_param(name, header=header)
        if isinstance(value, tuple):
            charset, _, text = value
            return decode_part(text.encode("latin-1", "replace"), charset)
        if value:
            return _plain(str(value))
    return ""


def _header(message: Part, name: str) -> str:
    return " ".join(clean_text(_plain(_raw(message, name))).split())


def _raw(message: Part, name: str) -> str:
    """Return a header on one line; the blank at the beginning of a folded line is kept, since it may separate two words."""
    found = (str(text) for key, text in message.raw_items() if key.lower() == name.lower())
    return "".join(next(found, "").splitlines())


def _plain(header: str) -> str:
    """Decode the encoded words of a header, by their content where the charset that they name is wrong."""
    text = _readable(header)
    try:
        words = decode_header(text)
    except (HeaderParseError, ValueError):
        return text
    return "".join(
        word if isinstance(word, str) else decode_part(word, charset) for word, charset in words
    )


def _readable(header: str) -> str:
    """Decode a header that holds bytes of an undeclared encoding."""
    return (
        header if header.isascii() else decode_part(header.encode("utf-8", "surrogateescape"), None)
    )


def decode_part(content: bytes, charset: str | None) -> str:
    """Return the text of a part; what is in no known encoding as UTF-8."""
    try:
        return decode(content, charset).text
    except FileTypeUnknown:
        return content.decode("utf-8", "replace")


def parse_web_archive(content: bytes, limits: Limits) -> Blocks:
    """Read a web page that was saved with its pictures and frames (MHTML, RFC 2557).

    Raises:
        FileBroken: no page is in it.
    """
    message = parse_mime(content)
    parts = [part for part in message.walk() if not part.is_multipart()]
    files = dict[str, Part]()
    for part in parts:
        if content_id := part.get("Content-ID", ""):
            files[f"cid:{content_id.strip().strip('<>')}"] = part
        if location := part.get("Content-Location", "").strip():
            files[location] = part
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
    for page in pages:
        markup = page.get_payload(decode=True)
        markup = markup if isinstance(markup, bytes) else b""
        charset = page.get_content_charset() or charset_of_page(markup)
        base = page.get("Content-Location", "")

        def load(address: str, base: str = base) -> bytes | None:
            part = files.get(address) or files.get(urljoin(base, address))
            found = part.get_payload(decode=True) if part is not None else None
            return found if isinstance(found, bytes) else None

        read = read_page(decode_part(markup, charset), limits, load)
        if read.blocks:
            return read
    return Blocks([])
