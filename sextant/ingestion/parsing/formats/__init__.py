"""One module per file format; each turns bytes into blocks with `parse(content, limits)`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import cast

from sextant.ingestion.parsing.blocks import Blocks
from sextant.ingestion.parsing.detect import FileType
from sextant.ingestion.parsing.limits import Limits

Parser = Callable[[bytes, Limits], Blocks]
"""Reads a whole file; raises a `FileRejected` that says what is wrong with it."""

# Formats without a module of their own: the module and function that read them.
_PARSERS = {
    FileType.ODT: ("odf", "parse"),
    FileType.ODS: ("odf", "parse"),
    FileType.ODP: ("odf", "parse"),
    FileType.MHTML: ("eml", "parse_web_archive"),
    FileType.IMAGE: ("scans", "parse"),
}


def parser_for(file_type: FileType) -> Parser:
    """Import only the one format's module, so that a parser process starts fast."""
    name, function = _PARSERS.get(file_type, (file_type.value, "parse"))
    module = import_module(f"sextant.ingestion.parsing.formats.{name}")
    return cast("Parser", getattr(module, function))
