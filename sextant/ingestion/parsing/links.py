"""Links: their address beside the words that hide it, so that it can be found and cited."""

from __future__ import annotations

from itertools import groupby

_SCHEMES = ("http://", "https://", "ftp://", "ftps://", "mailto:")


def with_address(text: str, address: str | None) -> str:
    """Return a link's text with its address behind it, unless the text says it: "here (https://example.org)".

    Links within the page, to scripts or to local files are their text alone.
    """
    address = (address or "").strip()
    if not address.lower().startswith(_SCHEMES) or not text.strip():
        return text
    shown = address.removeprefix("mailto:").partition("?")[0] if _is_mail(address) else address
    words = text.rstrip()
    if _bare(shown) in _bare(words):
        return text
    return f"{words} ({shown}){text[len(words) :]}"


class LinkedText:
    """Text that is put together from pieces, some of them words of a link, some formulas."""

    def __init__(self) -> None:
        self._pieces: list[tuple[str, str]] = []
        self._is_apart = False

    def add(self, text: str, address: str = "", *, apart: bool = False) -> None:
        """Add a piece, with its link's address; `apart`: with a blank between it and letters beside it."""
        before = self._pieces[-1][0][-1:] if self._pieces else ""
        if (apart or self._is_apart) and _is_letter(before) and _is_letter(text[:1]):
            text = f" {text}"
        self._is_apart = apart
        self._pieces.append((text, address))

    def __str__(self) -> str:
        """Return the text; neighbours with one address are one link, which has it once."""
        return "".join(
            with_address("".join(text for text, _ in group), address)
            for address, group in groupby(self._pieces, key=lambda piece: piece[1])
        )


def _is_letter(char: str) -> bool:
    """Return whether a character would run together with one beside it; ideographs stand by themselves."""
    return char.isalnum() and char < "\u2e80"


def _is_mail(address: str) -> bool:
    return address.lower().startswith("mailto:")


def _bare(address: str) -> str:
    """Return what two ways to write one address share."""
    bare = "".join(address.split()).lower().rstrip("/")
    for scheme in _SCHEMES:
        bare = bare.removeprefix(scheme)
    return bare.removeprefix("www.")
