"""A small PDF writer for tests and benchmarks: text in Chinese and English, rules, outlines, passwords.

It follows ISO 32000-1. Latin text is set in Helvetica and other text in the Adobe-GB1 font of viewers,
so files are small and embed no fonts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import cos, radians, sin

_FILE_ID = b"\0"
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass(frozen=True, slots=True)
class PdfText:
    """A line of text; `x` and `y` are points from the lower left corner of an A4 page (595 x 842).

    `angle` is in degrees; 0 is horizontal. `is_hidden`: it is not drawn, as what OCR lays over a scan.
    """

    x: float
    y: float
    text: str
    size: float = 11
    bold: bool = False
    mono: bool = False
    angle: float = 0
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A filled rectangle, such as a background; or the outline of one, such as a box to be ticked."""

    x: float
    y: float
    width: float
    height: float
    is_outline: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A straight stroke from one point to another."""

    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True, slots=True)
class PdfPicture:
    """A grey square, as an image."""

    x: float = 100
    y: float = 400
    size: float = 200


@dataclass(frozen=True, slots=True)
class Field:
    """A text field of a form with its value, or a box with what ticks it, if it `is_on`; it is not drawn."""

    x: float
    y: float
    value: str
    is_on: bool | None = None


@dataclass(frozen=True, slots=True)
class PdfNote:
    """A comment on the page."""

    text: str


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """An outline entry; `page` counts from 0, `level` from 0."""

    title: str
    page: int
    level: int = 0
    y: float = 842


Drawn = PdfText | Rule | Area | PdfPicture
Item = Drawn | Field | PdfNote


def draw_ruled_table(
    x: float, y: float, rows: Sequence[Sequence[str]], width: float = 120
) -> list[Drawn]:
    """Return a table of rows of equal height below (x, y), with rules around every cell."""
    height, right, bottom = 20.0, x + width * len(rows[0]), y - 20.0 * len(rows)
    levels = [Rule(x, y - height * row, right, y - height * row) for row in range(len(rows) + 1)]
    uprights = [
        Rule(x + width * column, y, x + width * column, bottom)
        for column in range(len(rows[0]) + 1)
    ]
    texts = [
        PdfText(x + width * column + 4, y - height * row - 14, cell, 9)
        for row, cells in enumerate(rows)
        for column, cell in enumerate(cells)
    ]
    return [*levels, *uprights, *texts]


def write_pdf(
    pages: Iterable[Sequence[Item]],
    *,
    outline: Sequence[OutlineItem] = (),
    title: str = "",
    password: str = "",
) -> bytes:
    """Return a PDF file with these pages; with a password, encrypted by RC4 of 40 bits (revision 2)."""
    writer = _PdfWriter(password)
    catalog, tree, fonts, image = (writer.reserve() for _ in range(4))
    kids = [writer.page(tree, fonts, image, items) for items in pages]
    writer.put(
        tree, f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(f'{kid} 0 R' for kid in kids)}]>>"
    )
    writer.put(fonts, _FONTS)
    writer.stream(
        image,
        "/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8",
        b"\x80",
    )
    root = writer.outline(outline, kids)
    outlines = f"/Outlines {root} 0 R" if root else ""
    fields = " ".join(f"{field} 0 R" for field in writer.fields)
    form = f"/AcroForm<</Fields[{fields}]/DR<</Font {fonts} 0 R>>>>" if fields else ""
    writer.put(catalog, f"<</Type/Catalog/Pages {tree} 0 R{outlines}{form}>>")
    info = writer.reserve()
    writer.put(info, b"<</Title " + writer.string(title, info) + b">>")
    return writer.finish(catalog, info)


_LATIN = "<</Type/Font/Subtype/Type1/BaseFont/{}/Encoding/WinAnsiEncoding>>"
_CHINESE = (
    "<</Type/Font/Subtype/Type0/BaseFont/STSong-Light/Encoding/UniGB-UTF16-H/DescendantFonts[<</Type/Font"
    "/Subtype/CIDFontType0/BaseFont/STSong-Light/CIDSystemInfo<</Registry(Adobe)/Ordering(GB1)"
    "/Supplement 4>>/DW 1000/W[1 95 500]/FontDescriptor<</Type/FontDescriptor/FontName/STSong-Light/Flags 4"
    "/FontBBox[-25 -254 1000 880]/ItalicAngle 0/Ascent 880/Descent -120/CapHeight 880/StemV {}>>>>]>>"
)
_FONTS = (
    f"<</L {_LATIN.format('Helvetica')}/LB {_LATIN.format('Helvetica-Bold')}/M {_LATIN.format('Courier')}"
    f"/C {_CHINESE.format(93)}/CB {_CHINESE.format(180)}>>"
)


class _PdfWriter:
    def __init__(self, password: str) -> None:
        self._objects: dict[int, bytes] = {}
        self.fields: list[int] = []
        self._owner = self._key = b""
        if password:
            padded = (password.encode("latin-1") + _PADDING)[:32]
            self._owner = _rc4(hashlib.md5(padded, usedforsecurity=False).digest()[:5], padded)
            seed = padded + self._owner + b"\xff\xff\xff\xff" + _FILE_ID
            self._key = hashlib.md5(seed, usedforsecurity=False).digest()[:5]

    def reserve(self) -> int:
        self._objects[len(self._objects) + 1] = b""
        return len(self._objects)

    def put(self, number: int, body: str | bytes) -> None:
        self._objects[number] = body.encode("latin-1") if isinstance(body, str) else body

    def stream(self, number: int, entries: str, data: bytes) -> None:
        data = self._encrypt(data, number)
        self.put(
            number, f"<<{entries}/Length {len(data)}>>stream\n".encode() + data + b"\nendstream"
        )

    def string(self, text: str, number: int) -> bytes:
        encrypted = self._encrypt(b"\xfe\xff" + text.encode("utf-16-be"), number)
        return b"<" + encrypted.hex().encode() + b">"

    def page(self, tree: int, fonts: int, image: int, items: Sequence[Item]) -> int:
        page, content = self.reserve(), self.reserve()
        drawn = [item for item in items if not isinstance(item, Field | PdfNote)]
        self.stream(content, "", "\n".join(map(_operators, drawn)).encode("latin-1"))
        resources = f"<</Font {fonts} 0 R/XObject<</I {image} 0 R>>>>"
        annotations = [
            self.annotation(fonts, item) for item in items if isinstance(item, Field | PdfNote)
        ]
        annots = " ".join(f"{number} 0 R" for number in annotations)
        self.put(
            page,
            f"<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/Contents {content} 0 R"
            f"/Resources {resources}{f'/Annots[{annots}]' if annots else ''}>>",
        )
        return page

    def annotation(self, fonts: int, item: Field | PdfNote) -> int:
        number = self.reserve()
        if isinstance(item, PdfNote):
            note = b"<</Type/Annot/Subtype/Text/Rect[500 700 520 720]/Contents "
            self.put(number, note + self.string(item.text, number) + b">>")
            return number
        look = self.reserve()
        self.stream(
            look,
            f"/Type/XObject/Subtype/Form/BBox[0 0 200 20]/Resources<</Font {fonts} 0 R>>",
            _operators(PdfText(2, 5, item.value)).encode("latin-1"),
        )
        self.fields.append(number)
        if item.is_on is not None:
            box = f"{item.x} {item.y} {item.x + 15} {item.y + 15}"
            state, looks = "On" if item.is_on else "Off", f"<</N<</On {look} 0 R>>>>"
            entry = f"<</Type/Annot/Subtype/Widget/FT/Btn/F 4/Rect[{box}]/T(field{number})"
            self.put(number, f"{entry}/V/{state}/AS/{state}/AP{looks}>>")
            return number
        entry = (
            f"<</Type/Annot/Subtype/Widget/FT/Tx/F 4/Rect[{item.x} {item.y} {item.x + 200} {item.y + 20}]"
            f"/T(field{number})/DA(/L 11 Tf)/AP<</N {look} 0 R>>/V "
        )
        self.put(number, entry.encode() + self.string(item.value, number) + b">>")
        return number

    def outline(self, items: Sequence[OutlineItem], pages: Sequence[int]) -> int:
        """Write the outline; return the number of its root, 0 if there are no items."""
        if not items:
            return 0
        root, numbers = self.reserve(), [self.reserve() for _ in items]
        children: dict[int, list[int]] = {root: []}
        path: list[int] = []
        for item, number in zip(items, numbers, strict=True):
            del path[item.level :]
            parent = path[-1] if path else root
            children.setdefault(parent, []).append(number)
            path.append(number)
        for parent, kids in children.items():
            for index, number in enumerate(kids):
                item = items[numbers.index(number)]
                links = [
                    f"/Parent {parent} 0 R",
                    *_siblings(kids, index),
                    *_ends(children.get(number)),
                ]
                target = f"/Dest[{pages[item.page]} 0 R/XYZ 0 {item.y} 0]"
                entry = f"{''.join(links)}{target}>>".encode()
                self.put(number, b"<</Title " + self.string(item.title, number) + entry)
        self.put(root, f"<</Type/Outlines{''.join(_ends(children[root]))}>>")
        return root

    def finish(self, catalog: int, info: int) -> bytes:
        security = ""
        if self._key:
            user = _rc4(self._key, _PADDING)
            security = f"/Encrypt<</Filter/Standard/V 1/R 2/P -1/O<{self._owner.hex()}>/U<{user.hex()}>>>/ID[<00><00>]"
        body = bytearray(b"%PDF-1.5\n")
        offsets = []
        for number, content in self._objects.items():
            offsets.append(len(body))
            body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
        size, start = len(self._objects) + 1, len(body)
        body += f"xref\n0 {size}\n0000000000 65535 f \n".encode()
        body += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
        body += f"trailer<</Size {size}/Root {catalog} 0 R/Info {info} 0 R{security}>>\n".encode()
        return bytes(body + f"startxref\n{start}\n%%EOF\n".encode())

    def _encrypt(self, data: bytes, number: int) -> bytes:
        if not self._key:
            return data
        seed = self._key + number.to_bytes(3, "little") + b"\0\0"
        return _rc4(hashlib.md5(seed, usedforsecurity=False).digest()[:10], data)


def _siblings(kids: Sequence[int], index: int) -> list[str]:
    before = [f"/Prev {kids[index - 1]} 0 R"] if index else []
    return [*before, *([f"/Next {kids[index + 1]} 0 R"] if index + 1 < len(kids) else [])]


def _ends(kids: Sequence[int] | None) -> list[str]:
    return [f"/First {kids[0]} 0 R/Last {kids[-1]} 0 R/Count {len(kids)}"] if kids else []


def _operators(item: Drawn) -> str:
    match item:
        case Rule():
            return f"{item.x1} {item.y1} m {item.x2} {item.y2} l S"
        case Area():
            shape = f"{item.x} {item.y} {item.width} {item.height} re"
            return f"{shape} S" if item.is_outline else f"0.9 g {shape} f 0 g"
        case PdfPicture():
            return f"q {item.size} 0 0 {item.size} {item.x} {item.y} cm /I Do Q"
        case PdfText():
            wide = any(char > "\xff" for char in item.text)
            codes = item.text.encode("utf-16-be" if wide else "cp1252", errors="replace").hex()
            font = "M" if item.mono else ("C" if wide else "L") + ("B" if item.bold else "")
            across, up = cos(radians(item.angle)), sin(radians(item.angle))
            matrix = f"{across:.4f} {up:.4f} {-up:.4f} {across:.4f} {item.x} {item.y} Tm"
            mode = " 3 Tr" if item.is_hidden else ""
            return f"BT /{font} {item.size} Tf{mode} {matrix} <{codes}> Tj ET"


def _rc4(key: bytes, data: bytes) -> bytes:
    """Encrypt with RC4, the cipher of PDF 1.1 to 1.5; it is weak, which does not matter for test files."""
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    result = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        result.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(result)
