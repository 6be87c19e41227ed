"""E-mail: who wrote to whom, when and about what, the text, and the names of what was attached (RFC 5322, MIME)."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage, MIMEPart
from email.policy import default

from domain.missing import Missing
from domain.text import clean_text
from ingestion.parsing.blocks import Block, Blocks, Heading, Paragraph
from ingestion.parsing.encodings import decode
from ingestion.parsing.formats.html import html_blocks
from ingestion.parsing.formats.txt import text_blocks
from ingestion.parsing.limits import Limits

_TOLD = ("From", "To", "Cc", "Date")


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a message: its plain text where there is any, else its HTML. Attachments are named, not read."""
    message = message_from_bytes(content, policy=default)
    subject = _header(message, "Subject")
    attached = [name for part in message.iter_attachments() if (name := part.get_filename())]
    warnings = (
        (Missing.ATTACHMENTS_NOT_READ.told(number=len(attached), names=", ".join(attached)),)
        if attached
        else ()
    )
    return Blocks(list(_blocks(message, subject, attached, limits)), subject, warnings=warnings)


def _blocks(
    message: EmailMessage, subject: str, attached: list[str], limits: Limits
) -> Iterator[Block]:
    if subject:
        yield Heading(subject, 0)
    told = [f"{name}: {value}" for name in _TOLD if (value := _header(message, name))]
    if told:
        yield Paragraph("\n".join(told))
    for kind in ("plain", "html"):
        part = message.get_body((kind,))
        if part is not None and (text := _text(part)).strip():
            yield from html_blocks(text, limits) if kind == "html" else _prose(text)
            break
    if attached:
        yield Paragraph(f"Attachments: {', '.join(attached)}")


def _prose(text: str) -> Iterator[Block]:
    """The text as a text file's is read, but a greeting is no title."""
    for block in text_blocks(text):
        if isinstance(block, Heading) and block.level == 0:
            yield Paragraph(block.text)
        else:
            yield block


def _header(message: EmailMessage, name: str) -> str:
    return " ".join(clean_text(str(message.get(name, ""))).split())


def _text(part: MIMEPart) -> str:
    payload = part.get_payload(decode=True)
    return decode(payload, part.get_content_charset()).text if isinstance(payload, bytes) else ""
