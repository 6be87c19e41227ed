"""Word and PowerPoint files from their XML, for what the libraries that write them cannot make."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

from sextant.ingestion.parsing.formats.opc import NAMESPACES

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_NAMES = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())


@dataclass(frozen=True)
class Related:
    """A part that the main part refers to by `kind` and an id; without content it lies outside the file, at `target`."""

    kind: str
    target: str
    content: str | bytes | None = None


def xml(root: str, inner: str) -> str:
    """Return an element with all the namespaces of Office."""
    return f"<{root} {_NAMES}>{inner}</{root}>"


def word(body: str, related: Mapping[str, Related] | None = None) -> bytes:
    """Return a DOCX with this inside `w:body`."""
    return package("word/document.xml", xml("w:document", f"<w:body>{body}</w:body>"), related)


def deck(*slides: str, related: Mapping[str, Related] | None = None) -> bytes:
    """Return a PPTX whose slides have these shapes; what they refer to belongs to the first."""
    trees = [xml("p:sld", f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>") for shapes in slides]
    listed = "".join(f'<p:sldId r:id="s{at}"/>' for at in range(len(trees)))
    parts = {
        f"s{at}": Related("slide", f"slides/slide{at}.xml", tree) for at, tree in enumerate(trees)
    }
    main = xml("p:presentation", f"<p:sldIdLst>{listed}</p:sldIdLst>")
    content = package("ppt/presentation.xml", main, parts)
    return _added(content, "ppt/slides/slide0.xml", related or {})


def package(main: str, content: str, related: Mapping[str, Related] | None = None) -> bytes:
    """Return an Office file with this main part, in the smallest container."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("_rels/.rels", _relationships({"m": Related("officeDocument", main, "")}))
        archive.writestr(main, content)
    return _added(buffer.getvalue(), main, related or {})


def _added(content: bytes, part: str, related: Mapping[str, Related]) -> bytes:
    if not related:
        return content
    folder, _, name = part.rpartition("/")
    buffer = io.BytesIO(content)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr(f"{folder}/_rels/{name}.rels", _relationships(related))
        for one in related.values():
            if one.content is not None:
                archive.writestr(f"{folder}/{one.target}", one.content)
    return buffer.getvalue()


def _relationships(related: Mapping[str, Related]) -> str:
    lines = "".join(
        f'<Relationship Id="{name}" Type="{_OFFICE}/{one.kind}" Target="{one.target}" '
        f'TargetMode="{"External" if one.content is None else "Internal"}"/>'
        for name, one in related.items()
    )
    return f'<Relationships xmlns="{NAMESPACES["rel"]}">{lines}</Relationships>'
