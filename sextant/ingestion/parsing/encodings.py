"""Bytes to text: UTF-8, UTF-16 and UTF-32 with and without byte order mark, GB18030, Big5, and the rest.

chardet tells encodings apart by how often two bytes follow each other in texts of a language, and a title of some
Chinese or Japanese characters has too few of them. So the encodings of these are tried first, by how common the decoded
characters are.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from operator import itemgetter

from chardet import detect_all

from sextant.domain.errors import FileTypeUnknown
from sextant.domain.warnings import CodedWarning, WarningCode

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
# Files that declare the first nearly always use its superset (as in the WHATWG Encoding Standard).
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
_KANA = re.compile("[\u3040-\u30ff]")
_LEAST_KANA = 0.2  # of a Japanese text
# The encodings that chardet may choose: those that text files really have.
_USUAL = (
    "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "gb18030", "big5hkscs", "cp932", "euc-jp", "iso2022_jp_2",
    "cp949", "cp874", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8-r",
    "koi8-u", "iso8859-2", "iso8859-5", "iso8859-7", "iso8859-15", "cp866", "mac-roman", "cp850", "cp037", "cp500",
)  # fmt: skip
_SINGLE_BYTE = frozenset(
    {"cp1250", "cp1251", "cp1252", "cp1254", "cp1256", "iso8859-2", "iso8859-15", "koi8-r"}
)
_LATIN = _SINGLE_BYTE - {"cp1251", "cp1256", "koi8-r"}
# Of the bytes of a text in Latin letters: how many are no ASCII at most, where there are not just a few.
_MOST_LATIN, _FEW_LETTERS = 0.4, 8
_EAST_ASIAN = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jis_2004", "utf-16-le", "utf-16-be"})
_CHINESE = frozenset({"gb18030", "big5hkscs"})
# Confidences of chardet: of 19 right answers among 20, and of bytes that are no Chinese or Japanese, however common
# the characters are. Of short texts it takes Windows-1252, which is the most frequent by far, for its neighbours.
_SURE, _FOREIGN, _WESTERN = 0.25, 0.12, 1.6

_META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file's text, the encoding it was read with and whether that is sure, and how many characters were unreadable."""

    text: str
    encoding: str
    damaged: int = 0
    is_sure: bool = True

    @property
    def warnings(self) -> tuple[CodedWarning, ...]:
        """That characters were unreadable, if some were, and that the encoding is a guess, if it is one."""
        found = list[CodedWarning]()
        if self.damaged:
            params = {"number": self.damaged}
            found.append(CodedWarning(WarningCode.UNREADABLE_CHARACTERS, params))
        if not self.is_sure:
            found.append(CodedWarning(WarningCode.ENCODING_GUESSED, {"encoding": self.encoding}))
        return tuple(found)

    @property
    def metadata(self) -> dict[str, str]:
        """Return what is kept of a document in it."""
        return {"encoding": self.encoding}


def decode(content: bytes, declared: str | None = None) -> Decoded:
    """Decode a text file.

    Args:
        content: the whole file.
        declared: an encoding that the file itself names (an HTML `<meta charset>`); believed when
            the bytes decode under it, unless each byte does and they are UTF-8, or it makes no text of them.

    Raises:
        FileTypeUnknown: the bytes are no text in any encoding we know.
    """
    marked = next((name for mark, name in _BOMS if content.startswith(mark)), None)
    stated = marked or _by_declaration(content, declared)
    encoding, is_sure = (stated, True) if stated else _by_content(content)
    text = content.decode(encoding, errors="replace")
    return Decoded(text, encoding, text.count("\ufffd"), is_sure)


def charset_of_page(content: bytes) -> str | None:
    """Return the encoding that an HTML page declares in its first bytes."""
    declared = _META_CHARSET.search(content[:4096])
    return declared[1].decode("ascii") if declared else None


def is_binary(text: str) -> bool:
    """Return whether decoded text is no text after all: more than one control character, and one in a hundred.

    A stray NUL in a short note is taken out (`clean_text`), not held against it.
    """
    sample = text[:_SAMPLE]
    found = len(_CONTROL.findall(sample))
    return found > 1 and found * 100 > len(sample)


def _by_declaration(content: bytes, declared: str | None) -> str | None:
    if not declared:
        return None
    try:
        name = codecs.lookup(declared).name
    except LookupError:
        return None
    name = _SUPERSETS.get(name, name)
    sample = content[:_SAMPLE]
    # Text in another encoding is hardly ever valid UTF-8, while any bytes are valid in a single-byte encoding.
    if name in _SINGLE_BYTE and not content.isascii() and _decodes(sample, "utf-8"):
        return "utf-8"
    if _decodes(sample, name) is None:
        return None
    others = sum(byte > 0x7F for byte in sample) if name in _LATIN else 0
    # More than in any text in Latin letters.
    is_no_latin = others >= _FEW_LETTERS and others > _MOST_LATIN * len(sample)
    if name not in _CHINESE and not is_no_latin:
        return name
    rates = dict(_rate_east_asian(sample))
    likeliest = max(rates, key=rates.__getitem__, default=name)
    # Japanese has a rate by its kana; in bytes of another encoding they stand beside characters of no language.
    text = _non_ascii(sample, name) or ""
    kana = 0 if any("\ue000" <= char <= "\uf8ff" for char in text) else len(_KANA.findall(text))
    rate = rates.get(name, 0) + kana / (len(text) or 1)
    return likeliest if rates.get(likeliest, 0) >= _PLAUSIBLE > 2 * rate else name


def _by_content(content: bytes) -> tuple[str, bool]:
    """Guess the encoding of a text from its bytes, and return whether the guess is sure.

    Raises:
        FileTypeUnknown: the bytes are no text.
    """
    sample = content[:_SAMPLE]
    text = sample.decode("utf-8", errors="replace")
    non_ascii = len(text) - len(text.encode("ascii", errors="ignore"))
    # The end of the sample may cut a character. Control characters speak for UTF-16.
    damaged = text.count("\ufffd") - int(len(sample) == _SAMPLE)
    is_utf8 = damaged <= non_ascii * _DAMAGED_UTF8 and not is_binary(text)
    if is_utf8 and b"\x1b" not in sample:
        return "utf-8", True
    guesses = detect_all(
        sample, ignore_threshold=True, compat_names=False, include_encodings=_USUAL
    )
    rated = {one["encoding"] or "": one["confidence"] for one in guesses}
    likeliest = max(rated, key=rated.__getitem__, default="")
    rated["cp1252"] = rated.get("cp1252", 0.0) * _WESTERN
    encoding = max(rated, key=rated.__getitem__)
    east_asian, score = max(_rate_east_asian(sample), key=itemgetter(1), default=("", 0.0))
    if score >= _PLAUSIBLE and (encoding in {*_EAST_ASIAN, ""} or rated[encoding] < _FOREIGN):
        return east_asian, True
    if not encoding or is_binary(sample.decode(encoding, "replace")):
        raise FileTypeUnknown(
            "The file is neither a known document format nor text in a known encoding.",
            next_step="Save it as UTF-8 text, or as one of the supported formats.",
        )
    # 0xA4 is the euro sign in ISO 8859-15, and in Windows-1252 a sign that no text uses.
    written = "iso8859-15" if encoding == "cp1252" and b"\xa4" in sample else encoding
    return written, encoding == likeliest and rated[encoding] >= _SURE


def _decodes(sample: bytes, encoding: str) -> str | None:
    """Decode a sample, of which the last character may be cut off; None where it is no text in that encoding."""
    try:
        whole = len(sample) < _SAMPLE
        return codecs.getincrementaldecoder(encoding)("strict").decode(sample, final=whole)
    except (UnicodeError, LookupError):
        return None


def _rate_east_asian(sample: bytes) -> Iterator[tuple[str, float]]:
    """Yield each encoding of Japanese and Chinese with the share of common characters in the decoded text."""
    simplified = _common("gb2312", range(0xB0, 0xD8))
    traditional = _common("big5", range(0xA4, 0xC7))
    for encoding in ("cp932", "euc_jp"):
        japanese = _non_ascii(sample, encoding) or ""
        kana = len(_KANA.findall(japanese))
        if kana > len(japanese) * _LEAST_KANA:
            everyday = _common("euc_jp", range(0xB0, 0xD0))
            others = sum(char in everyday and not _KANA.match(char) for char in japanese)
            yield encoding, (kana + others) / len(japanese)
    for encoding, common in (
        ("gb18030", simplified),
        ("big5hkscs", traditional),
        ("utf-16-le", simplified | traditional),
        ("utf-16-be", simplified | traditional),
    ):
        if (non_ascii := _non_ascii(sample, encoding)) is not None:
            # ASCII alone in a two-byte encoding is certain: random bytes do not decode to it.
            share = sum(char in common for char in non_ascii) / (len(non_ascii) or 1)
            yield encoding, share if non_ascii else float(encoding.startswith("utf-16"))


def _non_ascii(sample: bytes, encoding: str) -> str | None:
    """Return the characters of a text outside of ASCII; None where it is no text in that encoding."""
    text = _decodes(sample, encoding)
    if not text or is_binary(text):
        return None
    return "".join(char for char in text if char > "\x7f")


@cache
def _common(charset: str, lead_bytes: range) -> frozenset[str]:
    """Return the everyday characters of a charset: its first level of ideographs, and its punctuation.

    Both GB 2312 and Big5 put the frequent ideographs into a first level of rows (16–55 and
    A440–C67E), which covers over 99 % of running text.
    """
    leads = [*range(0xA1, 0xA4), *lead_bytes]
    pairs = (bytes((lead, trail)) for lead in leads for trail in range(0x40, 0xFF))
    return frozenset("".join(pair.decode(charset, errors="ignore") for pair in pairs)) - {"?"}
