"""Jupyter notebooks: Markdown, code, and what the code put out (nbformat 3 and 4)."""

from __future__ import annotations

import binascii
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from sextant.domain.errors import FileBroken
from sextant.ingestion.parsing.blocks import Block, Blocks, Image, Paragraph
from sextant.ingestion.parsing.encodings import decode
from sextant.ingestion.parsing.formats.html import fragment_blocks
from sextant.ingestion.parsing.formats.markdown import markdown_blocks
from sextant.ingestion.parsing.limits import Limits
from sextant.ingestion.parsing.structure import Omissions, finish_blocks

_ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")  # colours of a terminal
_PICTURES = ("image/png", "image/jpeg")


def parse(content: bytes, limits: Limits) -> Blocks:
    """Read a notebook's cells in their order; pictures that code drew are images.

    Raises:
        FileBroken: it is no notebook.
    """
    decoded = decode(content)
    try:
        book = json.loads(decoded.text)
        cells = book.get("cells") or [
            c for sheet in book.get("worksheets", ()) for c in sheet["cells"]
        ]
        language = book.get("metadata", {}).get("language_info", {}).get("name", "")
    except (json.JSONDecodeError, RecursionError, AttributeError, KeyError, TypeError) as error:
        raise FileBroken(
            f"The file is no notebook that can be read ({error}).",
            next_step="Open it in Jupyter, save it again and retry.",
        ) from error
    reader, blocks = _NotebookReader(limits, str(language)), list[Block]()
    for cell in cells:
        with reader.omissions.survive("damaged cell"):
            blocks += [*reader.cell(cell)]  # a damaged one costs only itself
    title = book.get("metadata", {}).get("title", "")
    title = title if isinstance(title, str) else ""
    return finish_blocks(blocks, reader.omissions, title, decoded=decoded)


class _NotebookReader:
    def __init__(self, limits: Limits, language: str) -> None:
        self.omissions = Omissions()
        self._limits = limits
        self._language = language

    def cell(self, cell: dict[str, Any]) -> Iterator[Block]:
        """Yield what a cell says and shows."""
        kind, source = cell.get("cell_type"), _joined(cell.get("source", cell.get("input", "")))
        if kind == "code":
            if source.strip():
                yield Paragraph(f"```{self._language}\n{source.rstrip()}\n```")
            for output in cell.get("outputs", ()):
                yield from self._output(output)
        elif kind == "heading":  # of version 3
            yield from self._markdown(f"{'#' * int(cell.get('level', 1))} {source}")
        elif kind == "markdown":
            yield from self._markdown(source)
            for files in cell.get("attachments", {}).values():
                yield from self._pictures(files)
        else:
            yield Paragraph(source)

    def _output(self, output: dict[str, Any]) -> Iterator[Block]:
        """Yield an output in the version that says most: HTML as tables have it, Markdown, a picture, text."""
        kind = output.get("output_type", "")
        if kind == "stream":
            yield from self._verbatim(_joined(output.get("text", "")))
        elif kind in {"error", "pyerr"}:
            yield from self._verbatim(f"{output.get('ename', '')}: {output.get('evalue', '')}")
        else:
            data = output.get("data", output)
            pictures = list(self._pictures(data))
            if html := _joined(data.get("text/html", data.get("html", ""))):
                yield from fragment_blocks(html, self._limits, self.omissions)
            elif marked := _joined(data.get("text/markdown", data.get("text/latex", ""))):
                yield from self._markdown(marked)
            elif not pictures:
                yield from self._verbatim(_joined(data.get("text/plain", data.get("text", ""))))
            yield from pictures

    def _markdown(self, text: str) -> Iterator[Block]:
        yield from markdown_blocks(text, self._limits, self.omissions)

    def _verbatim(self, text: str) -> Iterator[Block]:
        text = _ESCAPE.sub("", text).strip("\n")
        if text.strip():
            yield Paragraph(f"```\n{text}\n```")

    def _pictures(self, data: dict[str, Any]) -> Iterator[Block]:
        for kind in _PICTURES:
            if encoded := _joined(data.get(kind, "")):
                try:
                    yield Image(b64decode(encoded))
                except (binascii.Error, ValueError):
                    self.omissions.add_part("picture")
                return


def _joined(text: object) -> str:
    """Return a text that may be kept as a list of its lines."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")
