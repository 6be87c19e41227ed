"""Lexer of Rich Text Format (1.9.1): groups with their destinations, control words, encodings of fonts.

It passes text and control words to the reader (`rtf.RtfReader`).
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sextant.ingestion.parsing.formats.stories import Look

if TYPE_CHECKING:
    from sextant.ingestion.parsing.formats.rtf import RtfReader

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z'])|([{}])|([^\\{}\r\n]+)|[\r\n]+|\\"
)
_CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5hkscs", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_CHARACTERS = {
    "tab": "\t", "line": "\n", "softline": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘",
    "rquote": "’", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\xa0", b"_": "-", b"\\": "\\", b"{": "{", b"}": "}"}
# Groups without text of the document.
_SKIPPED = frozenset({
    "colortbl", "listtable", "listoverridetable", "filetbl", "revtbl", "datastore", "themedata", "nonshppict", "objdata",
    "bkmkstart", "bkmkend", "sp", "template", "private", "xe", "tc", "nextfile", "ftnsep", "ftnsepc", "aftnsep", "author",
    "operator", "company", "doccomm", "keywords", "subject", "manager", "category", "comment", "creatim", "revtim",
    "printim", "buptim", "atnid", "hlinkbase", "fontemb", "falt", "panose", "nonesttables", "pntxta",
    "pntxtb", "ffdata", "mmathPr",
})  # fmt: skip
# Groups whose text is kept apart from the text around them.
_DESTINATIONS = frozenset({
    "fonttbl", "stylesheet", "title", "pict", "fldinst", "fldrslt", "field", "footnote", "annotation", "atnauthor", "listtext", "pntext", "nesttableprops",
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf", "shptxt", "htmltag",
})  # fmt: skip
# Groups marked `\*` that hold text; the other marked groups are ignored.
_STARRED = _DESTINATIONS | {"shpinst", "shppict"}
_DEEPEST = 2_000
_PLAIN = Look(size=12.0)
_RAISED = {"up": "super", "dn": "sub"}  # by so many half points
_ENCODINGS = frozenset({"fcharset", "ansicpg", "cpg", "mac"})
_CODE_PAGES = {10000: "mac_roman", 65001: "utf-8", 54936: "gb18030"}


@dataclass(slots=True)
class RtfState:
    """The state that holds to the end of a group."""

    destination: str = "body"
    font: int = 0
    skipped_after_unicode: int = 1
    look: Look = _PLAIN
    deleted: bool = False
    address: str = ""
    is_rtf_only: bool = False  # of HTML that is wrapped in RTF: text for programs that know no HTML


@dataclass
class RtfLexer:
    """Walks through a file and passes its contents to a reader."""

    sink: RtfReader
    encoding: str = "cp1252"
    fonts: dict[int, str] = field(default_factory=dict[int, str])
    _state: RtfState = field(default_factory=RtfState)
    _stack: list[RtfState] = field(default_factory=list[RtfState])
    _bytes: bytearray = field(default_factory=bytearray)
    _to_skip: int = 0  # characters that repeat one that stands before them in Unicode
    _high: int = 0  # first half of a character beyond the sixteen bits that `\\u` has
    _is_new: bool = False  # directly behind a bracket
    _is_starred: bool = False

    def read(self, content: bytes) -> None:
        """Read a whole file."""
        at = 0
        while at < len(content) and (token := _TOKEN.match(content, at)):
            at = token.end()
            word, number, hexadecimal, symbol, bracket, plain = token.groups()
            if hexadecimal:
                self._add_bytes(bytes.fromhex(hexadecimal.decode()))
            elif plain:
                self._add_bytes(plain)
            elif word:
                at = self._word(word.decode(), None if number is None else int(number), content, at)
            elif symbol:
                self._symbol(symbol)
            elif bracket:
                self._bracket(bracket)
        self._flush()

    def _add_bytes(self, plain: bytes) -> None:
        skipped = min(self._to_skip, len(plain))
        self._to_skip -= skipped
        self._bytes += plain[skipped:]
        self._is_new = self._is_new and not plain.strip()

    def _flush(self) -> None:
        if self._bytes:
            encoding = self.fonts.get(self._state.font, self.encoding)
            self._emit(self._bytes.decode(encoding, "replace"))
            self._bytes.clear()

    def _emit(self, text: str) -> None:
        if self._state.destination:
            self.sink.text(text, self._state)

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._is_starred = self._is_new
        elif self._to_skip:
            self._to_skip -= 1
        elif symbol in {b"\n", b"\r"}:
            self._word("par", None, b"", 0)
        else:
            self._flush()
            self._emit(_SYMBOLS.get(symbol, ""))

    def _bracket(self, bracket: bytes) -> None:
        self._flush()
        self._to_skip = 0
        if bracket == b"{":
            if len(self._stack) < _DEEPEST:
                self._stack.append(replace(self._state))
            self._is_new, self._is_starred = True, False
        elif self._stack:
            ended, self._state = self._state.destination, self._stack.pop()
            if ended != self._state.destination and ended:
                self.sink.closed(ended, self._state)

    def _word(self, word: str, number: int | None, content: bytes, at: int) -> int:
        """Obey a control word; returns where reading goes on."""
        if word == "bin":
            end = at + max(number or 0, 0)
            self.sink.data(content[at:end])
            return end
        if self._to_skip and word in _CHARACTERS:
            self._to_skip -= 1
            return at
        if word == "u" and number is not None:
            self._unicode(number)
            return at
        self._flush()
        is_new, self._is_new = self._is_new, False
        is_marked = self._is_starred and word not in _STARRED
        if is_new and (word in _SKIPPED or is_marked):
            self._state.destination = ""
        if not self._state.destination:
            return at
        if is_new and word in _DESTINATIONS:
            self.sink.opened(word, self._state)
            self._state.destination = word
        elif word in _CHARACTERS:
            self._emit(_CHARACTERS[word])
        else:
            self._set(word, number)
            self.sink.word(word, number, self._state)
        return at

    def _unicode(self, number: int) -> None:
        code = number % 65_536
        self._flush()
        self._is_new = False
        if 0xD800 <= code < 0xDC00:
            self._high = code
        elif 0xDC00 <= code < 0xE000:
            self._emit(
                chr(0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00) if self._high else ""
            )
            self._high = 0
        else:
            self._emit(chr(code))
        self._to_skip = self._state.skipped_after_unicode

    def _set(self, word: str, number: int | None) -> None:
        """Change how text looks, or which encoding it has."""
        state = self._state
        match word:
            case "plain":
                state.look, state.font = _PLAIN, 0
            case "f":
                state.font = number or 0
            case "deleted":
                state.deleted = number != 0
            case "htmlrtf":
                state.is_rtf_only = number != 0
            case "uc":
                state.skipped_after_unicode = max(number or 0, 0)
            case _ if word in _ENCODINGS:
                is_font = state.destination == "fonttbl"
                if word == "fcharset":
                    name = _CHARSETS.get(number or 0, "") if is_font else ""
                else:
                    page = _CODE_PAGES.get(number or 0, f"cp{number or 0}")
                    name = "mac_roman" if word == "mac" else page
                with suppress(LookupError):
                    found = codecs.lookup(name).name
                    if is_font:
                        self.fonts[state.font] = found
                    else:
                        self.encoding = found
            case _:
                state.look = _change_look(state.look, word, number)


def _change_look(look: Look, word: str, number: int | None) -> Look:
    is_on = number != 0
    match word:
        case "b":
            return replace(look, bold=is_on)
        case "strike" | "striked":
            return replace(look, struck=is_on)
        case "v":
            return replace(look, hidden=is_on)
        case "super" | "sub" | "nosupersub" | "up" | "dn":
            return replace(look, raised=_RAISED.get(word, word) if is_on else "")
        case "fs":
            return replace(look, size=(number or 24) / 2)
        case _:
            return look
