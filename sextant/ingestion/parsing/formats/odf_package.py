"""OpenDocument packages, read part by part, and flat files, which are one element."""

from __future__ import annotations

import posixpath
import zipfile
from io import BytesIO
from urllib.parse import unquote

from sextant.domain.errors import FileBroken, FileEncrypted
from sextant.ingestion.parsing.formats.opc import Element, read_xml
from sextant.ingestion.parsing.limits import DAMAGED
from sextant.ingestion.parsing.structure import Omissions


class OdfPackage:
    """The parts of a document; of a flat file (`.fodt`) all are the one element that it is."""

    def __init__(self, content: bytes, omissions: Omissions) -> None:
        self.omissions = omissions
        self._archive = zipfile.ZipFile(BytesIO(content)) if content.startswith(b"PK") else None
        self._flat = read_xml(content, huge=True) if self._archive is None else None

    def main(self) -> Element:
        """Return the root of the part that holds the document; raises `FileBroken` where there is none."""
        root = self._flat if self._archive is None else self.part("content.xml")
        if root is None:
            raise broken("its main part is missing or no XML")
        return root

    def part(self, name: str) -> Element | None:
        """Return the root element of a part, of damaged XML with what can be read of it."""
        content = self.read(name)
        if content is None:
            return None
        root = read_xml(content, huge=True)
        if root is None:
            if name == "content.xml" and self._is_encrypted():
                raise FileEncrypted(
                    "The file is protected by a password.",
                    next_step="Remove the password in its program and try again.",
                )
            self.omissions.add_damaged([name])
            root = read_xml(content, recover=True, huge=True)
        return root

    def read(self, name: str) -> bytes | None:
        """Return a part's bytes; None where it is missing or damaged."""
        if self._archive is None:
            return None
        try:
            return self._archive.read(posixpath.normpath(unquote(name)))
        except (KeyError, *DAMAGED):
            return None

    def _is_encrypted(self) -> bool:
        return b"encryption-data" in (self.read("META-INF/manifest.xml") or b"")


def broken(reason: str) -> FileBroken:
    """Return the error that a file cannot be read at all."""
    return FileBroken(
        f"The OpenDocument file cannot be read: {reason}.",
        next_step="Open it in its program, save it again and retry.",
    )
