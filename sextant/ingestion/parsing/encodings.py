"""Bytes to text: UTF-8 and UTF-16 with and without byte order mark, GB18030, Big5, and the rest.

charset-normalizer decides by coherence of languages and needs some hundred characters; a Chinese
title of six characters often comes out as Korean or Cyrillic. So the four encodings that Chinese
files really have are told apart first, by how common the decoded characters are.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial

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
_LONE_HIGH_BYTE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_ISO_2022 = re.compile(rb"\x1b(?:\$[@B]|\([BJI])")
# What charset-normalizer chooses among: what text files are really written in, the frequent first.
_USUAL = [
    "cp1251", "koi8_r", "koi8_u", "cp1253", "cp1255", "cp1256", "cp1250", "cp1252", "cp1254", "iso8859_2", "iso8859_5",
    "iso8859_15", "cp866", "tis_620", "gb18030", "big5hkscs", "big5", "cp949", "cp932", "euc_jp", "mac_roman", "cp850",
]  # fmt: skip
# Encodings of Europe, with languages written in them; of equals the first is taken.
_LATIN = {
    "cp1252": ("German", "French", "Spanish", "Italian", "Portuguese", "Dutch", "Swedish", "Danish", "Norwegian", "Finnish"),
    "iso8859_15": ("French", "German", "Spanish", "Italian", "Portuguese", "Finnish"),
    "cp1250": ("Polish", "Czech", "Slovak", "Hungarian", "Romanian", "Croatian", "Slovene"),
    "iso8859_2": ("Polish", "Czech", "Slovak", "Hungarian", "Romanian", "Croatian", "Slovene"),
    "cp1254": ("Turkish",),
    "cp1257": ("Lithuanian", "Estonian"),
}  # fmt: skip
_SHARED = frozenset("€œæßñ")  # of many languages, and among the most frequent letters of none
_PUNCTUATION = frozenset("\xa0„“”‘’–—…")
_SLAVIC = ("Russian", "Ukrainian")
_CYRILLIC = ("cp1251", "koi8_r", "koi8_u", "iso8859_5", "cp866")
_CYRILLIC_WORD = re.compile("[\u0400-\u04ff]{2,}")
_KANA = re.compile("[\u3040-\u30ff]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_C1 = re.compile("[\x80-\x9f]")  # control characters, which no text has
_ACCENTED = 0.5  # of a European text's accented letters are among the 26 most frequent letters of its language
_COHERENT = 0.2  # how far letters are as frequent as in a language, from where on the normalizer is believed
_CYRILLIC_LETTERS = 0.9  # of a text in Cyrillic are usual ones; Hebrew in the same bytes has less
_LEAST_KANA = 0.2  # of a Japanese text
_LEAST_FREQUENT = 0.12  # of a Korean text's syllables are among its 26 most frequent ones


META_CHARSET = re.compile(
    rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{2,40})", re.IGNORECASE
)
"""The encoding that a page says it has, in its first bytes."""


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
            the bytes decode under it.

    Raises:
        FileTypeUnknown: the bytes are no text in any encoding we know.
    """
    stated = _by_bom(content) or _by_declaration(content, declared)
    encoding, is_sure = (stated, True) if stated else _by_content(content)
    text = content.decode(encoding, errors="replace")
    return Decoded(text, encoding, text.count("\ufffd"), is_sure)


def is_binary(text: str) -> bool:
    """Return whether decoded text is no text after all: more than one control character, and one in a hundred.

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


def _by_content(content: bytes) -> tuple[str, bool]:
    """Return the encoding that a text's signs speak for, and whether they do so clearly."""
    sample = content[:_SAMPLE]
    if _ISO_2022.search(sample) and _decodes(sample, "iso2022_jp") is not None:
        return "iso2022_jp", True
    if _is_utf8(sample):
        return "utf-8", True
    rated = ((name, rate(sample)) for name, rate in _ratings())
    encoding, score = max(rated, key=lambda item: item[1])
    if score >= _PLAUSIBLE and encoding != "cp1252":
        return encoding, True
    latin, accents = _latin(sample)
    if score >= _PLAUSIBLE or accents >= _ACCENTED:
        return latin, True
    return _by_normalizer(sample)


def _is_utf8(sample: bytes) -> bool:
    """Return whether the sample is UTF-8, up to a few damaged bytes; control characters speak for UTF-16."""
    text = sample.decode("utf-8", errors="replace")
    non_ascii = len(text) - len(text.encode("ascii", errors="ignore"))
    # One more is allowed for the character that the sample's end cuts.
    cut = int(len(sample) == _SAMPLE)
    return not is_binary(text) and text.count("\ufffd") - cut <= non_ascii * _DAMAGED_UTF8


def _by_normalizer(sample: bytes) -> tuple[str, bool]:
    from charset_normalizer import from_bytes

    best = from_bytes(sample, cp_isolation=_USUAL).best() or from_bytes(sample).best()
    if best is None or best.encoding.startswith("utf_7") or is_binary(str(best)):
        raise FileTypeUnknown(
            "The file is neither a known document format nor text in a known encoding.",
            next_step="Save it as UTF-8 text, or as one of the supported formats.",
        )
    return best.encoding, best.coherence >= _COHERENT


def _latin(sample: bytes) -> tuple[str, float]:
    """Return the encoding of a European text: the one whose accented letters are those of one of its languages."""
    rated = {
        name: _accents(_decodes(sample, name) or "", languages)
        for name, languages in _LATIN.items()
    }
    name = max(rated, key=rated.__getitem__)
    return name, rated[name]


def _accents(text: str, languages: Sequence[str]) -> float:
    """Share of a language's usual letters among the signs that ASCII has not, of the language that has most."""
    non_ascii = [char for char in text.lower() if char > "\x7f" and char not in _PUNCTUATION]
    if not non_ascii or _C1.search(text) or len(non_ascii) * 2 > len(text):
        return 0.0
    return max(
        sum(char in _letters(language) for char in non_ascii) / len(non_ascii)
        for language in languages
    )


@cache
def _letters(language: str) -> frozenset[str]:
    from charset_normalizer.constant import FREQUENCIES

    return frozenset(FREQUENCIES[language]) | _SHARED


def _decodes(sample: bytes, encoding: str) -> str | None:
    """Return the sample's text, where a character cut off at its end is no fault; None on any other."""
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
    japanese = [(name, partial(_japaneseness, encoding=name)) for name in ("cp932", "euc_jp")]
    cyrillic = [(name, partial(_cyrillicness, encoding=name)) for name in _CYRILLIC]
    return [("cp949", _koreanness), *japanese, *ratings.items(), ("cp1252", _latinness), *cyrillic]


def _koreanness(sample: bytes) -> float:
    """Share of Hangul, 0 where it has few of the syllables that Korean has most: Chinese in the same bytes has not."""
    non_ascii = _non_ascii(sample, "cp949")
    syllables = [char for char in non_ascii if _HANGUL.match(char)]
    frequent = sum(char in _letters("Korean") for char in syllables)
    chinese = sum(char in _letters("Chinese") for char in _non_ascii(sample, "gb18030"))
    is_korean = frequent > max(len(syllables) * _LEAST_FREQUENT, chinese)
    return len(syllables) / len(non_ascii) if is_korean else 0.0


def _japaneseness(sample: bytes, encoding: str) -> float:
    """Share of kana and of everyday ideographs, 0 where there are few kana."""
    non_ascii = _non_ascii(sample, encoding)
    kana = sum(_KANA.match(char) is not None for char in non_ascii)
    if kana <= len(non_ascii) * _LEAST_KANA:
        return 0.0
    everyday = _common("euc_jp", range(0xB0, 0xD0))
    return (kana + sum(char in everyday and not _KANA.match(char) for char in non_ascii)) / len(
        non_ascii
    )


def _cyrillicness(sample: bytes, encoding: str) -> float:
    """Share of a language's usual letters, in words with no capital but the first; 0 where it is no such language's."""
    text = _decodes(sample, encoding) or ""
    non_ascii = sum(char > "\x7f" for char in text)
    words = (word.lower() for word in _CYRILLIC_WORD.findall(text) if word[1:].islower())
    letters = Counter("".join(words))
    usual = max(sum(letters[char] for char in _letters(language)) for language in _SLAVIC)
    return usual / non_ascii if usual > non_ascii * _CYRILLIC_LETTERS else 0.0


def _non_ascii(sample: bytes, encoding: str) -> str:
    """Return the signs of a text that ASCII has not; none where it is no text in that encoding."""
    text = _decodes(sample, encoding) or ""
    return "" if is_binary(text) else "".join(char for char in text if char > "\x7f")


@cache
def _common(charset: str, lead_bytes: range) -> frozenset[str]:
    """Return the everyday characters of a charset: its first level of ideographs, and its punctuation.

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
    non_ascii = [char for char in text if char > "\x7f"]
    if not non_ascii:
        # Only ASCII under a two-byte encoding: certain, because random bytes do not do that.
        return 1.0 if text else 0.0
    return sum(char in common for char in non_ascii) / len(non_ascii)


def _latinness(sample: bytes) -> float:
    """Share of bytes ≥ 0x80 that stand alone, as accented letters do and Chinese never does."""
    if b"\x00" in sample:
        return 0.0
    high = len(_HIGH_BYTE.findall(sample))
    return len(_LONE_HIGH_BYTE.findall(sample)) / high if high else 0.0
