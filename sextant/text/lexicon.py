"""Words and what they mean to a grammar, in lists that people can read and add to."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from importlib.resources import files

from sextant.text.characters import remember_short

Meaning = tuple[str, str]
"""What a phrase is in the grammar, and what it is of: `max`, `price` for "most expensive"."""


class Lexicon:
    """Phrases with their meanings, from files with a line each: `kind/sense: phrase, phrase`.

    English phrases are found as whole words with their plural, Chinese ones anywhere, the longest first; one that ends in `$` only at
    the end of a text.
    """

    def __init__(self, package: str, *names: str, plurals: bool = False) -> None:
        meanings = defaultdict[str, list[Meaning]](list)
        for name in names:
            text = (files(package) / name).read_text(encoding="utf-8")
            for line in text.splitlines():
                head, _, phrases = line.partition(": ")
                kind, _, sense = head.partition("/")
                for phrase in () if line.startswith("#") else phrases.split(", "):
                    meanings[phrase].append((kind, sense))
        self._meanings = dict(meanings)
        longest_first = sorted(meanings, key=len, reverse=True)
        self._form = re.compile("|".join(_pattern(one, plurals=plurals) for one in longest_first))
        self._found = remember_short(512)(self._find)

    def find(self, text: str) -> Sequence[tuple[tuple[int, int], Sequence[Meaning]]]:
        """Return where phrases stand in a text in plain spelling, and what each means."""
        return self._found(text)

    def _find(self, text: str) -> Sequence[tuple[tuple[int, int], Sequence[Meaning]]]:
        return [(one.span(), self._meanings_of(one)) for one in self._form.finditer(text)]

    def _meanings_of(self, match: re.Match[str]) -> Sequence[Meaning]:
        phrase = " ".join(match[0].split())
        at_end = f"{phrase}$" if match.end() == len(match.string) else phrase
        forms = (phrase, at_end, phrase.removesuffix("s"))
        return next(self._meanings[one] for one in forms if one in self._meanings)

    def phrases(self, kind: str) -> set[str]:
        """Return the phrases of a kind."""
        return {one for one, meant in self._meanings.items() if kind in {of for of, _ in meant}}

    def collect_kinds(self, text: str) -> set[str]:
        """Return the kinds of all phrases of a text."""
        return {kind for _, meanings in self.find(text) for kind, _ in meanings}


def _pattern(phrase: str, *, plurals: bool) -> str:
    end = "$" if phrase.endswith("$") else ""
    form = re.escape(phrase.removesuffix("$")).replace(r"\ ", r"\s+")
    if phrase[0].isascii() and phrase[0].isalpha():
        form = rf"(?<![a-z\d]){form}{'s?' * plurals}(?![a-z\d])"
    return form + end
