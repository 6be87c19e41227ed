"""Finding words in a text: Latin ones only as whole words, Chinese ones wherever they stand."""

from __future__ import annotations


def find_whole(text: str, part: str) -> tuple[int, int] | None:
    """Return where `part` stands in `text`; a Latin word only as a whole, its plural included; "" stands nowhere."""
    if part.endswith("y") and part not in text:
        part = f"{part[:-1]}ies"
    start = text.find(part) if part else -1
    while start >= 0:
        end = start + len(part)
        plural = 2 if text[end : end + 2] == "es" else int(text[end : end + 1] == "s")
        end += plural if not _is_joined(text, end + plural) and _is_joined(text, end) else 0
        if not (_is_joined(text, start) or _is_joined(text, end)):
            return start, end
        start = text.find(part, start + 1)
    return None


def _is_joined(text: str, at: int) -> bool:
    """Return whether a Latin word or number goes on across this place."""
    around = text[max(0, at - 1) : at + 1]
    return len(around) == 2 and at > 0 and around.isascii() and around.isalnum()
