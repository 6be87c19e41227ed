"""What a parser passes over, counted while it reads, so that nothing is lost in silence."""

from __future__ import annotations

from collections import Counter, defaultdict

from sextant.domain.missing import Missing
from sextant.text.characters import count_noun

_PAGES_NAMED = 5


class Omissions:
    """Counts the parts of a file that could not be read, and the text that its author had taken back."""

    def __init__(self) -> None:
        self._parts = Counter[str]()
        self._pages = defaultdict[str, dict[int, None]](dict[int, None])
        self._characters = Counter[str]()

    def add_part(self, kind: str, page: int | None = None) -> None:
        """Count a part that is not read; `kind` is a noun in the singular ("chart")."""
        self._parts[kind] += 1
        if page is not None:
            self._pages[kind][page] = None

    def add_text(self, reason: str, text: str) -> None:
        """Count text that is left out, by the reason ("struck through")."""
        self._characters[reason] += len("".join(text.split()))

    def warnings(self) -> tuple[str, ...]:
        """Return a sentence for the parts and one for the text, each if there were any."""
        parts = [
            f"{count_noun(number, kind)}{self._where(kind)}" for kind, number in self._parts.items()
        ]
        texts = [f"{number:,} {reason}" for reason, number in self._characters.items() if number]
        return (
            *([Missing.PARTS_NOT_READ.told(parts=", ".join(parts))] if parts else []),
            *([Missing.TEXT_LEFT_OUT.told(characters=", ".join(texts))] if texts else []),
        )

    def _where(self, kind: str) -> str:
        pages = list(self._pages[kind])
        if not pages:
            return ""
        more = ", …" if len(pages) > _PAGES_NAMED else ""
        return f" (slide {', '.join(map(str, pages[:_PAGES_NAMED]))}{more})"
