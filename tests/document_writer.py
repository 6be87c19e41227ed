"""Small files of OpenDocument, EPUB and Outlook, built in code."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Mapping

from tests.ole_writer import Tree

ODF = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        "office": f"{ODF}:office:1.0",
        "text": f"{ODF}:text:1.0",
        "table": f"{ODF}:table:1.0",
        "style": f"{ODF}:style:1.0",
        "draw": f"{ODF}:drawing:1.0",
        "presentation": f"{ODF}:presentation:1.0",
        "fo": f"{ODF}:xsl-fo-compatible:1.0",
        "svg": f"{ODF}:svg-compatible:1.0",
        "xlink": "http://www.w3.org/1999/xlink",
        "math": "http://www.w3.org/1998/Math/MathML",
        "dc": "http://purl.org/dc/elements/1.1/",
    }.items()
)
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def zip_package(kind: str, **parts: str | bytes) -> bytes:
    """Return a zip archive of a kind; `_` in a name stands for `/`, and `__` for a point."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", kind)
        for name, content in parts.items():
            archive.writestr(name.replace("__", ".").replace("_", "/"), content)
    return buffer.getvalue()


def open_document(kind: str, body: str, styles: str = "", **parts: str | bytes) -> bytes:
    """Return an ODT, ODS or ODP with this body and these automatic styles."""
    content = (
        f"<office:document-content {NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    return zip_package(f"application/vnd.oasis.opendocument.{kind}", content__xml=content, **parts)


def book(**chapters: str) -> bytes:
    """Return an EPUB whose spine has the chapters in reverse, and one that is lost."""
    items = "".join(
        f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in chapters
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in reversed(chapters))
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>Tides</dc:title><dc:creator>Ann Lee</dc:creator></metadata><manifest>{items}"
        '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/><item id="p" href="p.png" media-type="image/png"/>'
        f'</manifest><spine>{spine}<itemref idref="lost"/></spine></package>'
    )
    ncx = (
        "<ncx><navMap><navPoint><navLabel><text>Low water</text></navLabel>"
        '<content src="b.xhtml#top"/></navPoint></navMap></ncx>'
    )
    container = '<container><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>'
    parts: dict[str, str | bytes] = {f"OPS_{name}__xhtml": text for name, text in chapters.items()}
    parts |= {"META-INF_container__xml": container, "OPS_book__opf": opf, "OPS_toc__ncx": ncx}
    return zip_package("application/epub+zip", **parts, OPS_p__png=PNG)


def outlook(
    texts: Mapping[str, str | bytes],
    storages: Mapping[str, Tree] | None = None,
    values: bytes = b"",
) -> Tree:
    """Return a message, recipient or attachment by its properties, and what lies in it."""
    streams = {
        f"__substg1.0_{key}{'001F' if isinstance(text, str) else '0102'}":
        text.encode("utf-16-le") if isinstance(text, str) else text
        for key, text in texts.items()
    }  # fmt: skip
    return {**streams, "__properties_version1.0": b"\0" * 32 + values, **(storages or {})}
