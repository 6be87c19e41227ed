"""Containers of the formats before 2007 ([MS-CFB]), as small as they can be."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

Tree: TypeAlias = "Mapping[str, bytes | Tree]"

_SECTOR = 512
_SMALLEST = (
    4096  # what is shorter lies in a stream of its own kind; streams here are padded instead
)
_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_STORAGE, _STREAM, _ROOT = 1, 2, 5


@dataclass
class _Entry:
    name: str
    kind: int
    content: bytes = b""
    child: int = _FREE
    following: int = _FREE
    start: int = _END


def write_ole(tree: Tree) -> bytes:
    """Return a container with these streams (bytes, padded with NUL) and storages (dicts)."""
    entries = [_Entry("Root Entry", _ROOT)]
    _add(entries, 0, tree)
    sectors = list[bytes]()
    chains = list[tuple[int, int]]()
    for entry in entries:
        if entry.kind == _STREAM:
            content = entry.content.ljust(_SMALLEST, b"\0")
            entry.content = content
            entry.start = len(sectors)
            pieces = [content[at : at + _SECTOR] for at in range(0, len(content), _SECTOR)]
            sectors += (piece.ljust(_SECTOR, b"\0") for piece in pieces)
            chains.append((entry.start, len(pieces)))
    directory = b"".join(map(_entry, entries))
    pieces = [
        directory[at : at + _SECTOR].ljust(_SECTOR, b"\0")
        for at in range(0, len(directory), _SECTOR)
    ]
    first = len(sectors)
    chains.append((first, len(pieces)))
    sectors += pieces
    tables = 1
    while tables * _SECTOR // 4 < len(sectors) + tables:
        tables += 1
    fat = [_FREE] * (tables * _SECTOR // 4)
    for start, length in chains:
        fat[start : start + length] = [*range(start + 1, start + length), _END]
    places = [len(sectors) + at for at in range(tables)]
    for place in places:
        fat[place] = _FAT
    packed = struct.pack(f"<{len(fat)}I", *fat)
    sectors += [packed[at : at + _SECTOR] for at in range(0, len(packed), _SECTOR)]
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"",
        0, tables, first, 0, _SMALLEST, _END, 0, _END, 0, places[0],
    )  # fmt: skip
    difat = struct.pack("<108I", *[*places[1:], *[_FREE] * (109 - tables)])
    return header + difat + b"".join(sectors)


def _add(entries: list[_Entry], parent: int, tree: Tree) -> None:
    above = None
    for name, content in sorted(tree.items(), key=lambda item: (len(item[0]), item[0].upper())):
        at = len(entries)
        kind = _STREAM if isinstance(content, bytes) else _STORAGE
        entries.append(_Entry(name, kind, content if isinstance(content, bytes) else b""))
        if above is None:
            entries[parent].child = at
        else:
            entries[above].following = at
        above = at
        if not isinstance(content, bytes):
            _add(entries, at, content)


def _entry(entry: _Entry) -> bytes:
    name = entry.name.encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sIQQIQ", name, len(name) + 2, entry.kind, 1, _FREE, entry.following, entry.child,
        b"", 0, 0, 0, entry.start, len(entry.content),
    )  # fmt: skip
