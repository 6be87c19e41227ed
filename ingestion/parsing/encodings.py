"""Bytes to text: UTF-8 and UTF-16 with and without byte order mark, GB18030, Big5, and the rest.

charset-normalizer decides by coherence of languages and needs some hundred characters; a Chinese
title of six characters often comes out as Korean or Cyrillic. So the four encodings that Chinese
files really have are told apart first, by how common the decoded characters are.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from domain.errors import FileTypeUnknown
from domain.missing import Missing

_SAMPLE = 64 * 1024  # bytes or characters by which an encoding is judged
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Real text scores 0.9 and more under its own encoding, 0.2 to 0.6 under a wrong one (the tests
# measure it on short Chinese titles).
_PLAUSIBLE = 0.7
_DAMAGED_UTF8 = 0.05
# What names one of these nearly always means its superset (as browsers read it: WHATWG Encoding Standard).
_SUPERSETS = {
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
}
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LONE_HIGH_BYTE = re.compile(rb"(?<![\x80-\xff])[\xa0-\xff](?![\x80-\xff])")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, the encoding it was read with, and how many characters were unreadable."""

    text: str
    encoding: str
    damaged: int = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """That characters were unreadable, if some were."""
        told = Missing.UNREADABLE_CHARACTERS.told(number=self.damaged)
        return (told,) if self.damaged else ()

    @property
    def metadata(self) -> dict[str, str]:
        """What is kept of a document in it."""
        return {"encoding": self.encoding}


def decode(content: bytes, declared: str | None = None) -> Decoded:
    """Decode a text file.

    Args:
        content: the whole file.
        declared: an encoding that the file itself names (an HTML `<meta charset>`); believed when
            the bytes decode under it.

    Raises:
        FileTypeUnknown: the bytes are no text in any encoding we know.
    """
    encoding = _by_bom(content) or _by_declaration(content, declared) or _by_content(content)
    text = content.decode(encoding, errors="replace")
    return Decoded(text, encoding, text.count("\ufffd"))


def is_binary(text: str) -> bool:
    """Whether decoded text is no text after all: more than one control character, and one in a hundred.

    A stray NUL in a short note is taken out (`clean_text`), not held against it.
    """
    sample = text[:_SAMPLE]
    found = len(_CONTROL.findall(sample))
    return found > 1 and found * 100 > len(sample)


def _by_bom(content: bytes) -> str | None:
    return next((name for bom, name in _BOMS if content.startswith(bom)), None)


def _by_declaration(content: bytes, declared: str | None) -> str | None:
    if not declared:
        return None
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        return None
    name = _SUPERSETS.get(name, name)
    return name if _decodes(content[:_SAMPLE], name) is not None else None


def _by_content(content: bytes) -> str:
    sample = content[:_SAMPLE]
    if _is_utf8(sample):
        return "utf-8"
    rated = ((name, rate(sample)) for name, rate in _ratings())
    encoding, score = max(rated, key=lambda item: item[1])
    return encoding if score >= _PLAUSIBLE else _by_normalizer(sample)


def _is_utf8(sample: bytes) -> bool:
    """Whether the sample is UTF-8, up to a few damaged bytes; control characters speak for UTF-16."""
    text = sample.decode("utf-8", errors="replace")
    foreign = len(text) - len(text.encode("ascii", errors="ignore"))
    # One more is allowed for the character that the sample's end cuts.
    cut = int(len(sample) == _SAMPLE)
    return not is_binary(text) and text.count("\ufffd") - cut <= foreign * _DAMAGED_UTF8


def _by_normalizer(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    best = from_bytes(sample).best()
    if best is None or best.encoding.startswith("utf_7") or is_binary(str(best)):
        raise FileTypeUnknown(
            "The file is neither a known document format nor text in a known encoding.",
            next_step="Save it as UTF-8 text, or as one of the supported formats.",
        )
    return best.encoding


def _decodes(sample: bytes, encoding: str) -> str | None:
    """The sample's text, where a character cut off at its end is no fault; None on any other."""
    try:
        whole = len(sample) < _SAMPLE
        return codecs.getincrementaldecoder(encoding)("strict").decode(sample, final=whole)
    except (UnicodeError, LookupError):
        return None


Rating = Callable[[bytes], float]


def _ratings() -> list[tuple[str, Rating]]:
    simplified = _common("gb2312", range(0xB0, 0xD8))
    traditional = _common("big5", range(0xA4, 0xC7))
    either = simplified | traditional
    common = {
        "gb18030": simplified,
        "big5hkscs": traditional,
        "utf-16-le": either,
        "utf-16-be": either,
    }
    ratings = {
        name: partial(_commonness, encoding=name, common=chars) for name, chars in common.items()
    }
    return [*ratings.items(), ("cp1252", _latinness)]


@cache
def _common(charset: str, lead_bytes: range) -> frozenset[str]:
    """The everyday characters of a charset: its first level of ideographs, and its punctuation.

    Both GB 2312 and Big5 put the frequent ideographs into a first level of rows (16–55 and
    A440–C67E), which covers over 99 % of running text.
    """
    leads = [*range(0xA1, 0xA4), *lead_bytes]
    pairs = (bytes((lead, trail)) for lead in leads for trail in range(0x40, 0xFF))
    return frozenset("".join(pair.decode(charset, errors="ignore") for pair in pairs)) - {"?"}


def _commonness(sample: bytes, encoding: str, common: frozenset[str]) -> float:
    """Share of everyday characters among those a pure-ASCII file would not have, or 0."""
    text = _decodes(sample, encoding)
    if text is None or is_binary(text):
        return 0.0
    foreign = [char for char in text if char > "\x7f"]
    if not foreign:
        # Only ASCII under a two-byte encoding: certain, because random bytes do not do that.
        return 1.0 if text else 0.0
    return sum(char in common for char in foreign) / len(foreign)


def _latinness(sample: bytes) -> float:
    """Share of bytes ≥ 0x80 that stand alone, as accented letters do and Chinese never does."""
    if b"\x00" in sample:
        return 0.0
    high = len(_HIGH_BYTE.findall(sample))
    return len(_LONE_HIGH_BYTE.findall(sample)) / high if high else 0.0
